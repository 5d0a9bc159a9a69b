import { Cron } from 'croner';
import { invalid } from './check.js';
import { display } from './plain.js';

/**
 * Cron specifications. Five fields (minute hour day month weekday) or six (seconds first), the descriptors `@hourly`,
 * `@daily`, `@midnight`, `@weekly`, `@monthly`, `@yearly`, `@annually`, and `@every <Go duration>`. croner does the arithmetic.
 *
 * When clocks change, in the schedule's IANA zone:
 * 1. A **fixed time** has no `*`, `?` or step in its seconds, minutes and hours (`30 2 * * *`, `0 2,14 * * *`). In a gap
 *    it fires once, at the first valid moment after the gap. When its hour is repeated it fires once, at the first occurrence.
 * 2. An **interval** has one (`*\/15 * * * *`, `0 * * * *`). It follows real time: nothing is added for a gap, and a repeated
 *    hour is not left out.
 * 3. `@every` knows no clock on the wall: it fires at anchor + n x interval, n from 1.
 */
export type ParsedCron =
  | { readonly kind: 'cron'; readonly pattern: string; readonly fields: CronFields }
  | { readonly kind: 'every'; readonly everyMs: number };

/** The fields as text, names and descriptors resolved. */
export interface CronFields {
  readonly second: string;
  readonly minute: string;
  readonly hour: string;
  readonly day: string;
  readonly month: string;
  readonly weekday: string;
}

/** A longer text has no more meaning, only more work. */
const MAX_SPEC_CHARS = 200;
const MAX_EVERY_MS = 315_360_000_000;
/** The end of the year 9999: calendars and time zones are not defined far beyond. */
const MAX_DATE_MS = 253_402_300_799_999;
const MAX_FIRES = 1_000;

const DESCRIPTORS: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
]);
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
/** Highest value of each field, seconds first. */
const HIGHEST = [59, 59, 23, 31, 12, 7];
const UNITS_MS: ReadonlyMap<string, number> = new Map([
  ['ns', 1e-6],
  ['us', 1e-3],
  ['µs', 1e-3],
  ['μs', 1e-3],
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
]);
const DURATION = /^(?:\d{1,15}(?:\.\d{1,15})?(?:ns|us|µs|μs|ms|s|m|h))+$/;

function bad(spec: string, problem: string): Error {
  return invalid('cron', `${display(spec)} ${problem}`, { spec: spec.slice(0, MAX_SPEC_CHARS) });
}

/**
 * A duration as Go writes it, `1h30m` or `1.5s`, in ms.
 * @throws LeaseholdError `invalid`.
 */
export function parseGoDuration(text: string): number {
  if (text.length > 100 || !DURATION.test(text)) {
    throw invalid('duration', `${display(text)} is not a duration like 1h30m or 15s`);
  }
  const parts = text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|μs|ms|s|m|h)/g);
  return [...parts].reduce((sum, [, digits, unit]) => sum + Number(digits) * (UNITS_MS.get(unit ?? '') ?? 0), 0);
}

function parseEvery(spec: string): ParsedCron {
  const everyMs = Math.round(parseGoDuration(spec.slice('@every '.length).trim()));
  if (everyMs < 1_000) throw bad(spec, 'fires more often than once a second; use at least 1s');
  if (everyMs > MAX_EVERY_MS) throw bad(spec, 'fires less often than every ten years; use at most 87600h');
  return { kind: 'every', everyMs };
}

/** Names become numbers, `?` becomes `*`, and robfig's `5/15` becomes `5-59/15`, which croner knows. */
function plainField(field: string, index: number): string {
  const names = index === 4 ? MONTHS : index === 5 ? WEEKDAYS : [];
  const first = index === 4 ? 1 : 0;
  // `fril` is the last Friday: an L may follow a name.
  const numbered = field.toLowerCase().replace(/[a-z]{3,}/g, (word) => {
    const [name, rest] = [word.slice(0, 3), word.slice(3)];
    return names.includes(name) && (rest === '' || rest === 'l') ? `${names.indexOf(name) + first}${rest}` : word;
  });
  return numbered
    .split(',')
    .map((item) => item.replace(/^\?/, '*').replace(/^(\d{1,2})\/(\d{1,2})$/, `$1-${HIGHEST[index]}/$2`))
    .join(',')
    .toUpperCase();
}

function croner(pattern: string, zone: string): Cron {
  return new Cron(pattern, { timezone: zone, mode: '6-part', paused: true, fixedTimeRule: 'no-wildcard' });
}

/**
 * Reads a specification. It is bounded: a hostile text is refused at once, whatever numbers it names.
 * @throws LeaseholdError `invalid`, with what is wrong and where.
 */
export function parseCron(spec: string): ParsedCron {
  if (typeof spec !== 'string') throw invalid('cron', `${display(spec)} is not a text`);
  const text = spec.trim();
  if (text.length > MAX_SPEC_CHARS) throw bad(text, `is longer than ${MAX_SPEC_CHARS} characters`);
  if (/^(CRON_)?TZ=/.test(text)) throw bad(text, 'names a time zone; give the zone in its own field');
  if (text.startsWith('@every ')) return parseEvery(text);
  const given = text.startsWith('@') ? DESCRIPTORS.get(text.toLowerCase()) : text;
  if (given === undefined) throw bad(text, `is not one of ${[...DESCRIPTORS.keys()].join(', ')}, @every <duration>`);
  const parts = given.split(/\s+/);
  if (parts.length !== 5 && parts.length !== 6) {
    throw bad(
      text,
      `has ${text === '' ? 0 : parts.length} fields; give 5 (minute hour day month weekday), or 6 with seconds first`,
    );
  }
  const six = parts.length === 6 ? parts : ['0', ...parts];
  const [second = '', minute = '', hour = '', day = '', month = '', weekday = ''] = six.map(plainField);
  const pattern = [second, minute, hour, day, month, weekday].join(' ');
  try {
    croner(pattern, 'UTC');
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : 'it cannot be read';
    throw bad(text, `is not a cron specification: ${reason.slice(0, 200)}`);
  }
  return { kind: 'cron', pattern, fields: { second, minute, hour, day, month, weekday } };
}

/**
 * Checks an IANA time zone name.
 * @throws LeaseholdError `invalid`.
 */
export function checkZone(zone: unknown): string {
  if (typeof zone === 'string' && zone.length <= 64 && /^[A-Za-z][A-Za-z0-9_+/-]*$/.test(zone)) {
    try {
      new Intl.DateTimeFormat('en', { timeZone: zone });
      return zone;
    } catch {
      // Refused below.
    }
  }
  throw invalid('zone', `${display(zone)} is not a time zone; give an IANA name like Europe/Berlin or UTC`);
}

function nextEvery(everyMs: number, anchorMs: number, afterMs: number): number {
  const n = Math.max(1, Math.floor((afterMs - anchorMs) / everyMs) + 1);
  return anchorMs + n * everyMs;
}

function checkMs(value: number, field: string): void {
  if (value >= 0 && value <= MAX_DATE_MS) return;
  throw invalid(field, `${display(value)} is not a date from 1970 to 9999 in ms since 1970`);
}

/**
 * The next `count` (at most 1000) times strictly after `afterMs`, epoch ms, ascending; fewer when there are no more, as
 * for 30 February. `anchorMs` is where `@every` starts to count, for instance when the schedule was made.
 * @throws LeaseholdError `invalid` for a bad specification, zone or date.
 */
export function nextFires(
  spec: string | ParsedCron,
  zone: string,
  afterMs: number,
  count: number,
  anchorMs = 0,
): readonly number[] {
  const cron = typeof spec === 'string' ? parseCron(spec) : spec;
  checkZone(zone);
  checkMs(afterMs, 'afterMs');
  checkMs(anchorMs, 'anchorMs');
  const step = cron.kind === 'every' ? null : croner(cron.pattern, zone);
  const fires: number[] = [];
  for (let at = afterMs; fires.length < Math.min(count, MAX_FIRES);) {
    const next =
      cron.kind === 'every' ? nextEvery(cron.everyMs, anchorMs, at) : (step?.nextRun(new Date(at))?.getTime() ?? null);
    if (next === null || next > MAX_DATE_MS) break;
    fires.push(next);
    at = next;
  }
  return fires;
}

/** The first time strictly after `afterMs`, or null when there is none. As `nextFires`. */
export function nextFire(spec: string | ParsedCron, zone: string, afterMs: number, anchorMs = 0): number | null {
  return nextFires(spec, zone, afterMs, 1, anchorMs)[0] ?? null;
}
