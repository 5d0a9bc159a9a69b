/**
 * The board as it was: the same state, facts and views as the live one, filled once from ranges pinned at a revision.
 * Its clock stands still at the time of that revision, so ages and reasons to wait are those of then.
 *
 * Left out, because no key tells them: lease countdowns (shown as granted), rates and latencies, nodes that had departed.
 */
import { KvError, prefixEnd, type KeyValue } from '@leasehold/core/kv';
import { decodeTask, isLeaseholdError } from '@leasehold/core/model';
import type { FeedRange, Store } from '@leasehold/core/store';
import type { Moment } from '@leasehold/wire';
import { Facts } from '../projection/facts.js';
import { LoadedGraphs } from '../projection/graphs.js';
import { Histograms } from '../projection/histogram.js';
import { DEFAULT_CAPS } from '../projection/kept.js';
import { Leases } from '../projection/leases.js';
import type { BoardView } from '../projection/board-view.js';
import type { RowContext } from '../projection/rows.js';
import { BoardState } from '../projection/state.js';
import { quickSections, slowSections } from '../projection/summary.js';
import { Views } from '../projection/views.js';
import { sampleAt } from './clock-samples.js';

/** Tasks in one past board; further ones are counted as dropped. */
const PAST_TASKS = 200_000;
const PAGE = 2_000;

export class PastBoard implements BoardView {
  readonly state: BoardState;
  readonly views: Views;
  readonly leases: Leases;
  readonly facts: Facts;
  readonly graphs: LoadedGraphs;
  readonly histograms: Histograms;
  readonly generation = 1;
  readonly applying = false;
  readonly moment: Moment;
  readonly #context: RowContext;

  constructor(store: Store, moment: Moment, state: BoardState) {
    const now = (): number => moment.atMs ?? store.now();
    this.moment = moment;
    this.state = state;
    this.leases = new Leases(store.kv, now);
    this.graphs = new LoadedGraphs(store, () => this.#factsChanged());
    this.facts = new Facts(this.state, this.graphs, now);
    this.#context = { state: this.state, facts: this.facts, leases: this.leases };
    this.views = new Views(this.#context);
    this.histograms = new Histograms(this, now);
    this.#render();
  }

  get revision(): string {
    return this.moment.revision;
  }

  refresh(): void {
    // Nothing changes any more.
  }

  #factsChanged(): void {
    this.facts.renew();
    this.views.factsChanged();
  }

  #render(): void {
    const nowMs = this.moment.atMs ?? 0;
    this.views.refreshDirty();
    const sections = [...quickSections(this.#context, nowMs), ...slowSections(this.#context, nowMs)];
    this.views.refreshAggregates(sections.filter(({ id }) => id !== 'rates'));
  }
}

/** @throws KvError `compacted` or `future-revision`. */
export async function readPastBoard(
  store: Store,
  ranges: readonly FeedRange[],
  revision: bigint,
  signal: AbortSignal,
): Promise<PastBoard> {
  let atMs: number | undefined;
  const state = new BoardState(store.keys, { ...DEFAULT_CAPS, tasks: PAST_TASKS }, () => atMs ?? store.now());
  const tasks = store.keys.kind('tasks');
  let newest: KeyValue | undefined;
  state.beginList(false);
  for (const range of ranges) {
    for await (const page of pinned(store, range, revision, signal)) {
      state.addPage(page);
      for (const kv of page) if (kv.key.startsWith(tasks) && kv.modRevision > (newest?.modRevision ?? 0n)) newest = kv;
    }
  }
  const moment = await momentOf(store, revision, newest);
  ({ atMs } = moment);
  await state.applyList(() => new Promise((resolve) => setImmediate(resolve)));
  return new PastBoard(store, moment, state);
}

async function* pinned(
  store: Store,
  range: FeedRange,
  revision: bigint,
  signal: AbortSignal,
): AsyncGenerator<readonly KeyValue[]> {
  let key: string | undefined = 'prefix' in range ? range.prefix : range.key;
  const rangeEnd = 'prefix' in range ? prefixEnd(range.prefix) : 'rangeEnd' in range ? range.rangeEnd : undefined;
  while (key !== undefined) {
    const page = await store.kv.range(
      { key, revision, limit: PAGE, ...(rangeEnd === undefined ? {} : { rangeEnd }) },
      { signal, timeoutMs: 20_000 },
    );
    yield page.kvs;
    const last = page.kvs.at(-1);
    key = page.more && last !== undefined ? `${last.key}\0` : undefined;
  }
}

/** The write that is nearest below tells the time: a task's own, or the leader's sample. */
async function momentOf(store: Store, revision: bigint, newest: KeyValue | undefined): Promise<Moment> {
  const sample = await sampleAt(store, revision);
  const written = newest === undefined ? undefined : updatedMs(newest);
  const byTask = newest !== undefined && newest.modRevision > (sample?.revision ?? 0n) ? written : undefined;
  const atMs = byTask ?? sample?.atMs ?? written;
  return { revision: revision.toString(), ...(atMs === undefined ? {} : { atMs }) };
}

function updatedMs(kv: KeyValue): number | undefined {
  try {
    return decodeTask(kv.value).updatedMs;
  } catch (error) {
    if (isLeaseholdError(error, 'unreadable') || error instanceof KvError) return undefined;
    throw error;
  }
}
