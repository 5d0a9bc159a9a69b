'use client';
import { compileWorkflow } from '@leasehold/core/model';
import { type SubmitCheck } from '@leasehold/wire';
import {
  ClipboardCheck,
  Copy,
  IndentDecrease,
  IndentIncrease,
  MoveDown,
  MoveUp,
  Plus,
  Redo2,
  Trash2,
  Undo2,
  type LucideIcon,
} from 'lucide-react';
import dynamic from 'next/dynamic';
import { useRouter } from 'next/navigation';
import { useEffect, useMemo, useReducer, useState, type Dispatch } from 'react';
import { problemText, problemTitle } from '../api/acting';
import { newOperationId } from '../api/operation-id';
import { useActions } from '../api/actions';
import { call } from '../api/call';
import { stringifyLossless } from '../api/lossless';
import { paths } from '../api/paths';
import { useHandlers } from '../forms/use-handlers';
import { useT } from '../i18n';
import { bytesText } from '../look/number';
import { plannedTasks } from '../workflow/compiled-graph';
import { Graph } from '../workflow/graph';
import { Button } from '../ui/button';
import { Input } from '../ui/field';
import { Menu, MenuItem } from '../ui/menu';
import { Page, PageHead, Section } from '../ui/layout';
import { Loading } from '../ui/states';
import { Tabs } from '../ui/tabs';
import { Tip } from '../ui/tip';
import { buildWorkflow, isWarning, type Build } from './build';
import { countTasks, findPlace, newBox, newTask, type BoxDraft, type BoxKind } from './draft';
import { edited, startState, type BuilderState, type Edit } from './edit';
import { JsonPane } from './json-pane';
import { KIND_ICON, Outline } from './outline';
import { StepEditor } from './step-editor';

const TemplatesPane = dynamic(async () => (await import('./templates')).TemplatesPane, {
  loading: () => <Loading rows={4} />,
});

export function BuilderPage() {
  const t = useT();
  const { handlers, byName } = useHandlers();
  const [state, dispatch] = useReducer(edited, undefined, () => startState());
  const [tab, setTab] = useState<'outline' | 'json' | 'templates'>('outline');
  const build = useMemo(() => buildWorkflow(state.now.root, byName), [state.now.root, byName]);
  const place = findPlace(state.now.root, state.now.chosen);
  const empty = state.now.root.items.length === 0;
  return (
    <Page className="max-w-7xl!">
      <title>{`${t('action.newWorkflow')} · Leasehold`}</title>
      <PageHead title={t('action.newWorkflow')} note={t('builder.note')} />
      {handlers === undefined ? (
        <Loading rows={5} />
      ) : (
        <div className="grid items-start gap-x-8 gap-y-5 lg:grid-cols-[minmax(0,1fr)_360px]">
          <div className="min-w-0">
            <Tabs
              value={tab}
              onChange={setTab}
              label={t('form.how')}
              tabs={[
                ['outline', t('builder.outline')],
                ['json', 'JSON'],
                ['templates', t('template.tab')],
              ]}
            >
              {tab === 'outline' ? (
                <>
                  <ToolRow state={state} dispatch={dispatch} />
                  <Outline built={state.now} problems={build.problems} dispatch={dispatch} />
                  {empty && <Templates dispatch={dispatch} />}
                </>
              ) : tab === 'templates' ? (
                <TemplatesPane
                  build={build}
                  handlers={byName}
                  onLoad={(root, nextKey) => (dispatch({ do: 'load', root, nextKey }), setTab('outline'))}
                />
              ) : (
                <JsonPane
                  build={build}
                  handlers={byName}
                  onLoad={(root, nextKey) => (dispatch({ do: 'load', root, nextKey }), setTab('outline'))}
                />
              )}
            </Tabs>
            <Preview build={build} root={state.now.root} />
          </div>
          <div className="flex flex-col gap-6 lg:sticky lg:top-4">
            {place !== undefined && (
              <Section title={t('builder.step')}>
                <div className="py-3">
                  <StepEditor
                    place={place}
                    handlers={handlers}
                    byName={byName}
                    problems={build.problems.filter(({ key }) => key === place.draft.key)}
                    dispatch={dispatch}
                  />
                </div>
              </Section>
            )}
            <SubmitBox build={build} tasks={countTasks(state.now.root)} />
          </div>
        </div>
      )}
    </Page>
  );
}

interface Tool {
  readonly label: string;
  readonly icon: LucideIcon;
  readonly edit: Edit;
  readonly off?: boolean;
}

const ADDS: readonly ('task' | BoxKind)[] = ['task', 'chain', 'group', 'chord'];

function ToolRow({ state, dispatch }: { state: BuilderState; dispatch: Dispatch<Edit> }) {
  const t = useT();
  const key = state.now.chosen;
  const atRoot = key === state.now.root.key;
  const tools: readonly Tool[] = [
    { label: `${t('keys.up')} (Alt ↑)`, icon: MoveUp, edit: { do: 'move', key, by: -1 }, off: atRoot },
    { label: `${t('keys.down')} (Alt ↓)`, icon: MoveDown, edit: { do: 'move', key, by: 1 }, off: atRoot },
    { label: `${t('keys.nest')} (Alt →)`, icon: IndentIncrease, edit: { do: 'nest', key }, off: atRoot },
    { label: `${t('keys.unnest')} (Alt ←)`, icon: IndentDecrease, edit: { do: 'unnest', key }, off: atRoot },
    { label: `${t('builder.duplicate')} (d)`, icon: Copy, edit: { do: 'duplicate', key }, off: atRoot },
    { label: `${t('builder.remove')} (Del)`, icon: Trash2, edit: { do: 'remove', key }, off: atRoot },
    { label: `${t('builder.undo')} (Ctrl Z)`, icon: Undo2, edit: { do: 'undo' }, off: state.past.length === 0 },
    { label: `${t('builder.redo')} (Ctrl Shift Z)`, icon: Redo2, edit: { do: 'redo' }, off: state.future.length === 0 },
  ];
  return (
    <div
      role="toolbar"
      aria-label={t('builder.tools')}
      className="border-line flex flex-wrap items-center gap-1 border-b py-1.5"
    >
      <Menu
        align="start"
        trigger={
          <Button size="sm" className="mr-1">
            <Plus className="size-3.5" aria-hidden />
            {t('builder.add')}
          </Button>
        }
      >
        {ADDS.map((what) => {
          const Icon = KIND_ICON[what];
          return (
            <MenuItem key={what} onSelect={() => dispatch({ do: 'add', what })}>
              <Icon className="text-ink3 size-3.5" aria-hidden />
              {t(`flow.kind.${what}`)}
            </MenuItem>
          );
        })}
      </Menu>
      {tools.map(({ label, icon: Icon, edit, off }) => (
        <Tip key={label} text={label}>
          <Button kind="ghost" size="icon-sm" aria-label={label} disabled={off ?? false} onClick={() => dispatch(edit)}>
            <Icon className="size-3.5" aria-hidden />
          </Button>
        </Tip>
      ))}
    </div>
  );
}

const TEMPLATES: readonly { readonly word: 'chain' | 'group' | 'chord' | 'nested'; readonly root: BoxDraft }[] = [
  { word: 'chain', root: newBox(0, 'chain', [newTask(1), newTask(2), newTask(3)]) },
  { word: 'group', root: newBox(0, 'group', [newTask(1), newTask(2), newTask(3)]) },
  { word: 'chord', root: newBox(0, 'chord', [newTask(1), newTask(2), newTask(3), newTask(4)]) },
  {
    word: 'nested',
    root: newBox(0, 'chain', [
      newTask(1),
      newBox(2, 'group', [newTask(3), newTask(4), newBox(5, 'chain', [newTask(6), newTask(7)])]),
      newTask(8),
    ]),
  },
];

function Templates({ dispatch }: { dispatch: Dispatch<Edit> }) {
  const t = useT();
  return (
    <div className="border-line2 mt-1 rounded-lg border border-dashed p-4">
      <p className="text-base font-semibold">{t('builder.start')}</p>
      <p className="text-ink2 mb-3">{t('builder.startText')}</p>
      <div className="grid gap-2 sm:grid-cols-2">
        {TEMPLATES.map(({ word, root }) => (
          <button
            key={word}
            type="button"
            data-template={word}
            onClick={() => dispatch({ do: 'load', root, nextKey: 9 })}
            className="border-line2 hover:border-accent hover:bg-accent/5 rounded-md border px-3 py-2 text-left"
          >
            <span className="block font-semibold">{t(`builder.template.${word}`)}</span>
            <span className="text-ink3 block text-xs">{t(`builder.templateNote.${word}`)}</span>
          </button>
        ))}
      </div>
    </div>
  );
}

/** What will be created, from the same compiler that the scheduler uses. */
function Preview({ build, root }: { build: Build; root: BoxDraft }) {
  const t = useT();
  const nameless = t('builder.unnamed');
  const compiled = useMemo(() => {
    try {
      return compileWorkflow('preview', build.workflow);
    } catch {
      return null;
    }
  }, [build.workflow]);
  const nodes = useMemo(
    () =>
      compiled === null
        ? []
        : plannedTasks(compiled).map((task) => ({
            index: task.index,
            name: task.name === '' ? nameless : task.name,
            after: task.after,
            note: task.queue ?? '',
          })),
    [compiled, nameless],
  );
  if (compiled === null || nodes.length === 0 || root.items.length === 0) return null;
  const barriers = compiled.joins.length - 1;
  return (
    <Section
      title={t('builder.preview')}
      aside={t('builder.creates', { tasks: nodes.length, joins: barriers, first: compiled.entries.length })}
      className="mt-6"
    >
      {nodes.length > 200 ? (
        <p className="text-ink3 py-2 text-xs">{t('flow.tooLarge')}</p>
      ) : (
        <Graph nodes={nodes} label={t('builder.preview')} />
      )}
    </Section>
  );
}

type Checked =
  | { readonly kind: 'ok'; readonly check: SubmitCheck }
  | { readonly kind: 'refused'; readonly title: string; readonly text: string };

function SubmitBox({ build, tasks }: { build: Build; tasks: number }) {
  const t = useT();
  const router = useRouter();
  const { submitWorkflow } = useActions();
  const [name, setName] = useState('');
  const [sending, setSending] = useState(false);
  const [checked, setChecked] = useState<Checked | null>(null);
  const wrong = build.problems.filter((problem) => !isWarning(problem)).length;
  const body = { workflow: build.workflow, ...(name.trim() === '' ? {} : { name: name.trim() }) };
  const content = stringifyLossless(body);
  const key = useMemo(() => newOperationId(), [content]);
  useEffect(() => setChecked(null), [content]);
  const dryRun = async (): Promise<void> => {
    try {
      setChecked({
        kind: 'ok',
        check: await call({ answer: 'SubmitCheck', method: 'POST', path: paths.checkWorkflow(), body }),
      });
    } catch (error) {
      setChecked({ kind: 'refused', title: problemTitle(error, t), text: problemText(error, t) });
    }
  };
  const submit = async (): Promise<void> => {
    if (sending) return;
    setSending(true);
    const done = await submitWorkflow(
      name.trim() === '' ? t('facet.workflow') : name.trim(),
      body,
      key,
      ({ id, kind }) => router.push(`/${kind === 'task' ? 'tasks' : 'workflows'}/${encodeURIComponent(id)}`),
    );
    if (!done) setSending(false);
  };
  return (
    <Section title={t('builder.submitTitle')}>
      <div className="flex flex-col gap-3 py-3">
        <Input
          aria-label={t('builder.name')}
          placeholder={t('builder.name')}
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <CheckResult checked={checked} />
        {wrong > 0 && tasks > 0 && <p className="text-failure text-xs">{t('builder.wrong', { n: wrong })}</p>}
        <div className="flex justify-end gap-2">
          <Button disabled={tasks === 0 || wrong > 0} onClick={() => void dryRun()}>
            <ClipboardCheck className="size-3.5" aria-hidden />
            {t('builder.dryRun')}
          </Button>
          <Button kind="primary" disabled={tasks === 0 || wrong > 0 || sending} onClick={() => void submit()}>
            {sending ? t('form.sending') : t('builder.submit', { n: tasks })}
          </Button>
        </div>
      </div>
    </Section>
  );
}

function CheckResult({ checked }: { checked: Checked | null }) {
  const t = useT();
  if (checked === null) return null;
  if (checked.kind === 'refused') {
    return (
      <p role="alert" className="text-failure text-xs wrap-anywhere">
        <b>{checked.title}</b> {checked.text}
      </p>
    );
  }
  const { tasks, joins, bytes, limit, unknownNames, warnings } = checked.check;
  return (
    <div role="status" className="text-xs">
      <p className="text-started font-semibold">{t('builder.checked', { tasks, joins })}</p>
      <p className="text-ink3">{t('form.size', { size: bytesText(bytes), limit: bytesText(limit) })}</p>
      {unknownNames.map((each) => (
        <p key={each} className="text-retry">
          {t('form.unknownNameLong', { name: each })}
        </p>
      ))}
      {warnings.map((warning) => (
        <p key={warning} className="text-retry">
          {warning}
        </p>
      ))}
    </div>
  );
}
