/** A connection that counts what goes over it. */
import type { Kv, OpResult } from '../../src/kv/index.js';

export interface Counts {
  requests: number;
  /** Keys that came back, nested ones included: what reading costs. */
  keysRead: number;
}

export function counted(kv: Kv): { readonly kv: Kv; readonly counts: Counts } {
  const counts: Counts = { requests: 0, keysRead: 0 };
  const countKeys = (results: readonly OpResult[]): void => {
    for (const result of results) {
      if (result.kind === 'range') counts.keysRead += result.kvs.length;
      if (result.kind === 'txn') countKeys(result.results);
    }
  };
  const wrapped: Partial<Kv> = {
    range: async (...args) => {
      counts.requests += 1;
      const answer = await kv.range(...args);
      counts.keysRead += answer.kvs.length;
      return answer;
    },
    txn: async (...args) => {
      counts.requests += 1;
      const answer = await kv.txn(...args);
      countKeys(answer.results);
      return answer;
    },
  };
  const proxy = new Proxy(kv, {
    get: (target, name) => {
      const own = wrapped[name as keyof Kv];
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  return { kv: proxy, counts };
}
