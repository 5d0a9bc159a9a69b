import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { randomUUID } from 'node:crypto';
import { connectEtcd, MemoryStore, type Kv } from '@leasehold/core/kv';
import {
  decodeTask,
  encodeRecord,
  type Actor,
  type Json,
  type NodeRecord,
  type Signature,
  type TypedValue,
} from '@leasehold/core/model';
import {
  advance,
  claim,
  createStore,
  NO_FENCE,
  settle,
  submitWorkflow,
  type Held,
  type Holder,
  type Store,
  type Submitted,
} from '@leasehold/core/store';
import { createGateway, type Gateway, type GatewayOptions } from '../src/index.js';

export const ACTOR: Actor = { kind: 'client', name: 'test' };

/** A gateway on a real http server, and a store to act on behind its back, as workers and other clients do. */
export interface World {
  readonly kv: Kv;
  /** The gateway's own connection; with the memory twin it can be cut. */
  readonly gatewayKv: Kv;
  cut(): void;
  heal(): void;
  readonly store: Store;
  readonly gateway: Gateway;
  readonly server: Server;
  readonly origin: string;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  submit(name: string, args?: readonly TypedValue[], more?: Partial<Signature>): Promise<Submitted>;
  joinNode(id: string, options?: NodeOptions): Promise<Holder>;
  /** Claims a task for a node. */
  start(holder: Holder, id: string): Promise<Held>;
  succeed(holder: Holder, held: Held, results?: readonly TypedValue[]): Promise<void>;
  fail(holder: Holder, held: Held, message: string): Promise<void>;
  /** Resolves when the board has everything that is in the store now. */
  caughtUp(): Promise<void>;
  close(): Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly headers: Headers;
  /** Answers are of many shapes; a test knows which it reads. */
  readonly body: Record<string, Json>;
}

export interface NodeOptions {
  readonly names?: readonly string[];
  readonly queue?: string;
  readonly concurrency?: number;
  readonly ttlS?: number;
  readonly defaults?: NonNullable<NodeRecord['handlers'][number]['defaults']>;
}

export type Target = 'memory' | { readonly etcd: string };

export async function openWorld(target: Target = 'memory', options: Partial<GatewayOptions> = {}): Promise<World> {
  const memory = new MemoryStore();
  const connection = memory.connect();
  const kv = target === 'memory' ? memory.connect() : connectEtcd({ endpoints: [target.etcd] });
  const gatewayKv = target === 'memory' ? connection : kv;
  const namespace = `test-${randomUUID()}`;
  const store = createStore(kv, { namespace });
  const gateway = await createGateway({ kv: gatewayKv, namespace, quietMs: 100, ...options });
  await gateway.ready();
  const server = createServer((request, response) => {
    if (gateway.handleRequest(request, response)) return;
    response.statusCode = 404;
    response.end('a page');
  });
  gateway.attach(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    kv,
    gatewayKv,
    cut: () => connection.disconnect(),
    heal: () => connection.heal(),
    store,
    gateway,
    server,
    origin,
    call: (method, path, body, headers = {}) =>
      callApi(`${origin}${options.basePath ?? ''}/api/v1${path}`, method, body, headers),
    submit: (name, args = [], more = {}) =>
      submitWorkflow(store, ACTOR, { kind: 'task', signature: { name, args, ...more } }),
    joinNode: (id, more) => joinNode(store, id, more),
    start: (holder, id) => startTask(store, holder, id),
    succeed: async (holder, held, results = []) => {
      const result = await settle(store, holder, held, { kind: 'success', results });
      if (result.kind === 'settled' && result.drive !== undefined) await advance(store, ACTOR, result.drive);
    },
    fail: async (holder, held, message) => {
      const error = {
        type: 'Error',
        message,
        attempt: held.task.attempt,
        node: holder.node,
        atMs: store.now(),
        final: true,
      };
      const result = await settle(store, holder, held, { kind: 'failure', error });
      if (result.kind === 'settled' && result.drive !== undefined) await advance(store, ACTOR, result.drive);
    },
    caughtUp: async () => {
      const { revision } = await kv.range({ key: store.keys.leader() });
      await gateway.board.reached(revision);
      gateway.board.refresh();
    },
    close: async () => {
      await gateway.close();
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
      store.committer.close();
      await kv.close();
      await gatewayKv.close();
    },
  };
}

async function callApi(url: string, method: string, body: unknown, headers: Record<string, string>): Promise<Answer> {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(url, {
    method,
    headers: { ...(text === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(text === undefined ? {} : { body: text }),
  });
  const raw = await response.text();
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? '',
    headers: response.headers,
    body: raw === '' ? {} : (JSON.parse(raw) as Answer['body']),
  };
}

async function joinNode(store: Store, id: string, options: NodeOptions = {}): Promise<Holder> {
  const { names = ['mail'], queue = 'default', concurrency = 2, ttlS = 10, defaults } = options;
  const lease = await store.kv.leaseGrant(ttlS);
  const record: NodeRecord = {
    id,
    host: 'host-a',
    pid: 1,
    version: '1.0.0',
    startedMs: store.now(),
    leaseId: lease.id.toString(),
    leaseTtlMs: ttlS * 1_000,
    queues: [{ name: queue, concurrency, weight: 1 }],
    handlers: names.map((name) => ({
      name,
      queue,
      args: [
        { name: 'to', type: 'string' },
        { name: 'password', type: 'string', secret: true },
      ],
      results: ['string'],
      ...(defaults === undefined ? {} : { defaults }),
    })),
    labels: {},
    draining: false,
    candidate: true,
    layout: 1,
  };
  const put = { kind: 'put', key: store.keys.node(id), value: encodeRecord(record), lease: lease.id } as const;
  await store.kv.txn({ compare: [], success: [put] });
  return { node: id, lease: lease.id, fence: NO_FENCE };
}

async function startTask(store: Store, holder: Holder, id: string): Promise<Held> {
  const [kv] = (await store.kv.range({ key: store.keys.task(id) })).kvs;
  if (kv === undefined) throw new Error(`no task ${id}`);
  const result = await claim(store, holder, {
    task: decodeTask(kv.value),
    revision: kv.modRevision,
    settings: { queue: 0n, name: 0n, all: 0n },
    slots: [],
  });
  if (result.kind !== 'claimed') throw new Error(`claim of ${id}: ${result.kind}`);
  return result.held;
}

export const text = (value: string, name?: string): TypedValue => ({
  type: 'string',
  value,
  ...(name === undefined ? {} : { name }),
});
