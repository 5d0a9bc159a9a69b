/**
 * Worker processes of a benchmark. Each is told what to run, connects, says that it is ready, and begins at `go`, so that
 * starting Node is not measured. They report how many tasks have ended.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** What a worker process runs: one of `crew-main.ts`, with its settings. */
export interface CrewJob {
  readonly kind: 'leasehold' | 'naive' | 'bullmq';
  readonly settings: Readonly<Record<string, unknown>>;
}

export type ToCrew = { readonly kind: 'job'; readonly job: CrewJob } | { readonly kind: 'go' | 'stop' | 'usage' };
export type FromCrew =
  | { readonly kind: 'ready' }
  /** Ended since the last report. */
  | { readonly kind: 'ended'; readonly count: number }
  | { readonly kind: 'usage'; readonly usage: Usage }
  | { readonly kind: 'failed'; readonly message: string };

/** What one worker process, all its threads together, has used since it began. */
export interface Usage {
  readonly cpuMs: number;
  readonly heapBytes: number;
  readonly residentBytes: number;
  /** What its committer sent: requests, the transitions in them, and their bytes. */
  readonly requests: number;
  readonly transitions: number;
  readonly sentBytes: number;
}

const READY_MS = 30_000;
const STOP_MS = 15_000;

export class Crew {
  readonly #children: readonly ChildProcess[];
  #ended = 0;
  #trouble: Error | undefined;
  #waiting: { readonly count: number; resolve(): void; reject(error: Error): void } | undefined;

  private constructor(children: readonly ChildProcess[]) {
    this.#children = children;
    for (const child of children) {
      child.on('message', (message: FromCrew) => this.#hear(message));
      child.once('exit', (code) => code !== 0 && this.#fail(new Error(`a worker process exited with ${code}`)));
    }
  }

  static async start(job: CrewJob, processes: number): Promise<Crew> {
    const file = fileURLToPath(new URL('./crew-main.js', import.meta.url));
    const children = Array.from({ length: processes }, () =>
      fork(file, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], execArgv: ['--expose-gc', ...profiling()] }),
    );
    const crew = new Crew(children);
    await Promise.all(children.map((child) => whenReady(child, job)));
    return crew;
  }

  go(): void {
    for (const child of this.#children) child.send({ kind: 'go' } satisfies ToCrew);
  }

  /** Resolves when so many tasks have ended since the last call. */
  ended(count: number, timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`${this.#ended} of ${count} tasks ended in ${timeoutMs / 1000} s`)),
        timeoutMs,
      );
      const clear = (end: () => void): void => {
        clearTimeout(timer);
        this.#ended -= count;
        end();
      };
      this.#waiting = { count, resolve: () => clear(resolve), reject: (error) => clear(() => reject(error)) };
      this.#look();
    });
  }

  /** What each process has used so far. */
  usage(): Promise<readonly Usage[]> {
    return Promise.all(
      this.#children.map(
        (child) =>
          new Promise<Usage>((resolve) => {
            const hear = (message: FromCrew): void => {
              if (message.kind !== 'usage') return;
              child.off('message', hear);
              resolve(message.usage);
            };
            child.on('message', hear);
            child.send({ kind: 'usage' } satisfies ToCrew);
          }),
      ),
    );
  }

  /** Counts from here on. */
  forget(): void {
    this.#ended = 0;
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.#children.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const gone = new Promise((resolve) => child.once('exit', resolve));
        child.send({ kind: 'stop' } satisfies ToCrew);
        const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
        await gone;
        clearTimeout(timer);
      }),
    );
  }

  #hear(message: FromCrew): void {
    if (message.kind === 'ended') this.#ended += message.count;
    if (message.kind === 'failed') this.#trouble = new Error(message.message);
    this.#look();
  }

  #fail(error: Error): void {
    this.#trouble = error;
    this.#look();
  }

  #look(): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    if (this.#trouble !== undefined) waiting.reject(this.#trouble);
    else if (this.#ended >= waiting.count) waiting.resolve();
    else return;
    this.#waiting = undefined;
  }
}

/** LEASEHOLD_BENCH_PROFILE=<folder> writes a CPU profile of each worker process there. */
function profiling(): string[] {
  const folder = process.env['LEASEHOLD_BENCH_PROFILE'];
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`];
}

function whenReady(child: ChildProcess, job: CrewJob): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('a worker process does not get ready')), READY_MS);
    child.once('exit', () => reject(new Error('a worker process ended before it was ready')));
    child.on('message', (message: FromCrew) => {
      if (message.kind !== 'ready') return;
      clearTimeout(timer);
      resolve();
    });
    child.send({ kind: 'job', job } satisfies ToCrew);
  });
}
