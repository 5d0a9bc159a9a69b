import { parseCron, type CronFields } from './cron.js';

/** A cron specification in words, for people who do not read cron every day. */

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;
/** More times of day than these are told as minutes and hours. */
const MAX_TIMES = 6;

function join(words: readonly string[]): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

function ordinal(n: number): string {
  const tens = n % 100;
  const suffix = tens >= 11 && tens <= 13 ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th');
  return `${n}${suffix}`;
}

function plural(n: number, unit: string): string {
  return n === 1 ? `1 ${unit}` : `${n} ${unit}s`;
}

function describeEvery(everyMs: number): string {
  const parts: string[] = [];
  let left = everyMs;
  for (const [unit, ms] of UNITS) {
    const n = unit === 'second' ? left / ms : Math.floor(left / ms);
    if (n > 0) parts.push(plural(n, unit));
    left -= n * ms;
  }
  const [only] = parts;
  return parts.length === 1 && only?.startsWith('1 ') === true ? `every ${only.slice(2)}` : `every ${parts.join(' ')}`;
}

type Named = (value: string) => string;

/** One item of a list: `5`, `1-5`, `*\/2`, `10-20/5`. */
function describeItem(item: string, unit: string, name: Named): string {
  const [range = '', step] = item.split('/');
  const [from = '', to] = range.split('-');
  const span = to === undefined ? name(from) : `${name(from)} to ${name(to)}`;
  if (step === undefined || step === '1') return range === '*' ? `every ${unit}` : span;
  const nth = `every ${ordinal(Number(step))} ${unit}`;
  return range === '*' ? nth : `${nth} from ${span}`;
}

function describeList(field: string, unit: string, name: Named): string {
  return join(field.split(',').map((item) => describeItem(item, unit, name)));
}

function numbers(field: string): readonly number[] | null {
  return /^\d+(,\d+)*$/.test(field) ? field.split(',').map(Number) : null;
}

function everyN(field: string): number | null {
  if (field === '*') return 1;
  const match = /^\*\/(\d+)$/.exec(field);
  return match === null ? null : Number(match[1]);
}

function two(n: number): string {
  return String(n).padStart(2, '0');
}

/** `at 02:30 and 14:30`, when the field lists are few and plain. */
function timesOfDay({ second, minute, hour }: CronFields): string | null {
  const [seconds, minutes, hours] = [numbers(second), numbers(minute), numbers(hour)];
  if (seconds === null || minutes === null || hours === null) return null;
  if (seconds.length * minutes.length * hours.length > MAX_TIMES) return null;
  const times = hours.flatMap((h) =>
    minutes.flatMap((m) => seconds.map((s) => `${two(h)}:${two(m)}${second === '0' ? '' : `:${two(s)}`}`)),
  );
  return `at ${join(times)}`;
}

/** `every 15 minutes`, when one field steps evenly and the smaller ones are zero. */
function evenly({ second, minute, hour }: CronFields): string | null {
  const told = (n: number | null, unit: string, whole: number) =>
    n === null || whole % n !== 0 ? null : n === 1 ? `every ${unit}` : `every ${n} ${unit}s`;
  if (hour === '*' && minute === '*') {
    return second === '0' ? 'every minute' : told(everyN(second), 'second', 60);
  }
  if (second !== '0') return null;
  if (hour === '*') return minute === '0' ? 'every hour' : told(everyN(minute), 'minute', 60);
  return minute === '0' ? told(everyN(hour), 'hour', 24) : null;
}

function label(unit: string, field: string): string {
  const words = describeList(field, unit, String);
  if (field.includes('*') || field.includes('/')) return words;
  return `${unit}${/[,-]/.test(field) ? 's' : ''} ${words}`;
}

function describeTime(fields: CronFields): string {
  const simple = timesOfDay(fields) ?? evenly(fields);
  if (simple !== null) return simple;
  const parts = [
    ...(fields.second === '0' ? [] : [label('second', fields.second)]),
    label('minute', fields.minute),
    label('hour', fields.hour),
  ];
  return `at ${parts.join(' of ')}`;
}

function weekdayName(value: string): string {
  return WEEKDAYS[Number(value) % 7] ?? value;
}

function describeWeekday(item: string): string {
  const nth = /^(\d)#(\d)$/.exec(item);
  if (nth !== null) return `the ${ordinal(Number(nth[2]))} ${weekdayName(nth[1] ?? '')} of the month`;
  const last = /^(\d)(#?L)$/.exec(item);
  if (last !== null) return `the last ${weekdayName(last[1] ?? '')} of the month`;
  return describeItem(item, 'day of the week', weekdayName);
}

function describeDay(item: string): string {
  if (item === 'L') return 'the last day';
  if (item === 'LW') return 'the last working day';
  const near = /^(\d+)W$/.exec(item);
  if (near !== null) return `the working day nearest to day ${near[1]}`;
  const words = describeItem(item, 'day', String);
  return words.startsWith('every') ? words : `day${item.includes('-') ? 's' : ''} ${words}`;
}

function describeDays({ day, weekday }: CronFields): string {
  const days = day === '*' ? '' : `${join(day.split(',').map(describeDay))} of the month`;
  const weekdays = weekday === '*' ? '' : join(weekday.split(',').map(describeWeekday));
  if (days === '' && weekdays === '') return '';
  return ` on ${days !== '' && weekdays !== '' ? `${days}, or on ${weekdays}` : `${days}${weekdays}`}`;
}

/**
 * In English: `0 2 * * 1-5` is "at 02:00 on Monday to Friday". Without the zone, which is not part of the specification.
 * @throws LeaseholdError `invalid` for a bad specification.
 */
export function describeCron(spec: string): string {
  const cron = parseCron(spec);
  if (cron.kind === 'every') return describeEvery(cron.everyMs);
  const { month } = cron.fields;
  const time = describeTime(cron.fields);
  const days = describeDays(cron.fields);
  const months =
    month === '*' ? '' : ` in ${describeList(month, 'month', (value) => MONTHS[Number(value) - 1] ?? value)}`;
  const daily = days === '' && time.startsWith('at ') && !time.includes('every') ? ' every day' : '';
  return `${time}${days || daily}${months}`;
}
