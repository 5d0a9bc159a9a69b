import { noop } from 'cockatiel';
import { Etcd3, type IOptions } from 'etcd3';
import { EtcdKv } from './etcd-client.js';
import { decodeWatch } from './etcd-decode.js';
import { abortedError, type Duplex, type Endpoint, type Service } from './etcd-endpoints.js';
import { toKvError } from './etcd-errors.js';
import { KvError, type Kv } from './kv.js';

/**
 * The seam on a real etcd. The only file that imports `etcd3`, of which it uses the connection, the generated
 * services and the login, and nothing else: its watcher loses events, its lease notices its end too late, and its
 * fault policies send writes again.
 */
export interface EtcdOptions {
  /** `host:port`, with `https://` in front for TLS. Calls stick to one of them while it works. */
  readonly endpoints: readonly string[];
  readonly credentials?: {
    readonly rootCertificate: Buffer;
    readonly privateKey?: Buffer;
    readonly certChain?: Buffer;
  };
  readonly auth?: { readonly username: string; readonly password: string };
  /** How long a call may take that does not say otherwise. Default 5000. */
  readonly defaultTimeoutMs?: number;
  /** How often an idle connection with a stream on it is probed; etcd allows 5000 and more. Default 10000. */
  readonly keepAliveMs?: number;
  /** How long a probe may stay unanswered. Default 3000. */
  readonly keepAliveTimeoutMs?: number;
}

export function connectEtcd(options: EtcdOptions): Kv {
  const settings = withDefaults(options);
  return new EtcdKv(
    settings.endpoints.map((address) => new EtcdEndpoint(address, settings)),
    settings.defaultTimeoutMs,
  );
}

type Settings = Required<Omit<EtcdOptions, 'credentials' | 'auth'>> & Pick<EtcdOptions, 'credentials' | 'auth'>;

const MAX_REPLY_BYTES = 64 * 1024 * 1024;

function withDefaults(options: EtcdOptions): Settings {
  const settings = { defaultTimeoutMs: 5000, keepAliveMs: 10_000, keepAliveTimeoutMs: 3000, ...options };
  if (settings.endpoints.length === 0) throw new KvError('invalid', 'endpoints: at least one is needed');
  for (const name of ['defaultTimeoutMs', 'keepAliveMs', 'keepAliveTimeoutMs'] as const) {
    if (!(settings[name] > 0)) throw new KvError('invalid', `${name}: ${settings[name]} is not a positive number`);
  }
  return Object.freeze(settings);
}

type Done = (error: (Error & { code?: number }) | null, reply: unknown) => void;

/** What is used of a method of a generated gRPC client: how it is called, and how it is told to others. */
interface RawMethod {
  (request: object, metadata: object, options: object, done: Done): { cancel(): void };
  readonly path: string;
  readonly requestSerialize: (message: object) => Buffer;
}

/** The client itself, for messages that are bytes already, or that are read here. */
interface RawClient {
  makeUnaryRequest(
    path: string,
    serialize: (message: Buffer) => Buffer,
    deserialize: (bytes: Buffer) => Buffer,
    request: Buffer,
    metadata: object,
    options: object,
    done: Done,
  ): { cancel(): void };
  makeBidiStreamRequest(
    path: string,
    serialize: (message: object) => Buffer,
    deserialize: (bytes: Buffer) => unknown,
    metadata: object,
  ): Duplex;
}

const asItIs = (bytes: Buffer): Buffer => bytes;

function callMethod(client: object, name: string, request: object, metadata: object, options: object, done: Done) {
  const method = (client as Record<string, RawMethod>)[name] as RawMethod;
  if (!Buffer.isBuffer(request)) return method.call(client, request, metadata, options, done);
  return (client as RawClient).makeUnaryRequest(method.path, asItIs, asItIs, request, metadata, options, done);
}

/** One endpoint. Goes through `etcd3`'s connection pool of one host, below its policies and its error mapping. */
class EtcdEndpoint extends Etcd3 implements Endpoint {
  readonly address: string;
  readonly #timeoutMs: number;
  readonly #calls = new Set<{ cancel(): void }>();

  constructor(address: string, settings: Settings) {
    super(etcd3Options(address, settings));
    this.address = address;
    this.#timeoutMs = settings.defaultTimeoutMs;
  }

  unary(
    service: Service,
    method: string,
    request: object,
    deadlineMs: number,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    return this.pool.withConnection(service, ({ client, metadata }) => {
      // The login may have taken a while.
      if (signal?.aborted === true) throw abortedError(signal, false);
      return new Promise((resolve, reject) => {
        const call = callMethod(client, method, request, metadata, { deadline: deadlineMs }, (error, reply) => {
          this.#calls.delete(call);
          signal?.removeEventListener('abort', onAbort);
          if (error === null) resolve(reply);
          else reject(new RawError(error));
        });
        const onAbort = (): void => call.cancel();
        this.#calls.add(call);
        signal?.addEventListener('abort', onAbort, { once: true });
      });
    });
  }

  duplex(service: Service, method: string, requireLeader: boolean): Promise<Duplex> {
    return this.pool.withConnection(service, ({ client, metadata }) => {
      const headers = metadata.clone();
      if (requireLeader) headers.set('hasleader', 'true');
      const raw = (client as unknown as Record<string, RawMethod & ((metadata: object) => Duplex)>)[method];
      if (raw === undefined) throw new KvError('invalid', `etcd has no stream "${method}"`);
      if (method !== 'watch') return raw.call(client, headers);
      const { path, requestSerialize } = raw;
      return (client as unknown as RawClient).makeBidiStreamRequest(path, requestSerialize, decodeWatch, headers);
    });
  }

  override close(): void {
    for (const call of this.#calls) call.cancel();
    super.close();
  }

  /** `etcd3` logs in again when a call of its own is refused for a stale token. */
  async refreshToken(): Promise<void> {
    await this.kv.range(
      { key: Buffer.from('\0'), limit: 1, keys_only: true, serializable: true },
      { deadline: Date.now() + this.#timeoutMs },
    );
  }
}

/** Carries gRPC's code through the pool, which turns a plain `Error` into a class without one. */
class RawError extends Error {
  readonly code: number;
  constructor(error: Error & { code?: number }) {
    super(error.message, { cause: error });
    this.code = error.code ?? 2;
  }
}

function etcd3Options(address: string, settings: Settings): IOptions {
  return { ...etcdOptionsOf(settings), hosts: [address] };
}

function etcdOptionsOf(settings: Settings): Omit<IOptions, 'hosts'> {
  const { credentials, auth } = settings;
  return {
    ...(credentials === undefined ? undefined : { credentials }),
    ...(auth === undefined ? undefined : { auth }),
    faultHandling: { global: noop, host: () => noop },
    defaultCallOptions: ({ isStream }) => (isStream ? {} : { deadline: Date.now() + settings.defaultTimeoutMs }),
    grpcOptions: {
      'grpc.max_receive_message_length': MAX_REPLY_BYTES,
      'grpc.keepalive_time_ms': settings.keepAliveMs,
      'grpc.keepalive_timeout_ms': settings.keepAliveTimeoutMs,
      'grpc.keepalive_permit_without_calls': 0,
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 2000,
    },
  };
}

/** A range of keys, or one key, and what may be done with it. */
export interface EtcdGrant {
  readonly key: string;
  /** Exclusive; absent for one key. */
  readonly rangeEnd?: string;
  readonly permission: 'read' | 'readwrite';
}

/**
 * Makes a role with exactly these grants and a user who has it and no other. Both may exist: the role's grants are added
 * to, the user's password is set. Needs etcd's own administrator. @throws KvError.
 */
export async function createEtcdUser(
  options: EtcdOptions,
  user: {
    readonly name: string;
    readonly password: string;
    readonly role: string;
    readonly grants: readonly EtcdGrant[];
  },
): Promise<void> {
  const settings = withDefaults(options);
  const client = new Etcd3({ ...etcdOptionsOf(settings), hosts: [...settings.endpoints] });
  const { name, password, role } = user;
  const perms = user.grants.map(({ key, rangeEnd = '', permission }) => ({
    permType: permission === 'read' ? ('Read' as const) : ('Readwrite' as const),
    key: Buffer.from(key),
    range_end: Buffer.from(rangeEnd),
  }));
  try {
    await existing(client.auth.roleAdd({ name: role }));
    for (const perm of perms) await client.auth.roleGrantPermission({ name: role, perm });
    const made = await existing(client.auth.userAdd({ name, password }));
    if (!made) await client.auth.userChangePassword({ name, password });
    await client.auth.userGrantRole({ user: name, role });
  } catch (error) {
    throw toKvError(error, false);
  } finally {
    client.close();
  }
}

/** False when it was there already. */
async function existing(made: Promise<unknown>): Promise<boolean> {
  try {
    await made;
    return true;
  } catch (error) {
    if (/already exists/.test((error as Error).message)) return false;
    throw error;
  }
}
