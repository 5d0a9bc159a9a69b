/**
 * One session: one lease, one node record under it, one fence. It is opened once and ends once; what comes after it is
 * another session with another id.
 *
 * N1  The id is new with each lease and never used again, so nothing of an earlier session can be taken for this one's.
 * N2  It is trusted until (send time of the last acknowledged renewal + TTL - margin), and once that has passed it is over
 *     for good, whatever is heard later. `isTrusted` finds that out at once, also right after the process was stopped or
 *     its event loop blocked.
 * N3  The fence compares the node key's create revision and lease, and the epoch: after the lease ended, or after a
 *     restore, nothing of this session is written.
 * N4  Only the session writes its node record, under its own lease and guarded by its create revision. A put without the
 *     lease would leave a node alive for ever.
 * N5  Revoking is the last act: it takes every lock that is still there away.
 */
import { setMaxListeners } from 'node:events';
import type { KeyValue, LeaseId } from '../kv/kv.js';
import { decodeRecord, encodeRecord } from '../model/codec.js';
import { LeaseholdError } from '../model/errors.js';
import type { NodeRecord } from '../model/records.js';
import { defaultMarginMs, isTrusted, trustedUntilMs, type TrustWindow } from '../model/trust.js';
import type { Clock, Timer } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import type { Holder } from './claim.js';
import { NO_FENCE, type Fence } from './commit.js';
import type { Renewer, RenewerSource } from './renewer.js';
import { absent, createdAt, found, get, leaseIs, modIs, put, type Store } from './store.js';

/** What a node record says besides what the session knows itself. */
export type NodeDescription = Omit<NodeRecord, 'id' | 'startedMs' | 'leaseId' | 'leaseTtlMs'>;

export interface SessionOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly renewer: RenewerSource;
  readonly node: NodeDescription;
  /** Whole seconds of at least 2000 (etcd's minimum). Default 10000. */
  readonly ttlMs?: number;
  /** How long before the lease may end it is not trusted any more. Default: a tenth of the TTL, 200 ms to 2 s. */
  readonly marginMs?: number;
}

export const SESSION_DEFAULTS = Object.freeze({ ttlMs: 10_000, minTtlMs: 2_000 });

/** Why a session is over. */
export type SessionEnd = 'expired' | 'gone' | 'fenced' | 'revoked';

interface Opened {
  readonly id: string;
  readonly lease: LeaseId;
  readonly epoch: bigint;
  readonly epochRevision: bigint;
  readonly createRevision: bigint;
  readonly startedMs: number;
  readonly window: TrustWindow;
}

/** The two numbers of a lease, checked. @throws LeaseholdError `invalid`. */
export function leaseTimes(options: Pick<SessionOptions, 'ttlMs' | 'marginMs'>): { ttlMs: number; marginMs: number } {
  const ttlMs = options.ttlMs ?? SESSION_DEFAULTS.ttlMs;
  const marginMs = options.marginMs ?? defaultMarginMs(ttlMs);
  if (!Number.isInteger(ttlMs / 1_000) || ttlMs < SESSION_DEFAULTS.minTtlMs || ttlMs > 3_600_000) {
    const message = `ttlMs: ${ttlMs} is not whole seconds of 2000 to 3600000`;
    throw new LeaseholdError('invalid', message, { field: 'ttlMs', value: ttlMs });
  }
  if (!(marginMs >= 0 && marginMs <= ttlMs / 2)) {
    const message = `marginMs: ${marginMs} is not between 0 and half of ttlMs (${ttlMs})`;
    throw new LeaseholdError('invalid', message, { field: 'marginMs', value: marginMs });
  }
  return { ttlMs, marginMs };
}

/** Grants a lease and puts the node record under it. @throws KvError, LeaseholdError; nothing is left behind then but the lease's end. */
export async function openSession(options: SessionOptions): Promise<Session> {
  const { store, clock } = options;
  const times = leaseTimes(options);
  const renewer = await options.renewer(clock, store.kv);
  let lease: LeaseId | undefined;
  try {
    const epoch = (await store.kv.range({ key: store.keys.epoch() })).kvs[0];
    const sentAtMs = clock.monotonic();
    const granted = await store.kv.leaseGrant(times.ttlMs / 1_000);
    lease = granted.id;
    const window = { sentAtMs, ttlMs: granted.ttlS * 1_000, marginMs: times.marginMs };
    renewer.begin({ id: granted.id, window });
    const opened = await announce(options, granted.id, epoch, window);
    return new Session(options, opened, renewer);
  } catch (error) {
    await renewer.close();
    if (lease !== undefined) await store.kv.leaseRevoke(lease, { timeoutMs: 1_000 }).catch(() => undefined);
    throw error;
  }
}

async function announce(
  options: SessionOptions,
  lease: LeaseId,
  epoch: KeyValue | undefined,
  window: TrustWindow,
): Promise<Opened> {
  const { store, node } = options;
  const id = store.newId();
  const startedMs = store.now();
  const key = store.keys.node(id);
  const record: NodeRecord = { ...node, id, startedMs, leaseId: lease.toString(), leaseTtlMs: window.ttlMs };
  const epochRevision = epoch?.modRevision ?? 0n;
  const result = await store.committer.submit(NO_FENCE, {
    compare: [absent(key), modIs(store.keys.epoch(), epochRevision)],
    success: [put(key, encodeRecord(record), lease)],
    failure: [get(key)],
  });
  // A fresh id: whatever is there was put by this very call, whose answer was lost.
  const there = result.kind === 'answered' && !result.succeeded ? found(result.results, 0) : undefined;
  const createRevision =
    result.kind === 'answered' && result.succeeded
      ? result.revision
      : there?.lease === lease
        ? there.createRevision
        : undefined;
  if (createRevision === undefined) {
    throw new LeaseholdError('unavailable', 'the lease ended, or the store was restored, while the session was opened');
  }
  return { id, lease, epoch: BigInt(epoch?.value ?? '0'), epochRevision, createRevision, startedMs, window };
}

export class Session {
  readonly id: string;
  readonly lease: LeaseId;
  /** High part of every fencing token of this session. */
  readonly epoch: bigint;
  readonly fence: Fence;
  readonly holder: Holder;
  readonly startedMs: number;
  readonly #options: SessionOptions;
  readonly #createRevision: bigint;
  readonly #renewer: Renewer;
  readonly #controller = new AbortController();
  #end: SessionEnd | undefined;
  #timer: Timer | undefined;
  #node: NodeDescription;
  #written: NodeDescription;
  #writing: Promise<void> | undefined;
  #checking: Promise<void> | undefined;

  constructor(options: SessionOptions, opened: Opened, renewer: Renewer) {
    const { keys } = options.store;
    const { id, lease, createRevision } = opened;
    this.#options = options;
    this.#renewer = renewer;
    this.id = id;
    this.lease = lease;
    this.epoch = opened.epoch;
    this.startedMs = opened.startedMs;
    this.#createRevision = createRevision;
    this.#node = options.node;
    this.#written = options.node;
    this.fence = Object.freeze({
      id: `node:${id}`,
      compare: [
        createdAt(keys.node(id), createRevision),
        leaseIs(keys.node(id), lease),
        modIs(keys.epoch(), opened.epochRevision),
      ],
    });
    this.holder = Object.freeze({ node: id, lease, fence: this.fence });
    // Every run and every wait under this session listens: that is no leak.
    setMaxListeners(0, this.#controller.signal);
    this.#watchTrust();
  }

  /** Whether its locks may be relied on at this moment (N2). */
  isTrusted(): boolean {
    if (this.#end !== undefined) return false;
    if (this.#renewer.gone) this.#finish('gone');
    else if (!isTrusted(this.#renewer.window, this.#options.clock.monotonic())) this.#finish('expired');
    return this.#end === undefined;
  }

  /** Aborts when trust ends, with a `LeaseholdError` `session-lost`. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get end(): SessionEnd | undefined {
    return this.#end;
  }

  /** Monotonic time until which it is trusted as things stand. */
  get trustedUntilMs(): number {
    return trustedUntilMs(this.#renewer.window);
  }

  get node(): NodeDescription {
    return this.#node;
  }

  /** Changes what the node record says. Calls are written in order, the last one for sure; resolves when it is. */
  update(change: Partial<NodeDescription>): Promise<void> {
    this.#node = { ...this.#node, ...change };
    this.#writing ??= this.#write().finally(() => (this.#writing = undefined));
    return this.#writing;
  }

  /** Somebody was told that the fence fails: reads whether that is so. */
  check(): Promise<void> {
    this.#checking ??= this.#check().finally(() => (this.#checking = undefined));
    return this.#checking;
  }

  /** Ends the lease, and with it every lock under it (N5). A store that does not answer ends it by time. */
  async revoke(): Promise<void> {
    this.#finish('revoked');
    await this.#renewer.close();
    try {
      await this.#options.store.kv.leaseRevoke(this.lease, { timeoutMs: 2_000 });
    } catch (error) {
      this.#options.logger.warn('the lease could not be revoked; it ends by itself', { error, node: this.id });
    }
  }

  async #write(): Promise<void> {
    const { store } = this.#options;
    const key = store.keys.node(this.id);
    while (this.#written !== this.#node && this.#end === undefined) {
      const node = this.#node;
      const { ttlMs } = this.#renewer.window;
      const { id, startedMs } = this;
      const record: NodeRecord = { ...node, id, startedMs, leaseId: this.lease.toString(), leaseTtlMs: ttlMs };
      const result = await store.committer.submit(this.fence, {
        compare: [createdAt(key, this.#createRevision)],
        success: [put(key, encodeRecord(record), this.lease)],
      });
      if (result.kind === 'fenced' || !result.succeeded) return this.check();
      this.#written = node;
    }
  }

  async #check(): Promise<void> {
    const { store } = this.#options;
    const { results } = await store.kv.txn({
      compare: this.fence.compare,
      success: [],
      failure: [get(store.keys.node(this.id))],
    });
    const node = found(results, 0);
    if (results.length === 0) return;
    const cause = node === undefined ? 'its record is gone' : 'its record or the epoch is another one';
    this.#options.logger.warn('the session does not hold any more', { node: this.id, cause });
    this.#finish('fenced');
  }

  /** One timer, moved on as renewals come in. */
  #watchTrust(): void {
    if (!this.isTrusted()) return;
    const { clock } = this.#options;
    // Also looks now and then, so that a lease that etcd calls gone is not waited out.
    const leftMs = Math.min(trustedUntilMs(this.#renewer.window) - clock.monotonic(), LOOK_MS);
    this.#timer = clock.setTimer(Math.max(1, leftMs), () => this.#watchTrust());
  }

  #finish(end: SessionEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#timer?.cancel();
    void this.#renewer.close();
    const fields = { node: this.id, end };
    if (end !== 'revoked') this.#options.logger.warn('the session is over', fields);
    this.#controller.abort(
      new LeaseholdError('session-lost', `the session of node ${this.id} is over: ${end}`, fields),
    );
  }
}

const LOOK_MS = 250;

/** A node record as a feed delivers it. */
export function decodeNode(text: string): NodeRecord {
  return decodeRecord<NodeRecord>(text, 'node');
}
