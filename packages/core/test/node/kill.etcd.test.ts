import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { uuidv7 } from 'uuidv7';
import { afterEach, describe, expect, inject, it } from 'vitest';
import type {} from '../../../tooling/vitest/provided.d.ts';
import { connect, decodeTask, defineTask, type Client, type TaskRecord } from '../../src/index.js';
import { prefixEnd } from '../../src/kv/index.js';

const N = 20_000;
const FILE = fileURLToPath(new URL('process-node.ts', import.meta.url));
const noop = defineTask('noop', { args: ['int64', 'string'], results: ['int64'], retry: { count: 3 } });

interface Child {
  readonly process: ChildProcess;
  /** "<task> <attempt> <token>" of every run it told of. */
  readonly ran: string[];
}

const children: Child[] = [];
let client: Client;

function start(namespace: string): Promise<Child> {
  const child: Child = {
    process: fork(FILE, [inject('etcd'), namespace], {
      execArgv: ['--import', 'tsx', '--conditions=leasehold-source'],
    }),
    ran: [],
  };
  children.push(child);
  return new Promise((resolve, reject) => {
    child.process.once('error', reject);
    child.process.once('exit', () => reject(new Error('the worker process ended before it was ready')));
    child.process.on('message', (message: { ran?: string[]; ready?: boolean }) => {
      if (message.ran !== undefined) child.ran.push(...message.ran);
      if ('ready' in message) resolve(child);
    });
  });
}

afterEach(async () => {
  for (const { process } of children.splice(0)) {
    if (process.exitCode !== null || process.signalCode !== null) continue;
    process.kill('SIGKILL');
    await once(process, 'exit');
  }
  await client.close();
});

async function allTasks(): Promise<readonly TaskRecord[]> {
  const { kv, keys } = client.store;
  const prefix = keys.kind('tasks');
  const out: TaskRecord[] = [];
  for (let key = prefix; ;) {
    const page = await kv.range({ key, rangeEnd: prefixEnd(prefix), limit: 2_000 });
    out.push(...page.kvs.map(({ value }) => decodeTask(value)));
    const last = page.kvs.at(-1);
    if (!page.more || last === undefined) return out;
    key = `${last.key}\0`;
  }
}

describe('two worker processes, one of them killed', () => {
  it(
    '20 000 tasks, SIGKILL half-way: all succeed, none twice in effect (reports E1, E23, E37, E41)',
    { timeout: 300_000 },
    async () => {
      const namespace = `kill-${uuidv7()}`;
      client = connect({ etcd: { endpoints: [inject('etcd')] }, namespace });
      const [victim, survivor] = await Promise.all([start(namespace), start(namespace)]);
      const { revision } = await client.store.kv.range({ key: client.store.keys.leader() });
      const ended = countEnded(N / 4, revision + 1n);
      const ids: string[] = [];
      let next = 0;
      await Promise.all(
        Array.from({ length: 500 }, async () => {
          while (next < N) ids.push((await client.submit(noop.signature([BigInt(next++), 'hello']))).id);
        }),
      );
      await ended.reached;
      victim.process.kill('SIGKILL');
      await once(victim.process, 'exit');
      await ended.reachedAll;
      const tasks = await allTasks();
      expect(tasks).toHaveLength(N);
      expect(new Set(tasks.map(({ id }) => id))).toEqual(new Set(ids));
      expect(tasks.filter(({ state }) => state !== 'SUCCESS')).toEqual([]);
      const lost = tasks.filter(({ losses }) => losses > 0);
      expect(lost.every(({ attempt, losses }) => attempt === losses + 1)).toBe(true);
      // A store that accepts only growing tokens ends with the run whose result was recorded.
      const effects = new Map<string, { attempt: number; token: bigint }>();
      for (const line of [...victim.ran, ...survivor.ran]) {
        const [id = '', attempt = '', token = ''] = line.split(' ');
        const before = effects.get(id);
        if (before === undefined || BigInt(token) > before.token)
          effects.set(id, { attempt: Number(attempt), token: BigInt(token) });
      }
      // The victim dies with up to 20 ms of runs untold; those tasks were settled by it or ran again in the survivor.
      const wrong = tasks.filter(({ id, attempt }) => effects.has(id) && (effects.get(id)?.attempt ?? 0) > attempt);
      expect(wrong).toEqual([]);
      for (const task of lost) expect(effects.get(task.id)?.attempt).toBe(task.attempt);
      const locks = await client.store.kv.range({
        key: client.store.keys.kind('locks'),
        rangeEnd: prefixEnd(client.store.keys.kind('locks')),
        countOnly: true,
      });
      expect(locks.count).toBe(0);
    },
  );
});

/** Signals from etcd itself: each ended task puts one key under `ended/`. */
function countEnded(half: number, from: bigint): { reached: Promise<void>; reachedAll: Promise<void> } {
  const { kv, keys } = client.store;
  const prefix = keys.kind('ended');
  let [count, tell, tellAll] = [0, (): void => undefined, (): void => undefined];
  const reached = new Promise<void>((resolve) => (tell = resolve));
  const reachedAll = new Promise<void>((resolve) => (tellAll = resolve));
  const watch = kv.watch(
    { key: prefix, rangeEnd: prefixEnd(prefix), startRevision: from, filter: 'no-delete' },
    (message) => {
      if (message.kind !== 'events') return;
      count += message.events.length;
      if (count >= half) tell();
      if (count < N) return;
      watch.close();
      tellAll();
    },
  );
  return { reached, reachedAll };
}
