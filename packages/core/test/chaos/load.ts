/** Submitters and operators who do not care what is broken: they go on, and remember what they were told. */
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { connect, type Client } from '../../src/index.js';
import { isLeaseholdError } from '../../src/model/errors.js';
import { upsertSchedule } from '../../src/store/schedules.js';
import * as operate from '../../src/store/operate.js';
import type { SettingsTarget } from '../../src/store/operate.js';
import type { Acknowledged } from '../../src/verify/index.js';
import { USUAL, type Profile } from '../simulation/plan.js';
import type { Random } from '../simulation/random.js';
import { makePart, type Part } from '../simulation/workload.js';
import { tolerate } from '../simulation/world.js';
import type { Door } from './cluster.js';

const PROFILE: Profile = {
  ...USUAL,
  partWeights: { task: 6, unique: 1, limited: 2, callbacks: 2, workflow: 6, large: 0.3, schedule: 0.15 },
};
const ACTS = ['cancel', 'force', 'retry', 'release', 'pause'] as const;
const TARGETS: readonly SettingsTarget[] = [{ queue: 'slow' }, { queue: 'default' }, { name: 'flaky' }, 'all'];

export interface LoadOptions {
  readonly door: Pick<Door, 'endpoints'>;
  readonly namespace: string;
  readonly random: Random;
  readonly seed: number;
  /** Submissions a second; a submission is 1 to 40 tasks. */
  readonly rate: number;
  /** Whether operators cancel, retry, release and pause meanwhile. */
  readonly operators: boolean;
}

export class Load {
  readonly acknowledged: Acknowledged[] = [];
  /** Asked again under the same id because no answer had come. */
  ambiguous = 0;
  refused = 0;
  acts = 0;
  readonly #options: LoadOptions;
  readonly #client: Client;
  readonly #waiting = new Set<Promise<void>>();
  readonly #stopping = new AbortController();

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#client = connect({ etcd: { endpoints: options.door.endpoints }, namespace: options.namespace });
    // One for each thing that waits for its time.
    setMaxListeners(0, this.#stopping.signal);
    this.#track(this.#submitAll());
    if (options.operators) this.#track(this.#operate());
  }

  /** Submits nothing new, resumes what was paused, and resolves when every submission was answered. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    while (this.#waiting.size > 0) await Promise.all(this.#waiting);
    for (const target of TARGETS) {
      const call = this.#client.call('the chaos is over');
      await this.#untilAnswered(() => operate.resume(this.#client.store, call, target));
    }
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  #track(work: Promise<void>): void {
    this.#waiting.add(work);
    void work.finally(() => this.#waiting.delete(work));
  }

  async #submitAll(): Promise<void> {
    const { random, rate, seed } = this.#options;
    for (let n = 0; !this.#stopping.signal.aborted; n++) {
      this.#track(this.#submit(makePart(seed, n, PROFILE, Date.now())));
      await this.#sleep((-Math.log(1 - random.next()) / rate) * 1_000);
    }
  }

  async #submit(part: Part): Promise<void> {
    if (part.kind === 'schedule') {
      const call = this.#client.call();
      await this.#untilAnswered(() => upsertSchedule(this.#client.store, call, part.input));
      return;
    }
    const made = await this.#untilAnswered(() => this.#client.submit(part.workflow, { id: part.id, giveUpMs: 5_000 }));
    if (made === undefined) this.refused++;
    else this.acknowledged.push({ kind: part.workflow.kind === 'task' ? 'task' : 'workflow', id: made.id });
  }

  /** The same request under the same id until there is an answer: idempotent, so an unknown outcome costs nothing. */
  async #untilAnswered<T>(ask: () => Promise<T>): Promise<T | undefined> {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (isLeaseholdError(error) && !['unavailable', 'timeout', 'conflict'].includes(error.code)) return undefined;
        await tolerate(() => Promise.reject(error instanceof Error ? error : new Error(String(error))));
        this.ambiguous++;
        await delay(100);
      }
    }
  }

  async #operate(): Promise<void> {
    const { random } = this.#options;
    while (!this.#stopping.signal.aborted) {
      await this.#sleep(random.int(100, 900));
      await this.#act(random.pick(ACTS));
    }
  }

  async #act(act: (typeof ACTS)[number]): Promise<void> {
    const { random } = this.#options;
    const client = this.#client;
    const target = this.acknowledged[random.int(Math.max(0, this.acknowledged.length - 60), this.acknowledged.length)];
    if (target === undefined) return;
    this.acts++;
    await this.#tolerate(async () => {
      switch (act) {
        case 'cancel':
          return client.cancel(target.id, { reason: 'chaos' });
        case 'force':
          return client.cancel(target.id, { reason: 'chaos', force: true });
        case 'retry':
          return client.retry(target.id, { reason: 'chaos' });
        case 'release':
          return operate.forceRelease(client.store, client.call('chaos'), target.id);
        case 'pause': {
          const what = random.pick(TARGETS);
          await client.pause(what, 'chaos');
          await this.#sleep(random.int(200, 2_000));
          return client.resume(what);
        }
      }
    });
  }

  /** An operator whose act is refused, or who gets no answer, looks again later. */
  async #tolerate(act: () => Promise<unknown>): Promise<void> {
    await tolerate(async () => {
      try {
        await act();
      } catch (error) {
        if (isLeaseholdError(error)) return;
        throw error;
      }
    });
  }

  #sleep(ms: number): Promise<void> {
    return delay(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }
}
