/**
 * The pattern of many articles on etcd as a task queue: the submitter puts a record; a worker that sees it takes a lease,
 * puts a lock under it if there is none, runs, puts the record again, and ends the lease. No ready index, no retries, no
 * guard on the result: it does less than a scheduler has to.
 */
import { connectEtcd, prefixEnd, type Kv, type KvEvent } from '@leasehold/core/kv';
import type { MakeMember } from './crew-main.js';
import { each } from './pace.js';
import { openStage, etcdConditions } from './stage.js';
import type { OpenSystem, System } from './system.js';

const TASKS = '/naive/tasks/';
const LOCKS = '/naive/locks/';
const LEASE_S = 10;
const SUBMIT_LANES = 128;
/** More at once gave no more on two cores. */
const WORK_LANES = 64;

export function naiveSystem(tasks: number, etcdVersion: string): System {
  return {
    name: 'naive (lease + lock + put a task)',
    tasks,
    conditions: { ...etcdConditions({ version: etcdVersion, members: [] }), members: 1, concurrency: WORK_LANES },
    async open(): Promise<OpenSystem> {
      const stage = await openStage();
      let next = 0;
      return {
        job: { kind: 'naive', settings: { endpoints: stage.endpoints } },
        submit: (count) =>
          each(count, SUBMIT_LANES, async () => {
            const id = String(next++).padStart(10, '0');
            await put(stage.kv, id, 'PENDING');
          }),
        one: () => Promise.reject(new Error('the naive pattern has no result to wait for')),
        close: () => stage.end(),
      };
    },
  };
}

async function put(kv: Kv, id: string, state: string): Promise<void> {
  const value = JSON.stringify({
    id,
    name: 'noop',
    args: [
      { type: 'int64', value: '1' },
      { type: 'string', value: 'x' },
    ],
    state,
  });
  await kv.txn({ compare: [], success: [{ kind: 'put', key: TASKS + id, value }] });
}

export const naiveMember: MakeMember = (settings, ended) => {
  const kv = connectEtcd({ endpoints: settings['endpoints'] as string[] });
  const waiting: string[] = [];
  let running = 0;
  const stopping = new AbortController();
  const next = (): void => {
    while (running < WORK_LANES && waiting.length > 0 && !stopping.signal.aborted) {
      running += 1;
      void work(kv, waiting.shift() ?? '', ended).finally(() => {
        running -= 1;
        next();
      });
    }
  };
  return Promise.resolve({
    async go() {
      const range = { key: TASKS, rangeEnd: prefixEnd(TASKS) };
      const there = await kv.range(range);
      waiting.push(...there.kvs.filter(({ value }) => isPending(value)).map(({ key }) => key.slice(TASKS.length)));
      kv.watch({ ...range, startRevision: there.revision + 1n, filter: 'no-delete' }, (message) => {
        if (message.kind !== 'events') return;
        waiting.push(...message.events.filter(isNew).map(({ kv: { key } }) => key.slice(TASKS.length)));
        next();
      });
      next();
    },
    stop: () => {
      stopping.abort();
      return kv.close();
    },
  });
};

const isPending = (value: string): boolean => value.includes('"PENDING"');
const isNew = (event: KvEvent): boolean => isPending(event.kv.value);

async function work(kv: Kv, id: string, ended: () => void): Promise<void> {
  const lease = await kv.leaseGrant(LEASE_S);
  const lock = await kv.txn({
    compare: [{ key: LOCKS + id, target: 'create', value: 0n }],
    success: [{ kind: 'put', key: LOCKS + id, value: 'me', lease: lease.id }],
  });
  if (lock.succeeded) {
    await put(kv, id, 'SUCCESS');
    ended();
  }
  await kv.leaseRevoke(lease.id);
}
