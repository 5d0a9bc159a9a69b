import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { ensureEtcd, startEtcd, type EtcdBinary, type RunningEtcd, type StartOptions } from '../src/index.js';
import { exists } from '../src/machine.js';
import { readNote, writeNote } from '../src/note.js';
import { processExists, waitGone } from '../src/process.js';

// Real servers on a machine that may be busy with other tests: the limit is for hangs only.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

const started: RunningEtcd[] = [];
const directories: string[] = [];
let etcd: EtcdBinary;

beforeAll(async () => {
  etcd = await ensureEtcd();
}, 300_000);

afterEach(async () => {
  await Promise.all(started.splice(0).map((running) => running.stop()));
  await Promise.all(directories.splice(0).map((directory) => rm(directory, { recursive: true, force: true })));
});

async function start(options: StartOptions = {}): Promise<RunningEtcd> {
  const running = await startEtcd({ binary: etcd.binary, unsafeNoFsync: true, ...options });
  started.push(running);
  return running;
}

async function directory(): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), 'leasehold-start-'));
  directories.push(made);
  return made;
}

/** etcd's JSON gateway: enough to write and read a key without a client. */
async function call(endpoint: string | undefined, method: string, body: object, timeoutMs = 5000): Promise<unknown> {
  const response = await fetch(`${endpoint}/v3/kv/${method}`, {
    method: 'POST',
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (!response.ok) throw new Error(`${method} answers ${response.status}`);
  return response.json();
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const put = (endpoint: string | undefined, key: string, value: string): Promise<unknown> =>
  call(endpoint, 'put', { key: base64(key), value: base64(value) });

async function read(endpoint: string | undefined, key: string, timeoutMs = 5000): Promise<string | undefined> {
  const reply = (await call(endpoint, 'range', { key: base64(key) }, timeoutMs)) as { kvs?: { value: string }[] };
  const value = reply.kvs?.[0]?.value;
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString();
}

describe('one member', () => {
  it('is healthy when started, and gone with its temporary data when stopped', async () => {
    const running = await start();
    const [member] = running.members;
    await put(running.endpoints[0], 'a', '1');
    expect(await read(running.endpoints[0], 'a')).toBe('1');
    expect(running.version).toBe(etcd.version);
    const pid = member?.pid ?? 0;
    expect(processExists(pid)).toBe(true);
    await Promise.all([running.stop(), running.stop()]);
    expect(processExists(pid)).toBe(false);
    expect(member?.running).toBe(false);
    expect(await exists(running.dataDir)).toBe(false);
  });

  it('keeps data, ports and revision over a restart and over a crash', async () => {
    const running = await start({ unsafeNoFsync: false });
    const [member] = running.members;
    await put(running.endpoints[0], 'a', 'kept');
    await member?.restart();
    expect(await read(running.endpoints[0], 'a')).toBe('kept');
    await member?.stop('SIGKILL');
    await expect(read(running.endpoints[0], 'a')).rejects.toThrow();
    await member?.restart();
    expect(await read(running.endpoints[0], 'a')).toBe('kept');
  });

  it('answers nothing while paused, and goes on when resumed', async () => {
    const running = await start();
    const [member] = running.members;
    await put(running.endpoints[0], 'a', '1');
    member?.pause();
    await expect(read(running.endpoints[0], 'a', 300)).rejects.toThrow();
    member?.resume();
    expect(await read(running.endpoints[0], 'a')).toBe('1');
  });

  it('can be stopped while paused', async () => {
    const running = await start();
    running.members[0]?.pause();
    await running.stop();
    expect(running.members[0]?.running).toBe(false);
  });

  it('keeps a given data directory, on the same ports the next time', async () => {
    const dataDir = await directory();
    const first = await start({ dataDir });
    await put(first.endpoints[0], 'a', 'kept');
    await first.stop();
    const second = await start({ dataDir });
    expect(second.endpoints).toEqual(first.endpoints);
    expect(await read(second.endpoints[0], 'a')).toBe('kept');
  });

  it('moves to another port when its former one is taken', async () => {
    const dataDir = await directory();
    const first = await start({ dataDir });
    await put(first.endpoints[0], 'a', 'kept');
    await first.stop();
    const squatter = createServer();
    const port = Number(new URL(first.endpoints[0] ?? '').port);
    await new Promise<void>((resolve) => squatter.listen(port, '127.0.0.1', resolve));
    const second = await start({ dataDir });
    expect(second.endpoints).not.toEqual(first.endpoints);
    expect(await read(second.endpoints[0], 'a')).toBe('kept');
    await new Promise((resolve) => squatter.close(resolve));
  });

  it('reports a process that ends without being asked', async () => {
    const ended: string[] = [];
    const running = await start({ onUnexpectedExit: (message) => ended.push(message) });
    process.kill(running.members[0]?.pid ?? 0, 'SIGKILL');
    await expect.poll(() => ended).toEqual([expect.stringContaining('was ended by SIGKILL')]);
    expect(running.members[0]?.running).toBe(false);
  });

  it('fails with the last lines of the log when etcd exits early', async () => {
    const failing = startEtcd({ binary: etcd.binary, extraArgs: ['--no-such-flag'] });
    await expect(failing).rejects.toMatchObject({ code: 'ETCD_START_FAILED' });
    await expect(failing).rejects.toThrow(/no-such-flag/);
  });
});

describe('three members', () => {
  it('serve on while one is stopped or paused, and take it back', async () => {
    const running = await start({ members: 3 });
    const [a, b, c] = running.members;
    await put(a?.clientUrl, 'k', '1');
    expect(await read(c?.clientUrl, 'k')).toBe('1');
    await a?.stop('SIGKILL');
    await expect
      .poll(
        () =>
          put(b?.clientUrl, 'k', '2').then(
            () => true,
            () => false,
          ),
        { timeout: 20_000 },
      )
      .toBe(true);
    await a?.restart();
    expect(await read(a?.clientUrl, 'k')).toBe('2');
    b?.pause();
    await expect
      .poll(
        () =>
          put(c?.clientUrl, 'k', '3').then(
            () => true,
            () => false,
          ),
        { timeout: 20_000 },
      )
      .toBe(true);
    b?.resume();
    await expect.poll(() => read(b?.clientUrl, 'k').catch(() => 'no answer'), { timeout: 20_000 }).toBe('3');
  });

  it('need a quorum, and a member alone can be restarted without waiting for one', async () => {
    const running = await start({ members: 3 });
    const [a, b, c] = running.members;
    await Promise.all([a?.stop('SIGKILL'), b?.stop('SIGKILL')]);
    await c?.restart({ waitHealthy: false });
    expect(c?.running).toBe(true);
    await expect(read(c?.clientUrl, 'k', 1000)).rejects.toThrow();
    await Promise.all([a?.restart(), b?.restart()]);
    expect(await read(c?.clientUrl, 'k', 20_000)).toBeUndefined();
  });

  it('are found again in their data directory without being counted', async () => {
    const dataDir = await directory();
    const first = await start({ dataDir, members: 3 });
    await put(first.endpoints[0], 'k', 'kept');
    await first.stop();
    await expect(start({ dataDir, members: 1 })).rejects.toMatchObject({ code: 'ETCD_BAD_OPTION' });
    const second = await start({ dataDir });
    expect(second.endpoints).toEqual(first.endpoints);
    expect(await read(second.endpoints[2], 'k')).toBe('kept');
  });
});

describe('a data directory that somebody else left or uses', () => {
  it('is refused while its owner lives', async () => {
    const dataDir = await directory();
    await start({ dataDir });
    await expect(start({ dataDir })).rejects.toMatchObject({ code: 'ETCD_DATA_IN_USE' });
  });

  it('is freed of an etcd whose owner is gone', async () => {
    const dataDir = await directory();
    const first = await start({ dataDir });
    await put(first.endpoints[0], 'a', 'kept');
    await pretendOwnerDied(dataDir);
    const second = await start({ dataDir });
    expect(first.members[0]?.running).toBe(false);
    expect(await read(second.endpoints[0], 'a')).toBe('kept');
  });

  it('never costs an innocent process its life that has the noted pid now', async () => {
    const dataDir = await directory();
    const innocent = spawn('sleep', ['60']);
    const pid = innocent.pid ?? 0;
    await writeNote(dataDir, etcd.version, [{ name: 'm1', ports: { client: 20_001, peer: 20_002 }, pid }]);
    await pretendOwnerDied(dataDir);
    await start({ dataDir });
    expect(processExists(pid)).toBe(true);
    innocent.kill();
  });

  it('is refused when a newer etcd wrote it', async () => {
    const dataDir = await directory();
    await writeNote(dataDir, '9.9.9', [{ name: 'm1', ports: { client: 20_001, peer: 20_002 }, pid: 0 }]);
    await expect(start({ dataDir })).rejects.toMatchObject({ code: 'ETCD_DATA_NEWER' });
  });
});

describe('the program that started an etcd', () => {
  it('takes it along when it is killed hard', async () => {
    const dataDir = await directory();
    const main = path.resolve(import.meta.dirname, '../src/main.ts');
    const program = spawn(process.execPath, ['--import', 'tsx', main, '--data-dir', dataDir], {
      env: { ...process.env, LEASEHOLD_ETCD: etcd.binary },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const endpoint = await new Promise<string>((resolve) =>
      program.stdout.once('data', (text) => resolve(String(text).trim())),
    );
    await put(endpoint, 'a', '1');
    const pid = (await readNote(dataDir))?.members[0]?.pid ?? 0;
    expect(processExists(pid)).toBe(true);
    program.kill('SIGKILL');
    expect(await waitGone(pid, 10_000)).toBe(true);
  });

  it('prints only the path when asked for the binary', async () => {
    const main = path.resolve(import.meta.dirname, '../src/main.ts');
    const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', main, '--print-binary'], {
      env: { ...process.env, LEASEHOLD_ETCD: etcd.binary },
    });
    expect(stdout).toBe(`${etcd.binary}\n`);
  });
});

async function pretendOwnerDied(dataDir: string): Promise<void> {
  const file = path.join(dataDir, 'leasehold-etcd.json');
  const note = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
  await writeFile(file, JSON.stringify({ ...note, owner: { pid: 2_147_483_646, mark: '0' } }));
}
