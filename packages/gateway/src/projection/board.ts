/**
 * The projection: one feed over the board's keys, however many look on.
 *
 * B1  Batches are applied whole, so a reader never sees half a transition (core I10). A list is applied in slices, and
 *     until it is whole nothing is published and readers wait for `whole`. Listeners are told after a batch,
 *     at once when it is quiet and at most every `PUBLISH_MS` under load.
 * B2  `generation` grows with every relist: rows of an older one say nothing about this one.
 * B3  What is not an event (leases, the cluster's size, the passing of time) is looked at once a second.
 */
import { setMaxListeners } from 'node:events';
import {
  Feed,
  type FeedRange,
  type FeedSnapshot,
  type FeedStatus,
  type RelistReason,
  type Store,
} from '@leasehold/core/store';
import type { ClusterCard, GapNotice, SummarySection } from '@leasehold/wire';
import type { Clock, Logger } from '@leasehold/core';
import { Facts } from './facts.js';
import { LoadedGraphs } from './graphs.js';
import { Histograms } from './histogram.js';
import { Leases } from './leases.js';
import type { BoardView } from './board-view.js';
import type { RowContext } from './rows.js';
import { DEFAULT_CAPS, type Caps } from './kept.js';
import { nextTurn } from './slices.js';
import { BoardState } from './state.js';
import { quickSections, slowSections } from './summary.js';
import { Views } from './views.js';

export interface BoardOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly caps?: Partial<Caps>;
  /** Above it, storage is a reason to wait. Absent: never. */
  readonly storageSoftLimitBytes?: number;
  /** Ask a silent watch for progress after so long, ms. */
  readonly quietMs?: number;
}

/** A page is decoded in one go: some 10 ms. */
const PAGE_KEYS = 500;
const PUBLISH_MS = 15;
const AGGREGATE_MS = 100;
const TICK_MS = 1_000;
const CLUSTER_EVERY = 5;

/** Of the same history, an equal revision is an equal record. */
function sameHistory(reason: RelistReason): boolean {
  return reason === 'compacted' || reason === 'consumer-failed';
}

/** What the board's keys are; neighbours in the order of keys are one range, since every range is a watch. */
export function boardRanges(store: Store): readonly FeedRange[] {
  const { prefix } = store.keys;
  const span = (from: string, to: string): FeedRange => ({ key: `${prefix}${from}`, rangeEnd: `${prefix}${to}0` });
  return [
    { key: store.keys.all() },
    { prefix: store.keys.kind('bulk') },
    span('leader', 'locks'),
    span('names/', 'nodes'),
    span('progress/', 'rates'), // and queues
    span('schedules/', 'unique'), // and slots, staged, stats, tasks, templates
    { prefix: store.keys.kind('workflows') },
  ];
}

export class Board implements BoardView {
  readonly state: BoardState;
  readonly views: Views;
  readonly leases: Leases;
  readonly facts: Facts;
  readonly graphs: LoadedGraphs;
  readonly histograms: Histograms;
  readonly #options: BoardOptions;
  readonly #context: RowContext;
  readonly #feed: Feed;
  readonly #listeners = new Set<() => void>();
  readonly #noticeListeners = new Set<(notice: GapNotice) => void>();
  readonly #statusListeners = new Set<() => void>();
  readonly #stopping = new AbortController();
  #applying: Promise<void> | undefined;
  #generation = 0;
  #revision = 0n;
  #relists = 0;
  #published = -Infinity;
  #aggregated = -Infinity;
  #timer: { readonly atMs: number; cancel(): void } | undefined;
  #ticker: { cancel(): void } | undefined;
  #ticks = 0;
  #cluster: ClusterCard | undefined;
  /** Sections that look through all live tasks; computed again once a second and when facts change. */
  #slow: readonly SummarySection[] | undefined;

  constructor(options: BoardOptions) {
    const { store, clock, logger } = options;
    // One listener for every lease that is being asked for.
    setMaxListeners(0, this.#stopping.signal);
    const now = (): number => clock.now();
    this.#options = options;
    this.state = new BoardState(store.keys, { ...DEFAULT_CAPS, ...options.caps }, now);
    this.leases = new Leases(store.kv, now);
    this.graphs = new LoadedGraphs(store, () => this.#factsChanged());
    this.facts = new Facts(this.state, this.graphs, now);
    const context: RowContext = { state: this.state, facts: this.facts, leases: this.leases };
    this.views = new Views(context);
    this.histograms = new Histograms(this, now);
    this.#context = context;
    this.#feed = new Feed(
      {
        kv: store.kv,
        clock,
        logger,
        name: 'board',
        ranges: boardRanges(store),
        epochKey: store.keys.epoch(),
        pageSize: PAGE_KEYS,
        ...(options.quietMs === undefined ? {} : { quietMs: options.quietMs }),
      },
      {
        page: ({ kvs, first, reason }) => {
          if (first) this.state.beginList(sameHistory(reason));
          this.state.addPage(kvs);
        },
        replace: (snapshot) => this.#replace(snapshot),
        change: (batch) => {
          for (const { type, kv } of batch.events) {
            if (type === 'put') this.state.put(kv);
            else this.state.remove(kv.key);
          }
          this.#revision = batch.revision;
          this.#changed();
        },
        status: () => {
          for (const tell of this.#statusListeners) tell();
        },
      },
    );
  }

  /** Every row is as of this revision. */
  get revision(): string {
    return this.#revision.toString();
  }

  get generation(): number {
    return this.#generation;
  }

  get relists(): number {
    return this.#relists;
  }

  get status(): FeedStatus {
    return this.#feed.status;
  }

  get cluster(): ClusterCard | undefined {
    return this.#cluster;
  }

  async start(): Promise<void> {
    await this.#feed.start();
    this.#tick();
  }

  /** Resolves after the first list. */
  ready(): Promise<void> {
    return this.#feed.ready();
  }

  /** A list is being applied: the state is of neither revision (B1). */
  get applying(): boolean {
    return this.#applying !== undefined;
  }

  /** Resolves when what is read is of one revision. */
  async whole(): Promise<void> {
    await this.#applying?.catch(() => undefined);
  }

  /** Resolves when the board has reached a revision. */
  reached(revision: bigint): Promise<void> {
    return this.#feed.reached(revision);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#timer?.cancel();
    this.#ticker?.cancel();
    await this.#feed.stop();
    this.#listeners.clear();
    this.#statusListeners.clear();
    this.#noticeListeners.clear();
  }

  /** Called when rows may differ. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  onNotice(listener: (notice: GapNotice) => void): () => void {
    this.#noticeListeners.add(listener);
    return () => this.#noticeListeners.delete(listener);
  }

  onStatus(listener: () => void): () => void {
    this.#statusListeners.add(listener);
    return () => this.#statusListeners.delete(listener);
  }

  /** Brings every view up to what the state is; REST reads after it. */
  refresh(): void {
    this.#renewFacts();
    this.views.refreshDirty();
    this.#aggregate();
  }

  #renewFacts(): void {
    if (!this.state.dirty.facts) return;
    this.state.dirty.facts = false;
    this.#slow = undefined;
    this.facts.renew();
    this.views.factsChanged();
  }

  async #replace({ revision, reason }: FeedSnapshot): Promise<void> {
    const before = this.#revision;
    this.#applying = this.state.applyList(nextTurn);
    try {
      await this.#applying;
    } finally {
      this.#applying = undefined;
    }
    if (this.#stopping.signal.aborted) return;
    this.#revision = revision;
    this.#generation++;
    if (reason !== 'start') this.#relists++;
    this.#aggregated = -Infinity;
    this.state.dirty.facts = true;
    this.#publish();
    if (reason === 'start') return;
    const notice: GapNotice = {
      kind: reason === 'compacted' ? 'compacted' : reason === 'consumer-failed' ? 'reconnected' : 'reset',
      fromRevision: before.toString(),
      toRevision: revision.toString(),
      atMs: this.#options.clock.now(),
    };
    for (const tell of this.#noticeListeners) tell(notice);
  }

  #factsChanged(): void {
    this.facts.renew();
    this.views.factsChanged();
    this.#changed();
  }

  #changed(): void {
    this.#later(Math.max(0, this.#published + PUBLISH_MS - this.#options.clock.monotonic()));
  }

  /** The earliest wish counts. */
  #later(waitMs: number): void {
    if (this.#stopping.signal.aborted) return;
    const { clock } = this.#options;
    const atMs = clock.monotonic() + waitMs;
    if (this.#timer !== undefined && this.#timer.atMs <= atMs) return;
    this.#timer?.cancel();
    const { cancel } = clock.setTimer(waitMs, () => {
      this.#timer = undefined;
      this.#publish();
    });
    this.#timer = { atMs, cancel };
  }

  #publish(): void {
    if (this.applying) return;
    this.#published = this.#options.clock.monotonic();
    this.#renewFacts();
    this.views.refreshDirty();
    const leftMs = this.#aggregated + AGGREGATE_MS - this.#published;
    if (leftMs <= 0) this.#aggregate();
    else this.#later(leftMs);
    for (const tell of this.#listeners) tell();
  }

  #aggregate(): void {
    this.#aggregated = this.#options.clock.monotonic();
    this.facts.renewNodes();
    const nowMs = this.#options.clock.now();
    this.#slow ??= slowSections(this.#context, nowMs);
    const cluster = this.#clusterNow();
    const sections = [...quickSections(this.#context, nowMs), ...this.#slow];
    this.views.refreshAggregates(cluster === undefined ? sections : [...sections, cluster]);
  }

  #clusterNow(): ClusterCard | undefined {
    return this.#cluster === undefined ? undefined : { ...this.#cluster, dropped: this.state.dropped };
  }

  #tick(): void {
    if (this.#stopping.signal.aborted) return;
    this.#ticker = this.#options.clock.setTimer(TICK_MS, () => this.#tick());
    if (this.applying) return;
    this.state.ageOut();
    this.state.dirty.queues = true;
    this.#slow = undefined;
    this.facts.renew();
    this.views.factsChanged();
    void this.#measure();
    if (this.#ticks++ % CLUSTER_EVERY === 0) void this.#lookAtCluster();
    this.#changed();
  }

  async #measure(): Promise<void> {
    const leases = this.state.liveNodes().map(({ leaseId }) => leaseId);
    if (leases.length === 0 || !(await this.leases.measure(leases, this.#stopping.signal))) return;
    this.views.leasesMeasured();
    this.#changed();
  }

  async #lookAtCluster(): Promise<void> {
    const { kv } = this.#options.store;
    const options = { signal: this.#stopping.signal, timeoutMs: 2_000 };
    try {
      const [status, members, alarms] = await Promise.all([
        kv.status(options),
        kv.members(options),
        kv.alarms(options),
      ]);
      this.#cluster = {
        id: 'cluster',
        clusterId: status.clusterId,
        version: status.version,
        revision: status.revision.toString(),
        dbSizeBytes: status.dbSizeBytes,
        members: members.length,
        alarms: alarms.map(({ alarm }) => alarm),
        dropped: 0,
      };
      const { storageSoftLimitBytes } = this.#options;
      if (storageSoftLimitBytes !== undefined) {
        this.facts.storage = { usedBytes: status.dbSizeBytes, softLimitBytes: storageSoftLimitBytes };
      }
    } catch {
      // Not known now; the last one stays with its revision.
    }
  }
}
