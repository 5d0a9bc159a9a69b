/** How long things took, seen from outside: tasks of a killed worker until they go on, and the store without a leader. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Kv } from '../../src/kv/index.js';
import type { HistoryRevision } from '../../src/verify/index.js';
import type { Recorder } from './recorder.js';

const PROBE_EVERY_MS = 50;
const PROBE_KEY = 'chaos-probe';

export interface Spread {
  readonly count: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly maxMs: number;
}

export interface Recovery {
  readonly alone: Spread;
  readonly amidOthers: Spread;
}

interface Kill {
  readonly atMs: number;
  readonly tasks: Set<string>;
  /** How many faults had begun by then, this one included: more later means that it was not the only one. */
  readonly faults: number;
  readonly alone: boolean;
}

export class Measures {
  /** From SIGKILL until somebody else claimed or ended the task. */
  readonly #recoveries: { readonly ms: number; readonly alone: boolean }[] = [];
  readonly #outages: number[] = [];
  readonly #recorder: Recorder;
  readonly #ttlMs: number;
  readonly #kills = new Set<Kill>();
  readonly #stopping = new AbortController();
  readonly #probing: Promise<void>;
  #lastAnswerMs = performance.now();
  #faults = 0;
  #begun = 0;
  #otherMs = Number.NEGATIVE_INFINITY;
  #leaderLostMs: number | undefined;

  constructor(kv: Kv, recorder: Recorder, ttlMs: number) {
    this.#recorder = recorder;
    this.#ttlMs = ttlMs;
    recorder.listen((revision) => this.#see(revision));
    this.#probing = this.#probe(kv);
  }

  /** The recoveries, apart by whether the kill was the only thing that kept the task from going on. */
  get recovery(): Recovery {
    const of = (wanted: boolean): Spread =>
      spread(this.#recoveries.filter(({ alone }) => alone === wanted).map(({ ms }) => ms));
    return { alone: of(true), amidOthers: of(false) };
  }

  /** From the death of etcd's leader until a write was answered again. */
  get unavailability(): Spread {
    return spread(this.#outages);
  }

  /** A fault begins; to be called again at its end. */
  fault(): () => void {
    this.#faults++;
    this.#begun++;
    return () => {
      this.#faults--;
      if (this.#faults > 0) this.#otherMs = performance.now();
    };
  }

  /** To be called right after the process has gone. */
  killed(pid: number): void {
    const nodes = new Set([...this.#recorder.pids].filter(([, one]) => one === pid).map(([id]) => id));
    const tasks = new Set([...this.#recorder.locks].filter(([, node]) => nodes.has(node)).map(([task]) => task));
    const atMs = performance.now();
    const alone = this.#faults === 1 && this.#otherMs < atMs - this.#ttlMs && !this.#pausedSince(atMs);
    if (tasks.size > 0) this.#kills.add({ atMs, tasks, faults: this.#begun, alone });
  }

  leaderLost(): void {
    this.#leaderLostMs = performance.now();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#probing;
  }

  /** What is paused goes on when it is resumed, whoever died. */
  #pausedSince(ms: number): boolean {
    return this.#recorder.paused.size > 0 || this.#recorder.resumedMs > ms;
  }

  /** A task goes on when it is locked again, or when its record is changed by whoever looked after it. */
  #see({ events }: HistoryRevision): void {
    if (this.#kills.size === 0) return;
    for (const { type, kv } of events) {
      const parsed = this.#recorder.keys.parse(kv.key);
      if (type !== 'put' || (parsed?.kind !== 'locks' && parsed?.kind !== 'tasks')) continue;
      for (const kill of this.#kills) {
        if (!kill.tasks.delete(parsed.id)) continue;
        const alone = kill.alone && kill.faults === this.#begun && !this.#pausedSince(kill.atMs);
        this.#recoveries.push({ ms: performance.now() - kill.atMs, alone });
        if (kill.tasks.size === 0) this.#kills.delete(kill);
      }
    }
  }

  async #probe(kv: Kv): Promise<void> {
    for (let n = 0; !this.#stopping.signal.aborted; n++) {
      const put = { kind: 'put', key: PROBE_KEY, value: String(n) } as const;
      const answered = await kv.txn({ compare: [], success: [put] }, { timeoutMs: 1_000 }).then(
        () => true,
        () => false,
      );
      if (answered) this.#answered();
      await delay(PROBE_EVERY_MS, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
    }
  }

  #answered(): void {
    const now = performance.now();
    const lost = this.#leaderLostMs;
    if (lost !== undefined && this.#lastAnswerMs > lost - 4 * PROBE_EVERY_MS && now > lost) {
      // The first answer may still be the dead leader's last word.
      const gap = now - Math.max(lost, this.#lastAnswerMs);
      if (gap > 4 * PROBE_EVERY_MS || now - lost > 2_000) {
        this.#outages.push(gap);
        this.#leaderLostMs = undefined;
      }
    }
    this.#lastAnswerMs = now;
  }
}

function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
  return { count: sorted.length, p50Ms: at(0.5), p95Ms: at(0.95), maxMs: Math.round(sorted.at(-1) ?? 0) };
}
