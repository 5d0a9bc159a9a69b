import type { CallOptions, Op, Txn, TxnResult } from '../../src/kv/kv.js';
import type { Send } from './network.js';

interface Waiting {
  readonly txn: Txn;
  readonly options: CallOptions | undefined;
  resolve(result: TxnResult): void;
  reject(error: unknown): void;
}

/** Undoes rule C2 of the committer: what it keeps apart because it conflicts goes in one request, if it is under way at once. */
export function mergeConflicts(send: Send, turn: () => Promise<void>): Send {
  let waiting: Waiting[] = [];
  const flush = (): void => {
    const all = waiting;
    waiting = [];
    for (const group of byFence(all)) void sendGroup(send, group);
  };
  return (txn, options) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) void turn().then(flush);
      waiting.push({ txn, options, resolve, reject });
    });
}

/** Requests whose fences are equal; reads go alone. */
function byFence(all: readonly Waiting[]): readonly (readonly Waiting[])[] {
  const groups = new Map<string, Waiting[]>();
  for (const one of all) {
    const id = writes(one.txn) ? fenceText(one.txn) : `alone ${groups.size}`;
    const group = groups.get(id);
    if (group === undefined) groups.set(id, [one]);
    else group.push(one);
  }
  return [...groups.values()];
}

function writes(txn: Txn): boolean {
  return txn.success.some((op) => op.kind === 'put' || op.kind === 'delete' || (op.kind === 'txn' && writes(op.txn)));
}

const isNested = (txn: Txn): boolean => txn.success.every(({ kind }) => kind === 'txn');

function fenceText(txn: Txn): string {
  const fence = isNested(txn) ? txn.compare : [];
  return JSON.stringify(fence, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
}

async function sendGroup(send: Send, group: readonly Waiting[]): Promise<void> {
  const [first] = group;
  if (first === undefined) return;
  try {
    if (group.length === 1) return first.resolve(await send(first.txn, first.options));
    const compare = isNested(first.txn) ? first.txn.compare : [];
    const parts = group.map(({ txn }): readonly Op[] => (isNested(txn) ? txn.success : [{ kind: 'txn', txn }]));
    const answer = await send({ compare, success: parts.flat() }, first.options);
    let at = 0;
    for (const [i, { txn, resolve }] of group.entries()) {
      const results = answer.results.slice(at, (at += parts[i]?.length ?? 0));
      const [only] = results;
      if (isNested(txn)) resolve({ ...answer, results });
      else if (only?.kind === 'txn') resolve({ ...answer, succeeded: only.succeeded, results: only.results });
    }
  } catch (error) {
    for (const { reject } of group) reject(error);
  }
}
