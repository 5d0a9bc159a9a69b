/** Leasehold itself, through its public API only. */
import { connect, createWorker, defineTask, handle, threadRenewer, type Client } from '@leasehold/core';
import { connectEtcd } from '@leasehold/core/kv';
import { createStore, type CommitterOptions } from '@leasehold/core/store';
import type { MakeMember, Member } from './crew-main.js';
import { each } from './pace.js';
import { etcdConditions, openStage } from './stage.js';
import type { OpenSystem, System } from './system.js';

const retry = { count: 3 };
const noop = defineTask('noop', { queue: 'bench', args: ['int64', 'string'], results: ['int64'], retry });
/** Answers with the moment at which its handler began: the monotonic clock, which all processes of a machine share. */
const stamp = defineTask('stamp', { queue: 'bench', args: ['int64', 'string'], results: ['int64'], retry });

const SUBMITS_AT_ONCE = 1_000;

export interface LeaseholdOptions {
  readonly tasks: number;
  readonly etcdVersion: string;
  readonly concurrency: number;
  /** Sub-transactions in one request at most; absent: what the library does by itself. */
  readonly batch?: number;
  /** Members of etcd; 1 unless said otherwise. */
  readonly members?: 1 | 3;
  /** Workers in each process, each with a connection and a session of its own; 1 unless said otherwise. */
  readonly workers?: number;
}

export function leaseholdSystem(options: LeaseholdOptions): System {
  const { tasks, etcdVersion, concurrency, batch, members = 1, workers = 1 } = options;
  const commit: CommitterOptions = batch === undefined ? {} : { batch };
  const unbatched = batch === 1;
  return {
    name: unbatched ? 'leasehold, one transition a request' : 'leasehold',
    tasks,
    conditions: {
      ...etcdConditions({ version: etcdVersion, members: [] }),
      members,
      concurrency,
      'submits at once': SUBMITS_AT_ONCE,
      ...(batch === undefined ? {} : { 'transitions a request': batch }),
    },
    async open(): Promise<OpenSystem> {
      const stage = await openStage(members);
      const client = connect({ kv: stage.kv, namespace: 'bench', commit });
      return {
        job: { kind: 'leasehold', settings: { endpoints: stage.endpoints, concurrency, commit, workers } },
        stage,
        submit: (count) => submitAll(client, count),
        one: async () => {
          const [began] = await (await client.submit(stamp.signature([1, 'x']))).result({ timeoutMs: 30_000 });
          return began as bigint;
        },
        close: async () => {
          await client.close();
          await stage.end();
        },
      };
    },
  };
}

function submitAll(client: Client, count: number): Promise<void> {
  return each(count, SUBMITS_AT_ONCE, async (n) => void (await client.submit(noop.signature([n, 'x']))));
}

export const leaseholdMember: MakeMember = (settings, ended): Promise<Member> => {
  const sent = { requests: 0, transitions: 0, sentBytes: 0 };
  const onRequest: CommitterOptions['onRequest'] = ({ subs, bytes }) => {
    sent.requests += 1;
    sent.transitions += subs;
    sent.sentBytes += bytes;
  };
  const commit = { ...(settings['commit'] as CommitterOptions), onRequest };
  const workers = Array.from({ length: settings['workers'] as number }, () => oneWorker(settings, commit, ended));
  return Promise.resolve({
    go: async () => {
      await Promise.all(workers.map(({ start }) => start()));
    },
    stop: async () => {
      await Promise.all(workers.map(({ stop }) => stop()));
    },
    sent: () => ({ ...sent }),
  });
};

function oneWorker(
  settings: Parameters<MakeMember>[0],
  commit: CommitterOptions,
  ended: () => void,
): { start(): Promise<void>; stop(): Promise<void> } {
  const endpoints = settings['endpoints'] as string[];
  const kv = connectEtcd({ endpoints });
  const store = createStore(kv, { namespace: 'bench', commit });
  const worker = createWorker(store, {
    handlers: [handle(noop, ([n]) => n), handle(stamp, () => process.hrtime.bigint())],
    concurrency: settings['concurrency'] as number,
    renewer: threadRenewer({ etcd: { endpoints } }),
    // Called once the end of an attempt is committed.
    hooks: { after: () => ended() },
  });
  return {
    start: () => worker.start(),
    stop: async () => {
      await worker.stop();
      store.committer.close();
      await kv.close();
    },
  };
}
