/** Watches what becomes ready and what is locked, and judges each claim of an ordered queue by the order of commits. */
import { decodeReady } from '../../src/store/edge.js';
import { Feed, type KvEvent } from '../../src/store/feed.js';
import type { Store } from '../../src/store/index.js';
import { silentLogger, type Clock } from '../../src/runtime/index.js';
import { priorityOf } from '../../src/worker/window.js';

interface Waiting {
  readonly id: string;
  readonly priority: number;
  readonly created: bigint;
}

export interface Judge {
  readonly feed: Feed;
  /** Ids in the order of their claims. */
  readonly claims: readonly string[];
  /** Claims that went past somebody who had come before and was not locked. */
  readonly wrong: readonly string[];
}

/** `blocked`: entries that may be passed over, because something stops them. */
export async function judgeOrder(
  store: Store,
  clock: Clock,
  blocked: (id: string, claimed: string) => boolean = () => false,
): Promise<Judge> {
  const { kv, keys } = store;
  const waiting = new Map<string, Waiting>();
  const claims: string[] = [];
  const wrong: string[] = [];
  const claim = (id: string): void => {
    claims.push(id);
    const mine = waiting.get(id);
    if (mine === undefined) return void wrong.push(`${id} was not ready`);
    waiting.delete(id);
    for (const other of waiting.values()) {
      const before = other.created < mine.created || (other.created === mine.created && other.id < id);
      if (before && other.priority === mine.priority && !blocked(other.id, id)) wrong.push(`${id} before ${other.id}`);
    }
  };
  const change = ({ type, kv: { key, value, createRevision } }: KvEvent): void => {
    const parsed = keys.parse(key);
    if (parsed?.kind === 'locks' && type === 'put') claim(parsed.id);
    if (parsed?.kind !== 'ready') return;
    if (type === 'delete') waiting.delete(parsed.id);
    else {
      const priority = priorityOf(decodeReady(value));
      waiting.set(parsed.id, { id: parsed.id, priority, created: createRevision });
    }
  };
  const ranges = [{ prefix: keys.kind('ready') }, { prefix: keys.kind('locks') }];
  const feed = new Feed(
    { kv, clock, logger: silentLogger, name: 'judge', ranges },
    {
      replace: ({ kvs }) => kvs.forEach((pair) => change({ type: 'put', kv: pair })),
      // Within a revision a claim was decided before what the same revision made ready.
      change: ({ events }) => events.forEach(change),
    },
  );
  await feed.start();
  return { feed, claims, wrong };
}
