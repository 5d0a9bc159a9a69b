/**
 * What nobody will come back for: workflows whose staging was given up, records of nodes that are gone, old audit records,
 * proofs of instants long decided, old clock samples.
 *
 * K1  A staged header goes before its parts: each part and the seal compare the header, so a slow submitter is refused and
 *     never seals a workflow with holes.
 * K2  What belongs to a node goes only while the node is absent; what belongs to a workflow only while workflow and header
 *     are.
 */
import { prefixEnd, type KeyValue } from '../kv/kv.js';
import { decodeRecord } from '../model/codec.js';
import type { AuditRecord, NodeStats, ScheduleRecord, WorkflowRecord } from '../model/records.js';
import type { Leadership } from './leadership.js';
import { pages, readKeys, type Span } from './pages.js';
import { absent, modIs, type Store } from './store.js';
import { deleteSeen, deleteSpan } from './sweep.js';

export interface LeftoverLimits {
  /** A staging that was not sealed by then is given up. */
  readonly stagedMs: number;
  /** How long a departed node is still shown. */
  readonly departedMs: number;
  readonly auditMs: number;
  readonly firesMs: number;
  /** Samples of time and revision. At least as long as history is kept. */
  readonly clockMs: number;
}

const DAY_MS = 86_400_000;

export const LEFTOVER_DEFAULTS: LeftoverLimits = Object.freeze({
  stagedMs: 600_000,
  departedMs: 3_600_000,
  auditMs: 30 * DAY_MS,
  firesMs: 7 * DAY_MS,
  clockMs: DAY_MS,
});

export interface Cleared {
  readonly staged: number;
  readonly graphs: number;
  readonly stats: number;
  readonly orders: number;
  readonly audit: number;
  readonly fires: number;
  readonly clock: number;
}

/** @throws LeaseholdError `session-lost` when this leader's term is over. */
export async function clearLeftovers(
  store: Store,
  leader: Leadership,
  limits: LeftoverLimits = LEFTOVER_DEFAULTS,
): Promise<Cleared> {
  const context = { store, leader, limits, nowMs: store.now() };
  return {
    staged: await clearStaged(context),
    graphs: await clearGraphs(context),
    stats: await clearStats(context),
    orders: await clearOrders(context),
    audit: await clearAudit(context),
    fires: await clearFires(context),
    clock: await clearClock(context),
  };
}

interface Context {
  readonly store: Store;
  readonly leader: Leadership;
  readonly limits: LeftoverLimits;
  readonly nowMs: number;
}

function all(store: Store, kind: Parameters<Store['keys']['kind']>[0]): Span {
  const key = store.keys.kind(kind);
  return { key, rangeEnd: prefixEnd(key) };
}

async function clearStaged(context: Context): Promise<number> {
  const { store, leader, limits, nowMs } = context;
  let cleared = 0;
  for await (const page of pages(store, all(store, 'staged'), { limit: 100 })) {
    const old = page.filter(
      (kv) => decodeRecord<WorkflowRecord>(kv.value, 'workflow').createdMs <= nowMs - limits.stagedMs,
    );
    for (const kv of old) cleared += await deleteSeen(store, leader, [kv]);
    await deleteGraphs(
      context,
      old.flatMap((kv) => idOf(store, kv, 'staged')),
    );
  }
  return cleared;
}

/** Parts whose header went, and whose leader did not live to delete them. */
async function clearGraphs(context: Context): Promise<number> {
  const { store } = context;
  let cleared = 0;
  for await (const page of pages(store, all(store, 'graphs'), { keysOnly: true })) {
    const ids = [...new Set(page.flatMap((kv) => idOf(store, kv, 'graphs')))];
    const owners = await readKeys(
      store,
      ids.flatMap((id) => [store.keys.workflow(id), store.keys.staged(id)]),
      { keysOnly: true },
    );
    cleared += await deleteGraphs(
      context,
      ids.filter((_, i) => owners[2 * i] === undefined && owners[2 * i + 1] === undefined),
    );
  }
  return cleared;
}

async function deleteGraphs({ store, leader }: Context, ids: readonly string[]): Promise<number> {
  let cleared = 0;
  for (const id of ids) {
    const prefix = store.keys.graphs(id);
    const guards = [absent(store.keys.staged(id)), absent(store.keys.workflow(id))];
    cleared += await deleteSpan(store, leader, { key: prefix, rangeEnd: prefixEnd(prefix) }, guards);
  }
  return cleared;
}

async function clearStats({ store, leader, limits, nowMs }: Context): Promise<number> {
  let cleared = 0;
  for await (const page of pages(store, all(store, 'stats'), { limit: 200 })) {
    const old = page.filter((kv) => decodeRecord<NodeStats>(kv.value, 'stats').atMs <= nowMs - limits.departedMs);
    cleared += await deleteOfAbsent(store, leader, old, (kv) => idOf(store, kv, 'stats')[0]);
  }
  return cleared;
}

async function clearOrders({ store, leader }: Context): Promise<number> {
  let cleared = 0;
  for await (const page of pages(store, all(store, 'orders'), { keysOnly: true })) {
    cleared += await deleteOfAbsent(store, leader, page, (kv) => {
      const parsed = store.keys.parse(kv.key);
      return parsed?.kind === 'orders' ? parsed.node : undefined;
    });
  }
  return cleared;
}

async function deleteOfAbsent(
  store: Store,
  leader: Leadership,
  kvs: readonly KeyValue[],
  nodeOf: (kv: KeyValue) => string | undefined,
): Promise<number> {
  const byNode = groupBy(kvs, (kv) => nodeOf(kv) ?? '');
  const ids = [...byNode.keys()].filter((id) => id !== '');
  const nodes = await readKeys(
    store,
    ids.map((id) => store.keys.node(id)),
    { keysOnly: true },
  );
  let cleared = 0;
  for (const [i, id] of ids.entries()) {
    if (nodes[i] !== undefined) continue;
    cleared += await deleteSeen(store, leader, byNode.get(id) ?? [], [absent(store.keys.node(id))]);
  }
  return cleared;
}

async function clearAudit({ store, leader, limits, nowMs }: Context): Promise<number> {
  let cleared = 0;
  for await (const page of pages(store, all(store, 'audit'), { limit: 500 })) {
    const old = page.filter((kv) => decodeRecord<AuditRecord>(kv.value, 'audit').atMs <= nowMs - limits.auditMs);
    cleared += await deleteSeen(store, leader, old);
  }
  return cleared;
}

/** The proof of an instant is of no use once the schedule has moved past it (I11), or is gone. */
async function clearFires({ store, leader, limits, nowMs }: Context): Promise<number> {
  let cleared = 0;
  for await (const page of pages(store, all(store, 'fires'), { keysOnly: true })) {
    const byId = groupBy(page, (kv) => idOf(store, kv, 'fires')[0] ?? '');
    const ids = [...byId.keys()].filter((id) => id !== '');
    const schedules = await readKeys(
      store,
      ids.map((id) => store.keys.schedule(id)),
    );
    for (const [i, id] of ids.entries()) {
      const kv = schedules[i];
      const schedule = kv === undefined ? undefined : decodeRecord<ScheduleRecord>(kv.value, 'schedule');
      const old = (byId.get(id) ?? []).filter(({ key }) => {
        const parsed = store.keys.parse(key);
        if (parsed?.kind !== 'fires' || parsed.timeMs > nowMs - limits.firesMs) return false;
        return (
          schedule === undefined || (parsed.timeMs <= (schedule.lastMs ?? 0) && parsed.timeMs !== schedule.queuedMs)
        );
      });
      cleared += await deleteSeen(store, leader, old, [modIs(store.keys.schedule(id), kv?.modRevision ?? 0n)]);
    }
  }
  return cleared;
}

async function clearClock({ store, leader, limits, nowMs }: Context): Promise<number> {
  const span = { key: store.keys.kind('clock'), rangeEnd: store.keys.clock(Math.max(0, nowMs - limits.clockMs)) };
  return deleteSpan(store, leader, span);
}

function idOf(store: Store, kv: KeyValue, kind: 'staged' | 'graphs' | 'stats' | 'fires'): string[] {
  const parsed = store.keys.parse(kv.key);
  return parsed?.kind === kind ? [parsed.id] : [];
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
