import { createServer as createTlsServer } from 'node:https';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import nextModule from 'next';
import { apiPrefix, isApi } from './base-path.js';
import { checkBuilt } from './built.js';

/** What answers `/api/`, and the live socket on the same server. */
export interface ApiSide {
  /** Called before the server listens: hangs the socket on it. */
  attach(server: Server): void;
  handle(request: IncomingMessage, response: ServerResponse): void | Promise<void>;
  /** A Host that must not be served at all: a rebound name. */
  refusalOf?(request: IncomingMessage): { readonly detail: string } | undefined;
  /** A visitor who has to sign in before he is shown a page. */
  mustSignIn?(request: IncomingMessage): boolean;
  close(): Promise<void>;
}

/** PEM. With `clientCa` peers are asked for a certificate; who shows none is served, and not certified. */
export interface ServeTls {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly clientCa?: Buffer;
}

export interface ServeOptions {
  readonly tls?: ServeTls;
  readonly port: number;
  readonly host: string;
  readonly basePath: string;
  readonly dev: boolean;
}

export interface Running {
  readonly url: string;
  /** Idempotent. Ends open requests and sockets, and frees the port. */
  close(): Promise<void>;
}

/** Said with every answer, page, asset or data; the page's CSP is made in `src/proxy.ts`, which knows the nonce. */
const HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
};

/** At run time the import is the function itself; its types describe it for CommonJS, where it is `default`. */
const next = nextModule as unknown as typeof nextModule.default;

/** The folder of the app, from `server/` and from `dist/` alike: the working directory does not matter. */
const APP_DIR = fileURLToPath(new URL('..', import.meta.url));

/** One port for pages, API and socket. */
export async function serve(api: ApiSide, options: ServeOptions): Promise<Running> {
  const { port, host, basePath, dev } = options;
  if (!dev) await checkBuilt(APP_DIR, basePath);
  // What next.config.mjs reads as the server starts.
  process.env['LEASEHOLD_BASE_PATH'] = basePath;
  const server = serverFor(options.tls);
  // Next writes to the terminal as it starts; `quiet` keeps errors and drops the rest.
  const pages = next({ dev, dir: APP_DIR, hostname: host, port, quiet: !dev, httpServer: server });
  await pages.prepare();
  const page = pages.getRequestHandler();
  const prefix = apiPrefix(basePath);
  server.on('request', (request, response) => {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    if (isApi(request.url ?? '/', prefix)) {
      answered(response, api.handle(request, response));
      return;
    }
    const refusal = api.refusalOf?.(request);
    if (refusal === undefined && api.mustSignIn?.(request) === true && isPage(request.url ?? '/', basePath)) {
      const to = encodeURIComponent((request.url ?? '/').slice(basePath.length) || '/');
      response.writeHead(302, { location: `${basePath}/login?to=${to}`, 'cache-control': 'no-store' }).end();
    } else if (refusal === undefined) answered(response, page(request, response));
    else response.writeHead(403, { 'content-type': 'text/plain; charset=utf-8' }).end(`${refusal.detail}\n`);
  });
  api.attach(server);
  await listen(server, port, host);
  const address = server.address();
  const actual = typeof address === 'object' && address !== null ? address.port : port;
  const close = once(async () => {
    await api.close();
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
    await pages.close();
  });
  return {
    url: `${options.tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${actual}${basePath}`,
    close,
  };
}

function serverFor(tls: ServeTls | undefined): Server {
  if (tls === undefined) return createServer();
  const { cert, key, clientCa } = tls;
  const asked = clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: false };
  return createTlsServer({ cert, key, minVersion: 'TLSv1.2', ...asked });
}

/** What needs a login; the login page itself, and what it is made of, do not. */
function isPage(url: string, basePath: string): boolean {
  const at = (url.split('?', 1)[0] ?? '').slice(basePath.length);
  return at !== '/login' && !at.startsWith('/_next/') && at !== '/icon.svg' && at !== '/favicon.ico';
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function answered(response: ServerResponse, answer: void | Promise<void>): void {
  Promise.resolve(answer).catch((error: unknown) => fail(response, error));
}

function fail(response: ServerResponse, error: unknown): void {
  console.error(error);
  if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' });
  response.end('The server failed to answer this request.\n');
}

function once(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => (running ??= run());
}
