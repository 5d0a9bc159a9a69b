import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Kv, KvStatus, MemoryStore } from '../../src/kv/index.js';
import { quotaOf } from '../../src/kv/etcd-quota.js';
import { clusterKeys } from '../../src/model/cluster-keys.js';
import { historyFor, judgeStorage, STORAGE_DEFAULTS } from '../../src/model/storage.js';
import {
  claimCompactor,
  compactHistory,
  registerWindow,
  resignCompactor,
  revisionBefore,
  sampleClock,
} from '../../src/store/compaction.js';
import type { Leadership } from '../../src/store/leadership.js';
import { StorageMeter } from '../../src/store/storage.js';
import type { Store } from '../../src/store/store.js';
import { elect } from '../leader/office.js';
import { makeStore, memoryWorld } from './plain-worker.js';

let store: Store;
let clock: { nowMs: number };
let memory: MemoryStore;
let leader: Leadership;
const MINUTE = 60_000;

beforeEach(async () => {
  ({ store, clock, memory } = memoryWorld());
  leader = await elect(store);
});

function sized(kv: Kv, size: () => { size: number; inUse: number }): { kv: Kv; asked: () => number } {
  let asked = 0;
  const status = async (): Promise<KvStatus> => {
    asked++;
    return { ...(await kv.status()), dbSizeBytes: size().size, dbSizeInUseBytes: size().inUse };
  };
  const proxied = new Proxy(kv, {
    get: (target, name) => {
      if (name === 'status') return status;
      const member = Reflect.get(target, name, target) as unknown;
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
  return { kv: proxied, asked: () => asked };
}

describe('the quota', () => {
  it('is what etcd’s metrics tell, its default where they say 0, and unknown where they say nothing', () => {
    const page = (value: string): string => `# HELP x\netcd_server_quota_backend_bytes ${value}\nother 1\n`;
    expect(quotaOf(page('8.589934592e+09'))).toBe(8 * 1024 ** 3);
    expect(quotaOf(page('0'))).toBe(2 * 1024 ** 3);
    expect(quotaOf('other 1')).toBeUndefined();
    expect(quotaOf(page('NaN'))).toBeUndefined();
  });

  it('is taken from the store unless one is set', async () => {
    const kv = memory.connect();
    const told = (await kv.status()) as KvStatus;
    kv.status = () => Promise.resolve({ ...told, dbSizeBytes: 700, dbSizeInUseBytes: 700, quotaBytes: 1_000 });
    expect(await new StorageMeter(kv).report()).toMatchObject({ quotaBytes: 1_000, full: true, advice: 'make-room' });
    expect(await new StorageMeter(kv, { quotaBytes: 10_000 }).report()).toMatchObject({
      quotaBytes: 10_000,
      full: false,
    });
  });
});

describe('the soft limit', () => {
  it('report E53: new work is refused long before etcd refuses everything, and taken again when there is room', async () => {
    let inUse = 0;
    const { kv } = sized(memory.connect(), () => ({ size: inUse, inUse }));
    const meter = new StorageMeter(kv, { quotaBytes: 1_000, now: () => clock.nowMs });
    await meter.admit();
    inUse = 600;
    clock.nowMs += 6_000;
    await meter.report();
    await expect(meter.admit()).rejects.toMatchObject({
      code: 'storage-full',
      fields: { inUseBytes: 600, quotaBytes: 1_000 },
    });
    inUse = 100;
    clock.nowMs += 6_000;
    await meter.report();
    await meter.admit();
  });

  it('is asked rarely, however often work comes, and never makes work wait for a new measurement', async () => {
    const { kv, asked } = sized(memory.connect(), () => ({ size: 0, inUse: 0 }));
    const meter = new StorageMeter(kv, { now: () => clock.nowMs });
    await Promise.all(Array.from({ length: 1_000 }, () => meter.admit()));
    expect(asked()).toBe(1);
    clock.nowMs += 5_001;
    for (let n = 0; n < 100; n++) await meter.admit();
    expect(asked()).toBe(2);
  });

  it('a store that does not answer is not called full', async () => {
    const kv = memory.connect({ intercept: () => 'refuse' });
    await new StorageMeter(kv).admit();
  });

  it('refuses while etcd has raised its alarm', async () => {
    memory.setOutOfSpace(true);
    await expect(new StorageMeter(memory.connect()).admit()).rejects.toMatchObject({ fields: { alarms: ['nospace'] } });
  });

  it('advises: make room when it is crowded, defragment when the file is hollow', () => {
    const judge = (sizeBytes: number, inUseBytes: number) =>
      judgeStorage({ sizeBytes, inUseBytes, alarms: [] }, { ...STORAGE_DEFAULTS, quotaBytes: 1_000 });
    expect(judge(500, 400)).toMatchObject({ full: false, advice: 'none' });
    expect(judge(700, 600)).toMatchObject({ full: true, advice: 'make-room' });
    expect(judge(700, 100)).toMatchObject({ full: false, advice: 'defragment' });
    expect(judge(950, 100)).toMatchObject({ full: true, advice: 'defragment' });
  });

  it.each([
    [{ quotaBytes: 0 }],
    [{ softShare: 1 }],
    [{ minHistoryMs: 1 }],
    [{ historyMs: 70_000, minHistoryMs: 80_000 }],
  ])('refuses %j', (options) => {
    expect(() => new StorageMeter(memory.connect(), options)).toThrow(/is not|at least/);
  });
});

describe('history', () => {
  it('the fuller the store, the less is kept, never less than the least nor more than the window', () => {
    fc.assert(
      fc.property(fc.nat(2_000), fc.nat(2_000), fc.integer({ min: 1, max: 10_000_000 }), (a, b, windowMs) => {
        const limits = { ...STORAGE_DEFAULTS, quotaBytes: 1_000 };
        const [less, more] = [Math.min(a, b), Math.max(a, b)].map((inUseBytes) =>
          historyFor({ inUseBytes }, windowMs, limits),
        );
        expect(less).toBeGreaterThanOrEqual(more ?? 0);
        expect(less).toBeLessThanOrEqual(windowMs);
        expect(more).toBeGreaterThanOrEqual(Math.min(windowMs, limits.minHistoryMs));
      }),
    );
  });

  it('Q3: a time becomes the revision of the newest sample before it', async () => {
    const start = clock.nowMs;
    const at: bigint[] = [];
    for (let n = 0; n < 5; n++) {
      await sampleClock(store, leader);
      at.push(memory.revision);
      clock.nowMs += MINUTE;
    }
    expect(await revisionBefore(store, start + 2 * MINUTE, 3_600_000)).toBe(at[2]);
    expect(await revisionBefore(store, start + 3 * MINUTE - 1, 3_600_000)).toBe(at[2]);
    expect(await revisionBefore(store, start - 1, 3_600_000)).toBeUndefined();
  });

  it('Q1, Q2: one of several namespaces compacts, and keeps the largest window of all', async () => {
    const other = makeStore(memory.connect(), clock, {}, 'other');
    const otherLeader = await elect(other);
    expect(await claimCompactor(store, leader)).toBe(true);
    expect(await claimCompactor(store, leader)).toBe(true);
    expect(await claimCompactor(other, otherLeader)).toBe(false);
    await registerWindow(store, leader, 60 * MINUTE);
    await registerWindow(other, otherLeader, 10 * MINUTE);
    const samples: bigint[] = [];
    for (let n = 0; n < 90; n++) {
      await sampleClock(store, leader);
      samples.push(memory.revision);
      clock.nowMs += MINUTE;
    }
    const report = { sizeBytes: 0, inUseBytes: 0, quotaBytes: 1, full: false, alarms: [], advice: 'none' } as const;
    const compacted = await compactHistory(store, report, STORAGE_DEFAULTS);
    expect(compacted).toEqual({ revision: samples[30], windowMs: 60 * MINUTE });
    const key = store.keys.leader();
    await expect(store.kv.range({ key, revision: (samples[30] ?? 0n) - 1n })).rejects.toMatchObject({
      code: 'compacted',
    });
    await store.kv.range({ key, revision: samples[31] ?? 0n });
    await resignCompactor(store, leader);
    expect(await claimCompactor(other, otherLeader)).toBe(true);
    expect((await store.kv.range({ key: clusterKeys.compactor })).kvs[0]?.lease).toBe(otherLeader.lease);
  });
});
