import { decodeLock, type LockRecord, type NodeRecord } from '@leasehold/core';
import { prefixEnd, type KeyValue, type Kv } from '@leasehold/core/kv';
import type { Command } from 'commander';
import { run, type CommonOptions, type Session } from '../command.js';
import { ago } from '../output.js';

type NodeRow = NodeRecord & { readonly leaseLeftS: number; readonly locks: number };
type LockRow = LockRecord & { readonly id: string; readonly token: string; readonly leaseId: string };

export function addNodes(program: Command): void {
  program
    .command('nodes')
    .description('live nodes, with what is left of their leases')
    .action((_flags: object, command: Command) => run(command.optsWithGlobals<CommonOptions>(), listNodes));
  program
    .command('locks')
    .description('running tasks: who holds them, since when, under which fencing token')
    .action((_flags: object, command: Command) => run(command.optsWithGlobals<CommonOptions>(), listLocks));
}

async function listNodes({ client, kv, out }: Session): Promise<void> {
  const nodes = await client.nodes();
  const held = new Map<string, number>();
  for (const { value } of await readLocks(client.store.kv, client.store.keys.kind('locks'))) {
    const { node } = decodeLock(value);
    held.set(node, (held.get(node) ?? 0) + 1);
  }
  const rows = await Promise.all(
    nodes.map(async (node): Promise<NodeRow> => {
      const { ttlS } = await kv.leaseStatus(BigInt(node.leaseId));
      return { ...node, leaseLeftS: ttlS, locks: held.get(node.id) ?? 0 };
    }),
  );
  const now = Date.now();
  out.table(
    rows,
    [
      { title: 'id', text: ({ id }) => id },
      { title: 'host', text: ({ host }) => host },
      { title: 'pid', text: ({ pid }) => String(pid), right: true },
      { title: 'up', text: ({ startedMs }) => ago(startedMs, now) },
      { title: 'lease', text: (row) => `${row.leaseLeftS}/${Math.round(row.leaseTtlMs / 1_000)}s`, right: true },
      { title: 'running', text: ({ locks }) => String(locks), right: true },
      {
        title: 'queues',
        text: ({ queues }) => queues.map(({ name, concurrency }) => `${name}×${concurrency}`).join(' '),
      },
      { title: 'tasks', text: ({ handlers }) => handlers.map(({ name }) => name).join(' ') },
      { title: '', text: ({ draining }) => (draining ? 'draining' : ''), style: () => 'yellow' },
    ],
    'no live nodes',
  );
}

async function listLocks({ client, out }: Session): Promise<void> {
  const prefix = client.store.keys.kind('locks');
  const kvs = await readLocks(client.store.kv, prefix);
  const rows = kvs.map(({ key, value, createRevision, lease }): LockRow => ({
    id: key.slice(prefix.length),
    ...decodeLock(value),
    token: String(createRevision),
    leaseId: String(lease),
  }));
  const now = Date.now();
  out.table(
    rows,
    [
      { title: 'task', text: ({ id }) => id },
      { title: 'node', text: ({ node }) => node },
      { title: 'attempt', text: ({ attempt }) => String(attempt), right: true },
      { title: 'token', text: ({ token }) => token, right: true },
      { title: 'since', text: ({ sinceMs }) => ago(sinceMs, now) },
    ],
    'nothing is running',
  );
}

async function readLocks(kv: Kv, prefix: string): Promise<readonly KeyValue[]> {
  return (await kv.range({ key: prefix, rangeEnd: prefixEnd(prefix) })).kvs;
}
