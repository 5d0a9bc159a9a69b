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
  type LiveQuery,
  type Hello,
  type Reply,
  type ServerEvents,
  type SocketFailure,
} from '@leasehold/wire';
import type { Clock, Logger } from '@leasehold/core';
import { fingerprintOf, type Access } from '../auth/access.js';
import { shownUser } from '../auth/login-routes.js';
import { narrowQuery } from '../auth/scope.js';
import type { Credentials, Identity, Permission } from '../guard/identity.js';
import { peerOf } from '../guard/peer.js';
import { checkHost, checkOrigin, type OriginOptions } from '../guard/origin.js';
import type { HeldPast, Pasts } from '../past/pasts.js';
import type { Board } from '../projection/board.js';
import { problemOf } from '../rest/problems.js';
import type { BoardView } from '../projection/board-view.js';
import { Subscription, type Outgoing } from './subscription.js';

export interface HubOptions {
  readonly board: Board;
  readonly pasts: Pasts;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly access: Access;
  readonly origins: OriginOptions;
  readonly basePath: string;
  readonly hello: Omit<Hello, 'protocol' | 'nowMs' | 'user'>;
  readonly maxSockets: number;
}

interface SocketData {
  identity: Identity;
  credentials: Credentials;
}
type LiveSocket = Socket<ClientEvents, ServerEvents, Record<string, never>, SocketData>;

/** The least time between two changes of one subscription, ms: 30 and 10 a second. */
const ROWS_EVERY_MS = 33;
const SUMMARY_EVERY_MS = 100;
const ACK_MS = 10_000;
const BEAT_MS = 1_000;
/** How long a socket outlives its session, token or role at most. */
const RECHECK_MS = 2_000;
/** A client sends queries, never data. */
const MAX_MESSAGE_BYTES = 65_536;

/**
 * What each message needs. A handler that is not in it does not compile, and each asks again with every message: what
 * somebody may do can change while his socket is open.
 */
export const SOCKET_HANDLERS: Readonly<Record<keyof ClientEvents, Permission>> = Object.freeze({
  subscribe: 'board.read',
  unsubscribe: 'board.read',
  freeze: 'board.read',
  release: 'board.read',
  window: 'board.read',
  hidden: 'board.read',
});

export class Hub {
  readonly #options: HubOptions;
  readonly #io: Server<ClientEvents, ServerEvents, Record<string, never>, SocketData>;
  readonly #subscriptions = new Set<Subscription>();
  #beat: { cancel(): void } | undefined;
  #check: { cancel(): void } | undefined;
  #checking: Promise<void> | undefined;

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
    this.#checkAgain();
  }

  async close(): Promise<void> {
    this.#beat?.cancel();
    this.#check?.cancel();
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

  #checkAgain(): void {
    this.#check?.cancel();
    this.#check = this.#options.clock.setTimer(RECHECK_MS, () => {
      void this.recheck().finally(() => this.#checkAgain());
    });
  }

  /** Cuts every socket whose credential does not let in any more, or lets in somebody else. Each credential is asked once. */
  recheck(): Promise<void> {
    this.#checking ??= this.#recheck().finally(() => (this.#checking = undefined));
    return this.#checking;
  }

  async #recheck(): Promise<void> {
    const groups = new Map<string, LiveSocket[]>();
    for (const socket of this.#io.of('/').sockets.values()) {
      const key = fingerprintOf(socket.data.credentials);
      groups.set(key, [...(groups.get(key) ?? []), socket]);
    }
    for (const sockets of groups.values()) await this.#recheckAll(sockets);
  }

  async #recheckAll(sockets: readonly LiveSocket[]): Promise<void> {
    const [first] = sockets;
    if (first === undefined) return;
    try {
      const now = await this.#options.access.recheck(first.data.credentials);
      for (const socket of sockets) {
        if (now !== undefined && sameRights(now, socket.data.identity)) continue;
        socket.emit('failure', { code: 'denied', message: 'signed out, or what you may do has changed' });
        socket.disconnect(true);
      }
    } catch (error) {
      // The store is away: it tells nobody anything new either, and nobody is signed out for it.
      this.#options.logger.debug('gateway: sockets could not be checked', { error });
    }
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
      const { request } = socket;
      const credentials = { headers: request.headers, ...peerOf(request.socket) };
      const identity = await this.#options.access.authenticate(credentials);
      if (identity === undefined) return refuse('signed-out', 'not signed in, or not any more');
      if (!identity.permissions.has('board.read')) return refuse('denied', 'this needs the permission board.read');
      if (this.#socketsOf(identity) >= this.#options.access.options.limits.socketsPerUser) {
        return refuse('too-many', 'too many boards are open under this name; close some');
      }
      socket.data.identity = identity;
      socket.data.credentials = credentials;
      next();
    } catch (error) {
      this.#options.logger.error('gateway: a socket could not be authenticated', { error });
      refuse('unavailable', 'the login cannot be checked now');
    }
  }

  /** Of one user, whatever he came in with. Who comes in without a login is everybody, and is not counted. */
  #socketsOf({ actor, credential }: Identity): number {
    if (credential === undefined) return 0;
    return [...this.#io.of('/').sockets.values()].filter(({ data }) => data.identity.actor.name === actor.name).length;
  }

  #serve(socket: LiveSocket): void {
    const session = new SocketSession(socket, this.#options, this.#subscriptions);
    const { hello, clock } = this.#options;
    const user = shownUser(socket.data.identity);
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
  /** Past boards that are held for a subscription, or still being read for one. */
  readonly #pasts = new Map<string, { held?: HeldPast }>();
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
    for (const sub of [...this.#own.keys(), ...this.#pasts.keys()]) this.#end(sub);
  }

  /** Checks the message, runs the handler, and answers; nothing a client sends makes it throw. */
  #handle<S extends z.ZodType>(
    event: keyof ClientEvents,
    schema: S,
    run: (message: z.output<S>) => SocketFailure | undefined,
  ): void {
    const listener = (message: unknown, reply?: unknown): void => {
      const failure = this.#refusal(event) ?? this.#answer(event, schema, run, message);
      const answer: Reply = failure === undefined ? { ok: true } : { ok: false, error: failure };
      if (typeof reply === 'function') (reply as (answer: Reply) => void)(answer);
      else if (failure !== undefined) this.#socket.emit('failure', failure);
    };
    this.#socket.on(event, listener);
  }

  #answer<S extends z.ZodType>(
    event: keyof ClientEvents,
    schema: S,
    run: (message: z.output<S>) => SocketFailure | undefined,
    message: unknown,
  ): SocketFailure | undefined {
    const parsed = schema.safeParse(message);
    return parsed.success ? run(parsed.data) : invalid(event, parsed.error);
  }

  #refusal(event: keyof ClientEvents): SocketFailure | undefined {
    const permission = SOCKET_HANDLERS[event];
    if (this.#socket.data.identity.permissions.has(permission)) return undefined;
    return { code: 'denied', message: `this needs the permission ${permission}` };
  }

  #subscribe({ sub, query, frozen }: z.output<typeof Subscribe>): SocketFailure | undefined {
    this.#end(sub);
    if (new Set([...this.#own.keys(), ...this.#pasts.keys()]).size >= QUERY_LIMITS.subscriptions) {
      return { code: 'too-many', message: `a socket has at most ${QUERY_LIMITS.subscriptions} subscriptions`, sub };
    }
    if (query.rev === undefined) this.#follow(this.#options.board, sub, query, frozen);
    else void this.#followPast(query.rev, sub, query, frozen);
    return undefined;
  }

  /** The answer to the message does not wait for it: a past board is read in its own time. */
  async #followPast(rev: string, sub: string, query: LiveQuery, frozen: boolean): Promise<void> {
    const opening: { held?: HeldPast } = {};
    this.#pasts.set(sub, opening);
    try {
      const held = await this.#options.pasts.hold(rev);
      // Ended, or asked for anew, meanwhile.
      if (this.#pasts.get(sub) !== opening) return held.release();
      opening.held = held;
      this.#follow(held.board, sub, query, frozen);
    } catch (error) {
      if (this.#pasts.get(sub) !== opening) return;
      this.#pasts.delete(sub);
      this.#socket.emit('failure', { code: 'unavailable', message: problemOf(error, MAX_MESSAGE_BYTES).detail, sub });
    }
  }

  #follow(board: BoardView, sub: string, query: LiveQuery, frozen: boolean): void {
    const { permissions, scope } = this.#socket.data.identity;
    const subscription = new Subscription({
      sub,
      query: narrowQuery(query, scope),
      frozen,
      payload: permissions.has('payload.read'),
      board,
      clock: this.#options.clock,
      everyMs: query.view === 'summary' ? SUMMARY_EVERY_MS : ROWS_EVERY_MS,
      send: (message, done) => this.#send(message, done),
    });
    subscription.hide(this.#hidden);
    this.#own.set(sub, subscription);
    this.#all.add(subscription);
    if (board.generation > 0) subscription.changed();
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
    const past = this.#pasts.get(sub);
    this.#pasts.delete(sub);
    past?.held?.release();
    const subscription = this.#own.get(sub);
    if (subscription === undefined) return;
    subscription.close();
    this.#own.delete(sub);
    this.#all.delete(subscription);
  }
}

/** Anything less, or anything more: the page that is open was made for what he could do before. */
function sameRights(a: Identity, b: Identity): boolean {
  const rights = ({ actor, permissions, scope }: Identity): string =>
    JSON.stringify([actor.name, actor.role, [...permissions].sort(), scope?.queues, scope?.taskNames]);
  return rights(a) === rights(b);
}

function invalid(event: string, error: z.ZodError): SocketFailure {
  const [issue] = error.issues;
  const at = issue === undefined || issue.path.length === 0 ? event : `${event}.${issue.path.join('.')}`;
  return { code: 'invalid', message: `${at}: ${issue?.message ?? 'not understood'}` };
}
