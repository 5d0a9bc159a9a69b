'use client';
import type { HandlerDefaults } from '@leasehold/wire';
import { useT } from '../i18n';
import { useSummary } from '../live/hooks';
import { useTime } from '../time';
import { Field, Input, Select } from '../ui/field';

/** How to run it, as typed. */
export interface RunOptions {
  readonly queue: string;
  readonly priority: string;
  readonly eta: string;
  readonly retries: string;
  readonly backoff: '' | 'fibonacci' | 'exponential' | 'fixed';
  readonly timeoutS: string;
  readonly unique: string;
  readonly tags: string;
}

export const NO_OPTIONS: RunOptions = {
  queue: '',
  priority: '',
  eta: '',
  retries: '',
  backoff: '',
  timeoutS: '',
  unique: '',
  tags: '',
};

export type OptionProblems = Partial<Record<keyof RunOptions, 'whole' | 'range' | 'time' | 'past'>>;

function wholeIn(text: string, min: number, max: number): number | 'whole' | 'range' {
  if (!/^-?\d+$/.test(text.trim())) return 'whole';
  const value = Number(text);
  return value >= min && value <= max ? value : 'range';
}

/** The parts of a signature that were given, and what is wrong with the others. */
export function readOptions(
  options: RunOptions,
  fromInput: (text: string) => number | null,
  nowMs: number,
): { readonly fields: Readonly<Record<string, unknown>>; readonly problems: OptionProblems } {
  const fields: Record<string, unknown> = {};
  const problems: OptionProblems = {};
  const number = (
    part: 'priority' | 'retries' | 'timeoutS',
    min: number,
    max: number,
    put: (value: number) => void,
  ): void => {
    if (options[part].trim() === '') return;
    const value = wholeIn(options[part], min, max);
    if (typeof value === 'number') put(value);
    else problems[part] = value;
  };
  if (options.queue.trim() !== '') fields['queue'] = options.queue.trim();
  number('priority', 0, 9, (value) => (fields['priority'] = value));
  const retry: Record<string, unknown> = {};
  number('retries', 0, 10_000, (value) => (retry['count'] = value));
  if (options.backoff !== '') retry['backoff'] = options.backoff;
  if (Object.keys(retry).length > 0) fields['retry'] = retry;
  number('timeoutS', 1, 2_147_483, (value) => (fields['timeoutMs'] = value * 1_000));
  if (options.eta !== '') {
    const eta = fromInput(options.eta);
    if (eta === null) problems.eta = 'time';
    else if (eta <= nowMs) problems.eta = 'past';
    else fields['etaMs'] = eta;
  }
  if (options.unique.trim() !== '') fields['unique'] = { key: options.unique.trim(), onConflict: 'reject' };
  const tags = options.tags
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
  if (tags.length > 0) fields['tags'] = tags;
  return { fields, problems };
}

const NONE: HandlerDefaults = {};

interface Props {
  readonly options: RunOptions;
  readonly problems: OptionProblems;
  readonly defaultQueue: string | undefined;
  /** What the task's definition gives; it is applied when it is submitted. */
  readonly defaults?: HandlerDefaults | undefined;
  readonly onChange: (next: RunOptions) => void;
}

export function OptionFields({ options, problems, defaultQueue, defaults = NONE, onChange }: Props) {
  const t = useT();
  const time = useTime();
  const { facets } = useSummary();
  const set = <K extends keyof RunOptions>(part: K, value: RunOptions[K]): void =>
    onChange({ ...options, [part]: value });
  const error = (part: keyof RunOptions): string | undefined => {
    const problem = problems[part];
    return problem === undefined ? undefined : t(`form.problem.${problem}`);
  };
  return (
    <div className="grid grid-cols-2 gap-x-3 gap-y-3 sm:grid-cols-3">
      <Field label={t('form.queue')}>
        {(props) => (
          <>
            <Input
              {...props}
              list="queues"
              value={options.queue}
              placeholder={defaultQueue ?? 'default'}
              onChange={(event) => set('queue', event.target.value)}
            />
            <datalist id="queues">
              {(facets?.queues ?? []).map(({ name }) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </datalist>
          </>
        )}
      </Field>
      <Field label={t('form.priority')} help={t('form.priorityHelp')} error={error('priority')}>
        {(props) => (
          <Input
            {...props}
            inputMode="numeric"
            placeholder={String(defaults.priority ?? 0)}
            value={options.priority}
            onChange={(event) => set('priority', event.target.value)}
          />
        )}
      </Field>
      <Field label={t('form.eta')} help={time.zone} error={error('eta')} className="max-sm:col-span-2">
        {(props) => (
          <Input
            {...props}
            type="datetime-local"
            step={1}
            value={options.eta}
            onChange={(event) => set('eta', event.target.value)}
          />
        )}
      </Field>
      <Field label={t('form.retries')} error={error('retries')}>
        {(props) => (
          <Input
            {...props}
            inputMode="numeric"
            placeholder={String(defaults.retries ?? 0)}
            value={options.retries}
            onChange={(event) => set('retries', event.target.value)}
          />
        )}
      </Field>
      <Field label={t('form.backoff')}>
        {(props) => (
          <Select
            {...props}
            value={options.backoff}
            onChange={(event) => set('backoff', event.target.value as RunOptions['backoff'])}
          >
            <option value="">
              {defaults.backoff === undefined ? t('form.default') : `${t('form.default')}: ${defaults.backoff}`}
            </option>
            <option value="fibonacci">fibonacci</option>
            <option value="exponential">exponential</option>
            <option value="fixed">fixed</option>
          </Select>
        )}
      </Field>
      <Field label={t('form.timeout')} help={t('form.seconds')} error={error('timeoutS')}>
        {(props) => (
          <Input
            {...props}
            inputMode="numeric"
            placeholder={String((defaults.timeoutMs ?? 3_600_000) / 1_000)}
            value={options.timeoutS}
            onChange={(event) => set('timeoutS', event.target.value)}
          />
        )}
      </Field>
      <Field label={t('form.unique')} help={t('form.uniqueHelp')}>
        {(props) => <Input {...props} value={options.unique} onChange={(event) => set('unique', event.target.value)} />}
      </Field>
      <Field label={t('form.tags')} help={t('form.tagsHelp')} className="sm:col-span-2">
        {(props) => <Input {...props} value={options.tags} onChange={(event) => set('tags', event.target.value)} />}
      </Field>
    </div>
  );
}
