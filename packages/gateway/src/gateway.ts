/** REST, socket and projection, mounted on an http server that is somebody else's. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createStore, type Store } from '@leasehold/core/store';
import { Access } from './auth/access.js';
import { selfCheck } from './auth/check.js';
import { resolveOptions, requireSafeBind, type GatewayOptions } from './options.js';
import { checkHost, type Refusal } from './guard/origin.js';
import { peerOf } from './guard/peer.js';
import { Hub } from './live/hub.js';
import { BulkRunner } from './bulk/runner.js';
import { buildApp, type Registered } from './rest/app.js';
import { EventStream } from './past/event-stream.js';
import { Pasts } from './past/pasts.js';
import { Board, boardRanges } from './projection/board.js';

export interface Gateway {
  readonly board: Board;
  readonly store: Store;
  /** Everything the server answers to, with the permission it needs. */
  readonly routes: readonly Registered[];
  /** Puts the socket on the server, and guards the address it listens on. Call before `listen`. */
  attach(server: Server): void;
  /** Answers what is below `/api/` and says true; anything else is left alone. */
  handleRequest(request: IncomingMessage, response: ServerResponse): boolean;
  /** For the pages beside the API: a rebound or unknown Host, which must not be served. */
  refusalOf(request: IncomingMessage): Refusal | undefined;
  /** For pages: whether a visitor has to sign in first. The API decides by itself. */
  mustSignIn(request: IncomingMessage): boolean;
  /** Resolves when the board has its first list; a store that is away is waited for. */
  ready(): Promise<void>;
  /** Ends sockets and feed. The http server and the connection are the caller's. Idempotent. */
  close(): Promise<void>;
}

/** Builds and starts a gateway. Resolves before the store has answered; see `ready`. */
export async function createGateway(given: GatewayOptions): Promise<Gateway> {
  const options = resolveOptions(given);
  const { kv, namespace, clock, logger, basePath, version, environment, readOnly } = options;
  const store = createStore(kv, { namespace, now: () => clock.now() });
  const { quietMs } = options;
  const quiet = quietMs === undefined ? {} : { quietMs };
  const board = new Board({
    store,
    clock,
    logger,
    ...(options.caps === undefined ? {} : { caps: options.caps }),
    ...(options.storageSoftLimitBytes === undefined ? {} : { storageSoftLimitBytes: options.storageSoftLimitBytes }),
    ...quiet,
  });
  const pasts = new Pasts({ store, clock, ranges: boardRanges(store) });
  const events = new EventStream({ store, board, clock, logger, ...quiet });
  const access = new Access(store, options.access, basePath, options.auth);
  for (const finding of await selfCheck(options)) logger.warn(`gateway: ${finding}`);
  const { base } = options.access;
  const origins = {
    allowedHosts: [...options.allowedHosts, ...(base === undefined ? [] : [base.host])],
    allowedOrigins: [...options.allowedOrigins, ...(base === undefined ? [] : [base.origin])],
  };
  const { environmentTone } = options;
  const tone = environmentTone === undefined ? {} : { environmentTone };
  const hello = { version, namespace, environment, readOnly, ...tone };
  const hub = new Hub({
    board,
    pasts,
    clock,
    logger,
    access,
    origins,
    basePath,
    hello,
    maxSockets: options.maxSockets,
  });
  const { app, registered } = await buildApp({
    board,
    pasts,
    events,
    store,
    logger,
    access,
    basePath,
    onAccessChanged: () => void hub.recheck(),
    origins,
    readOnly,
    version,
    bodyLimitBytes: options.bodyLimitBytes,
    // Whoever waits for the revision of his act learns at once that the board has reached it.
    onChanged: (revision) => void board.reached(revision).then(() => hub.beat()),
  });
  const bulks = new BulkRunner({
    board,
    store,
    clock,
    logger,
    ...(options.bulkPaceMs === undefined ? {} : { paceMs: options.bulkPaceMs }),
  });
  await board.start();
  // Who may change nothing runs nothing either.
  if (!readOnly) await bulks.start();
  let closing: Promise<void> | undefined;
  return {
    board,
    store,
    routes: registered,
    attach: (server) => {
      server.on('listening', () => guardAddress(server, options));
      hub.attach(server);
    },
    handleRequest: (request, response) => {
      const url = request.url ?? '';
      if (!url.startsWith(`${basePath}/api/`)) return false;
      request.url = url.slice(basePath.length);
      app.routing(request, response);
      return true;
    },
    refusalOf: (request) => checkHost(request.headers, origins),
    mustSignIn: ({ headers, socket }) => access.mustSignIn({ headers, ...peerOf(socket) }),
    ready: () => board.ready(),
    close: () => {
      closing ??= (async () => {
        await hub.close();
        await bulks.stop();
        pasts.close();
        await events.close();
        await board.stop();
        await app.close();
        store.committer.close();
      })();
      return closing;
    },
  };
}

function guardAddress(server: Server, options: GatewayOptions): void {
  const address = server.address();
  if (address === null || typeof address === 'string') return;
  try {
    requireSafeBind(address.address, options);
  } catch (error) {
    server.close();
    server.closeAllConnections();
    server.emit('error', error);
  }
}
