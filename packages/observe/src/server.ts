/** `/metrics`, `/healthz` and `/readyz` on a port of their own. */
import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';

export interface MetricsServerOptions {
  readonly register: Registry;
  /** 0: any free port. */
  readonly port: number;
  /** Default 127.0.0.1. Any other needs a token. */
  readonly host?: string;
  /** `/metrics` is answered only with `Authorization: Bearer <token>`. Health has no data and needs none. */
  readonly token?: string;
  /** For `/readyz`: whether this process can work now, for instance `() => node.id !== undefined`. Default: always. */
  readonly ready?: () => boolean;
}

export interface MetricsServer {
  readonly port: number;
  /** Idempotent. */
  close(): Promise<void>;
}

const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|::1|localhost)$/;

/** @throws RangeError for an address that others can reach, without a token. */
export async function serveMetrics(options: MetricsServerOptions): Promise<MetricsServer> {
  const { host = '127.0.0.1', port, token } = options;
  if (token === undefined && !LOOPBACK.test(host)) {
    throw new RangeError(`metrics on ${host} need a token: names of queues and tasks are nobody else's business`);
  }
  const server = createServer((request, response) => {
    answer(options, request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500, TEXT);
      response.end(`${error instanceof Error ? error.message : 'failed'}\n`);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const address = server.address();
  let closing: Promise<void> | undefined;
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: () =>
      (closing ??= new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      })),
  };
}

const TEXT = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' } as const;

async function answer(
  options: MetricsServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const say = (status: number, text: string): void => void response.writeHead(status, TEXT).end(`${text}\n`);
  if (request.method !== 'GET' && request.method !== 'HEAD') return say(405, 'GET only');
  const [path] = (request.url ?? '/').split('?');
  if (path === '/healthz') return say(200, 'alive');
  if (path === '/readyz') return (options.ready?.() ?? true) ? say(200, 'ready') : say(503, 'no session');
  if (path !== '/metrics') return say(404, 'there are /metrics, /healthz and /readyz');
  if (options.token !== undefined && !isToken(request.headers.authorization, options.token))
    return say(401, 'a token is needed');
  const text = await options.register.metrics();
  response.writeHead(200, { ...TEXT, 'content-type': options.register.contentType }).end(text);
}

function isToken(given: string | undefined, token: string): boolean {
  const [a, b] = [Buffer.from(given ?? ''), Buffer.from(`Bearer ${token}`)];
  return a.length === b.length && timingSafeEqual(a, b);
}
