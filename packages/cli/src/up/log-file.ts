import { createWriteStream, mkdirSync, renameSync, statSync, type WriteStream } from 'node:fs';
import path from 'node:path';

const KEPT_BYTES = 5_000_000;

/** One log file; what an earlier run wrote is kept, and moved to `<name>.log.1` when it has grown large. */
export function openLog(directory: string, name: string): WriteStream {
  mkdirSync(directory, { recursive: true });
  const file = path.join(directory, `${name}.log`);
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > KEPT_BYTES) renameSync(file, `${file}.1`);
  return createWriteStream(file, { flags: 'a' });
}

/**
 * Cuts a stream of text into lines. A line that never ends is cut too, so that a program gone wild costs no memory.
 */
export class Lines {
  readonly #onLine: (line: string) => void;
  #rest = '';

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  push(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#onLine(line);
    if (this.#rest.length > 65_536) this.end();
  }

  end(): void {
    if (this.#rest !== '') this.#onLine(this.#rest);
    this.#rest = '';
  }
}
