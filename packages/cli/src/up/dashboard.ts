/** The board's process under `leasehold up`: started with its address and etcd in the environment. */
import { etcdFromEnvironment } from '@leasehold/core/kv';
import { accessFromEnvironment } from '@leasehold/dashboard/environment';
import { startDashboard } from '@leasehold/dashboard/server';
import { exit } from 'node:process';

function needed(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set`);
  return value;
}

const board = await startDashboard({
  endpoints: needed('LEASEHOLD_ETCD_ENDPOINTS').split(','),
  namespace: needed('LEASEHOLD_NAMESPACE'),
  host: needed('HOST'),
  port: Number(needed('PORT')),
  etcd: etcdFromEnvironment(process.env),
  ...accessFromEnvironment(process.env),
});

let stopping = false;
async function stop(): Promise<void> {
  if (stopping) return;
  stopping = true;
  await board.close();
  exit(0);
}
process.on('SIGTERM', () => void stop());
// The supervisor is gone: nobody would ever stop this process.
process.on('disconnect', () => void stop());
process.send?.({ ready: true });
