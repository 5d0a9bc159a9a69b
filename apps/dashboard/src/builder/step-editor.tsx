'use client';
import type { FailurePolicy } from '@leasehold/core/model';
import type { HandlerView } from '@leasehold/wire';
import { useEffect, useRef, useState, type Dispatch, type RefObject } from 'react';
import { ArgFields } from '../forms/arg-fields';
import { specsOf } from '../forms/args';
import { NamePicker } from '../forms/name-picker';
import { signatureText, type Handler } from '../forms/use-handlers';
import { useT, type Translate } from '../i18n';
import { Button } from '../ui/button';
import { Field, Input, Select } from '../ui/field';
import { isWarning, type Problem } from './build';
import { isCallback, type BoxDraft, type BoxKind, type Place, type TaskDraft } from './draft';
import type { Edit } from './edit';

interface Props {
  readonly place: Place;
  readonly handlers: readonly Handler[];
  readonly byName: ReadonlyMap<string, HandlerView>;
  readonly problems: readonly Problem[];
  readonly dispatch: Dispatch<Edit>;
}

export function tellProblem(problem: Problem, t: Translate): string {
  switch (problem.code) {
    case 'no-name':
      return t('builder.problem.noName');
    case 'empty':
      return t('builder.problem.empty');
    case 'chord-short':
      return t('builder.problem.chordShort');
    case 'bad-number':
      return t('builder.problem.badNumber');
    case 'unknown-name':
      return t('form.unknownNameLong', { name: problem.name });
    case 'bad-value':
      return `${problem.arg}: ${problem.text}`;
    case 'missing':
      return t('builder.problem.missing', { arg: problem.arg, type: problem.type });
    case 'too-many':
      return t('builder.problem.tooMany', { takes: problem.takes, gets: problem.gets });
    case 'hole':
      return t('template.hole', { arg: problem.arg, name: problem.name });
    case 'misfit':
      return t('builder.problem.misfit', { arg: problem.arg, wants: problem.wants, gets: problem.gets });
  }
}

/** Escape leads back to the outline: hands that came from there need no way round. */
function useWayBack(): RefObject<HTMLDivElement | null> {
  const editor = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = editor.current;
    const toOutline = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || event.isComposing) return;
      event.preventDefault();
      document.querySelector<HTMLElement>('[role="tree"] [tabindex="0"]')?.focus();
    };
    element?.addEventListener('keydown', toOutline);
    return () => element?.removeEventListener('keydown', toOutline);
  }, []);
  return editor;
}

/** What is chosen in the outline, in full. */
export function StepEditor(props: Props) {
  const { place, problems } = props;
  const t = useT();
  const editor = useWayBack();
  return (
    <div ref={editor} className="flex flex-col gap-4">
      {place.draft.kind === 'task' ? (
        <TaskEditor key={place.draft.key} {...props} draft={place.draft} />
      ) : (
        <BoxEditor key={place.draft.key} draft={place.draft} dispatch={props.dispatch} />
      )}
      {problems.length > 0 && (
        <ul className="flex flex-col gap-1 text-xs" aria-label={t('builder.problems')}>
          {problems.map((problem, i) => (
            <li key={i} className={isWarning(problem) ? 'text-retry' : 'text-failure'}>
              {tellProblem(problem, t)}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function TaskEditor({ place, draft, handlers, byName, problems, dispatch }: Props & { readonly draft: TaskDraft }) {
  const t = useT();
  const [picking, setPicking] = useState(draft.name === '');
  const fields = useRef<HTMLDivElement>(null);
  const picked = useRef(false);
  // From the name on to its first argument.
  useEffect(() => {
    if (!picked.current || picking) return;
    picked.current = false;
    fields.current?.querySelector<HTMLElement>('input, textarea, select')?.focus();
  }, [picking]);
  const handler = byName.get(draft.name);
  const specs = specsOf(handler, draft.texts);
  const change = (part: Partial<TaskDraft>): void =>
    dispatch({ do: 'change', key: draft.key, change: (old) => (old.kind === 'task' ? { ...old, ...part } : old) });
  const wrong = new Map(
    problems.flatMap((problem) =>
      problem.code === 'bad-value'
        ? [[specs.findIndex(({ name }) => name === problem.arg), problem.text] as const]
        : [],
    ),
  );
  if (picking) {
    return (
      <div className="max-h-96 overflow-auto">
        <NamePicker
          handlers={handlers}
          value={draft.name}
          autoFocus
          onPick={(name) => {
            change({ name, texts: [] });
            picked.current = true;
            setPicking(false);
          }}
        />
      </div>
    );
  }
  return (
    <>
      <div className="flex items-start gap-2">
        <div className="min-w-0 grow">
          <p className="text-base font-semibold wrap-anywhere">{draft.name}</p>
          {handler !== undefined && (
            <p className="text-2xs text-ink3 font-mono wrap-anywhere">{signatureText(handler)}</p>
          )}
          {handler?.description !== undefined && <p className="text-ink2 mt-0.5 text-xs">{handler.description}</p>}
        </div>
        <Button size="sm" onClick={() => setPicking(true)}>
          {t('builder.changeName')}
        </Button>
      </div>
      <div ref={fields}>
        <ArgFields
          specs={specs}
          texts={draft.texts}
          problems={wrong}
          touched="all"
          onChange={(index, text) =>
            change({ texts: specs.map((_, i) => (i === index ? text : (draft.texts[i] ?? ''))) })
          }
        />
      </div>
      {place.parent?.kind === 'chain' && place.index > 0 && (
        <p className="text-ink3 text-xs">{t('builder.resultsFollow')}</p>
      )}
      <div className="grid grid-cols-2 gap-3">
        <Field label={t('form.queue')}>
          {(props) => (
            <Input
              {...props}
              value={draft.queue}
              placeholder={handler?.queue ?? 'default'}
              onChange={(event) => change({ queue: event.target.value })}
            />
          )}
        </Field>
        <Field label={t('form.retries')}>
          {(props) => (
            <Input
              {...props}
              inputMode="numeric"
              placeholder="0"
              value={draft.retries}
              onChange={(event) => change({ retries: event.target.value })}
            />
          )}
        </Field>
      </div>
      <label className="flex items-start gap-2 text-xs">
        <input
          type="checkbox"
          checked={draft.immutable}
          onChange={(event) => change({ immutable: event.target.checked })}
          className="mt-0.5"
        />
        {isCallback(place) ? t('builder.immutableCallback') : t('builder.immutable')}
      </label>
    </>
  );
}

const KINDS: readonly BoxKind[] = ['chain', 'group', 'chord'];
const POLICIES: readonly FailurePolicy[] = ['stop', 'wait-all', 'ignore'];

function BoxEditor({ draft, dispatch }: { draft: BoxDraft; dispatch: Dispatch<Edit> }) {
  const t = useT();
  const change = (part: Partial<BoxDraft>): void =>
    dispatch({ do: 'change', key: draft.key, change: (old) => (old.kind === 'task' ? old : { ...old, ...part }) });
  return (
    <>
      <Field label={t('builder.kind')} help={t(`builder.kindHelp.${draft.kind}`)}>
        {(props) => (
          <Select {...props} value={draft.kind} onChange={(event) => change({ kind: event.target.value as BoxKind })}>
            {KINDS.map((kind) => (
              <option key={kind} value={kind}>
                {t(`flow.kind.${kind}`)}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label={t('builder.onFailure')} help={t(`builder.policy.${draft.onFailure}`)}>
        {(props) => (
          <Select
            {...props}
            value={draft.onFailure}
            onChange={(event) => change({ onFailure: event.target.value as FailurePolicy })}
          >
            {POLICIES.map((policy) => (
              <option key={policy} value={policy}>
                {policy}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {draft.kind !== 'chain' && (
        <Field label={t('builder.concurrency')} help={t('builder.concurrencyHelp')}>
          {(props) => (
            <Input
              {...props}
              inputMode="numeric"
              value={draft.concurrency}
              onChange={(event) => change({ concurrency: event.target.value })}
            />
          )}
        </Field>
      )}
    </>
  );
}
