import { decodeTask, LeaseholdError, type TaskRecord } from '@leasehold/core';
import { prefixEnd, type Kv, type WatchMessage } from '@leasehold/core/kv';
import type { Command } from 'commander';
import { setTimeout as delay } from 'node:timers/promises';
import { run, type CommonOptions, type Session } from '../command.js';
import { clean } from '../output.js';
import { styleOf } from '../look.js';

export function addWatch(program: Command): void {
  program
    .command('watch')
    .description('every change of every task, as it is committed, until Ctrl-C')
    .action((_flags: object, command: Command) => run(command.optsWithGlobals<CommonOptions>(), watch));
}

async function watch(session: Session): Promise<void> {
  const { client, kv, out } = session;
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
  const prefix = client.store.keys.kind('tasks');
  let from = (await kv.range({ key: prefix, limit: 1, keysOnly: true })).revision + 1n;
  out.note(`watching namespace ${session.place.namespace} from revision ${from}; Ctrl-C ends it`);
  while (!stop.signal.aborted) {
    const ended = await watchOnce(kv, prefix, from, stop.signal, (message) => {
      from = message.revision + 1n;
      for (const event of message.events)
        show(session, event.type === 'put' ? decodeTask(event.kv.value) : undefined, event.kv.key, message.revision);
    });
    if (ended?.kind === 'compacted') {
      out.note(`what happened before revision ${ended.compactRevision} is compacted away: there is a gap here`);
      from = ended.compactRevision;
    } else if (ended?.kind === 'closed') {
      if (ended.cause.code === 'denied')
        throw new LeaseholdError('unavailable', ended.cause.message, {}, { cause: ended.cause });
      out.note(`the connection was lost (${ended.cause.message}); opening it again from revision ${from}`);
      await delay(1_000, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  }
}

type Events = Extract<WatchMessage, { kind: 'events' }>;
type Ended = Extract<WatchMessage, { kind: 'compacted' | 'closed' }>;

/** Resolves with the last word of a watch, or with undefined when it was stopped. */
function watchOnce(
  kv: Kv,
  prefix: string,
  startRevision: bigint,
  signal: AbortSignal,
  onEvents: (message: Events) => void,
): Promise<Ended | undefined> {
  return new Promise((resolve) => {
    const handle = kv.watch({ key: prefix, rangeEnd: prefixEnd(prefix), startRevision }, (message) => {
      if (message.kind === 'events') onEvents(message);
      else if (message.kind !== 'progress') resolve(message);
    });
    signal.addEventListener(
      'abort',
      () => {
        handle.close();
        resolve(undefined);
      },
      { once: true },
    );
  });
}

function show({ out }: Session, task: TaskRecord | undefined, key: string, revision: bigint): void {
  const id = key.slice(key.lastIndexOf('/') + 1);
  if (task === undefined) return out.show({ revision, id, deleted: true }, `${revision}  ${id}  removed`);
  const { name, state, cause, attempt, node, by, error } = task;
  const why =
    error !== undefined && (state === 'FAILURE' || state === 'RETRY') ? `${error.type}: ${error.message}` : '';
  const line = [
    out.paint('dim', String(revision)),
    id,
    out.paint(styleOf(state), state.padEnd(9)),
    clean(name),
    out.paint('dim', clean(`${cause} by ${by}`)),
    clean(why),
  ];
  out.show(
    { revision, id, name, state, cause, attempt, by, ...(node === undefined ? {} : { node }) },
    line.join('  ').trimEnd(),
  );
}
