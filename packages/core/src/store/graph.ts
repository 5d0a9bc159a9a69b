/** The compiled form of a stored workflow. The source never changes, so it is compiled once per process and kept. */
import { prefixEnd } from '../kv/kv.js';
import { decodeRecord } from '../model/codec.js';
import { memberId } from '../model/ids.js';
import type { WorkflowRecord } from '../model/records.js';
import { compileWorkflow, type CompiledWorkflow } from '../model/workflow.js';
import { seen, type Seen } from './claim.js';
import type { Store } from './store.js';
import { decodeSource } from './submit.js';

export interface SeenWorkflow {
  readonly record: WorkflowRecord;
  readonly revision: bigint;
  /** The key's version: what members compare. */
  readonly version: number;
}

const CACHED = 200;
const caches = new WeakMap<Store, Map<string, CompiledWorkflow>>();

/** Undefined when the workflow or its source is gone. */
export async function readGraph(store: Store, id: string): Promise<CompiledWorkflow | undefined> {
  let cache = caches.get(store);
  if (cache === undefined) caches.set(store, (cache = new Map()));
  const known = cache.get(id);
  if (known !== undefined) return known;
  const prefix = store.keys.graphs(id);
  const parts: string[] = [];
  for (let key = prefix; ;) {
    const page = await store.kv.range({ key, rangeEnd: prefixEnd(prefix), limit: 8 });
    parts.push(...page.kvs.map((kv) => kv.value));
    const last = page.kvs.at(-1);
    if (!page.more || last === undefined) break;
    key = `${last.key}\0`;
  }
  if (parts.length === 0) return undefined;
  const compiled = compileWorkflow(id, decodeSource(parts));
  cache.set(id, compiled);
  const oldest = cache.size > CACHED ? cache.keys().next().value : undefined;
  if (oldest !== undefined) cache.delete(oldest);
  return compiled;
}

export async function readWorkflow(store: Store, id: string): Promise<SeenWorkflow | undefined> {
  const [kv] = (await store.kv.range({ key: store.keys.workflow(id) })).kvs;
  if (kv === undefined) return undefined;
  const version = Number(kv.version);
  const record = decodeRecord<WorkflowRecord>(kv.value, 'workflow');
  return { record: { ...record, version }, revision: kv.modRevision, version };
}

const PAGE = 500;

/** Members [from, to) in order, by pages; members not written yet are left out. */
export async function* readMembers(store: Store, id: string, from: number, to: number): AsyncGenerator<Seen[]> {
  const end = store.keys.task(memberId(id, to));
  for (let key = store.keys.task(memberId(id, from)); ;) {
    const page = await store.kv.range({ key, rangeEnd: end, limit: PAGE });
    // Callbacks of members have ids that start alike; they are no members.
    yield page.kvs.flatMap(seen).filter((member) => member.task.workflow?.id === id);
    const last = page.kvs.at(-1);
    if (!page.more || last === undefined) return;
    key = `${last.key}\0`;
  }
}
