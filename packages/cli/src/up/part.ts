/**
 * A part of the running system: a child process that is started again when it dies.
 *
 * P1  Its output goes to its log file, each line with the time and its name; the last lines are kept for a report.
 * P2  It says that it is ready by an IPC message `{ ready: true }`; until then it counts as starting.
 * P3  It dies unasked: it is started again after 0.5 s, 1 s, 2 s ... 30 s. Ten quiet seconds reset the wait.
 * P4  `stop` sends SIGTERM and waits; after `graceMs` SIGKILL. Nothing is started again from then on.
 * P5  IPC is also the life line: a child whose parent is gone sees 'disconnect' and ends by itself.
 */
import { fork, type ChildProcess } from 'node:child_process';
import type { WriteStream } from 'node:fs';
import { Lines } from './log-file.js';

export interface PartSpec {
  readonly name: string;
  /** The module to run. */
  readonly file: string;
  readonly args?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly log: WriteStream;
  readonly graceMs: number;
  /** It ended unasked, or is up again. One line for people. */
  readonly onNews: (message: string) => void;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
const QUIET_MS = 10_000;
const LAST_LINES = 12;

export type Readiness = 'ready' | 'exited' | 'timeout';

export class Part {
  readonly #spec: PartSpec;
  #child: ChildProcess | undefined;
  #exited: Promise<void> = Promise.resolve();
  #again: NodeJS.Timeout | undefined;
  #stopping = false;
  #everReady = false;
  #waitMs = FIRST_WAIT_MS;
  #last: string[] = [];
  #waiters: ((readiness: Readiness) => void)[] = [];

  constructor(spec: PartSpec) {
    this.#spec = spec;
  }

  get name(): string {
    return this.#spec.name;
  }
  get pid(): number | undefined {
    return this.#child?.pid;
  }
  get lastLines(): readonly string[] {
    return this.#last;
  }

  start(): void {
    if (this.#stopping) return;
    const { file, args, env } = this.#spec;
    const startedMs = performance.now();
    const child = fork(file, [...(args ?? [])], {
      env: { ...process.env, ...env },
      // Its own group: a terminal's Ctrl-C reaches us only, and we stop the parts in order.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#child = child;
    this.#read(child);
    child.on('message', (message: unknown) => {
      if (typeof message === 'object' && message !== null && 'ready' in message) this.#ready();
    });
    this.#exited = new Promise((resolve) => {
      let over = false;
      const end = (how: string): void => {
        if (over) return;
        over = true;
        this.#child = undefined;
        resolve();
        this.#ended(how, performance.now() - startedMs);
      };
      child.once('exit', (code, signal) => end(signal === null ? `exited with ${code}` : `was ended by ${signal}`));
      child.once('error', (error) => end(`could not run: ${error.message}`));
    });
  }

  /** Waits until it is ready; `exited` when it ends before that, even if it will be started again. */
  untilReady(timeoutMs: number): Promise<Readiness> {
    if (this.#everReady) return Promise.resolve('ready');
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve('timeout'), timeoutMs);
      this.#waiters.push((readiness) => {
        clearTimeout(timer);
        resolve(readiness);
      });
    });
  }

  /** Stops it and waits until it has gone. False when it had to be killed. */
  async stop(): Promise<boolean> {
    this.#stopping = true;
    clearTimeout(this.#again);
    const child = this.#child;
    if (child === undefined) return true;
    child.kill('SIGTERM');
    let killed = false;
    const timer = setTimeout(() => {
      killed = true;
      this.kill();
    }, this.#spec.graceMs);
    await this.#exited;
    clearTimeout(timer);
    return !killed;
  }

  kill(): void {
    this.#stopping = true;
    clearTimeout(this.#again);
    this.#child?.kill('SIGKILL');
  }

  #ready(): void {
    const again = this.#everReady;
    this.#everReady = true;
    for (const tell of this.#waiters.splice(0)) tell('ready');
    if (again) this.#spec.onNews(`${this.name} is up again`);
  }

  #ended(how: string, ranMs: number): void {
    for (const tell of this.#waiters.splice(0)) tell('exited');
    if (this.#stopping) return;
    if (ranMs >= QUIET_MS) this.#waitMs = FIRST_WAIT_MS;
    this.#spec.onNews(`${this.name} ${how}; starting it again in ${this.#waitMs / 1000} s`);
    this.#again = setTimeout(() => this.start(), this.#waitMs);
    this.#waitMs = Math.min(LONGEST_WAIT_MS, this.#waitMs * 2);
  }

  #read(child: ChildProcess): void {
    for (const stream of [child.stdout, child.stderr]) {
      const lines = new Lines((line) => this.#line(line));
      stream?.setEncoding('utf8');
      stream?.on('data', (text: string) => lines.push(text));
      stream?.once('end', () => lines.end());
    }
  }

  #line(line: string): void {
    this.#spec.log.write(`${new Date().toISOString()} [${this.name}] ${line}\n`);
    this.#last = [...this.#last.slice(1 - LAST_LINES), line];
  }
}
