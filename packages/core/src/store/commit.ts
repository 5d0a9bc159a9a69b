/**
 * The committer: all transitions of a process go through it as sub-transactions, many to one request to the store.
 *
 * One request is `if fence then [sub-transaction...]`: every sub-transaction has its own compares and its own outcome, so
 * a lost race fails only itself. What becomes ready while a request is in flight goes with the next one: no added delay
 * when idle, large batches under load.
 *
 * C1  Requests are grouped by fence; the fence is compared once per request.
 * C2  No key that one sub-transaction writes or deletes is written, deleted or compared (ranges included) by another of
 *     the same request: the store evaluates all compares before any write, so breaking this would be write skew. The
 *     later one waits for the next request.
 * C3  A request never exceeds the store's limits of operations and bytes; what cannot fit alone is refused, unsent.
 * C4  Only guarded sub-transactions are accepted: applying one moves its own guard. So after an ambiguous failure the SAME
 *     sub-transaction is sent again, and `resent` tells its owner that a failed guard may be its own success.
 * C5  Nothing is concluded from a failed fence when the request was resent: the owner reads its record first.
 */
import {
  KV_LIMITS,
  KvError,
  type Compare,
  type Kv,
  type Op,
  type OpResult,
  type Revision,
  type Txn,
} from '../kv/kv.js';
import { Conflicts } from './conflicts.js';

/** What must hold for a request: a session's or leader's key. `id` groups requests; 'none' has no compares. */
export interface Fence {
  readonly id: string;
  readonly compare: readonly Compare[];
}

export const NO_FENCE: Fence = Object.freeze({ id: 'none', compare: Object.freeze([]) });

export interface SubTxn {
  readonly compare: readonly Compare[];
  readonly success: readonly Op[];
  /** Reads that let the owner decide again. */
  readonly failure?: readonly Op[];
}

export type SubResult =
  | {
      readonly kind: 'answered';
      readonly succeeded: boolean;
      readonly results: readonly OpResult[];
      readonly revision: Revision;
      readonly resent: boolean;
    }
  | { readonly kind: 'fenced'; readonly resent: boolean };

export interface CommitterOptions {
  /** Sub-transactions in one request at most. */
  readonly batch?: number;
  /** Requests in flight per fence. */
  readonly inFlight?: number;
  /** How long one request is waited for before it is sent again, ms. */
  readonly requestTimeoutMs?: number;
  /** How long to go on sending after ambiguous failures, ms; then the owner gets the `KvError`. */
  readonly giveUpMs?: number;
  readonly maxBytes?: number;
  /** Waits between tries, injected so that tests need no time. */
  readonly sleep?: (ms: number) => Promise<void>;
  readonly now?: () => number;
  /** Called after each request, for metrics. */
  readonly onRequest?: (info: { subs: number; bytes: number; ms: number; failed: boolean }) => void;
}

interface Item {
  readonly sub: SubTxn;
  readonly bytes: number;
  readonly ops: number;
  /** It compares or deletes whole ranges, as few do. */
  readonly ranged: boolean;
  readonly giveUpAt: number;
  resent: boolean;
  resolve(result: SubResult): void;
  reject(error: unknown): void;
}

interface Lane {
  readonly fence: Fence;
  queue: Item[];
  inFlight: number;
  scheduled: boolean;
}

const PER_OP_BYTES = 24;

export class Committer {
  readonly #kv: Kv;
  readonly #options: Required<CommitterOptions>;
  readonly #lanes = new Map<string, Lane>();
  #closed = false;

  constructor(kv: Kv, options: CommitterOptions = {}) {
    this.#kv = kv;
    this.#options = {
      batch: 64,
      inFlight: 2,
      requestTimeoutMs: 5_000,
      giveUpMs: 30_000,
      maxBytes: 1_000_000,
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      now: () => performance.now(),
      onRequest: () => undefined,
      ...options,
    };
  }

  /**
   * Resolves with the outcome of this sub-transaction. Rejects with a `KvError`: `too-large` and `too-many-operations`
   * unsent; `unavailable`, `timeout` or `no-space` after `giveUpMs` (then `ambiguous` tells whether it may be applied).
   */
  submit(fence: Fence, sub: SubTxn, options: { readonly giveUpMs?: number } = {}): Promise<SubResult> {
    if (this.#closed) return Promise.reject(new KvError('closed', 'the committer is closed'));
    const giveUpAt = this.#options.now() + (options.giveUpMs ?? this.#options.giveUpMs);
    const sized = measure(sub);
    if (sized.bytes > KV_LIMITS.maxRequestBytes - 4_096) {
      return Promise.reject(new KvError('too-large', `one transition has ${sized.bytes} bytes; etcd takes 1.5 MiB`));
    }
    if (sized.ops > KV_LIMITS.maxTxnOps - 1) {
      return Promise.reject(new KvError('too-many-operations', `one transition has ${sized.ops} operations of 127`));
    }
    return new Promise((resolve, reject) => {
      const lane = this.#lane(fence);
      lane.queue.push({ sub, ...sized, giveUpAt, resent: false, resolve, reject });
      this.#schedule(lane);
    });
  }

  /** Refuses everything that has not been sent and all that comes later. */
  close(): void {
    this.#closed = true;
    for (const lane of this.#lanes.values()) {
      for (const item of lane.queue.splice(0)) item.reject(new KvError('closed', 'the committer is closed'));
    }
  }

  /** How many sub-transactions wait to be sent. */
  get backlog(): number {
    let total = 0;
    for (const lane of this.#lanes.values()) total += lane.queue.length;
    return total;
  }

  #lane(fence: Fence): Lane {
    let lane = this.#lanes.get(fence.id);
    if (lane === undefined) {
      lane = { fence, queue: [], inFlight: 0, scheduled: false };
      this.#lanes.set(fence.id, lane);
    }
    return lane;
  }

  #schedule(lane: Lane): void {
    if (lane.scheduled || lane.inFlight >= this.#options.inFlight || lane.queue.length === 0) return;
    lane.scheduled = true;
    queueMicrotask(() => {
      lane.scheduled = false;
      while (lane.inFlight < this.#options.inFlight && lane.queue.length > 0) void this.#send(lane);
      if (lane.queue.length === 0 && lane.inFlight === 0) this.#lanes.delete(lane.fence.id);
    });
  }

  async #send(lane: Lane): Promise<void> {
    const batch = takeBatch(lane, this.#options.batch, this.#options.maxBytes);
    lane.inFlight++;
    try {
      await this.#deliver(lane.fence, batch);
    } finally {
      lane.inFlight--;
      if (lane.queue.length === 0 && lane.inFlight === 0) this.#lanes.delete(lane.fence.id);
      else this.#schedule(lane);
    }
  }

  /** Sends until there is a definite answer (C4) or the owners give up. */
  async #deliver(fence: Fence, batch: readonly Item[]): Promise<void> {
    let items = batch;
    for (let tries = 0; items.length > 0; tries++) {
      const started = this.#options.now();
      let failed = true;
      try {
        const answer = await this.#kv.txn(request(fence, items), { timeoutMs: this.#options.requestTimeoutMs });
        failed = false;
        settle(items, fence, answer.succeeded, answer.results, answer.revision);
        return;
      } catch (error) {
        const again = this.#afterError(items, error);
        if (again === undefined) return;
        items = again;
      } finally {
        const bytes = items.reduce((sum, item) => sum + item.bytes, 0);
        this.#options.onRequest({ subs: items.length, bytes, ms: this.#options.now() - started, failed });
      }
      await this.#options.sleep(Math.min(1_000, 20 * 2 ** Math.min(tries, 6)));
    }
  }

  /** Whom to send again; undefined when everybody has been answered. */
  #afterError(items: readonly Item[], error: unknown): readonly Item[] | undefined {
    const kvError = error instanceof KvError ? error : new KvError('internal', String(error), { cause: error });
    if (kvError.code === 'lease-not-found') {
      for (const item of items) item.resolve({ kind: 'fenced', resent: item.resent });
      return undefined;
    }
    const mayPass = kvError.code === 'unavailable' || kvError.code === 'timeout' || kvError.code === 'no-space';
    if (!(mayPass || kvError.ambiguous) || this.#closed) {
      for (const item of items) item.reject(kvError);
      return undefined;
    }
    if (kvError.ambiguous) for (const item of items) item.resent = true;
    const now = this.#options.now();
    const again = items.filter((item) => item.giveUpAt > now);
    for (const item of items) if (item.giveUpAt <= now) item.reject(inDoubt(item, kvError));
    return again;
  }
}

/** An item that was once sent without an answer stays in doubt, whatever its last failure was. */
function inDoubt(item: Item, error: KvError): KvError {
  return item.resent && !error.ambiguous
    ? new KvError(error.code, error.message, { ambiguous: true, cause: error })
    : error;
}

function request(fence: Fence, items: readonly Item[]): Txn {
  const [only] = items;
  if (items.length === 1 && only !== undefined && fence.compare.length === 0) {
    return { compare: only.sub.compare, success: only.sub.success, failure: only.sub.failure ?? [] };
  }
  return {
    compare: fence.compare,
    success: items.map(({ sub }) => ({
      kind: 'txn',
      txn: { compare: sub.compare, success: sub.success, failure: sub.failure ?? [] },
    })),
  };
}

function settle(
  items: readonly Item[],
  fence: Fence,
  succeeded: boolean,
  results: readonly OpResult[],
  revision: Revision,
): void {
  const [only] = items;
  if (items.length === 1 && only !== undefined && fence.compare.length === 0) {
    only.resolve({ kind: 'answered', succeeded, results, revision, resent: only.resent });
    return;
  }
  items.forEach((item, i) => {
    const result = results[i];
    if (!succeeded) item.resolve({ kind: 'fenced', resent: item.resent });
    else if (result?.kind !== 'txn') item.reject(new KvError('internal', 'the store answered out of shape'));
    else {
      item.resolve({
        kind: 'answered',
        succeeded: result.succeeded,
        results: result.results,
        revision,
        resent: item.resent,
      });
    }
  });
}

/** Takes what fits into one request, in order; what conflicts with it (C2) or does not fit stays for the next. */
function takeBatch(lane: Lane, maxSubs: number, maxBytes: number): Item[] {
  const batch: Item[] = [];
  const rest: Item[] = [];
  const seen = new Conflicts();
  let bytes = 0;
  let widest = 0;
  for (const item of lane.queue) {
    // Once full, or after many conflicts, there is no use in looking at thousands more.
    if (batch.length >= maxSubs || rest.length > maxSubs * 4) break;
    const subs = batch.length + 1;
    const fits =
      batch.length === 0 ||
      (bytes + item.bytes <= maxBytes &&
        subs + Math.max(widest, item.ops) <= KV_LIMITS.maxTxnOps &&
        !seen.conflicts(item));
    if (!fits) {
      rest.push(item);
      continue;
    }
    batch.push(item);
    seen.add(item);
    bytes += item.bytes;
    widest = Math.max(widest, item.ops);
  }
  lane.queue = [...rest, ...lane.queue.slice(batch.length + rest.length)];
  return batch;
}

function measure(sub: SubTxn): { bytes: number; ops: number; ranged: boolean } {
  let ranged = false;
  let bytes = opsBytes(sub.success);
  if (sub.failure !== undefined) bytes += opsBytes(sub.failure);
  for (const compare of sub.compare) {
    bytes += PER_OP_BYTES + compare.key.length + (compare.target === 'value' ? Buffer.byteLength(compare.value) : 8);
    if (compare.rangeEnd !== undefined) ranged = true;
  }
  ranged ||= sub.success.some(deletesRange) || (sub.failure?.some(deletesRange) ?? false);
  const ops = Math.max(sub.compare.length, sub.success.length, sub.failure?.length ?? 0);
  return { bytes, ops, ranged };
}

function opsBytes(ops: readonly Op[]): number {
  let bytes = 0;
  for (const op of ops) {
    if (op.kind === 'txn') throw new KvError('invalid', 'a sub-transaction holds no further transactions');
    bytes += PER_OP_BYTES + op.key.length + (op.kind === 'put' ? Buffer.byteLength(op.value) : 0);
  }
  return bytes;
}

function deletesRange(op: Op): boolean {
  return op.kind === 'delete' && op.rangeEnd !== undefined;
}
