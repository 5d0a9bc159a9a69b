/** The composition root: pages, API and socket on one port, over one connection to etcd. */
import { connectEtcd, type EtcdOptions } from '@leasehold/core/kv';
import { createGateway, requireSafeBind, type AccessOptions } from '@leasehold/gateway';
import type { EnvironmentTone } from '@leasehold/wire';
import { cleanBasePath } from './base-path.js';
import { consoleLogger } from './log.js';
import { serve, type Running, type ServeTls } from './serve.js';

export interface DashboardOptions {
  /** `host:port` of the etcd members. */
  readonly endpoints: readonly string[];
  /** TLS and login of etcd. */
  readonly etcd?: Pick<EtcdOptions, 'credentials' | 'auth'>;
  /** How people sign in. Default: nobody has to, and only loopback is served. */
  readonly access?: AccessOptions;
  /** Serve https, as where a proxy shows a client certificate. */
  readonly tls?: ServeTls;
  readonly namespace: string;
  /** 0: any free port. */
  readonly port: number;
  /** Default 127.0.0.1: without a login only loopback addresses are listened on. */
  readonly host?: string;
  /** Where the pages were built to hang: LEASEHOLD_BASE_PATH at build time. Default: the root. */
  readonly basePath?: string;
  /** Shown in the frame, and the colour of its band. */
  readonly environment?: string;
  readonly environmentTone?: EnvironmentTone;
  readonly readOnly?: boolean;
  /** Listen on any address without a login, as behind a port that is published on loopback only. */
  readonly exposeWithoutAuth?: boolean;
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins?: readonly string[];
  /** Compile pages on the fly. */
  readonly dev?: boolean;
}

/** Starts at once, whether etcd answers or not: it goes on trying, and the live pill says so. */
export async function startDashboard(options: DashboardOptions): Promise<Running> {
  const { endpoints, namespace, port, host = '127.0.0.1', dev = false } = options;
  const basePath = cleanBasePath(options.basePath);
  const exposeWithoutAuth = options.exposeWithoutAuth ?? false;
  const access = options.access === undefined ? {} : { access: options.access };
  requireSafeBind(host, { exposeWithoutAuth, ...access });
  const kv = connectEtcd({ endpoints, ...options.etcd });
  const gateway = await createGateway({
    kv,
    namespace,
    basePath,
    exposeWithoutAuth,
    logger: consoleLogger,
    ...access,
    ...(options.environment === undefined ? {} : { environment: options.environment }),
    ...(options.environmentTone === undefined ? {} : { environmentTone: options.environmentTone }),
    ...(options.readOnly === undefined ? {} : { readOnly: options.readOnly }),
    ...(options.allowedHosts === undefined ? {} : { allowedHosts: options.allowedHosts }),
    ...(options.allowedOrigins === undefined ? {} : { allowedOrigins: options.allowedOrigins }),
  });
  const close = async (): Promise<void> => {
    await gateway.close();
    await kv.close();
  };
  try {
    return await serve(
      {
        attach: (server) => gateway.attach(server),
        handle: (request, response) => void gateway.handleRequest(request, response),
        refusalOf: (request) => gateway.refusalOf(request),
        mustSignIn: (request) => gateway.mustSignIn(request),
        close,
      },
      { port, host, basePath, dev, ...(options.tls === undefined ? {} : { tls: options.tls }) },
    );
  } catch (error) {
    await close();
    throw error;
  }
}
