import type { Language } from '../i18n/languages';

/**
 * THE formatter of times. Labels, axes, filters and tooltips all come from here, in the zone the reader chose, and
 * whatever shows an instant in full prints that zone. Nothing here throws on a bad time and no wait is negative.
 */
export interface TimeFormat {
  readonly zone: string;
  /** 2026-11-30 14:02:11.482 Asia/Seoul */
  full(ms: number): string;
  /** Nov 30, 14:02:11 */
  short(ms: number): string;
  /** 14:02:11 */
  clock(ms: number): string;
  /** 14:02, for axes */
  minute(ms: number): string;
  /** 4.2 s, 3 m 12 s, 5 h 2 m, 3 d 4 h */
  span(ms: number): string;
  /** Whole units, the largest alone: 4 s, 3 m, 5 h 2 m, 3 d */
  age(ms: number): string;
  /** 0:04.2, 1:12.0, 2:03:11: a stopwatch */
  stopwatch(ms: number): string;
  /** 3 m ago, in 8 s, now */
  relative(ms: number, nowMs: number): string;
  /** The value of an input of type datetime-local, in the zone. */
  toInput(ms: number): string;
  /** Back from such a value; null when it is no time (or one that a DST gap skips). */
  fromInput(text: string): number | null;
}

const MAX_MS = 8_640_000_000_000_000;

export function isTime(ms: number): boolean {
  return Number.isFinite(ms) && Math.abs(ms) <= MAX_MS;
}

export function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return zone !== '';
  } catch {
    return false;
  }
}

const SHORT_UNITS: Readonly<Record<Language, Readonly<Record<'d' | 'h' | 'm' | 's' | 'ms', string>>>> = {
  en: { d: ' d', h: ' h', m: ' m', s: ' s', ms: ' ms' },
  ko: { d: '일', h: '시간', m: '분', s: '초', ms: 'ms' },
};

const RELATIVE: Readonly<
  Record<Language, { ago: (span: string) => string; ahead: (span: string) => string; now: string }>
> = {
  en: { ago: (span) => `${span} ago`, ahead: (span) => `in ${span}`, now: 'now' },
  ko: { ago: (span) => `${span} 전`, ahead: (span) => `${span} 후`, now: '지금' },
};

function makeSpan(language: Language): (ms: number) => string {
  const unit = SHORT_UNITS[language];
  return (ms) => {
    if (!Number.isFinite(ms)) return '–';
    const whole = Math.max(0, ms);
    if (whole < 1_000) return `${Math.round(whole)}${unit.ms}`;
    if (whole < 10_000) return `${(whole / 1_000).toFixed(1)}${unit.s}`;
    const s = Math.floor(whole / 1_000);
    if (s < 60) return `${s}${unit.s}`;
    if (s < 3_600) return s % 60 === 0 ? `${s / 60}${unit.m}` : `${Math.floor(s / 60)}${unit.m} ${s % 60}${unit.s}`;
    const m = Math.floor(s / 60);
    if (m < 1_440) return m % 60 === 0 ? `${m / 60}${unit.h}` : `${Math.floor(m / 60)}${unit.h} ${m % 60}${unit.m}`;
    const h = Math.floor(m / 60);
    return h % 24 === 0 ? `${h / 24}${unit.d}` : `${Math.floor(h / 24)}${unit.d} ${h % 24}${unit.h}`;
  };
}

/** Coarser than a span: a table of ages should not flicker. */
function makeAge(language: Language): (ms: number) => string {
  const unit = SHORT_UNITS[language];
  return (ms) => {
    const s = Math.floor(Math.max(0, ms) / 1_000);
    if (s < 60) return `${s}${unit.s}`;
    if (s < 3_600) return `${Math.floor(s / 60)}${unit.m}`;
    if (s < 86_400)
      return `${Math.floor(s / 3_600)}${unit.h}${s < 36_000 ? ` ${Math.floor((s % 3_600) / 60)}${unit.m}` : ''}`;
    return `${Math.floor(s / 86_400)}${unit.d}`;
  };
}

function stopwatch(ms: number): string {
  if (!Number.isFinite(ms)) return '–';
  const whole = Math.max(0, ms);
  const s = Math.floor(whole / 1_000);
  const two = (n: number): string => String(n).padStart(2, '0');
  if (s >= 3_600) return `${Math.floor(s / 3_600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
  return `${Math.floor(s / 60)}:${two(s % 60)}.${Math.floor((whole % 1_000) / 100)}`;
}

type Parts = Readonly<Record<string, string>>;

function partsIn(zone: string): (ms: number) => Parts {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
  });
  return (ms) => Object.fromEntries(format.formatToParts(ms).map((part) => [part.type, part.value]));
}

/** The instant at which clocks in the zone show this wall time: guess in UTC, correct by the offset found, check. */
function instantOf(wall: string, parts: (ms: number) => Parts): number | null {
  const match = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d))?$/.exec(wall);
  if (match === null) return null;
  const [year, month, day, hour, minute, second] = match.slice(1).map((digits) => Number(digits ?? 0));
  const target = Date.UTC(year ?? 0, (month ?? 1) - 1, day ?? 1, hour ?? 0, minute ?? 0, second || 0);
  const shown = (ms: number): number => {
    const p = parts(ms);
    const n = (name: string): number => Number(p[name]);
    return Date.UTC(n('year'), n('month') - 1, n('day'), n('hour'), n('minute'), n('second'));
  };
  let guess = target;
  for (let i = 0; i < 3; i++) guess += target - shown(guess);
  return isTime(guess) && shown(guess) === target ? guess : null;
}

export function makeTimeFormat(zone: string, language: Language): TimeFormat {
  const timeZone = isZone(zone) ? zone : 'UTC';
  const parts = partsIn(timeZone);
  const shortFormat = new Intl.DateTimeFormat(language, {
    timeZone,
    hourCycle: 'h23',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  const span = makeSpan(language);
  const age = makeAge(language);
  const words = RELATIVE[language];
  const known = (ms: number, show: () => string): string => (isTime(ms) ? show() : '–');
  return {
    zone: timeZone,
    span,
    age,
    stopwatch,
    full: (ms) =>
      known(ms, () => {
        const p = parts(ms);
        return `${p['year']}-${p['month']}-${p['day']} ${p['hour']}:${p['minute']}:${p['second']}.${p['fractionalSecond']} ${timeZone}`;
      }),
    short: (ms) => known(ms, () => shortFormat.format(ms)),
    clock: (ms) =>
      known(ms, () => {
        const p = parts(ms);
        return `${p['hour']}:${p['minute']}:${p['second']}`;
      }),
    minute: (ms) =>
      known(ms, () => {
        const p = parts(ms);
        return `${p['hour']}:${p['minute']}`;
      }),
    relative: (ms, nowMs) =>
      known(ms, () => {
        const away = ms - nowMs;
        if (Math.abs(away) < 1_000) return words.now;
        return away < 0 ? words.ago(age(-away)) : words.ahead(age(away));
      }),
    toInput: (ms) =>
      isTime(ms)
        ? (() => {
            const p = parts(ms);
            return `${p['year']}-${p['month']}-${p['day']}T${p['hour']}:${p['minute']}:${p['second']}`;
          })()
        : '',
    fromInput: (text) => instantOf(text, parts),
  };
}
