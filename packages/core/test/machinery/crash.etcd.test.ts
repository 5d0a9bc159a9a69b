/** A real worker process is killed in the middle of workflows; another one finishes them. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, inject, it } from 'vitest';
import type {} from '../../../tooling/vitest/provided.d.ts';
import { chain, chord, isEnded } from '../../src/index.js';
import { prefixEnd } from '../../src/kv/index.js';
import { decodeTask } from '../../src/model/codec.js';
import { add, multiply, testHandlers } from './tasks.js';
import { etcdWorld } from './world.js';

const CHILD = fileURLToPath(new URL('./child-worker.ts', import.meta.url));

it('SIGKILL in the middle of tasks, hand-offs and barriers: every chord is right, every task succeeds once', async () => {
  const world = etcdWorld();
  const { store } = world.client;
  const child = fork(CHILD, [inject('etcd'), store.keys.namespace], {
    execArgv: ['--import', 'tsx', '--conditions=leasehold-source'],
  });
  await once(child, 'message');
  const prefix = store.keys.kind('tasks');
  const successes = new Map<string, number>();
  let written = 0;
  const enough = new Promise<void>((resolve) => {
    const request = { key: prefix, rangeEnd: prefixEnd(prefix), startRevision: 1n, filter: 'no-delete' } as const;
    store.kv.watch(request, (message) => {
      if (message.kind !== 'events') return;
      for (const { kv } of message.events) {
        const { id, state, cause } = decodeTask(kv.value);
        if (state === 'SUCCESS' && cause === 'succeeded') successes.set(id, (successes.get(id) ?? 0) + 1);
        if (state === 'SUCCESS' && ++written === 60) resolve();
      }
    });
  });
  // Twenty chords of three chains: hand-offs and barriers all the time.
  const header = [1n, 2n, 3n].map((n) => chain([add.signature([n]), add.partial([n]), add.partial([n])]));
  const chords = await Promise.all(
    Array.from({ length: 20 }, () =>
      world.client.submit(chain([chord(header, multiply.partial([])), add.partial([0n])])),
    ),
  );
  await enough;
  child.kill('SIGKILL');
  await once(child, 'exit');
  const left = (await world.tasks()).filter(({ state }) => !isEnded(state)).length;
  expect(left).toBeGreaterThan(0);
  await world.start({ handlers: testHandlers(Date.now), concurrency: 50 });
  // 3 x 6 x 9
  const results = await Promise.all(chords.map((one) => one.result()));
  expect(results).toEqual(chords.map(() => [162n]));
  expect([...successes.values()].filter((count) => count !== 1)).toEqual([]);
  expect(successes.size).toBe(20 * 11);
  await world.close();
}, 60_000);
