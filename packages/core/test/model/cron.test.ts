import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkZone, nextFire, nextFires, parseCron, parseGoDuration } from '../../src/model/cron.js';
import { describeCron } from '../../src/model/cron-words.js';
import { refusal } from './refusal.js';

const MINUTE = 60_000;
const DAY = 86_400_000;
const at = (text: string): number => Date.parse(text);
const fires = (spec: string, zone: string, after: string, count = 3): readonly string[] =>
  nextFires(spec, zone, at(after), count).map((ms) => new Date(ms).toISOString().replace(':00.000Z', 'Z'));

/** The clock on the wall of a zone, by Intl and nothing else. */
interface Wall {
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly weekday: number;
  /** The wall time as if it were UTC: differences between wall times are differences of these. */
  readonly asUtc: number;
}
function clock(zone: string): (ms: number) => Wall {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  return (ms) => {
    const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 0, day = 0, hour = 0, minute = 0 } = parts as Record<string, number>;
    const asUtc = Date.UTC(year, month - 1, day, hour, minute);
    return { month, day, hour, minute, weekday: new Date(asUtc).getUTCDay(), asUtc };
  };
}
const wallAt = (asUtc: number): Wall => {
  const date = new Date(asUtc);
  return {
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    weekday: date.getUTCDay(),
    asUtc,
  };
};

/** What the DST rule says, minute by minute, from first principles. */
function oracle(
  matches: (wall: Wall) => boolean,
  fixed: boolean,
  zone: string,
  fromMs: number,
  toMs: number,
): number[] {
  const wall = clock(zone);
  const expected: number[] = [];
  const seen = new Set<number>();
  let previous = wall(fromMs - DAY);
  for (let ms = fromMs - DAY + MINUTE; ms < toMs; ms += MINUTE) {
    const now = wall(ms);
    const skipped: Wall[] = [];
    for (let asUtc = previous.asUtc + MINUTE; asUtc < now.asUtc; asUtc += MINUTE) skipped.push(wallAt(asUtc));
    const again = seen.has(now.asUtc);
    const due = fixed ? (matches(now) && !again) || skipped.some(matches) : matches(now);
    if (due && ms > fromMs) expected.push(ms);
    seen.add(now.asUtc);
    previous = now;
  }
  return expected;
}

/** Around every change of clocks in the zones that differ most: one hour, half an hour, south and north, none. */
const WINDOWS: readonly (readonly [zone: string, from: string])[] = [
  ['Europe/Berlin', '2025-03-29T00:00Z'],
  ['Europe/Berlin', '2025-10-25T00:00Z'],
  ['America/New_York', '2025-03-08T12:00Z'],
  ['America/New_York', '2025-11-01T12:00Z'],
  ['Australia/Lord_Howe', '2025-04-04T12:00Z'],
  ['Australia/Lord_Howe', '2025-10-03T12:00Z'],
  ['Asia/Seoul', '2025-03-29T00:00Z'],
  ['Europe/Berlin', '2024-02-28T00:00Z'],
];
const values = (max: number) => fc.uniqueArray(fc.nat(max), { minLength: 1, maxLength: 3 });
const field = (max: number) =>
  fc.oneof(
    {
      weight: 3,
      arbitrary: values(max).map((list) => ({
        text: list.join(','),
        has: (n: number) => list.includes(n),
        wild: false,
      })),
    },
    fc.tuple(fc.nat(max), fc.nat(max)).map(([a, b]) => {
      const [from, to] = [Math.min(a, b), Math.max(a, b)];
      return { text: `${from}-${to}`, has: (n: number) => n >= from && n <= to, wild: false };
    }),
    fc.constant({ text: '*', has: () => true, wild: true }),
    fc
      .integer({ min: 2, max: 15 })
      .map((step) => ({ text: `*/${step}`, has: (n: number) => n % step === 0, wild: true })),
  );

describe('when clocks change', () => {
  it('a fixed time in the gap fires once, at the first valid moment after it', () => {
    expect(fires('30 2 * * *', 'Europe/Berlin', '2025-03-29T12:00Z', 2)).toEqual([
      '2025-03-30T01:00Z',
      '2025-03-31T00:30Z',
    ]);
    expect(fires('0,15,30 2 * * *', 'America/New_York', '2025-03-09T00:00Z', 2)).toEqual([
      '2025-03-09T07:00Z',
      '2025-03-10T06:00Z',
    ]);
    expect(fires('15 2 * * *', 'Australia/Lord_Howe', '2025-10-04T00:00Z', 2)).toEqual([
      '2025-10-04T15:30Z',
      '2025-10-05T15:15Z',
    ]);
  });

  it('a fixed time in the repeated hour fires once, at its first occurrence', () => {
    expect(fires('30 2 * * *', 'Europe/Berlin', '2025-10-25T12:00Z', 2)).toEqual([
      '2025-10-26T00:30Z',
      '2025-10-27T01:30Z',
    ]);
    expect(fires('30 1 * * *', 'America/New_York', '2025-11-02T00:00Z', 2)).toEqual([
      '2025-11-02T05:30Z',
      '2025-11-03T06:30Z',
    ]);
    expect(fires('45 1 * * *', 'Australia/Lord_Howe', '2025-04-05T00:00Z', 2)).toEqual([
      '2025-04-05T14:45Z',
      '2025-04-06T15:15Z',
    ]);
  });

  it('asked between the two occurrences, it does not fire again', () => {
    expect(fires('30 2 * * *', 'Europe/Berlin', '2025-10-26T00:30Z', 1)).toEqual(['2025-10-27T01:30Z']);
    expect(fires('30 2 * * *', 'Europe/Berlin', '2025-10-26T00:45Z', 1)).toEqual(['2025-10-27T01:30Z']);
  });

  it('report E19: an interval follows real time, through gap and repeat', () => {
    expect(fires('0 * * * *', 'Europe/Berlin', '2025-03-30T00:00Z')).toEqual([
      '2025-03-30T01:00Z',
      '2025-03-30T02:00Z',
      '2025-03-30T03:00Z',
    ]);
    expect(fires('0 * * * *', 'Europe/Berlin', '2025-10-25T23:30Z')).toEqual([
      '2025-10-26T00:00Z',
      '2025-10-26T01:00Z',
      '2025-10-26T02:00Z',
    ]);
  });

  it('a zone without changes is a plain calendar', () => {
    expect(fires('30 2 * * *', 'Asia/Seoul', '2025-03-29T00:00Z', 2)).toEqual([
      '2025-03-29T17:30Z',
      '2025-03-30T17:30Z',
    ]);
  });

  it('property: every fire is what the rule says, minute by minute', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...WINDOWS),
        field(59),
        field(23),
        fc.nat(1_000),
        ([zone, from], minute, hour, offset) => {
          const fromMs = at(from) + offset * MINUTE;
          const toMs = fromMs + 2 * DAY;
          const expected = oracle(
            (wall) => minute.has(wall.minute) && hour.has(wall.hour),
            !minute.wild && !hour.wild,
            zone,
            fromMs,
            toMs,
          ).slice(0, 200);
          const got = nextFires(`${minute.text} ${hour.text} * * *`, zone, fromMs, expected.length);
          expect(got).toEqual(expected);
        },
      ),
      { numRuns: 80 },
    );
  }, 60_000);

  it('property: asking from any moment gives the same times as walking: next(t) is the first after t', () => {
    const spec = fc.tuple(field(59), field(23)).map(([minute, hour]) => `${minute.text} ${hour.text} * * *`);
    fc.assert(
      fc.property(fc.constantFrom(...WINDOWS), spec, fc.nat(2 * DAY), ([zone, from], text, offset) => {
        const all = nextFires(text, zone, at(from), 1_000);
        const after = at(from) + offset;
        const first = all.find((ms) => ms > after);
        if (first !== undefined) expect(nextFire(text, zone, after)).toBe(first);
        expect(all.every((ms, i) => i === 0 || ms > (all[i - 1] ?? 0))).toBe(true);
      }),
      { numRuns: 60 },
    );
  }, 60_000);
});

describe('calendar', () => {
  it('29 February comes in leap years only, 2100 not among them', () => {
    expect(fires('0 0 29 2 *', 'UTC', '2025-01-01T00:00Z', 2)).toEqual(['2028-02-29T00:00Z', '2032-02-29T00:00Z']);
    expect(fires('0 0 29 2 *', 'UTC', '2096-03-01T00:00Z', 1)).toEqual(['2104-02-29T00:00Z']);
  });

  it('30 February never comes, and finding out is quick', () => {
    const start = performance.now();
    expect(nextFire('0 0 30 2 *', 'Europe/Berlin', at('2025-01-01T00:00Z'))).toBeNull();
    expect(nextFires('0 0 31 4,6,9,11 *', 'UTC', 0, 5)).toEqual([]);
    expect(performance.now() - start).toBeLessThan(1_000);
  });

  it('day and weekday together mean either', () => {
    expect(fires('0 0 13 * 5', 'UTC', '2025-06-01T00:00Z')).toEqual([
      '2025-06-06T00:00Z',
      '2025-06-13T00:00Z',
      '2025-06-20T00:00Z',
    ]);
  });

  it('six fields have seconds first; five have none', () => {
    expect(nextFire('*/10 * * * * *', 'UTC', at('2025-01-01T00:00:03.500Z'))).toBe(at('2025-01-01T00:00:10Z'));
    expect(nextFire('* * * * *', 'UTC', at('2025-01-01T00:00:00Z'))).toBe(at('2025-01-01T00:01:00Z'));
    expect(nextFire('* * * * *', 'UTC', at('2024-12-31T23:59:59.999Z'))).toBe(at('2025-01-01T00:00:00Z'));
  });

  it.each([
    ['@hourly', '0 * * * *'],
    ['@daily', '0 0 * * *'],
    ['@midnight', '0 0 * * *'],
    ['@weekly', '0 0 * * 0'],
    ['@monthly', '0 0 1 * *'],
    ['@yearly', '0 0 1 1 *'],
    ['@annually', '0 0 1 1 *'],
    ['@Daily', '0 0 * * *'],
    ['0 0 * JAN MON-FRI', '0 0 * 1 1-5'],
    ['0 0 * * 7', '0 0 * * 0'],
    ['0 0 ? * *', '0 0 * * *'],
    ['5/15 * * * *', '5-59/15 * * * *'],
    ['  0   0\t* * *  ', '0 0 * * *'],
    ['0 0 * * FRIL', '0 0 * * 5L'],
  ])('%s is %s', (spec, plain) => {
    const from = at('2025-01-15T00:00Z');
    expect(nextFires(spec, 'Europe/Berlin', from, 5)).toEqual(nextFires(plain, 'Europe/Berlin', from, 5));
  });

  it('at most 1000 times are computed at once', () => {
    expect(nextFires('* * * * *', 'UTC', 0, 1e9)).toHaveLength(1_000);
    expect(nextFires('* * * * *', 'UTC', 0, 0)).toEqual([]);
  });
});

describe('@every', () => {
  it.each([
    ['1h30m', 5_400_000],
    ['1h30m10s', 5_410_000],
    ['1.5h', 5_400_000],
    ['1500ms', 1_500],
    ['2000000us', 2_000],
  ])('the Go duration %s is %i ms', (text, ms) => {
    expect(parseGoDuration(text)).toBe(ms);
    expect(parseCron(`@every ${text}`)).toEqual({ kind: 'every', everyMs: ms });
  });

  it('fires at anchor + n intervals, whenever it is asked', () => {
    const anchor = at('2025-01-01T00:00:07Z');
    expect(nextFires('@every 1h', 'UTC', anchor, 2, anchor)).toEqual([anchor + 3_600_000, anchor + 7_200_000]);
    expect(nextFire('@every 1h', 'UTC', anchor - 5 * DAY, anchor)).toBe(anchor + 3_600_000);
    fc.assert(
      fc.property(fc.integer({ min: 1_000, max: 1e10 }), fc.nat(2e12), fc.nat(2e12), (every, from, after) => {
        const next = nextFire({ kind: 'every', everyMs: every }, 'UTC', after, from);
        expect(next).not.toBeNull();
        expect(next).toBeGreaterThan(Math.max(after, from));
        expect(((next ?? 0) - from) % every).toBe(0);
        expect((next ?? 0) - Math.max(after, from)).toBeLessThanOrEqual(every);
      }),
    );
  });
});

describe('what is refused, and at once', () => {
  it.each([
    ['', 'has 0 fields; give 5 (minute hour day month weekday), or 6 with seconds first'],
    ['* * * *', 'has 4 fields'],
    ['* * * * * * 2030', 'has 7 fields'],
    ['0 0 1--100000000', 'has 3 fields'],
    ['0 0 1--100000000 * *', 'is not a cron specification'],
    ['0 0 1-100000000 * *', 'is not a cron specification'],
    ['*/100000000 * * * *', 'is not a cron specification'],
    ['*/0 * * * *', 'is not a cron specification'],
    ['60 * * * *', 'Invalid value for minute: 60'],
    ['* 24 * * *', 'Invalid value for hour'],
    ['* * 0 * *', 'is not a cron specification'],
    ['* * * 13 *', 'Invalid value for month'],
    ['* * * * 8', 'Invalid value for dayOfWeek: 8'],
    ['-1 * * * *', 'is not a cron specification'],
    ['0 22-2 * * *', 'From value is larger than to value'],
    ['* * * * *; rm -rf /', 'has 8 fields'],
    ['a b c d e', 'is not a cron specification'],
    ['@fortnightly', 'is not one of @yearly'],
    ['@constructor', 'is not one of @yearly'],
    ['@every', 'is not one of'],
    ['@every 5', '"5" is not a duration like 1h30m or 15s'],
    ['@every -1h', 'is not a duration'],
    ['@every 500ms', 'fires more often than once a second; use at least 1s'],
    ['@every 0s', 'fires more often'],
    ['@every 999999999999h', 'less often than every ten years'],
    [`@every ${'1h'.repeat(1_000)}`, 'is longer than 200 characters'],
    [`${'0,'.repeat(1_000_000)}0 * * * *`, 'is longer than 200 characters'],
    ['CRON_TZ=Asia/Tokyo 0 6 * * *', 'names a time zone; give the zone in its own field'],
  ])('case %#', (spec, message) => {
    const start = performance.now();
    const error = refusal(() => parseCron(spec));
    expect(performance.now() - start).toBeLessThan(200);
    expect(error.code).toBe('invalid');
    expect(error.message).toContain(message);
    expect(error.message.length).toBeLessThan(500);
    expect(refusal(() => describeCron(spec)).code).toBe('invalid');
  });

  it('property: any text is read or refused with a code, fast', () => {
    const hostile = fc.oneof(
      fc.string(),
      fc
        .array(fc.stringMatching(/^[0-9*,/\-LW#?a-z]{1,12}$/), { minLength: 5, maxLength: 6 })
        .map((parts) => parts.join(' ')),
    );
    fc.assert(
      fc.property(hostile, (text) => {
        const start = performance.now();
        try {
          parseCron(text);
          describeCron(text);
        } catch (error) {
          expect(error).toMatchObject({ name: 'LeaseholdError', code: 'invalid' });
        }
        expect(performance.now() - start).toBeLessThan(500);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each(['Mars/Olympus', '', 'Europe/Berlin; x', '+05:30', 'x'.repeat(1_000), 5, null])(
    '%j is not a zone',
    (zone) => {
      expect(refusal(() => checkZone(zone)).message).toContain('give an IANA name like Europe/Berlin or UTC');
      expect(refusal(() => nextFire('@hourly', zone as string, 0)).code).toBe('invalid');
    },
  );

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 1e18, -1])('%s is not a date', (ms) => {
    expect(refusal(() => nextFire('@hourly', 'UTC', ms)).code).toBe('invalid');
    expect(refusal(() => nextFire('@every 1h', 'UTC', 0, ms)).code).toBe('invalid');
  });

  it('at the end of time there is no next fire', () => {
    expect(nextFire('@every 1h', 'UTC', 253_402_300_799_999)).toBeNull();
    expect(nextFire('@hourly', 'UTC', 253_402_300_799_999)).toBeNull();
  });
});

describe('in words', () => {
  it.each([
    ['@hourly', 'every hour'],
    ['@daily', 'at 00:00 every day'],
    ['@weekly', 'at 00:00 on Sunday'],
    ['@monthly', 'at 00:00 on day 1 of the month'],
    ['@yearly', 'at 00:00 on day 1 of the month in January'],
    ['@every 1h', 'every hour'],
    ['@every 1h30m', 'every 1 hour 30 minutes'],
    ['@every 1.5s', 'every 1.5 seconds'],
    ['* * * * *', 'every minute'],
    ['*/5 * * * *', 'every 5 minutes'],
    ['*/7 * * * *', 'at every 7th minute of every hour'],
    ['* * * * * *', 'every second'],
    ['*/10 * * * * *', 'every 10 seconds'],
    ['30 2 * * *', 'at 02:30 every day'],
    ['0 2,14 * * *', 'at 02:00 and 14:00 every day'],
    ['30 0 2 * * *', 'at 02:00:30 every day'],
    ['0 9-17 * * 1-5', 'at minute 0 of hours 9 to 17 on Monday to Friday'],
    ['*/15 9-17 * * mon-fri', 'at every 15th minute of hours 9 to 17 on Monday to Friday'],
    ['0 */2 * * *', 'every 2 hours'],
    ['0 */5 * * *', 'at minute 0 of every 5th hour'],
    ['15 * * * *', 'at minute 15 of every hour'],
    ['5/15 * * * *', 'at every 15th minute from 5 to 59 of every hour'],
    ['0 0 1,15 * *', 'at 00:00 on day 1 and day 15 of the month'],
    ['0 0 1-7 * *', 'at 00:00 on days 1 to 7 of the month'],
    ['0 0 L * *', 'at 00:00 on the last day of the month'],
    ['0 0 15W * *', 'at 00:00 on the working day nearest to day 15 of the month'],
    ['0 0 * * 5#2', 'at 00:00 on the 2nd Friday of the month'],
    ['0 0 * * FRIL', 'at 00:00 on the last Friday of the month'],
    ['0 0 29 2 *', 'at 00:00 on day 29 of the month in February'],
    ['0 0 13 * 5', 'at 00:00 on day 13 of the month, or on Friday'],
    ['0 0 * jan,jul *', 'at 00:00 every day in January and July'],
    ['0 0 * * 7', 'at 00:00 on Sunday'],
  ])('%s is "%s"', (spec, words) => {
    expect(describeCron(spec)).toBe(words);
  });
});
