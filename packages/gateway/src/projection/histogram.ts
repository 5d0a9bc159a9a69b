/**
 * Tasks by the time they were created. Looks through all entries, a slice at a time, so that nobody else waits for it;
 * what was computed for one viewer is given to all who ask for the same within `FRESH_MS`.
 */
import { TASK_STATES, type TaskState } from '@leasehold/core/model';
import type { TaskFilter, TaskHistogram } from '@leasehold/wire';
import { matchTask, type Match } from './match.js';
import { nextTurn } from './slices.js';
import type { TaskEntry } from './task-entry.js';

const BUCKETS = 120;
const SLICE = 4_000;
const FRESH_MS = 2_000;
const KEPT = 32;
/** This share of the oldest may lie before the first bucket: one task of last year must not flatten the last hour. */
const OUTLYING = 0.02;
const STEPS_MS = [
  100, 250, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000, 1_800_000,
  3_600_000, 7_200_000, 14_400_000, 21_600_000, 43_200_000, 86_400_000, 604_800_000,
];

export interface Dated {
  readonly createdMs: number;
  readonly state: TaskState;
}

type Buckets = Omit<TaskHistogram, 'revision'>;

/** Pure. Buckets begin at whole steps of the clock, so that they do not change their meaning from one reading to the next. */
export function histogramOf(tasks: readonly Dated[], nowMs: number): Buckets {
  const times = Float64Array.from(tasks, ({ createdMs }) => createdMs).sort();
  const first = times[Math.floor(times.length * OUTLYING)] ?? nowMs - 60_000;
  const end = Math.max(nowMs, times.at(-1) ?? nowMs);
  const stepMs = STEPS_MS.find((step) => (end - first) / step < BUCKETS - 1) ?? Math.ceil((end - first) / BUCKETS);
  const fromMs = Math.floor(first / stepMs) * stepMs;
  const length = Math.floor((end - fromMs) / stepMs) + 1;
  const states: Partial<Record<TaskState, number[]>> = {};
  let earlier = 0;
  for (const { createdMs, state } of tasks) {
    const at = Math.floor((createdMs - fromMs) / stepMs);
    if (at < 0) earlier++;
    else {
      const counts = (states[state] ??= Array.from({ length }, () => 0));
      counts[at] = (counts[at] ?? 0) + 1;
    }
  }
  const ordered = Object.fromEntries(TASK_STATES.flatMap((state) => (states[state] ? [[state, states[state]]] : [])));
  return { total: tasks.length, earlier, fromMs, stepMs, states: ordered };
}

interface Source {
  readonly revision: string;
  readonly state: { readonly tasks: { values(): Iterable<TaskEntry> } };
}

export class Histograms {
  readonly #source: Source;
  readonly #now: () => number;
  readonly #known = new Map<string, { readonly atMs: number; readonly answer: Promise<TaskHistogram> }>();

  constructor(source: Source, now: () => number) {
    this.#source = source;
    this.#now = now;
  }

  read({ from: _from, to: _to, ...filter }: TaskFilter): Promise<TaskHistogram> {
    const name = JSON.stringify(filter);
    const known = this.#known.get(name);
    if (known !== undefined && this.#now() - known.atMs < FRESH_MS) return known.answer;
    const answer = this.#compute(matchTask(filter));
    this.#known.delete(name);
    this.#known.set(name, { atMs: this.#now(), answer });
    if (this.#known.size > KEPT) this.#known.delete(this.#known.keys().next().value ?? '');
    return answer;
  }

  async #compute(match: Match<TaskEntry>): Promise<TaskHistogram> {
    const { revision } = this.#source;
    const dated: Dated[] = [];
    let looked = 0;
    for (const entry of this.#source.state.tasks.values()) {
      if (match(entry)) dated.push(entry);
      if (++looked % SLICE === 0) await nextTurn();
    }
    return { revision, ...histogramOf(dated, this.#now()) };
  }
}
