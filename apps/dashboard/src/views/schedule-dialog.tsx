'use client';
import type { ScheduleDetail } from '@leasehold/wire';
import { useState, type FormEvent } from 'react';
import { parseLossless } from '../api/lossless';
import { useScheduleActions } from '../api/schedule-actions';
import { useT, useWords, type PlainKey } from '../i18n';
import { useNow, useTime } from '../time';
import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { Area, Field, Input, Select } from '../ui/field';
import { cronWords, firesOf } from './cron';

export const MISSED_WORDS: Readonly<Record<string, PlainKey>> = {
  skip: 'schedule.missed.skip',
  one: 'schedule.missed.one',
  all: 'schedule.missed.all',
};
export const OVERLAP_WORDS: Readonly<Record<string, PlainKey>> = {
  allow: 'schedule.overlap.allow',
  skip: 'schedule.overlap.skip',
  queue: 'schedule.overlap.queue',
  'cancel-other': 'schedule.overlap.cancel-other',
};

interface Props {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  /** Absent: a new one. */
  readonly detail?: ScheduleDetail;
  readonly onSaved?: (id: string) => void;
}

export function ScheduleDialog(props: Props) {
  const t = useT();
  const id = props.detail?.row.id;
  return (
    <Dialog
      open={props.open}
      onOpenChange={props.onOpenChange}
      title={id === undefined ? t('schedule.new') : t('schedule.editTitle', { id })}
      description={id === undefined ? t('schedule.newText') : t('schedule.editText')}
      wide
    >
      <ScheduleForm {...props} />
    </Dialog>
  );
}

const EXAMPLE = '{ "kind": "task", "signature": { "name": "", "queue": "", "args": [] } }';

/** The workflow that was typed; undefined when it is not JSON. */
function readJson(text: string): { readonly workflow?: unknown } | undefined {
  if (text.trim() === '') return {};
  try {
    return { workflow: parseLossless(text) };
  } catch {
    return undefined;
  }
}

function ScheduleForm({ onOpenChange, detail, onSaved }: Props) {
  const t = useT();
  const time = useTime();
  const { save } = useScheduleActions();
  const row = detail?.row;
  const [id, setId] = useState(row?.id ?? '');
  const [spec, setSpec] = useState(row?.spec ?? '');
  const [zone, setZone] = useState(row?.zone ?? time.zone);
  const [missed, setMissed] = useState(row?.missed ?? 'one');
  const [overlap, setOverlap] = useState(row?.overlap ?? 'allow');
  const [text, setText] = useState(row === undefined ? EXAMPLE : '');
  const bounds = useBounds(detail);
  const read = readJson(text);
  const fires = useFires(spec, zone);
  const ready =
    id.trim() !== '' && spec.trim() !== '' && fires.problem === undefined && read !== undefined && !bounds.wrong;
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (!ready) return;
    const seen = { id: id.trim(), name: id.trim(), revision: row?.revision ?? '0' };
    const draft = { spec, zone, missed, overlap, ...bounds.values, ...read };
    await save(seen, draft, () => {
      onOpenChange(false);
      onSaved?.(seen.id);
    });
  };
  return (
    <form onSubmit={(event) => void submit(event)} className="grid gap-3 pt-2 sm:grid-cols-2">
      {row === undefined && (
        <Field label={t('schedule.id')} help={t('schedule.idHelp')} className="sm:col-span-2">
          {(props) => <Input {...props} autoFocus maxLength={150} value={id} onChange={(e) => setId(e.target.value)} />}
        </Field>
      )}
      <Field label={t('schedule.spec')} help={fires.help} error={fires.problem}>
        {(props) => (
          <Input
            {...props}
            maxLength={500}
            value={spec}
            onChange={(e) => setSpec(e.target.value)}
            className="font-mono"
          />
        )}
      </Field>
      <Field label={t('schedule.zone')}>
        {(props) => <Input {...props} maxLength={100} value={zone} onChange={(e) => setZone(e.target.value)} />}
      </Field>
      <Choice label={t('schedule.missed')} words={MISSED_WORDS} value={missed} onChange={setMissed} />
      <Choice label={t('schedule.overlap')} words={OVERLAP_WORDS} value={overlap} onChange={setOverlap} />
      <BoundFields bounds={bounds} />
      <Field
        label={row === undefined ? t('schedule.workflow') : t('schedule.workflowKeep')}
        help={row === undefined ? t('schedule.workflowHelp') : t('schedule.workflowKeepHelp')}
        error={read === undefined ? t('schedule.notJson') : undefined}
        className="sm:col-span-2"
      >
        {(props) => <Area {...props} rows={6} value={text} onChange={(e) => setText(e.target.value)} />}
      </Field>
      <div className="flex justify-end gap-2 sm:col-span-2">
        <Button onClick={() => onOpenChange(false)}>{t('action.back')}</Button>
        <Button type="submit" kind="primary" disabled={!ready}>
          {t('action.save')}
        </Button>
      </div>
    </form>
  );
}

interface Texts {
  readonly start: string;
  readonly end: string;
  readonly count: string;
  readonly jitterS: string;
}

interface Bounds {
  readonly texts: Texts;
  readonly set: (part: Partial<Texts>) => void;
  readonly values: { startMs: number | null; endMs: number | null; count: number | null; jitterMs: number | null };
  readonly problems: { readonly [K in keyof Texts]: boolean };
  readonly wrong: boolean;
}

/** An empty field is no bound. Times are in the zone of the page, as everywhere else on it. */
function useBounds(detail: ScheduleDetail | undefined): Bounds {
  const time = useTime();
  const [texts, setTexts] = useState<Texts>(() => ({
    start: detail?.startMs === undefined ? '' : time.toInput(detail.startMs),
    end: detail?.endMs === undefined ? '' : time.toInput(detail.endMs),
    count: String(detail?.count ?? ''),
    jitterS: detail?.jitterMs === undefined ? '' : String(detail.jitterMs / 1_000),
  }));
  const whole = (text: string): number | null => (/^\d{1,9}$/.test(text.trim()) ? Number(text) : null);
  const startMs = texts.start === '' ? null : time.fromInput(texts.start);
  const endMs = texts.end === '' ? null : time.fromInput(texts.end);
  const count = whole(texts.count);
  const jitterS = whole(texts.jitterS);
  const problems = {
    start: texts.start !== '' && startMs === null,
    end: texts.end !== '' && (endMs === null || (startMs !== null && endMs <= startMs)),
    count: texts.count.trim() !== '' && (count === null || count < 1),
    jitterS: texts.jitterS.trim() !== '' && (jitterS === null || jitterS > 86_400),
  };
  return {
    texts,
    set: (part) => setTexts((old) => ({ ...old, ...part })),
    values: { startMs, endMs, count, jitterMs: jitterS === null ? null : jitterS * 1_000 },
    problems,
    wrong: Object.values(problems).some(Boolean),
  };
}

function BoundFields({ bounds: { texts, set, problems } }: { bounds: Bounds }) {
  const t = useT();
  const { zone } = useTime();
  const wrong = (is: boolean): string | undefined => (is ? t('schedule.boundWrong') : undefined);
  return (
    <>
      <Field label={t('schedule.start', { zone })} error={wrong(problems.start)}>
        {(props) => (
          <Input
            {...props}
            type="datetime-local"
            value={texts.start}
            onChange={(e) => set({ start: e.target.value })}
          />
        )}
      </Field>
      <Field label={t('schedule.end', { zone })} error={wrong(problems.end)}>
        {(props) => (
          <Input {...props} type="datetime-local" value={texts.end} onChange={(e) => set({ end: e.target.value })} />
        )}
      </Field>
      <Field label={t('schedule.count')} help={t('schedule.noLimit')} error={wrong(problems.count)}>
        {(props) => (
          <Input {...props} inputMode="numeric" value={texts.count} onChange={(e) => set({ count: e.target.value })} />
        )}
      </Field>
      <Field label={t('schedule.jitterS')} help={t('schedule.jitterHelp')} error={wrong(problems.jitterS)}>
        {(props) => (
          <Input
            {...props}
            inputMode="numeric"
            value={texts.jitterS}
            onChange={(e) => set({ jitterS: e.target.value })}
          />
        )}
      </Field>
    </>
  );
}

/** What is typed, said back: in words and as the next times. */
function useFires(spec: string, zone: string): { readonly help: string; readonly problem: string | undefined } {
  const t = useT();
  const time = useTime();
  const { language } = useWords();
  const now = useNow();
  if (spec.trim() === '') return { help: t('schedule.specHelp'), problem: undefined };
  const fires = firesOf(spec, zone, now, 3, now);
  if ('problem' in fires) return { help: '', problem: fires.problem };
  const words = cronWords(spec, language);
  const next = fires.times.map((ms) => time.short(ms)).join(' · ');
  return { help: words === undefined ? next : `${words}: ${next}`, problem: undefined };
}

function Choice({
  label,
  words,
  value,
  onChange,
}: {
  label: string;
  words: Readonly<Record<string, PlainKey>>;
  value: string;
  onChange: (value: string) => void;
}) {
  const t = useT();
  return (
    <Field label={label}>
      {(props) => (
        <Select {...props} value={value} onChange={(event) => onChange(event.target.value)}>
          {Object.entries(words).map(([each, word]) => (
            <option key={each} value={each}>
              {t(word)}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}
