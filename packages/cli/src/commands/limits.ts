/** How many tasks of a queue run at once, how many begin in an interval, and in which order. */
import { LeaseholdError, type RateLimit } from '@leasehold/core';
import type { Command } from 'commander';
import { run, type CommonOptions, type Session } from '../command.js';

interface LimitFlags extends CommonOptions {
  readonly concurrency?: string;
  readonly rate?: string;
  readonly even?: boolean;
  readonly ordered?: string;
  readonly reason?: string;
}

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

export function addLimits(program: Command): void {
  program
    .command('limits')
    .description('set the limits of a queue; "none" takes one away, what is not named stays')
    .argument('<queue>')
    .option('--concurrency <count>', 'tasks that run at once, over all nodes')
    .option('--rate <count/interval>', 'tasks that begin in an interval, as 100/1s or 6/10m')
    .option('--even', 'spread the rate evenly over its interval')
    .option('--ordered <yes|no>', 'claims in the order of commits within a priority')
    .option('--reason <text>', 'is recorded and shown')
    .action((queue: string, _flags: object, command: Command) => {
      const flags = command.optsWithGlobals<LimitFlags>();
      return run(flags, (session) => setLimits(session, queue, flags));
    });
}

async function setLimits({ client, out }: Session, queue: string, flags: LimitFlags): Promise<void> {
  const change = {
    ...(flags.concurrency === undefined ? {} : { concurrency: concurrencyOf(flags.concurrency) }),
    ...(flags.rate === undefined ? {} : { rate: rateOf(flags.rate, flags.even === true) }),
    ...(flags.ordered === undefined ? {} : { ordered: yesOrNo(flags.ordered) }),
  };
  if (Object.keys(change).length === 0) {
    throw new LeaseholdError('invalid', 'limits: name one of --concurrency, --rate, --ordered', { field: 'limits' });
  }
  const { revision } = await client.setLimits({ queue }, change, flags.reason);
  out.show({ queue, ...change, revision }, `queue ${queue}: limits set (revision ${revision})`);
}

function concurrencyOf(text: string): number | null {
  if (text === 'none') return null;
  if (/^\d{1,5}$/.test(text)) return Number(text);
  throw refused('--concurrency', text, 'a whole number or "none"');
}

function rateOf(text: string, even: boolean): RateLimit | null {
  if (text === 'none') return null;
  const [, count, every, unit] = /^(\d{1,5})\/(\d{0,8})(ms|s|m|h)$/.exec(text) ?? [];
  const unitMs = UNITS_MS[unit ?? ''];
  if (count === undefined || unitMs === undefined) throw refused('--rate', text, 'as 100/1s, 6/10m or "none"');
  const intervalMs = Number(every === '' ? '1' : every) * unitMs;
  return { count: Number(count), intervalMs, ...(even ? { even } : {}) };
}

function yesOrNo(text: string): boolean {
  if (text === 'yes' || text === 'no') return text === 'yes';
  throw refused('--ordered', text, '"yes" or "no"');
}

function refused(field: string, text: string, wanted: string): LeaseholdError {
  return new LeaseholdError('invalid', `${field}: "${text}" is not ${wanted}`, { field });
}
