/** Task records as workers and clients would have left them, written straight into etcd: the board is measured, not the scheduler. */
import type { Kv } from '@leasehold/core/kv';
import { encodeTask, Keys, type TaskRecord, type TaskState } from '@leasehold/core/model';

export interface SeededTask {
  readonly id: string;
  readonly createdMs: number;
  readonly ended: boolean;
}

/** etcd takes 128 operations in one transaction. */
const AT_ONCE = 120;
const LANES = 8;
const NAMES = ['processInventory', 'resizeImage', 'crawlPage', 'generateReport', 'syncUser', 'sendReceipt'];
const QUEUES = ['orders', 'media', 'crawl', 'reports'];
const MESSAGES = ['SKU-40100: 1 wanted, 0 left', 'connect ECONNREFUSED 10.0.3.17:5432', 'deadline of 30 s passed'];

export class Seed {
  readonly #kv: Kv;
  readonly #keys: Keys;

  constructor(kv: Kv, namespace: string) {
    this.#kv = kv;
    this.#keys = new Keys(namespace);
  }

  /** The first half has not ended, the other has; the newest come last. */
  async write(live: number, ended: number, nowMs: number): Promise<readonly SeededTask[]> {
    const total = live + ended;
    const tasks = Array.from({ length: total }, (_, n): SeededTask => {
      return { id: idOf(n), createdMs: nowMs - (total - n) * 20, ended: n < ended };
    });
    const batches: SeededTask[][] = [];
    for (let at = 0; at < total; at += AT_ONCE) batches.push(tasks.slice(at, at + AT_ONCE));
    const lane = async (): Promise<void> => {
      for (let batch = batches.pop(); batch !== undefined; batch = batches.pop()) {
        await this.put(
          batch.map((task, i) => record(task, i, task.ended ? (i % 9 === 0 ? 'FAILURE' : 'SUCCESS') : 'PENDING')),
        );
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    return tasks;
  }

  /** One transaction. */
  async put(records: readonly TaskRecord[]): Promise<void> {
    const success = records.map((task) => {
      return { kind: 'put' as const, key: this.#keys.task(task.id), value: encodeTask(task) };
    });
    await this.#kv.txn({ compare: [], success });
  }
}

const idOf = (n: number): string => `01990000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;

export function record(task: SeededTask, n: number, state: TaskState, mark = ''): TaskRecord {
  const { id, createdMs, ended } = task;
  const startedMs = createdMs + 40;
  const failed = state === 'FAILURE';
  const error = { type: 'Error', message: MESSAGES[n % MESSAGES.length] ?? '', attempt: 1, atMs: startedMs + 200 };
  return {
    id,
    name: NAMES[n % NAMES.length] ?? '',
    state,
    cause: state === 'PENDING' ? 'submitted' : failed ? 'failed-final' : state === 'STARTED' ? 'claimed' : 'succeeded',
    by: 'client:bench',
    queue: QUEUES[n % QUEUES.length] ?? '',
    shard: 0,
    priority: n % 5,
    args: [
      { type: 'string', value: mark === '' ? `SKU-${n}` : mark },
      { type: 'int64', value: String(n) },
    ],
    createdMs,
    updatedMs: startedMs,
    scheduleAtMs: createdMs,
    order: createdMs,
    attempt: state === 'PENDING' ? 0 : 1,
    timeoutMs: 600_000,
    failures: 0,
    losses: 0,
    snoozes: 0,
    handBacks: 0,
    retry: { count: 2, backoff: 'fibonacci', delayMs: 0, maxDelayMs: 86_400_000, jitter: 0 },
    ...(state === 'PENDING' ? {} : { startedMs, node: 'bench-node' }),
    ...(ended && state !== 'STARTED' ? { endedMs: startedMs + 200 } : {}),
    ...(failed ? { error } : {}),
  };
}
