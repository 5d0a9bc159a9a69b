import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** What `leasehold up` runs, where it keeps things, and how each part learns where etcd is. */
export interface UpOptions {
  /** Everything that is kept lies below this. Default: `.leasehold` in the current folder. */
  readonly home: string;
  readonly namespace: string;
  readonly host: string;
  readonly port: number | undefined;
  readonly members: 1 | 3 | undefined;
  readonly workers: boolean;
  readonly dashboard: boolean;
}

export interface Places {
  readonly etcd: string;
  /** Below it each worker has its folder: `orders/shop.db`, `media/images`... */
  readonly work: string;
  readonly logs: string;
}

export function places(home: string): Places {
  return { etcd: path.join(home, 'data/etcd'), work: path.join(home, 'data/work'), logs: path.join(home, 'logs') };
}

export const WORKERS = ['orders', 'media', 'crawl', 'backup'] as const;

const require = createRequire(import.meta.url);

/** The program of an example worker; each of their packages exports it as `./main`. */
export function workerProgram(name: (typeof WORKERS)[number]): string {
  return require.resolve(`@leasehold/worker-${name}/main`);
}

/** The board in a process of its own: a page that is being rendered must not delay the supervisor. */
export function dashboardProgram(): string {
  return fileURLToPath(new URL('./dashboard.js', import.meta.url));
}

export function partEnvironment(
  options: Pick<UpOptions, 'namespace'>,
  endpoints: readonly string[],
  work: string,
): Record<string, string> {
  return {
    LEASEHOLD_ETCD_ENDPOINTS: endpoints.join(','),
    LEASEHOLD_NAMESPACE: options.namespace,
    LEASEHOLD_DATA_DIR: work,
  };
}
