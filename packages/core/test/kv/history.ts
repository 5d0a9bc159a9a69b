import fc from 'fast-check';
import {
  KvError,
  type Compare,
  type Kv,
  type KvEvent,
  type LeaseId,
  type Op,
  type RangeRequest,
  type Revision,
  type Txn,
  type WatchMessage,
  type WatchRequest,
} from '../../src/kv/index.js';
import { record, type Recording } from './target.js';

/**
 * Random histories, run step by step on two stores, whose answers must be equal.
 *
 * Revisions are counted from where the history starts and leases are named by their turn, so that a long-lived etcd
 * and a new twin say the same. Nobody else may write to either store meanwhile.
 */

/** A revision is given as a distance from the start of the history. */
type Step =
  | { readonly kind: 'txn'; readonly txn: Draft }
  | { readonly kind: 'range'; readonly range: DraftRange; readonly revision: number | undefined }
  | { readonly kind: 'grant' }
  | { readonly kind: 'revoke' | 'leaseStatus' | 'keepAlive'; readonly lease: number }
  | { readonly kind: 'compact'; readonly revision: number }
  | { readonly kind: 'watch'; readonly watch: DraftWatch };

interface DraftRange {
  readonly from: string;
  readonly to: string | undefined;
  readonly limit: number;
  readonly only: 'keys' | 'count' | undefined;
}

interface DraftWatch {
  readonly from: string;
  readonly to: string | undefined;
  readonly start: number;
  readonly prevKv: boolean;
  readonly filter: 'no-put' | 'no-delete' | undefined;
}

type DraftOp =
  | { readonly kind: 'put'; readonly key: string; readonly value: string; readonly lease: number | undefined }
  | { readonly kind: 'delete'; readonly key: string; readonly to: string | undefined }
  | { readonly kind: 'range'; readonly range: DraftRange }
  | { readonly kind: 'txn'; readonly txn: Draft };

interface DraftCompare {
  readonly key: string;
  readonly to: string | undefined;
  readonly target: 'create' | 'mod' | 'version' | 'lease' | 'value';
  readonly op: '=' | '!=' | '>' | '<';
  readonly number: number;
  readonly text: string;
}

interface Draft {
  readonly compare: readonly DraftCompare[];
  readonly success: readonly DraftOp[];
  readonly failure: readonly DraftOp[];
}

// One key outside ASCII, where UTF-16 order and byte order part; one that is a prefix of another.
const KEYS = ['a', 'a/1', 'b', '\uffee', '😀'];
const END = '\u{10ffff}';

const key = fc.constantFrom(...KEYS);
const rangeEnd = fc.option(fc.constantFrom(...KEYS, END), { nil: undefined, freq: 2 });
const value = fc.constantFrom('', 'x', 'y', '\uffee', '😀');
// Few keys, leases and revisions, so that steps meet.
const distance = fc.integer({ min: 0, max: 12 });
const leaseTurn = fc.integer({ min: 0, max: 2 });

const draftRange: fc.Arbitrary<DraftRange> = fc.record({
  from: key,
  to: rangeEnd,
  limit: fc.integer({ min: 0, max: 4 }),
  only: fc.option(fc.constantFrom('keys', 'count'), { nil: undefined, freq: 3 }),
});

const draftCompare: fc.Arbitrary<DraftCompare> = fc.record({
  key,
  to: rangeEnd,
  target: fc.constantFrom('create', 'mod', 'version', 'lease', 'value'),
  op: fc.constantFrom('=', '!=', '>', '<'),
  number: fc.integer({ min: -1, max: 12 }),
  text: value,
});

const draftTxn = fc.letrec<{ txn: Draft; ops: readonly DraftOp[] }>((tie) => {
  const put = fc.record({
    kind: fc.constant('put' as const),
    key,
    value,
    lease: fc.option(leaseTurn, { nil: undefined, freq: 2 }),
  });
  const remove = fc.record({ kind: fc.constant('delete' as const), key, to: rangeEnd });
  const range = fc.record({ kind: fc.constant('range' as const), range: draftRange });
  const nested = fc.record({ kind: fc.constant('txn' as const), txn: tie('txn') });
  const op: fc.Arbitrary<DraftOp> = fc.oneof(
    { maxDepth: 3, depthIdentifier: 'txn' },
    { weight: 4, arbitrary: put },
    { weight: 2, arbitrary: remove },
    { weight: 2, arbitrary: range },
    { weight: 3, arbitrary: nested },
  );
  return {
    ops: fc.array(op, { maxLength: 4, depthIdentifier: 'txn' }),
    txn: fc.record({ compare: fc.array(draftCompare, { maxLength: 2 }), success: tie('ops'), failure: tie('ops') }),
  };
}).txn;

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ kind: fc.constant('txn' as const), txn: draftTxn }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('range' as const),
      range: draftRange,
      revision: fc.option(distance, { nil: undefined }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('grant' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('revoke' as const, 'leaseStatus' as const, 'keepAlive' as const),
      lease: leaseTurn,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('compact' as const), revision: distance }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('watch' as const),
      watch: fc.record({
        from: key,
        to: rangeEnd,
        start: fc.integer({ min: 1, max: 12 }),
        prevKv: fc.boolean(),
        filter: fc.option(fc.constantFrom('no-put', 'no-delete'), { nil: undefined, freq: 3 }),
      }),
    }),
  },
);

export const histories: fc.Arbitrary<readonly Step[]> = fc.array(step, { minLength: 10, maxLength: 50, size: 'max' });

/** Runs one history and returns everything that the store said, in comparable words. */
export async function runHistory(kv: Kv, prefix: string, steps: readonly Step[]): Promise<readonly unknown[]> {
  const run = new HistoryRun(kv, prefix, (await kv.status()).revision);
  try {
    const answers: unknown[] = [];
    for (const each of steps) answers.push(await run.step(each));
    return [...answers, ...(await run.watched())];
  } finally {
    await run.end();
  }
}

const UNKNOWN_LEASE: LeaseId = 4_611_686_018_427_387_905n;

interface OpenWatch {
  readonly recording: Recording;
  readonly request: WatchRequest;
  /** Of a watch that cannot be served: the kind of its last word. */
  readonly fate: 'open' | 'compacted' | 'closed';
}

class HistoryRun {
  readonly #kv: Kv;
  readonly #prefix: string;
  readonly #base: Revision;
  readonly #leases: LeaseId[] = [];
  readonly #watches: OpenWatch[] = [];
  #floor: Revision;
  #touched = 0;

  constructor(kv: Kv, prefix: string, base: Revision) {
    this.#kv = kv;
    this.#prefix = prefix;
    this.#base = base;
    this.#floor = base;
  }

  async step(step: Step): Promise<unknown> {
    try {
      return comparable(await this.#perform(step), (number, name) => this.#normal(number, name));
    } catch (error) {
      if (error instanceof KvError) return `refused: ${error.code}`;
      throw error;
    }
  }

  /** What every watch told by the end of the history. */
  async watched(): Promise<readonly unknown[]> {
    await this.#settleWatches();
    return this.#watches.map(({ recording: { messages, events } }) => ({
      wholeRevisions: inWholeRevisions(messages.flatMap((each) => (each.kind === 'events' ? [each.events] : []))),
      events: comparable(events, (number, name) => this.#normal(number, name)),
      last: lastWord(messages.at(-1)),
    }));
  }

  async end(): Promise<void> {
    for (const { recording } of this.#watches) recording.close();
    for (const id of this.#leases) await this.#kv.leaseRevoke(id);
  }

  async #perform(step: Step): Promise<unknown> {
    const kv = this.#kv;
    switch (step.kind) {
      case 'txn':
        return kv.txn(this.#txn(step.txn));
      case 'range':
        return kv.range({
          ...this.#range(step.range),
          ...(step.revision === undefined ? undefined : { revision: this.#base + BigInt(step.revision) }),
        });
      case 'grant': {
        const { id, ttlS } = await kv.leaseGrant(1000);
        this.#leases.push(id);
        return { ttlS };
      }
      case 'revoke':
        return kv.leaseRevoke(this.#lease(step.lease));
      case 'leaseStatus': {
        const { grantedTtlS, keys } = await kv.leaseStatus(this.#lease(step.lease));
        return { grantedTtlS, keys: keys.map((name) => this.#bare(name)) };
      }
      case 'keepAlive':
        return kv.leaseKeepAlive(this.#lease(step.lease));
      case 'compact':
        return this.#compact(this.#base + BigInt(step.revision));
      case 'watch':
        return this.#watch(step.watch);
    }
  }

  async #compact(revision: Revision): Promise<unknown> {
    // etcd may compact away what a watch has not caught up with yet; the twin never does.
    await this.#settleWatches();
    await this.#kv.compact(revision);
    if (revision > this.#floor) this.#floor = revision;
    return 'compacted';
  }

  #watch({ from, to, start, prevKv, filter }: DraftWatch): unknown {
    const startRevision = this.#base + BigInt(start);
    // etcd before 3.5.18 forgets a deletion at the floor itself.
    if (startRevision === this.#floor) return 'not opened';
    const request: WatchRequest = {
      ...this.#keys(from, to),
      startRevision,
      prevKv,
      ...(filter === undefined ? undefined : { filter }),
    };
    const fate = isEmptyRange(request) ? 'closed' : startRevision < this.#floor ? 'compacted' : 'open';
    this.#watches.push({ recording: record(this.#kv, request), request, fate });
    return 'opened';
  }

  /** Waits until every watch has told all there is, or has told that it cannot. */
  async #settleWatches(): Promise<void> {
    const open = this.#watches.filter(({ fate }) => fate === 'open');
    const starts = open.map(({ request }) => request.startRevision);
    let last = { put: -1n, gone: -1n };
    while (starts.some((start) => start > last.put)) last = await this.#touch(open.map(({ request }) => request.key));
    for (const { recording, request, fate } of this.#watches) {
      const wanted = request.filter === 'no-delete' ? last.put : last.gone;
      const { messages, events } = recording;
      await recording.until(() =>
        fate === 'open' ? (events.at(-1)?.kv.modRevision ?? 0n) >= wanted : messages.at(-1)?.kind === fate,
      );
    }
  }

  /** Puts the keys and deletes them again, so that filtered watches see one of the two. */
  async #touch(keys: readonly string[]): Promise<{ put: Revision; gone: Revision }> {
    const names = [...new Set(keys)];
    this.#touched += 1;
    const value = `touch ${this.#touched}`;
    const put = await this.#kv.txn({ compare: [], success: names.map((name) => ({ kind: 'put', key: name, value })) });
    const gone = await this.#kv.txn({ compare: [], success: names.map((name) => ({ kind: 'delete', key: name })) });
    return { put: put.revision, gone: gone.revision };
  }

  #txn(draft: Draft): Txn {
    return {
      compare: draft.compare.map((each) => this.#compare(each)),
      success: draft.success.map((each) => this.#op(each)),
      failure: draft.failure.map((each) => this.#op(each)),
    };
  }

  #op(draft: DraftOp): Op {
    switch (draft.kind) {
      case 'put': {
        const put = { kind: 'put', key: this.#prefix + draft.key, value: draft.value } as const;
        return draft.lease === undefined ? put : { ...put, lease: this.#lease(draft.lease) };
      }
      case 'delete':
        return { kind: 'delete', ...this.#keys(draft.key, draft.to) };
      case 'range':
        return { kind: 'range', ...this.#range(draft.range) };
      case 'txn':
        return { kind: 'txn', txn: this.#txn(draft.txn) };
    }
  }

  #compare({ key: name, to, target, op, number, text }: DraftCompare): Compare {
    const keys = this.#keys(name, to);
    if (target === 'value') return { ...keys, target, op, value: text };
    // Which of two lease ids is larger is chance, so only equality is asked of them.
    if (target === 'lease' && number > 0) {
      return { ...keys, target, op: op === '=' || op === '<' ? '=' : '!=', value: this.#lease(number % 3) };
    }
    if (target === 'lease') return { ...keys, target, op, value: 0n };
    if (target === 'version') return { ...keys, target, op, value: BigInt(Math.max(0, number)) };
    return { ...keys, target, op, value: number < 0 ? 0n : this.#base + BigInt(number) };
  }

  #range({ from, to, limit, only }: DraftRange): RangeRequest {
    const flags = only === undefined ? undefined : only === 'keys' ? { keysOnly: true } : { countOnly: true };
    return { ...this.#keys(from, to), limit, ...flags };
  }

  #keys(from: string, to: string | undefined): { key: string; rangeEnd?: string } {
    const name = this.#prefix + from;
    return to === undefined ? { key: name } : { key: name, rangeEnd: this.#prefix + to };
  }

  #lease(turn: number): LeaseId {
    return this.#leases[turn] ?? UNKNOWN_LEASE;
  }

  #bare(name: string): string {
    return name.startsWith(this.#prefix) ? name.slice(this.#prefix.length) : name;
  }

  #normal(number: bigint | string, name: string): string {
    if (typeof number === 'string') return name === 'key' ? this.#bare(number) : number;
    if (name === 'lease') return number === 0n ? 'none' : `lease ${this.#leases.indexOf(number)}`;
    if (name === 'version') return `version ${number}`;
    return number === 0n ? 'never' : `start + ${number - this.#base}`;
  }
}

/** A copy in which every string and bigint went through `normal`, with the name of its property. */
function comparable(data: unknown, normal: (leaf: bigint | string, name: string) => string, name = ''): unknown {
  if (typeof data === 'bigint' || typeof data === 'string') return normal(data, name);
  if (Array.isArray(data)) return data.map((each: unknown) => comparable(each, normal));
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(Object.entries(data).map(([at, each]) => [at, comparable(each, normal, at)]));
}

function isEmptyRange({ key: from, rangeEnd: to }: WatchRequest): boolean {
  return to !== undefined && Buffer.compare(Buffer.from(from), Buffer.from(to)) >= 0;
}

function lastWord(message: WatchMessage | undefined): string {
  if (message?.kind === 'closed') return `closed: ${message.cause.code}`;
  return message?.kind === 'compacted' ? 'compacted' : 'open';
}

/** No revision is told in two messages, and none goes back. */
function inWholeRevisions(batches: readonly (readonly KvEvent[])[]): boolean {
  let last = 0n;
  for (const batch of batches) {
    for (const [index, { kv }] of batch.entries()) {
      if (kv.modRevision < last || (index === 0 && kv.modRevision === last)) return false;
      last = kv.modRevision;
    }
  }
  return true;
}
