/**
 * What the main thread and the keepalive thread tell each other, in shared memory: each reads the other's word at any
 * time, also while the other is blocked. Times are microseconds of the process-wide monotonic clock, because
 * `performance.now` begins anew in each thread.
 */
const SENT_AT = 0;
const TTL = 1;
const GONE = 2;
const PROGRESS = 3;
const WORDS = 4;

export class KeepaliveMemory {
  readonly buffer: SharedArrayBuffer;
  readonly #words: BigInt64Array;

  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(WORDS * 8)) {
    this.buffer = buffer;
    this.#words = new BigInt64Array(buffer);
  }

  /** By the keepalive thread: the TTL first, so that a reader in between trusts too little, never too much. */
  renewed(sentAtMs: number, ttlMs: number): void {
    Atomics.store(this.#words, TTL, toMicros(ttlMs));
    Atomics.store(this.#words, SENT_AT, toMicros(sentAtMs));
  }

  ended(): void {
    Atomics.store(this.#words, GONE, 1n);
  }

  get sentAtMs(): number {
    return toMs(Atomics.load(this.#words, SENT_AT));
  }

  get ttlMs(): number {
    return toMs(Atomics.load(this.#words, TTL));
  }

  get gone(): boolean {
    return Atomics.load(this.#words, GONE) === 1n;
  }

  /** By the main thread: it is alive. */
  progress(): void {
    Atomics.store(this.#words, PROGRESS, toMicros(processMs()));
  }

  get progressAtMs(): number {
    return toMs(Atomics.load(this.#words, PROGRESS));
  }
}

/** Monotonic ms on the scale that all threads share. */
export function processMs(): number {
  return performance.now() + OFFSET_MS;
}

/** `performance.now` and `hrtime` read one clock, from different zeros. */
const OFFSET_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now();

const toMicros = (ms: number): bigint => BigInt(Math.round(ms * 1_000));
const toMs = (micros: bigint): number => Number(micros) / 1_000;
