#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { EtcdLocalError, messageOf } from './errors.js';
import { ensureEtcd } from './fetch.js';
import { startEtcd, type StartOptions } from './start.js';

const USAGE = `Starts a real etcd on this machine, and fetches one first if there is none.
  leasehold-etcd [--members 1|3] [--data-dir DIR] [--prefer 3.4] [--print-binary]

  --members       1 (default) or 3
  --data-dir      keep the data there; default is a temporary directory, removed at the end
  --prefer        a version, or its beginning, or a Debian suite
  --print-binary  only print the path of the etcd binary
`;

const progress = (message: string): void => void process.stderr.write(`${message}\n`);

function readArguments(): { readonly options: StartOptions; readonly printBinary: boolean; readonly help: boolean } {
  const { values } = parseArgs({
    options: {
      members: { type: 'string', default: '1' },
      'data-dir': { type: 'string' },
      prefer: { type: 'string' },
      'print-binary': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const { members, prefer, help } = values;
  if (members !== '1' && members !== '3') throw new Error(`--members is 1 or 3, not ${members}`);
  const dataDir = values['data-dir'];
  const options: StartOptions = {
    members: members === '3' ? 3 : 1,
    onProgress: progress,
    ...(dataDir === undefined ? {} : { dataDir }),
    ...(prefer === undefined ? {} : { prefer }),
  };
  return { options, printBinary: values['print-binary'], help };
}

async function main(): Promise<void> {
  const { options, printBinary, help } = readArguments();
  if (help) return void process.stdout.write(USAGE);
  if (printBinary) {
    const { binary } = await ensureEtcd(options);
    return void process.stdout.write(`${binary}\n`);
  }
  const etcd = await startEtcd({ ...options, onUnexpectedExit: progress });
  progress(`etcd ${etcd.version}, data in ${etcd.dataDir}; Ctrl-C stops it`);
  process.stdout.write(`${etcd.endpoints.join(',')}\n`);
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
  await etcd.stop();
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof EtcdLocalError ? `${error.code}: ` : ''}${messageOf(error)}\n`);
  process.exitCode = 1;
});
