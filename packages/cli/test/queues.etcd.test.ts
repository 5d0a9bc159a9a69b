/** The commands on queues, run as a shell runs them, against a real etcd. */
import type {} from '../../tooling/vitest/provided.d.ts';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { connect, defineTask, handle, silentLogger, startNode, type Client } from '@leasehold/core';
import { afterEach, expect, inject, it } from 'vitest';

const exec = promisify(execFile);
const endpoint = inject('etcd');
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function leasehold(namespace: string, ...args: readonly string[]): Promise<Ran> {
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
  const node = ['--conditions=leasehold-source', '--import', 'tsx', main];
  try {
    const { stdout, stderr } = await exec(process.execPath, [
      ...node,
      '--etcd',
      endpoint,
      '--namespace',
      namespace,
      '--json',
      ...args,
    ]);
    return { code: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, stdout, stderr };
  }
}

function clientOf(namespace: string): Client {
  const client = connect({ etcd: { endpoints: [endpoint] }, namespace });
  closing.push(() => client.close());
  return client;
}

const work = defineTask('work');

it('purge cancels as many as were seen, refuses another number, and says how many wait without one', async () => {
  const namespace = `test-${randomUUID()}`;
  const client = clientOf(namespace);
  const handles = [];
  for (let n = 0; n < 3; n++) handles.push(await client.submit(work.signature([])));
  const unsaid = await leasehold(namespace, 'purge', 'default');
  expect(unsaid.code).toBe(2);
  expect(unsaid.stderr).toContain('3 tasks wait in queue default; say --expect 3');
  const wrong = await leasehold(namespace, 'purge', 'default', '--expect', '2');
  expect(wrong.code).toBe(4);
  expect((await client.get(handles[0]?.id ?? ''))?.state).toBe('PENDING');
  const done = await leasehold(namespace, 'purge', 'default', '--expect', '3', '--reason', 'bad batch');
  expect(done).toMatchObject({ code: 0 });
  expect(JSON.parse(done.stdout)).toMatchObject({ queue: 'default', purged: 3, left: 0 });
  for (const { id } of handles) expect((await client.get(id))?.state).toBe('CANCELLED');
});

it('drain-queue pauses, waits until nothing runs, and gives up after its time with the queue paused', async () => {
  const namespace = `test-${randomUUID()}`;
  const client = clientOf(namespace);
  let finish: () => void = () => undefined;
  let began: () => void = () => undefined;
  const beginning = new Promise<void>((resolve) => (began = resolve));
  const ending = new Promise<void>((resolve) => (finish = resolve));
  const slow = handle(work, async () => {
    began();
    await ending;
  });
  const node = await startNode({
    etcd: { endpoints: [endpoint] },
    namespace,
    handlers: [slow],
    leaseTtlMs: 2_000,
    logger: silentLogger,
  });
  closing.push(() => node.stop());
  const first = await client.submit(work.signature([]));
  await beginning;
  const tooLong = await leasehold(namespace, 'drain-queue', 'default', '--timeout', '1');
  expect(tooLong.code).toBe(5);
  expect(tooLong.stderr).toContain('1 tasks of queue default still run');
  const second = await client.submit(work.signature([]));
  const draining = leasehold(namespace, 'drain-queue', 'default', '--reason', 'deploy');
  finish();
  expect(await draining).toMatchObject({ code: 0 });
  expect((await client.get(first.id))?.state).toBe('SUCCESS');
  expect((await client.get(second.id))?.state).toBe('PENDING');
  expect(await leasehold(namespace, 'resume', 'default')).toMatchObject({ code: 0 });
  await second.result();
});

it('why names a used up rate and a full limit, and who holds it', async () => {
  const namespace = `test-${randomUUID()}`;
  const client = clientOf(namespace);
  let began: () => void = () => undefined;
  let finish: () => void = () => undefined;
  const beginning = new Promise<void>((resolve) => (began = resolve));
  const ending = new Promise<void>((resolve) => (finish = resolve));
  const slow = handle(work, async () => {
    began();
    await ending;
  });
  const rate = { count: 1, intervalMs: 600_000 };
  await client.setLimits({ queue: 'default' }, { concurrency: 1, rate });
  const node = await startNode({
    etcd: { endpoints: [endpoint] },
    namespace,
    handlers: [slow],
    leaseTtlMs: 2_000,
    logger: silentLogger,
  });
  closing.push(() => node.stop());
  const first = await client.submit(work.signature([]));
  await beginning;
  const second = await client.submit(work.signature([]));
  const told = await leasehold(namespace, 'why', second.id);
  expect(told).toMatchObject({ code: 0 });
  const { reasons } = JSON.parse(told.stdout) as { reasons: readonly { code: string; params: object }[] };
  expect(reasons).toContainEqual({
    code: 'concurrency',
    params: { limit: 'queue/default', held: 1, max: 1, holders: [first.id] },
  });
  const late = reasons.find(({ code }) => code === 'rate-limit')?.params as { limit: string; untilMs: number };
  expect(late.limit).toBe('queue/default');
  expect(late.untilMs - Date.now()).toBeGreaterThan(500_000);
  finish();
});

it('limits sets what is named, takes away what is "none", and refuses what it does not understand', async () => {
  const namespace = `test-${randomUUID()}`;
  const client = clientOf(namespace);
  const settings = async (): Promise<unknown> => {
    const [kv] = (await client.store.kv.range({ key: client.store.keys.queue('mail') })).kvs;
    return kv === undefined ? undefined : JSON.parse(kv.value);
  };
  const set = await leasehold(namespace, 'limits', 'mail', '--rate', '6/10m', '--ordered', 'yes', '--concurrency', '4');
  expect(set).toMatchObject({ code: 0 });
  expect(await settings()).toMatchObject({ concurrency: 4, ordered: true, rate: { count: 6, interval_ms: 600_000 } });
  expect(await leasehold(namespace, 'limits', 'mail', '--rate', 'none')).toMatchObject({ code: 0 });
  expect(await settings()).not.toHaveProperty('rate');
  expect(await settings()).toMatchObject({ ordered: true, concurrency: 4 });
  const odd = await leasehold(namespace, 'limits', 'mail', '--rate', 'often');
  expect(odd.code).toBe(2);
  expect(odd.stderr).toContain('--rate');
});
