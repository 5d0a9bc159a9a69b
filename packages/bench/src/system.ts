/** A task system under test, behind the few things that a throughput benchmark does to it. */
import type { CrewJob } from './crew.js';
import type { Conditions } from './figures.js';
import type { Stage } from './stage.js';

export interface System {
  readonly name: string;
  readonly conditions: Conditions;
  /** How many tasks make a round long enough to be measured. */
  readonly tasks: number;
  /** A fresh, empty store. */
  open(): Promise<OpenSystem>;
}

export interface OpenSystem {
  readonly job: CrewJob;
  /** Where it runs, when that is etcd. */
  readonly stage?: Stage;
  /** Submits so many no-op tasks from this process, as fast as it can; resolves when all are acknowledged. */
  submit(count: number): Promise<void>;
  /** Submits one and waits for its result: the moment its handler began, on the machine's monotonic clock, ns. */
  one(): Promise<bigint>;
  close(): Promise<void>;
}
