import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const ARGS = ['--import', 'tsx', '--conditions=leasehold-source'];

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'leasehold-user-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function run(input: string, ...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const env = { ...process.env, LEASEHOLD_USERS_FILE: path.join(folder, 'users.json') };
  const child = fork(MAIN, [...args], { execArgv: ARGS, env, stdio: ['pipe', 'pipe', 'pipe', 'ipc'] });
  let [out, err] = ['', ''];
  child.stdout?.on('data', (data: Buffer) => (out += data.toString()));
  child.stderr?.on('data', (data: Buffer) => (err += data.toString()));
  child.stdin?.end(input);
  const [code] = (await once(child, 'exit')) as [number];
  return { code, out, err };
}

test(
  'users are added with a piped password, listed without hashes, changed and removed; only their owner reads the file',
  { timeout: 180_000 },
  async () => {
    const file = path.join(folder, 'users.json');
    expect(
      await run('correct horse battery\n', 'user', 'add', 'ana', '--role', 'operator', '--queue', 'shop'),
    ).toMatchObject({ code: 0 });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const text = await readFile(file, 'utf8');
    expect(text).toContain('$scrypt$ln=16');
    expect(text).not.toContain('correct horse');
    expect(await run('short\n', 'user', 'add', 'bob')).toMatchObject({
      code: 2,
      err: expect.stringContaining('10 characters') as string,
    });
    expect((await run('', 'user', 'set', 'ana', '--role', 'viewer', '--grant', 'payload.read')).code).toBe(0);
    const listed = await run('', 'user', 'ls', '--json');
    expect(listed.out).toContain('"role":"viewer"');
    expect(listed.out).not.toContain('scrypt');
    expect((await run('', 'user', 'rm', 'ana')).code).toBe(0);
    expect((await run('', 'user', 'rm', 'ana')).code).toBe(3);
  },
);
