import { open, stat, type FileHandle } from 'node:fs/promises';

const LARGEST_BYTES = 16 * 1024 * 1024;
const READ_BYTES = 64 * 1024;
const FIRST_LINES = 2;
const LAST_LINES = 6;

export interface Log {
  readonly handle: FileHandle;
  /** Where what this launch says will begin. */
  readonly offset: number;
}

/**
 * Opens the file that a member logs to. A file and no pipe: a pipe that nobody reads, because a test has stopped this process or it is busy, would
 * fill and stall etcd itself.
 */
export async function openLog(file: string): Promise<Log> {
  const size = await stat(file).then(
    (found) => found.size,
    () => 0,
  );
  const tooLarge = size > LARGEST_BYTES;
  return { handle: await open(file, tooLarge ? 'w' : 'a'), offset: tooLarge ? 0 : size };
}

/**
 * What a member said since `offset`, shortened to what a person needs: the last lines, and the first ones, because after a flag that it does not
 * know etcd prints its whole manual.
 */
export async function readLog(file: string, offset: number): Promise<string[]> {
  const handle = await open(file, 'r').catch(() => undefined);
  if (handle === undefined) return [];
  try {
    const { size } = await handle.stat();
    const from = Math.max(offset, size - READ_BYTES);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(READ_BYTES), 0, READ_BYTES, from);
    return shorten(buffer.subarray(0, bytesRead).toString('utf8').split('\n'));
  } finally {
    await handle.close();
  }
}

function shorten(all: readonly string[]): string[] {
  const lines = all.filter((line) => line.trim() !== '').map(readable);
  if (lines.length <= FIRST_LINES + LAST_LINES) return lines;
  return [...lines.slice(0, FIRST_LINES), '…', ...lines.slice(-LAST_LINES)];
}

/** zap writes one JSON object a line; the level, the message and the error are what matters. */
function readable(line: string): string {
  try {
    const entry = JSON.parse(line) as Partial<Record<'level' | 'msg' | 'error', unknown>>;
    const error = typeof entry.error === 'string' ? `: ${entry.error}` : '';
    return `${String(entry.level)}: ${String(entry.msg)}${error}`;
  } catch {
    return line.slice(0, 500);
  }
}
