/** A redis-server for the comparison: from PATH, or Debian's package unpacked into our cache, which needs no root. */
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { benchFolder } from '../stage.js';

const run = promisify(execFile);

export interface RedisProgram {
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
  readonly version: string;
}

export type Fsync = 'always' | 'everysec';

/** The program, or a sentence that says why there is none. */
export async function findRedis(progress: (message: string) => void): Promise<RedisProgram | string> {
  const onPath = await probe('redis-server', process.env);
  if (onPath !== undefined) return onPath;
  const cache = path.join(benchFolder(), '..', 'redis');
  const root = path.join(cache, 'root');
  try {
    if (!existsSync(path.join(root, 'usr/bin/redis-server'))) {
      progress('redis-server is not on PATH; unpacking the Debian package into .leasehold/redis');
      await unpack(cache, root);
    }
    const file = path.join(root, 'usr/bin/redis-server');
    const folders = libraryFolders(path.join(root, 'usr/lib')).concat(libraryFolders(path.join(root, 'lib')));
    const env = { ...process.env, LD_LIBRARY_PATH: folders.join(':') };
    return (await probe(file, env)) ?? `${file} does not start`;
  } catch (error) {
    return `redis-server is not on PATH and cannot be unpacked: ${firstLine(error)}`;
  }
}

async function probe(file: string, env: NodeJS.ProcessEnv): Promise<RedisProgram | undefined> {
  try {
    const { stdout } = await run(file, ['--version'], { env });
    return { file, env, version: /v=(\S+)/.exec(stdout)?.[1] ?? 'unknown' };
  } catch {
    return undefined;
  }
}

/** apt resolves against what the machine has and downloads the rest, in folders of our own. */
async function unpack(cache: string, root: string): Promise<void> {
  const work = path.join(cache, 'apt');
  rmSync(work, { recursive: true, force: true });
  for (const folder of ['lists/partial', 'archives/partial']) mkdirSync(path.join(work, folder), { recursive: true });
  const settings = {
    'Dir::State': work,
    'Dir::State::lists': path.join(work, 'lists'),
    'Dir::State::status': '/var/lib/dpkg/status',
    'Dir::Cache': work,
    'Dir::Cache::archives': path.join(work, 'archives'),
    'APT::Sandbox::User': '',
    'Debug::NoLocking': '1',
  };
  const config = path.join(work, 'apt.conf');
  const hooks = ['APT::Update::Post-Invoke', 'APT::Update::Post-Invoke-Success', 'DPkg'];
  const lines = Object.entries(settings).map(([name, value]) => `${name} "${value}";\n`);
  writeFileSync(config, hooks.map((hook) => `#clear ${hook};\n`).join('') + lines.join(''));
  const env = { ...process.env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['-c', config, 'update', '-q'], { env, timeout: 180_000 });
  const wanted = ['install', '-y', '-q', '--download-only', '--no-install-recommends', 'redis-server'];
  await run('apt-get', ['-c', config, ...wanted], { env, timeout: 300_000 });
  mkdirSync(root, { recursive: true });
  const archives = path.join(work, 'archives');
  for (const name of readdirSync(archives).filter((file) => file.endsWith('.deb'))) {
    await run('dpkg', ['-x', path.join(archives, name), root]);
  }
  rmSync(work, { recursive: true, force: true });
}

function libraryFolders(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true });
  const own = entries.some(({ name }) => /^lib.*\.so/.test(name)) ? [folder] : [];
  const below = entries.filter((entry) => entry.isDirectory());
  return [...own, ...below.flatMap(({ name }) => libraryFolders(path.join(folder, name)))];
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.trim().split('\n').at(-1) ?? '';
}

export interface RunningRedis {
  readonly port: number;
  stop(): Promise<void>;
}

export async function startRedis(program: RedisProgram, fsync: Fsync): Promise<RunningRedis> {
  const folder = mkdtempSync(path.join(benchFolder(), 'redis-'));
  const port = await freePort();
  const options = {
    port: String(port),
    bind: '127.0.0.1',
    dir: folder,
    appendonly: 'yes',
    appendfsync: fsync,
    save: '',
    'maxmemory-policy': 'noeviction',
  };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  const child = spawn(program.file, args, { env: program.env, stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const said = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('Ready to accept connections')) resolve('ready');
    });
    child.once('error', reject);
    child.once('exit', () => resolve(text));
  });
  if (said !== 'ready') throw new Error(`redis-server did not start: ${said}`);
  return {
    port,
    stop: async () => {
      child.kill('SIGKILL');
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probeServer = createServer().once('error', reject);
    probeServer.listen(0, '127.0.0.1', () => {
      const address = probeServer.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      probeServer.close(() => resolve(port));
    });
  });
}
