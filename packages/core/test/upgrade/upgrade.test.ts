/** What earlier versions stored is read by this one and worked off to its end. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { defineTask, handle, startNode } from '../../src/index.js';
import { MemoryStore } from '../../src/kv/index.js';
import { Keys } from '../../src/model/keys.js';
import { FakeClock, silentLogger } from '../../src/runtime/index.js';
import { Checker } from '../../src/verify/index.js';
import { resume } from '../../src/store/index.js';
import { call } from '../worker/rig.js';
import { storeOn } from '../store/stores.js';
import type { Fixture, StoredKey } from './fixture.js';

const folder = new URL('fixtures/', import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
const fixtures = files.flatMap((file) =>
  (JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Fixture[]).map((fixture) => ({ file, ...fixture })),
);

function task(name: string, fails: boolean) {
  const definition = defineTask(name, { args: ['int64'], variadic: 'string', results: ['string'] });
  return handle(definition, () => {
    if (fails) throw new Error('it is bad');
    return 'done';
  });
}

/** Every key as often as it was put, so that versions are right; the last time together with what it was written with. */
function putBack(memory: MemoryStore, keys: Fixture['keys']): void {
  const put = ({ key, value }: StoredKey) => ({ kind: 'put', key, value }) as const;
  for (const one of keys) {
    for (let n = 1; n < one.version; n++) memory.txn({ compare: [], success: [put(one)] });
  }
  for (const revision of new Set(keys.map((one) => one.revision))) {
    memory.txn({ compare: [], success: keys.filter((one) => one.revision === revision).map(put) });
  }
}

describe('records of earlier versions', () => {
  it('are here for every layout', () => {
    expect(files).toContain('layout-1.json');
    expect(fixtures.length).toBeGreaterThan(2);
  });

  it.each(fixtures)(
    'of $file, seed $seed: are read, and everything goes on to its end',
    async ({ namespace, keys }) => {
      const clock = new FakeClock();
      const memory = new MemoryStore({ now: () => clock.monotonic(), schedule: clock.schedule });
      putBack(memory, keys);
      const kv = memory.connect();
      const start = await kv.range({ key: '/', rangeEnd: '0' });
      const checker = new Checker({ namespace, start });
      expect(checker.violations).toEqual([]);
      const prefix = new Keys(namespace).prefix;
      kv.watch(
        { key: prefix, rangeEnd: `${prefix.slice(0, -1)}0`, startRevision: start.revision + 1n, prevKv: true },
        (message) => {
          if (message.kind !== 'events') return;
          for (let at = 0; at < message.events.length;) {
            const revision = message.events[at]?.kv.modRevision ?? 0n;
            const events = message.events.filter(({ kv: { modRevision } }) => modRevision === revision);
            checker.apply({ revision, events });
            at += events.length;
          }
        },
      );
      const node = await startNode({
        kv,
        namespace,
        clock,
        handlers: [task('good', false), task('flaky', false), task('bad', true)],
        queues: ['default', 'slow'],
        logger: silentLogger,
      });
      const store = storeOn(kv, clock, namespace);
      for (const target of [
        'all',
        { queue: 'default' },
        { queue: 'slow' },
        { name: 'good' },
        { name: 'flaky' },
      ] as const) {
        await resume(store, call(), target);
      }
      for (let i = 0; i < 400 && checker.leftovers().length > 0; i++) {
        await clock.advance(250);
        memory.tick();
      }
      expect(checker.leftovers().map(({ message }) => message)).toEqual([]);
      expect(checker.violations).toEqual([]);
      const stopping = node.stop({ deadlineMs: 0 });
      await clock.advance(3_000);
      await stopping;
    },
  );

  it('of a later layout are refused, not damaged', async () => {
    const { decodeTask } = await import('../../src/model/codec.js');
    const later = fixtures[0]?.keys.find(({ key }) => key.includes('/tasks/'))?.value ?? '{}';
    expect(() => decodeTask(JSON.stringify({ ...(JSON.parse(later) as object), v: 99 }))).toThrow(
      expect.objectContaining({ code: 'unreadable' }) as Error,
    );
  });
});
