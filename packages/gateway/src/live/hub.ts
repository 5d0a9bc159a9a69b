/**
 * The socket side: who follows what. Reading only; every message is checked by its schema, every handler by permission.
 * Mutations go over HTTP.
 */
import type { IncomingMessage, Server as HttpServer } from 'node:http';
import { Server, type Socket } from 'socket.io';
import type { z } from 'zod';
import {
  Freeze,
  Handshake,
  Hidden,
  MoveWindow,
  PROTOCOL,
  QUERY_LIMITS,
  Release,
  SOCKET_PATH,
  Subscribe,
  Unsubscribe,
  type ClientEvents,
  type Heartbeat,
  type Hello,
  type Reply,
  type ServerEvents,
  type SocketFailure,
} from '@leasehold/wire';
import type { Clock, Logger } from '@leasehold/core';
import type { Auth, Identity } from '../guard/identity.js';
import { checkHost, checkOrigin, type OriginOptions } from '../guard/origin.js';
import type { Board } from '../projection/board.js';
import { Subscription, type Outgoing } from './subscription.js';

export interface HubOptions {
  readonly board: Board;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly auth: Auth;
  readonly origins: OriginOptions;
  readonly basePath: string;
  readonly hello: Omit<Hello, 'protocol' | 'nowMs' | 'user'>;
  readonly maxSockets: number;
}

interface SocketData {
  identity: Identity;
}
type LiveSocket = Socket<ClientEvents, ServerEvents, Record<string, never>, SocketData>;

/** The least time between two changes of one subscription, ms: 30 and 10 a second. */
const ROWS_EVERY_MS = 33;
const SUMMARY_EVERY_MS = 100;
const ACK_MS = 10_000;
const BEAT_MS = 1_000;
/** A client sends queries, never data. */
const MAX_MESSAGE_BYTES = 65_536;

export class Hub {
  readonly #options: HubOptions;
  readonly #io: Server<ClientEvents, ServerEvents, Record<string, never>, SocketData>;
  readonly #subscriptions = new Set<Subscription>();
  #beat: { cancel(): void } | undefined;

  constructor(options: HubOptions) {
    this.#options = options;
    this.#io = new Server({
      path: `${options.basePath}${SOCKET_PATH}`,
      serveClient: false,
      destroyUpgrade: false,
      maxHttpBufferSize: MAX_MESSAGE_BYTES,
      connectTimeout: 10_000,
      allowRequest: (request, decide) => this.#admit(request, decide),
    });
    this.#io.use((socket, next) => void this.#enter(socket, next));
    this.#io.on('connection', (socket) => this.#serve(socket));
    options.board.onChange(() => {
      for (const subscription of this.#subscriptions) subscription.changed();
    });
    options.board.onStatus(() => this.beat());
    options.board.onNotice((notice) => this.#io.emit('notice', notice));
  }

  attach(server: HttpServer): void {
    this.#io.attach(server);
    this.#again();
  }

  async close(): Promise<void> {
    this.#beat?.cancel();
    for (const subscription of this.#subscriptions) subscription.close();
    this.#subscriptions.clear();
    // The http server is the caller's: sockets are ended, it is not.
    this.#io.disconnectSockets(true);
    this.#io.engine?.close();
    await Promise.resolve();
  }

  get sockets(): number {
    return this.#io.of('/').sockets.size;
  }

  /** Tells everybody where the board is; volatile, so a slow client misses it rather than queues it. */
  beat(): void {
    this.#io.volatile.emit('heartbeat', this.#heartbeat());
  }

  #again(): void {
    this.#beat?.cancel();
    this.#beat = this.#options.clock.setTimer(BEAT_MS, () => {
      this.beat();
      this.#again();
    });
  }

  #heartbeat(): Heartbeat {
    const { board, clock } = this.#options;
    const { phase, revision, verifiedAtMs = 0 } = board.status;
    return {
      revision: revision.toString(),
      generation: board.generation,
      verifiedMs: verifiedAtMs,
      nowMs: clock.now(),
      feed: phase === 'live' ? 'live' : phase === 'starting' ? 'listing' : 'reconnecting',
    };
  }

  /** Before anything is spoken: CORS settings do not guard websockets. */
  #admit(request: IncomingMessage, decide: (error: string | null | undefined, admitted: boolean) => void): void {
    const refusal =
      checkHost(request.headers, this.#options.origins) ?? checkOrigin(request.headers, this.#options.origins);
    if (refusal !== undefined) return decide(refusal.detail, false);
    if (this.sockets >= this.#options.maxSockets) return decide('too many sockets are open', false);
    decide(null, true);
  }

  async #enter(socket: LiveSocket, next: (error?: Error & { data?: unknown }) => void): Promise<void> {
    const refuse = (code: string, message: string, more: object = {}): void =>
      next(Object.assign(new Error(message), { data: { code, ...more } }));
    if (!Handshake.safeParse(socket.handshake.auth).success) {
      const { version } = this.#options.hello;
      return refuse('protocol', `this server speaks protocol ${PROTOCOL}; reload the page`, {
        protocol: PROTOCOL,
        version,
      });
    }
    try {
      const { headers, address } = socket.handshake;
      const identity = await this.#options.auth.authenticate({ headers, address });
      if (identity?.permissions.has('board.read') !== true)
        return refuse('denied', 'not signed in, or not allowed to see the board');
      socket.data.identity = identity;
      next();
    } catch (error) {
      this.#options.logger.error('gateway: a socket could not be authenticated', { error });
      refuse('unavailable', 'the login cannot be checked now');
    }
  }

  #serve(socket: LiveSocket): void {
    const session = new SocketSession(socket, this.#options, this.#subscriptions);
    const { hello, clock } = this.#options;
    const { name, role, method } = socket.data.identity.actor;
    const user = { name, ...(role === undefined ? {} : { role }), ...(method === undefined ? {} : { method }) };
    socket.emit('hello', { protocol: PROTOCOL, nowMs: clock.now(), ...hello, user });
    socket.emit('heartbeat', this.#heartbeat());
    socket.on('disconnect', () => session.close());
  }
}

/** One socket and its subscriptions. */
class SocketSession {
  readonly #socket: LiveSocket;
  readonly #options: HubOptions;
  readonly #all: Set<Subscription>;
  readonly #own = new Map<string, Subscription>();
  #hidden = false;

  constructor(socket: LiveSocket, options: HubOptions, all: Set<Subscription>) {
    this.#socket = socket;
    this.#options = options;
    this.#all = all;
    this.#handle('subscribe', Subscribe, (message) => this.#subscribe(message));
    this.#handle('unsubscribe', Unsubscribe, ({ sub }) => this.#end(sub));
    this.#handle('freeze', Freeze, ({ sub, frozen }) => this.#with(sub, (each) => each.freeze(frozen)));
    this.#handle('release', Release, ({ sub }) => this.#with(sub, (each) => each.release()));
    this.#handle('window', MoveWindow, ({ sub, window }) => this.#with(sub, (each) => each.move(window)));
    this.#handle('hidden', Hidden, ({ hidden }) => {
      this.#hidden = hidden;
      for (const each of this.#own.values()) each.hide(hidden);
      return undefined;
    });
  }

  close(): void {
    for (const sub of this.#own.keys()) this.#end(sub);
  }

  /** Checks the message, runs the handler, and answers; nothing a client sends makes it throw. */
  #handle<S extends z.ZodType>(
    event: keyof ClientEvents,
    schema: S,
    run: (message: z.output<S>) => SocketFailure | undefined,
  ): void {
    const listener = (message: unknown, reply?: unknown): void => {
      const parsed = schema.safeParse(message);
      const failure = parsed.success ? run(parsed.data) : invalid(event, parsed.error);
      const answer: Reply = failure === undefined ? { ok: true } : { ok: false, error: failure };
      if (typeof reply === 'function') (reply as (answer: Reply) => void)(answer);
      else if (failure !== undefined) this.#socket.emit('failure', failure);
    };
    this.#socket.on(event, listener);
  }

  #subscribe({ sub, query, frozen }: z.output<typeof Subscribe>): SocketFailure | undefined {
    if (!this.#socket.data.identity.permissions.has('board.read'))
      return { code: 'denied', message: 'not allowed to see the board', sub };
    this.#end(sub);
    if (this.#own.size >= QUERY_LIMITS.subscriptions) {
      return { code: 'too-many', message: `a socket has at most ${QUERY_LIMITS.subscriptions} subscriptions`, sub };
    }
    const { board, clock } = this.#options;
    const subscription = new Subscription({
      sub,
      query,
      frozen,
      board,
      clock,
      everyMs: query.view === 'summary' ? SUMMARY_EVERY_MS : ROWS_EVERY_MS,
      send: (message, done) => this.#send(message, done),
    });
    subscription.hide(this.#hidden);
    this.#own.set(sub, subscription);
    this.#all.add(subscription);
    if (board.generation > 0) subscription.changed();
    return undefined;
  }

  #send(message: Outgoing, done: (acknowledged: boolean) => void): void {
    const socket = this.#socket.timeout(ACK_MS);
    const answered = (error: Error | null): void => done(error === null);
    if (message.kind === 'snapshot') socket.emit('snapshot', message.snapshot, answered);
    else socket.emit('change', message.change, answered);
  }

  #with(sub: string, run: (subscription: Subscription) => void): SocketFailure | undefined {
    const subscription = this.#own.get(sub);
    if (subscription === undefined) return { code: 'not-found', message: `there is no subscription "${sub}"`, sub };
    run(subscription);
    return undefined;
  }

  #end(sub: string): undefined {
    const subscription = this.#own.get(sub);
    if (subscription === undefined) return;
    subscription.close();
    this.#own.delete(sub);
    this.#all.delete(subscription);
  }
}

function invalid(event: string, error: z.ZodError): SocketFailure {
  const [issue] = error.issues;
  const at = issue === undefined || issue.path.length === 0 ? event : `${event}.${issue.path.join('.')}`;
  return { code: 'invalid', message: `${at}: ${issue?.message ?? 'not understood'}` };
}
