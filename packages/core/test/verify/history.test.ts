import { describe, expect, inject, it } from 'vitest';
import { uuidv7 } from 'uuidv7';
import { connectEtcd, MemoryStore, type Kv } from '../../src/kv/index.js';
import { Keys } from '../../src/model/keys.js';
import {
  Checker,
  readHistory,
  readRecording,
  recordLines,
  verifyHistory,
  type HistoryRevision,
} from '../../src/verify/index.js';
import { livelyHistory } from './histories.js';

async function collect(revisions: AsyncIterable<HistoryRevision>): Promise<HistoryRevision[]> {
  const all: HistoryRevision[] = [];
  for await (const revision of revisions) all.push(revision);
  return all;
}

const lively = async (): Promise<{ kv: Kv; memory: MemoryStore; keys: Keys }> => {
  const memory = new MemoryStore();
  const kv = memory.connect();
  await livelyHistory(kv, 'lively');
  return { kv, memory, keys: new Keys('lively') };
};

describe('a history', () => {
  it('of honest work holds every invariant, and everything in it has ended', async () => {
    const { ended } = await livelyHistory(new MemoryStore().connect(), 'lively');
    expect(ended.violations).toEqual([]);
    expect(ended.revisions).toBeGreaterThan(15);
  });

  it('is read from etcd as from the twin', async () => {
    const kv = connectEtcd({ endpoints: [inject('etcd')] });
    try {
      const { ended } = await livelyHistory(kv, `verify-${uuidv7()}`);
      expect(ended.violations).toEqual([]);
      expect(ended.revisions).toBeGreaterThan(15);
    } finally {
      await kv.close();
    }
  });

  it('is read from a revision on: the state before it is where it continues', async () => {
    const { kv, keys } = await lively();
    const whole = await readHistory(kv, keys);
    const all = await collect(whole.revisions);
    const middle = all[Math.floor(all.length / 2)]?.revision ?? 0n;
    const history = await readHistory(kv, keys, { from: middle });
    expect(history.start.revision).toBe(middle - 1n);
    const checker = await verifyHistory(history, { namespace: 'lively', quiet: true });
    expect(checker.violations).toEqual([]);
    expect(checker.revisions).toBe(all.filter(({ revision }) => revision >= middle).length);
  });

  it('is read up to a revision and no further', async () => {
    const { kv, keys } = await lively();
    const { revisions } = await readHistory(kv, keys, { until: 9n });
    expect((await collect(revisions)).at(-1)?.revision).toBeLessThanOrEqual(9n);
  });

  it('begins at the oldest revision that a compaction has left, and is refused before it', async () => {
    const { kv, memory, keys } = await lively();
    const floor = memory.revision - 10n;
    await kv.compact(floor);
    const history = await readHistory(kv, keys);
    expect(history.start.revision).toBe(floor);
    expect((await verifyHistory(history, { namespace: 'lively', quiet: true })).violations).toEqual([]);
    await expect(readHistory(kv, keys, { from: 3n })).rejects.toMatchObject({ code: 'compacted' });
  });

  it('is recorded line by line and read back equal', async () => {
    const { kv, keys } = await lively();
    const lines: string[] = [];
    for await (const line of recordLines(await readHistory(kv, keys))) lines.push(line);
    const back = await readRecording(lines);
    expect(await collect(back.revisions)).toEqual(await collect((await readHistory(kv, keys)).revisions));
    await expect(readRecording(['no line'])).rejects.toMatchObject({ code: 'unreadable' });
    await expect(readRecording([])).rejects.toMatchObject({ code: 'unreadable' });
  });

  it('with a hole, or out of order, is refused instead of judged', async () => {
    const { kv, keys } = await lively();
    const all = await collect((await readHistory(kv, keys)).revisions);
    const judgeAll = (revisions: readonly HistoryRevision[]): void => {
      const checker = new Checker({ namespace: 'lively' });
      for (const revision of revisions) checker.apply(revision);
    };
    expect(() => judgeAll(all)).not.toThrow();
    expect(() => judgeAll(all.slice(8))).toThrow(/hole/);
    expect(() => judgeAll([...all.slice(0, 4), ...all.slice(2)])).toThrow(/follows/);
  });
});
