/** Rates and latencies, from changes as they come; a relist counts nothing. */
import { isEnded } from '@leasehold/core/model';
import type { Rates } from '@leasehold/wire';
import { Durations, DurationsByName, PerSecond, PerSecondByName } from './latency.js';
import type { TaskEntry } from './task-entry.js';

const NAMES = 1_000;

export class Traffic {
  readonly wait = new Durations();
  readonly run = new Durations();
  readonly queueWait = new DurationsByName(NAMES);
  readonly queueRun = new DurationsByName(NAMES);
  readonly nameRun = new DurationsByName(NAMES);
  readonly queueEnded = new PerSecondByName(NAMES);
  readonly #submitted = new PerSecond();
  readonly #started = new PerSecond();
  readonly #succeeded = new PerSecond();
  readonly #failed = new PerSecond();

  change(before: TaskEntry | undefined, after: TaskEntry | undefined, nowMs: number): void {
    if (after === undefined) return;
    if (before === undefined) this.#submitted.add(nowMs);
    if (after.state === 'STARTED' && before?.attempt !== after.attempt) this.#begin(after, nowMs);
    if (isEnded(after.state) && before?.state !== after.state) this.#end(after, nowMs);
  }

  /** What ended before anybody watched tells how long a name usually runs; it is no traffic. */
  learn(task: TaskEntry): void {
    if (task.state !== 'SUCCESS' || task.startedMs === undefined || task.endedMs === undefined) return;
    this.nameRun.add(task.name, task.endedMs - task.startedMs);
  }

  section(nowMs: number): Rates {
    return {
      id: 'rates',
      second: Math.floor(nowMs / 1_000),
      submitted: this.#submitted.series(nowMs),
      started: this.#started.series(nowMs),
      succeeded: this.#succeeded.series(nowMs),
      failed: this.#failed.series(nowMs),
      wait: this.wait.percentiles(),
      run: this.run.percentiles(),
    };
  }

  #begin(task: TaskEntry, nowMs: number): void {
    this.#started.add(nowMs);
    if (task.startedMs === undefined) return;
    const ms = task.startedMs - task.scheduleAtMs;
    this.wait.add(ms);
    this.queueWait.add(task.queue, ms);
  }

  #end(task: TaskEntry, nowMs: number): void {
    this.queueEnded.add(task.queue, nowMs);
    if (task.state === 'SUCCESS') this.#succeeded.add(nowMs);
    if (task.state === 'FAILURE') this.#failed.add(nowMs);
    if (task.startedMs === undefined || task.endedMs === undefined || task.state === 'CANCELLED') return;
    const ms = task.endedMs - task.startedMs;
    this.run.add(ms);
    this.queueRun.add(task.queue, ms);
    this.nameRun.add(task.name, ms);
  }
}
