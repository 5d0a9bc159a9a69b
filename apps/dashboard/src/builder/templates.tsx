'use client';
/** Saved workflows in the builder: save what is built, load one with values in its holes, copy it as a program. */
import { useQuery } from '@tanstack/react-query';
import { fillTemplate, LeaseholdError, toTypeScript, type Workflow } from '@leasehold/core/model';
import type { HandlerView, TemplateView } from '@leasehold/wire';
import { useState, type FormEvent } from 'react';
import { useMissing } from '../access/may';
import { call } from '../api/call';
import { paths } from '../api/paths';
import { useTemplateActions } from '../api/template-actions';
import { stringifyLossless } from '../api/lossless';
import { ArgFields } from '../forms/arg-fields';
import { parseArgs } from '../forms/args';
import { useT } from '../i18n';
import { Button, ReasonButton } from '../ui/button';
import { CopyButton } from '../ui/copy';
import { Field, Input } from '../ui/field';
import { Tag } from '../ui/layout';
import { ReasonDialog } from '../ui/reason-dialog';
import { draftOf, type Build } from './build';
import { newBox, type BoxDraft } from './draft';

interface Props {
  readonly build: Build;
  readonly handlers: ReadonlyMap<string, HandlerView>;
  readonly onLoad: (root: BoxDraft, nextKey: number) => void;
}

export function TemplatesPane({ build, handlers, onLoad }: Props) {
  const t = useT();
  const saved = useQuery({
    queryKey: ['templates'],
    queryFn: ({ signal }) => call({ answer: 'TemplateList', path: paths.templates(), signal }),
  });
  const [chosen, setChosen] = useState<TemplateView | undefined>(undefined);
  const load = (workflow: Workflow): void => {
    const { draft, next } = draftOf(workflow, handlers);
    if (draft.kind === 'task') onLoad(newBox(next, 'chain', [draft]), next + 1);
    else onLoad(draft, next);
  };
  const reload = (): void => void saved.refetch();
  const rows = saved.data?.rows ?? [];
  return (
    <div className="flex flex-col gap-5 py-3">
      <p className="text-ink2 text-xs">{t('template.note')}</p>
      {saved.isSuccess && rows.length === 0 && <p className="text-ink3">{t('template.none')}</p>}
      <ul aria-label={t('template.saved')}>
        {rows.map((template) => (
          <TemplateItem
            key={template.id}
            template={template}
            open={chosen?.id === template.id}
            onOpen={() => setChosen(chosen?.id === template.id ? undefined : template)}
            onLoad={load}
            onGone={reload}
          />
        ))}
      </ul>
      <SaveForm build={build} rows={rows} onSaved={reload} />
    </div>
  );
}

interface ItemProps {
  readonly template: TemplateView;
  readonly open: boolean;
  readonly onOpen: () => void;
  readonly onLoad: (workflow: Workflow) => void;
  readonly onGone: () => void;
}

function TemplateItem({ template, open, onOpen, onLoad, onGone }: ItemProps) {
  const t = useT();
  const { remove } = useTemplateActions();
  const [asking, setAsking] = useState(false);
  const { title, parameters } = template;
  return (
    <li className="border-line border-b py-2">
      <div className="flex flex-wrap items-center gap-2">
        <span className="min-w-0 grow">
          <b className="block truncate font-semibold">{title}</b>
          <span className="flex flex-wrap gap-1">
            {parameters.map(({ name, type }) => (
              <Tag key={name}>{`${name}: ${type}`}</Tag>
            ))}
          </span>
        </span>
        <CopyButton text={stringifyLossless({ title, workflow: template.workflow }, 2)} label={t('template.export')} />
        <Button size="sm" kind="ghost" onClick={() => setAsking(true)}>
          {t('template.delete')}
        </Button>
        <Button
          size="sm"
          aria-expanded={parameters.length > 0 ? open : undefined}
          onClick={parameters.length > 0 ? onOpen : () => onLoad(template.workflow as Workflow)}
        >
          {t('template.load')}
        </Button>
      </div>
      {open && <FillForm template={template} onLoad={onLoad} />}
      <ReasonDialog
        open={asking}
        onOpenChange={setAsking}
        title={t('template.deleteTitle', { title })}
        text={t('template.deleteText')}
        action={t('template.delete')}
        onDone={(reason) => {
          setAsking(false);
          void remove(template, reason, onGone);
        }}
      />
    </li>
  );
}

/** A field for each hole; left as they are, the holes can be edited in the builder. */
function FillForm({ template, onLoad }: Pick<ItemProps, 'template' | 'onLoad'>) {
  const t = useT();
  const [texts, setTexts] = useState<readonly string[]>([]);
  const workflow = template.workflow as Workflow;
  const { parameters } = template;
  const { args, problems } = parseArgs(parameters, texts);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (problems.size > 0) return;
    const values = Object.fromEntries(parameters.map(({ name }, i) => [name, args[i]?.value]));
    onLoad(fillTemplate({ workflow, parameters }, values));
  };
  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-3 py-3">
      <ArgFields
        specs={parameters}
        texts={texts}
        problems={problems}
        touched={new Set()}
        onChange={(index, text) => setTexts((old) => parameters.map((_, i) => (i === index ? text : (old[i] ?? ''))))}
      />
      <div className="flex justify-end gap-2">
        <Button onClick={() => onLoad(workflow)}>{t('template.loadHoles')}</Button>
        <Button type="submit" kind="primary" disabled={problems.size > 0}>
          {t('template.loadFilled')}
        </Button>
      </div>
    </form>
  );
}

function SaveForm({ build, rows, onSaved }: { build: Build; rows: readonly TemplateView[]; onSaved: () => void }) {
  const t = useT();
  const { save } = useTemplateActions();
  const missing = useMissing('template.write');
  const [title, setTitle] = useState('');
  const id = idOf(title);
  const before = rows.find((row) => row.id === id);
  const ready = id !== '' && build.problems.every(({ code }) => code === 'hole' || code === 'unknown-name');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (ready) void save({ id, revision: before?.revision ?? '0' }, title.trim(), build.workflow, onSaved);
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-3">
      <Field label={t('template.title')} help={before === undefined ? t('template.holes') : t('template.replaces')}>
        {(props) => (
          <Input {...props} maxLength={120} value={title} onChange={(event) => setTitle(event.target.value)} />
        )}
      </Field>
      <div className="flex flex-wrap items-center justify-end gap-2">
        <span className="text-ink2 mr-auto inline-flex items-center gap-1 text-xs">
          {t('template.typescript')}
          <CopyButton text={programOf(build.workflow)} label={t('template.typescript')} />
        </span>
        {missing === undefined ? (
          <Button type="submit" kind="primary" disabled={!ready}>
            {t('template.save')}
          </Button>
        ) : (
          <ReasonButton kind="primary" reason={missing}>
            {t('template.save')}
          </ReasonButton>
        )}
      </div>
    </form>
  );
}

/** The same title is the same template; letters that an id cannot have become their code points. */
function idOf(title: string): string {
  const words = title.trim().toLowerCase().replace(/\s+/g, '-');
  return [...words]
    .map((c) => (/[a-z0-9_-]/.test(c) ? c : `_${c.codePointAt(0)?.toString(16) ?? ''}`))
    .join('')
    .slice(0, 150);
}

function programOf(workflow: Workflow): string {
  try {
    return toTypeScript(workflow);
  } catch (error) {
    if (error instanceof LeaseholdError) return '';
    throw error;
  }
}
