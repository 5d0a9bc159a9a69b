'use client';
import { LIMITS, looksLikeMachinery, payloadBytes } from '@leasehold/core/model';
import { Braces, TriangleAlert } from 'lucide-react';
import { useRouter, useSearchParams } from 'next/navigation';
import { useMemo, useState, type FormEvent } from 'react';
import { newOperationId } from '../api/operation-id';
import { useActions } from '../api/actions';
import { parseLossless, stringifyLossless } from '../api/lossless';
import { useT } from '../i18n';
import { bytesText } from '../look/number';
import { useNow, useTime } from '../time';
import { Button } from '../ui/button';
import { Area, Field } from '../ui/field';
import { Code, Page, PageHead, Section } from '../ui/layout';
import { Loading } from '../ui/states';
import { Tabs } from '../ui/tabs';
import { ArgFields } from './arg-fields';
import { parseArgs, specsOf } from './args';
import { FreeArgs, type FreeArg } from './free-args';
import { NamePicker } from './name-picker';
import { NO_OPTIONS, OptionFields, readOptions, type RunOptions } from './options';
import { useHandlers, type Handler } from './use-handlers';

export function NewTaskPage() {
  const t = useT();
  const params = useSearchParams();
  const router = useRouter();
  const name = params.get('name') ?? '';
  const { handlers, byName } = useHandlers();
  const pick = (next: string): void => router.replace(`/tasks/new?name=${encodeURIComponent(next)}`, { scroll: false });
  return (
    <Page>
      <title>{`${t('action.newTask')} · Leasehold`}</title>
      <PageHead title={t('action.newTask')} note={t('form.newTaskNote')} />
      {handlers === undefined ? (
        <Loading rows={5} />
      ) : (
        <div className="grid items-start gap-x-8 gap-y-4 md:grid-cols-[280px_minmax(0,1fr)]">
          <div className="max-md:max-h-64 max-md:overflow-auto md:sticky md:top-4 md:max-h-[calc(100dvh-160px)] md:overflow-auto">
            <NamePicker handlers={handlers} value={name} onPick={pick} autoFocus={name === ''} />
          </div>
          <TaskForm key={name} name={name} handler={byName.get(name)} />
        </div>
      )}
    </Page>
  );
}

function TaskForm({ name, handler }: { name: string; handler: Handler | undefined }) {
  const t = useT();
  const [tab, setTab] = useState<'form' | 'json'>('form');
  const [text, setText] = useState('');
  return (
    <div className="min-w-0">
      <Tabs
        value={tab}
        onChange={setTab}
        label={t('form.how')}
        tabs={[
          ['form', t('form.tabForm')],
          ['json', 'JSON'],
        ]}
      >
        {tab === 'form' ? (
          <FieldForm name={name} handler={handler} onJson={(json) => (setText(json), setTab('json'))} />
        ) : (
          <JsonForm text={text} onText={setText} />
        )}
      </Tabs>
    </div>
  );
}

interface FieldFormProps {
  readonly name: string;
  readonly handler: Handler | undefined;
  readonly onJson: (json: string) => void;
}

function FieldForm({ name, handler, onJson }: FieldFormProps) {
  const t = useT();
  const time = useTime();
  const now = useNow();
  const [texts, setTexts] = useState<readonly string[]>([]);
  const [free, setFree] = useState<readonly FreeArg[]>([]);
  const [touched, setTouched] = useState<ReadonlySet<number> | 'all'>(new Set());
  const [options, setOptions] = useState<RunOptions>(NO_OPTIONS);
  const specs =
    handler === undefined ? free.map((arg, i) => ({ name: `args[${i}]`, type: arg.type })) : specsOf(handler, texts);
  const given = handler === undefined ? free.map((arg) => arg.text) : texts;
  const { args, problems } = parseArgs(specs, given);
  const read = readOptions(options, time.fromInput, now);
  const queue = handler !== undefined && options.queue.trim() === '' ? { queue: handler.queue } : {};
  const signature = { name, args, ...queue, ...read.fields };
  const wrong = problems.size > 0 || Object.keys(read.problems).length > 0;

  if (name === '') return <p className="text-ink3 py-8">{t('form.pickName')}</p>;
  return (
    <SubmitForm
      signature={signature}
      name={name}
      wrong={wrong}
      onTry={() => setTouched('all')}
      bytes={payloadBytes(args)}
    >
      <div className="py-3">
        <h2 className="text-base font-semibold">{name}</h2>
        {handler?.description !== undefined && <p className="text-ink2">{handler.description}</p>}
        {handler === undefined && <Warning>{t('form.unknownNameLong', { name })}</Warning>}
        {handler?.differing === true && <Warning>{t('form.differing')}</Warning>}
      </div>
      <Section
        title={t('form.args')}
        aside={handler === undefined ? undefined : t('form.servedBy', { n: handler.nodes.length })}
      >
        <div className="py-3">
          {handler === undefined ? (
            <FreeArgs args={free} problems={problems} onChange={setFree} />
          ) : (
            <ArgFields
              specs={specs}
              texts={texts}
              problems={problems}
              touched={touched}
              onChange={(index, value) =>
                setTexts((old) => specs.map((_, i) => (i === index ? value : (old[i] ?? ''))))
              }
              onBlur={(index) => setTouched((old) => (old === 'all' ? old : new Set([...old, index])))}
            />
          )}
        </div>
      </Section>
      <Section
        title={t('form.options')}
        aside={
          <button
            type="button"
            className="hover:text-ink inline-flex items-center gap-1"
            onClick={() => onJson(stringifyLossless(signature, 2))}
          >
            <Braces className="size-3" aria-hidden />
            {t('form.asJson')}
          </button>
        }
      >
        <div className="py-3">
          <OptionFields
            options={options}
            problems={read.problems}
            defaultQueue={handler?.queue}
            defaults={handler?.defaults}
            onChange={setOptions}
          />
        </div>
      </Section>
    </SubmitForm>
  );
}

export function Warning({ children }: { children: React.ReactNode }) {
  return (
    <p className="text-retry mt-2 flex items-start gap-1.5 text-xs">
      <TriangleAlert className="mt-0.5 size-3.5 shrink-0" aria-hidden />
      {children}
    </p>
  );
}

interface SubmitProps {
  readonly signature: unknown;
  readonly name: string;
  readonly wrong: boolean;
  readonly bytes: number;
  readonly onTry: () => void;
  readonly children: React.ReactNode;
}

/** One id for one content: pressed twice, or sent again after a lost answer, it makes one task. */
function SubmitForm({ signature, name, wrong, bytes, onTry, children }: SubmitProps) {
  const t = useT();
  const router = useRouter();
  const { submitTask } = useActions();
  const [sending, setSending] = useState(false);
  const content = stringifyLossless(signature);
  // eslint-disable-next-line react-hooks/exhaustive-deps -- another content is another operation
  const key = useMemo(() => newOperationId(), [content]);
  const tooLarge = bytes > LIMITS.payloadBytes;
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    onTry();
    if (wrong || tooLarge || sending) return;
    setSending(true);
    const done = await submitTask(name, signature, key, ({ id }) => router.push(`/tasks/${encodeURIComponent(id)}`));
    if (!done) setSending(false);
  };
  return (
    <form onSubmit={(event) => void submit(event)} noValidate aria-label={t('action.newTask')}>
      {children}
      <div className="border-line bg-bg sticky bottom-0 flex flex-wrap items-center gap-3 border-t py-3 max-sm:bottom-0">
        <span className={tooLarge ? 'text-failure text-xs' : 'text-ink3 text-xs'}>
          {t('form.size', { size: bytesText(bytes), limit: bytesText(LIMITS.payloadBytes) })}
        </span>
        <span className="grow" />
        <Button type="submit" kind="primary" disabled={sending} className="h-8 px-4">
          {sending ? t('form.sending') : t('form.submit')}
        </Button>
      </div>
    </form>
  );
}

interface ReadJson {
  readonly value?: unknown;
  readonly problem?: string;
  readonly kind?: 'signature' | 'workflow' | 'machinery';
}

function readJson(text: string): ReadJson {
  if (text.trim() === '') return {};
  try {
    const value = parseLossless(text);
    if (typeof value !== 'object' || value === null) return { problem: 'not an object' };
    if (looksLikeMachinery(value)) return { value, kind: 'machinery' };
    return { value, kind: 'kind' in value ? 'workflow' : 'signature' };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

const EXAMPLE = `{
  "name": "processInventory",
  "args": [
    { "type": "string", "value": "SKU-99283" },
    { "type": "int", "value": "50" }
  ],
  "queue": "orders"
}`;

/** Our own JSON of a signature or a workflow, or Machinery's: told apart by its keys. */
function JsonForm({ text, onText }: { text: string; onText: (text: string) => void }) {
  const t = useT();
  const router = useRouter();
  const { submitTask, submitWorkflow } = useActions();
  const [sending, setSending] = useState(false);
  const read = useMemo(() => readJson(text), [text]);
  // eslint-disable-next-line react-hooks/exhaustive-deps -- another content is another operation
  const key = useMemo(() => newOperationId(), [text]);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (read.value === undefined || sending) return;
    setSending(true);
    const named = (read.value as { readonly name?: unknown }).name;
    const name = typeof named === 'string' ? named : t('form.fromJson');
    const done =
      read.kind === 'signature'
        ? await submitTask(name, read.value, key, ({ id }) => router.push(`/tasks/${encodeURIComponent(id)}`))
        : await submitWorkflow(
            name,
            { workflow: read.value, format: read.kind === 'machinery' ? 'machinery' : 'leasehold' },
            key,
            ({ id, kind }) => router.push(`/${kind === 'task' ? 'tasks' : 'workflows'}/${encodeURIComponent(id)}`),
          );
    if (!done) setSending(false);
  };
  return (
    <form onSubmit={(event) => void submit(event)} className="py-3">
      <Field
        label={t('form.jsonLabel')}
        help={read.kind === undefined ? t('form.jsonHelp') : t(`form.json.${read.kind}`)}
        error={read.problem}
      >
        {(props) => (
          <Area
            {...props}
            rows={18}
            value={text}
            placeholder={EXAMPLE}
            onChange={(event) => onText(event.target.value)}
          />
        )}
      </Field>
      <div className="mt-3 flex items-center gap-3">
        <Code className="text-ink3">{bytesText(new TextEncoder().encode(text).length)}</Code>
        <span className="grow" />
        <Button type="submit" kind="primary" disabled={sending || read.value === undefined} className="h-8 px-4">
          {sending ? t('form.sending') : t('form.submit')}
        </Button>
      </div>
    </form>
  );
}
