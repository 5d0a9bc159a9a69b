import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { startEtcd, type RunningEtcd } from '@leasehold/etcd-local';
import type { TestProject } from 'vitest/node';
import type {} from './provided.d.ts';

/**
 * Real etcds for the tests, shared by all of a run: `inject('etcd')`, `inject('etcd34')`. Tests use a key prefix of
 * their own and never compact, pause or stop these; who has to starts a private one with `startEtcd`.
 *
 * They are started only if a selected test file asks for one. LEASEHOLD_TEST_ETCD and LEASEHOLD_TEST_ETCD34 name
 * running ones to use instead.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const running: RunningEtcd[] = [];
  const { testFiles } = await project.globTestFiles(project.vitest.filenamePattern);
  const wanted = await wantedKeys(testFiles);

  const start = async (prefer?: string): Promise<string | undefined> => {
    const etcd = await startEtcd({ ...(prefer === undefined ? undefined : { prefer }), unsafeNoFsync: true });
    running.push(etcd);
    return etcd.endpoints[0];
  };

  const newest = process.env['LEASEHOLD_TEST_ETCD'] ?? (wanted.has('etcd') ? start() : 'http://not-started.invalid');
  const old = process.env['LEASEHOLD_TEST_ETCD34'] ?? (wanted.has('etcd34') ? start34(start) : undefined);
  project.provide('etcd', (await newest) as string);
  project.provide('etcd34', await old);

  return async () => {
    await Promise.all(running.map((etcd) => etcd.stop()));
  };
}

/** The oldest release that is supported. It may not be to be had offline; then its tests are skipped, and say so. */
async function start34(start: (prefer: string) => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await start('3.4');
  } catch (error) {
    console.warn(`etcd 3.4 cannot be started, its tests are skipped: ${String(error)}`);
    return undefined;
  }
}

const INJECTED = /inject\('(etcd34|etcd)'\)/g;
const RELATIVE_IMPORT = /from '(\.{1,2}\/[^']+)'/g;

/** What the test files ask for, themselves or through test helpers that they import. */
async function wantedKeys(testFiles: readonly string[]): Promise<ReadonlySet<string>> {
  const wanted = new Set<string>();
  const seen = new Set<string>();
  const visit = async (file: string): Promise<void> => {
    if (seen.has(file)) return;
    seen.add(file);
    const text = await readFile(file, 'utf8').catch(() => '');
    for (const [, key = ''] of text.matchAll(INJECTED)) wanted.add(key);
    for (const [, specifier = ''] of text.matchAll(RELATIVE_IMPORT)) {
      const target = path.resolve(path.dirname(file), specifier.replace(/\.js$/, '.ts'));
      if (target.includes(`${path.sep}test${path.sep}`)) await visit(target);
    }
  };
  for (const file of testFiles) await visit(file);
  return wanted;
}
