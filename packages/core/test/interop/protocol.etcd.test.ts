/** docs/protocol.md is run as it stands: etcdctl alone submits, claims and settles, beside a worker of ours. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ensureEtcd } from '@leasehold/etcd-local';
import { uuidv7 } from 'uuidv7';
import { afterEach, describe, expect, inject, it } from 'vitest';
import type {} from '../../../tooling/vitest/provided.d.ts';
import { connect, defineTask, handle, startNode } from '../../src/index.js';
import { silentLogger } from '../../src/runtime/index.js';
import { Checker, readHistory } from '../../src/verify/index.js';

const page = readFileSync(new URL('../../docs/protocol.md', import.meta.url), 'utf8');

/** The shell blocks under a heading. */
function blocks(heading: string): string {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`));
  const found = [...(section ?? '').matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
  if (found.length === 0) throw new Error(`protocol.md has no commands under "${heading}"`);
  return found.join('\n');
}

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function shell(namespace: string, headings: readonly string[], more: Record<string, string> = {}): Promise<string> {
  return shellText(namespace, headings.map(blocks).join('\n'), more);
}

async function shellText(namespace: string, text: string, more: Record<string, string>): Promise<string> {
  const { etcdctl } = await ensureEtcd();
  if (etcdctl === undefined) throw new Error('there is no etcdctl beside etcd');
  const env = {
    ...process.env,
    PATH: `${path.dirname(etcdctl)}:${process.env['PATH'] ?? ''}`,
    ETCDCTL_API: '3',
    ETCDCTL_ENDPOINTS: inject('etcd'),
    NAMESPACE: namespace,
    ...more,
  };
  const script = `set -eu -o pipefail\n${text}`;
  const child = spawn('bash', ['-c', script], { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let output = '';
  child.stdout.on('data', (bytes: Buffer) => (output += bytes.toString()));
  child.stderr.on('data', (bytes: Buffer) => (output += bytes.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  // What it left in the background, if it ended early.
  try {
    process.kill(-(child.pid ?? 0), 'SIGKILL');
  } catch {
    // Nothing was left.
  }
  if (code !== 0) throw new Error(`the page's commands ended with ${code}:\n${output}`);
  return output;
}

const add = defineTask('add', { args: ['int64', 'int64'], results: ['int64'] });
const shout = defineTask('shout', { args: ['string'], results: ['string'] });

function client(namespace: string) {
  const made = connect({ etcd: { endpoints: [inject('etcd')] }, namespace });
  closing.push(() => made.close());
  return made;
}

async function violations(one: ReturnType<typeof client>) {
  const { kv, keys } = one.store;
  const history = await readHistory(kv, keys, { from: 1n });
  const checker = new Checker({ namespace: keys.namespace, start: history.start });
  for await (const revision of history.revisions) checker.apply(revision);
  checker.finish({ quiet: true });
  return checker.violations;
}

describe('docs/protocol.md', () => {
  it(
    'a task that etcdctl alone submits is run by our worker, and its result read by etcdctl',
    { timeout: 60_000 },
    async () => {
      const namespace = `protocol-${uuidv7()}`;
      const node = await startNode({
        etcd: { endpoints: [inject('etcd')] },
        namespace,
        handlers: [handle(add, ([a, b]) => a + b)],
        leaseTtlMs: 5_000,
        logger: silentLogger,
      });
      closing.push(() => node.stop());
      const output = await shell(namespace, ['Rules', 'Submit']);
      expect(output).toContain('"results":[{"type":"int64","value":"42"}]');
      expect(await violations(client(namespace))).toEqual([]);
    },
  );

  it('a task that we submit is claimed and settled by etcdctl alone', { timeout: 60_000 }, async () => {
    const namespace = `protocol-${uuidv7()}`;
    const one = client(namespace);
    const made = await one.submit(shout.signature(['lease or lose']));
    const headings = ['Rules', 'Open a session', 'Claim', 'Settle', 'Close the session'];
    await shell(namespace, headings, { WANTED: made.id });
    expect(await made.result({ timeoutMs: 1_000 })).toEqual(['LEASE OR LOSE']);
    expect(await one.get(made.id)).toMatchObject({ state: 'SUCCESS', attempt: 1, cause: 'succeeded' });
    expect(await violations(one)).toEqual([]);
  });

  it(
    'a claim by etcdctl on old settings is refused: a pause holds for other languages too (I9)',
    { timeout: 60_000 },
    async () => {
      const namespace = `protocol-${uuidv7()}`;
      const one = client(namespace);
      const made = await one.submit(shout.signature(['no']));
      const claim = blocks('Claim').replace(
        'NOW=$(now_ms)',
        'NOW=$(now_ms)\netcdctl put $NS/queues/default \'{"v":1,"paused":{"by":"op","since_ms":1,"reason":""}}\'',
      );
      const script = [blocks('Rules'), blocks('Open a session'), claim, blocks('Close the session')].join('\n');
      await expect(shellText(namespace, script, { WANTED: made.id })).resolves.toContain('FAILURE');
      expect(await one.get(made.id)).toMatchObject({ state: 'PENDING', attempt: 0 });
    },
  );
});
