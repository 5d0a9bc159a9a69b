import { decodeRecord, LeaseholdError, type NodeRecord, type Settings } from '@leasehold/core';
import { prefixEnd } from '@leasehold/core/kv';
import { countWaiting } from '@leasehold/core/store';
import type { Command } from 'commander';
import { run, type CommonOptions, type Session } from '../command.js';
import { ago } from '../output.js';

interface QueueRow {
  readonly queue: string;
  /** Entries of the ready index: waiting and running. */
  readonly depth: number;
  readonly workers: number;
  readonly capacity: number;
  readonly paused: NonNullable<Settings['paused']> | null;
}

interface PauseFlags extends CommonOptions {
  readonly name?: string;
  readonly all?: boolean;
  readonly reason?: string;
}

interface PurgeFlags extends CommonOptions {
  readonly expect?: string;
  readonly yes?: boolean;
  readonly reason?: string;
}

interface DrainFlags extends CommonOptions {
  readonly timeout?: string;
  readonly reason?: string;
}

export function addQueues(program: Command): void {
  addQueueActs(program);
  program
    .command('queues')
    .description('queues that have a worker, tasks or settings')
    .action((_flags: object, command: Command) => run(command.optsWithGlobals<CommonOptions>(), listQueues));
  for (const verb of ['pause', 'resume'] as const) {
    program
      .command(verb)
      .description(verb === 'pause' ? 'claim nothing more; what runs goes on' : 'claim again')
      .argument('[queue]')
      .option('--name <task>', 'one task name instead of a queue')
      .option('--all', 'everything')
      .option('--reason <text>', 'is recorded and shown')
      .action((queue: string | undefined, _flags: object, command: Command) => {
        const flags = command.optsWithGlobals<PauseFlags>();
        return run(flags, (session) => setPaused(session, verb, queue, flags));
      });
  }
}

/** What is done to a queue as a whole, besides pausing it. */
function addQueueActs(program: Command): void {
  program
    .command('purge')
    .description('cancel everything that waits in a queue; what runs goes on')
    .argument('<queue>')
    .option('--expect <count>', 'do nothing unless exactly so many wait')
    .option('--yes', 'however many wait')
    .option('--reason <text>', 'is recorded and shown')
    .action((queue: string, _flags: object, command: Command) => {
      const flags = command.optsWithGlobals<PurgeFlags>();
      return run(flags, (session) => purge(session, queue, flags));
    });
  program
    .command('drain-queue')
    .description('pause a queue, and wait until nothing of it runs')
    .argument('<queue>')
    .option('--timeout <seconds>', 'give up waiting; the queue stays paused')
    .option('--reason <text>', 'is recorded and shown')
    .action((queue: string, _flags: object, command: Command) => {
      const flags = command.optsWithGlobals<DrainFlags>();
      return run(flags, (session) => drain(session, queue, flags));
    });
}

/** Purging is for good: it takes a number that was seen, or a plain yes. */
async function purge({ client, out }: Session, queue: string, flags: PurgeFlags): Promise<void> {
  const expectedCount = flags.expect === undefined ? undefined : whole(flags.expect, '--expect');
  if (expectedCount === undefined && flags.yes !== true) {
    const waiting = await countWaiting(client.store, queue);
    const message = `${waiting} tasks wait in queue ${queue}; say --expect ${waiting}, or --yes for however many`;
    throw new LeaseholdError('invalid', message, { field: '--expect', waiting });
  }
  const { purged, left, revision } = await client.purge(queue, {
    ...(expectedCount === undefined ? {} : { expectedCount }),
    ...(flags.reason === undefined ? {} : { reason: flags.reason }),
  });
  const rest = left === 0 ? '' : `, ${left} were claimed or changed meanwhile`;
  out.show({ queue, purged, left, revision }, `queue ${queue}: ${purged} cancelled${rest} (revision ${revision})`);
}

async function drain({ client, out }: Session, queue: string, flags: DrainFlags): Promise<void> {
  const { revision } = await client.drain(queue, {
    ...(flags.timeout === undefined ? {} : { timeoutMs: whole(flags.timeout, '--timeout') * 1_000 }),
    ...(flags.reason === undefined ? {} : { reason: flags.reason }),
  });
  out.show({ queue, done: 'drained', revision }, `queue ${queue}: paused, and nothing of it runs`);
}

function whole(text: string, field: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new LeaseholdError('invalid', `${field}: "${text}" is not a whole number`, { field });
}

async function listQueues({ client, out }: Session): Promise<void> {
  const { kv, keys } = client.store;
  const nodes = await client.nodes();
  const prefix = keys.kind('queues');
  const stored = await kv.range({ key: prefix, rangeEnd: prefixEnd(prefix) });
  const settings = new Map<string, Settings>();
  for (const { key, value } of stored.kvs) {
    const parsed = keys.parse(key);
    if (parsed?.kind === 'queues') settings.set(parsed.name, decodeRecord<Settings>(value, 'settings'));
  }
  const names = new Set([...settings.keys(), ...nodes.flatMap(({ queues }) => queues.map(({ name }) => name))]);
  for (const name of await queuesWithTasks(client.store)) names.add(name);
  const rows = await Promise.all([...names].sort().map((name) => row(client.store, name, nodes, settings.get(name))));
  const now = Date.now();
  out.table(
    rows,
    [
      { title: 'queue', text: ({ queue }) => queue },
      { title: 'depth', text: ({ depth }) => String(depth), right: true },
      { title: 'workers', text: ({ workers }) => String(workers), right: true, style: noWorker },
      { title: 'capacity', text: ({ capacity }) => String(capacity), right: true },
      {
        title: 'paused',
        text: ({ paused }) => (paused === null ? '' : `by ${paused.by}, ${ago(paused.sinceMs, now)}: ${paused.reason}`),
        style: () => 'yellow',
      },
    ],
    'no queues',
  );
}

const noWorker = ({ workers, depth }: QueueRow): 'red' | undefined => (workers === 0 && depth > 0 ? 'red' : undefined);

/** Jumps from queue to queue: the index may be long, and only its first segment is wanted. */
async function queuesWithTasks(store: Session['client']['store']): Promise<readonly string[]> {
  const prefix = store.keys.kind('ready');
  const names: string[] = [];
  for (let key = prefix; ;) {
    const { kvs } = await store.kv.range({ key, rangeEnd: prefixEnd(prefix), limit: 1, keysOnly: true });
    const parsed = kvs[0] === undefined ? undefined : store.keys.parse(kvs[0].key);
    if (parsed?.kind !== 'ready') return names;
    names.push(parsed.queue);
    key = prefixEnd(store.keys.readyQueue(parsed.queue));
  }
}

async function row(
  store: Session['client']['store'],
  queue: string,
  nodes: readonly NodeRecord[],
  settings: Settings | undefined,
): Promise<QueueRow> {
  const key = store.keys.readyQueue(queue);
  const { count } = await store.kv.range({ key, rangeEnd: prefixEnd(key), countOnly: true });
  const serving = nodes.flatMap(({ queues }) => queues.filter(({ name }) => name === queue));
  const capacity = serving.reduce((sum, { concurrency }) => sum + concurrency, 0);
  return { queue, depth: count, workers: serving.length, capacity, paused: settings?.paused ?? null };
}

async function setPaused(
  { client, out }: Session,
  verb: 'pause' | 'resume',
  queue: string | undefined,
  flags: PauseFlags,
): Promise<void> {
  const targets = [
    ...(queue === undefined ? [] : [{ queue }]),
    ...(flags.name === undefined ? [] : [{ name: flags.name }]),
    ...(flags.all === true ? ['all' as const] : []),
  ];
  const [target] = targets;
  if (targets.length !== 1 || target === undefined) {
    throw new LeaseholdError('invalid', `${verb} takes a queue, or --name <task>, or --all: exactly one`, {
      field: verb,
    });
  }
  const { revision } = verb === 'pause' ? await client.pause(target, flags.reason) : await client.resume(target);
  const what = target === 'all' ? 'everything' : 'queue' in target ? `queue ${target.queue}` : `task ${target.name}`;
  out.show({ target, done: verb, revision }, `${what}: ${verb}d (revision ${revision})`);
}
