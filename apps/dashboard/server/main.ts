#!/usr/bin/env node
/** Settings come from the environment; see the README for their names. */
import { etcdFromEnvironment } from '@leasehold/core/kv';
import { ENVIRONMENT_TONES, type EnvironmentTone } from '@leasehold/wire';
import { accessFromEnvironment, tlsFromEnvironment } from './access-environment.js';
import { startDashboard } from './server.js';

const list = (value: string | undefined): readonly string[] =>
  (value ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

function portOf(value: string | undefined): number {
  const port = Number(value ?? 4400);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new Error(`PORT: ${String(value)} is not a port; give 0 to 65535`);
}

function toneOf(value: string | undefined): EnvironmentTone | undefined {
  if (value === undefined || value === '') return undefined;
  const tone = ENVIRONMENT_TONES.find((each) => each === value);
  if (tone !== undefined) return tone;
  throw new Error(`LEASEHOLD_ENVIRONMENT_TONE: "${value}" is none; give ${ENVIRONMENT_TONES.join(', ')}`);
}

async function main(): Promise<void> {
  const env = process.env;
  const given = list(env['LEASEHOLD_ETCD_ENDPOINTS']);
  const endpoints = given.length === 0 ? ['127.0.0.1:2379'] : given;
  const namespace = env['LEASEHOLD_NAMESPACE'] ?? 'default';
  const environment = env['LEASEHOLD_ENVIRONMENT'];
  const environmentTone = toneOf(env['LEASEHOLD_ENVIRONMENT_TONE']);
  const running = await startDashboard({
    endpoints,
    namespace,
    port: portOf(env['PORT']),
    host: env['HOST'] ?? '127.0.0.1',
    basePath: env['LEASEHOLD_BASE_PATH'] ?? '',
    dev: process.argv.includes('--dev'),
    readOnly: env['LEASEHOLD_READ_ONLY'] === '1',
    exposeWithoutAuth: env['LEASEHOLD_EXPOSE_WITHOUT_AUTH'] === '1',
    allowedHosts: list(env['LEASEHOLD_ALLOWED_HOSTS']),
    allowedOrigins: list(env['LEASEHOLD_ALLOWED_ORIGINS']),
    etcd: etcdFromEnvironment(env),
    ...accessFromEnvironment(env),
    ...tlsFromEnvironment(env),
    ...(environment === undefined ? {} : { environment }),
    ...(environmentTone === undefined ? {} : { environmentTone }),
  });
  console.log(`Leasehold: ${running.url} (etcd at ${endpoints.join(', ')}, namespace ${namespace})`);
  const stop = (): void => {
    running.close().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
