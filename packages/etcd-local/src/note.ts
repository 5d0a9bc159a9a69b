/**
 * The note that a running etcd leaves in its data directory, for whoever starts on the same directory next.
 * N1 A process is killed only if its command line shows that it is an etcd on this very data directory.
 * N2 Nothing is killed while the process that started it lives: two `npm start` must not take each other's data away.
 */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { EtcdLocalError } from './errors.js';
import type { MemberPorts } from './ports.js';
import { commandLine, processExists, signal, startMark, waitGone } from './process.js';

export interface Note {
  readonly etcd: string;
  readonly owner: { readonly pid: number; readonly mark: string };
  readonly members: readonly NotedMember[];
}

export interface NotedMember {
  readonly name: string;
  readonly ports: MemberPorts;
  /** 0 while it does not run. */
  readonly pid: number;
}

const FILE = 'leasehold-etcd.json';

export function memberDirectory(dataDir: string, name: string): string {
  return path.join(dataDir, name);
}

export async function writeNote(dataDir: string, etcd: string, members: readonly NotedMember[]): Promise<void> {
  const owner = { pid: process.pid, mark: (await startMark(process.pid)) ?? '' };
  const note: Note = { etcd, owner, members };
  await mkdir(dataDir, { recursive: true });
  const incoming = path.join(dataDir, `.${FILE}.${process.pid}`);
  await writeFile(incoming, `${JSON.stringify(note, undefined, 2)}\n`);
  await rename(incoming, path.join(dataDir, FILE));
}

/** Undefined for a fresh directory, and for a note that cannot be read: it only helps, so it must not get in the way. */
export async function readNote(dataDir: string): Promise<Note | undefined> {
  const text = await readFile(path.join(dataDir, FILE), 'utf8').catch(() => '');
  try {
    const parsed: unknown = JSON.parse(text);
    return isNote(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function isNote(value: unknown): value is Note {
  if (!isRecord(value) || !isRecord(value['owner']) || !Array.isArray(value['members'])) return false;
  const members: readonly unknown[] = value['members'];
  return (
    typeof value['etcd'] === 'string' &&
    typeof value['owner']['pid'] === 'number' &&
    typeof value['owner']['mark'] === 'string' &&
    members.every(isNotedMember)
  );
}

function isNotedMember(value: unknown): value is NotedMember {
  if (!isRecord(value) || !isRecord(value['ports'])) return false;
  const { client, peer } = value['ports'];
  return [value['pid'], client, peer].every((part) => typeof part === 'number') && typeof value['name'] === 'string';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Makes the directory ours: refuses while its owner lives (N2), else kills what a crashed owner left behind (N1). */
export async function takeOver(dataDir: string, note: Note, onProgress: (message: string) => void): Promise<void> {
  const holders = await Promise.all(
    note.members.map(async (member) => ({ member, holds: await holds(dataDir, member) })),
  );
  const running = holders.filter(({ holds: yes }) => yes).map(({ member }) => member);
  if (running.length === 0) return;
  if (await ownerLives(note)) {
    const message = `${dataDir} is in use by process ${note.owner.pid}. Stop that one, or give another data directory.`;
    throw new EtcdLocalError('ETCD_DATA_IN_USE', message);
  }
  for (const { name, pid } of running) {
    onProgress(`stopping etcd ${name} (pid ${pid}), left behind by a process that is gone`);
    signal(pid, 'SIGKILL');
    if (!(await waitGone(pid, 10_000))) {
      throw new EtcdLocalError('ETCD_DATA_IN_USE', `etcd ${name} (pid ${pid}) holds ${dataDir} and cannot be killed`);
    }
  }
}

async function holds(dataDir: string, { name, pid }: NotedMember): Promise<boolean> {
  if (pid <= 0 || !processExists(pid)) return false;
  const command = await commandLine(pid);
  const directory = memberDirectory(dataDir, name);
  return command !== undefined && /etcd/.test(command) && `${command} `.includes(`--data-dir ${directory} `);
}

async function ownerLives({ owner }: Note): Promise<boolean> {
  return processExists(owner.pid) && (await startMark(owner.pid)) === owner.mark;
}
