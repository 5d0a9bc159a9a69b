import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { run } from './run.js';

/** Is there a process with this id? One of another user counts: signalling it is refused, but it is there. */
export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The command line of a process, arguments separated by spaces; undefined when it is gone. */
export async function commandLine(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    const raw = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    // A zombie has an empty command line, and holds nothing any more.
    return raw === '' ? undefined : raw.replaceAll('\0', ' ').trim();
  }
  return fromPs(pid, 'command=');
}

/**
 * Something that differs between two processes which had the same id, one after the other: pids recur, and we are about to
 * decide by one whether somebody still uses a data directory.
 */
export async function startMark(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    // The command name in parentheses can hold spaces and parentheses; the start time is field 22, the 20th after it.
    return stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .at(19);
  }
  return fromPs(pid, 'lstart=');
}

async function fromPs(pid: number, column: string): Promise<string | undefined> {
  const result = await run('ps', ['-ww', '-o', column, '-p', String(pid)], { timeoutMs: 5000 });
  const text = result.stdout.trim();
  return text === '' ? undefined : text;
}

/** Sends a signal; a process that is gone already is what we wanted. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Waits until a process that is not our child has gone. */
export async function waitGone(pid: number, deadlineMs: number): Promise<boolean> {
  const until = performance.now() + deadlineMs;
  while (performance.now() < until) {
    if ((await commandLine(pid)) === undefined) return true;
    await delay(20);
  }
  return (await commandLine(pid)) === undefined;
}
