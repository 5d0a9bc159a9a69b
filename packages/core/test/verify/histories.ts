/** A small honest history to tamper with, and the means to do so. */
import type { Kv, Op } from '../../src/kv/kv.js';
import { encodeTask } from '../../src/model/codec.js';
import type { TaskRecord } from '../../src/model/task.js';
import type { Holder } from '../../src/store/claim.js';
import { advance } from '../../src/store/drive.js';
import { cancelTask, pause, resume, retryTask } from '../../src/store/operate.js';
import { campaign } from '../../src/store/leadership.js';
import { submitWorkflow } from '../../src/store/submit.js';
import type { Store } from '../../src/store/store.js';
import { Checker, readHistory, verifyHistory, type Violation } from '../../src/verify/index.js';
import {
  call,
  CLIENT,
  claimOne,
  int,
  makeStore,
  memoryWorld,
  openHolder,
  readTask,
  runHeld,
  task,
  workAll,
} from '../store/plain-worker.js';

export interface Tampering {
  readonly store: Store;
  readonly clock: { nowMs: number };
  readonly holder: Holder;
  /** Writes behind everybody's back. */
  raw(ops: readonly Op[]): Promise<void>;
  /** Changes a record as no edge would. */
  edit(id: string, changes: Partial<TaskRecord>): Promise<void>;
}

export async function tampering(): Promise<Tampering> {
  const { store, clock } = memoryWorld();
  const holder = await openHolder(store, 'n1', 1_000);
  const raw = async (ops: readonly Op[]): Promise<void> => void (await store.kv.txn({ compare: [], success: ops }));
  const edit = async (id: string, changes: Partial<TaskRecord>): Promise<void> => {
    const record = await readTask(store, id);
    await raw([{ kind: 'put', key: store.keys.task(id), value: encodeTask({ ...record, ...changes }) }]);
  };
  return { store, clock, holder, raw, edit };
}

/** What the checker says of everything that a store has seen so far. */
export async function judge(store: Store, kv: Kv = store.kv): Promise<readonly Violation[]> {
  const history = await readHistory(kv, store.keys);
  return (await verifyHistory(history, { namespace: store.keys.namespace })).violations;
}

/** Tasks, a chord, a failure and its retry, a cancel, a pause. */
export async function livelyHistory(kv: Kv, namespace: string): Promise<{ store: Store; ended: Checker }> {
  const clock = { nowMs: 1_700_000_000_000 };
  const store = makeStore(kv, clock, {}, namespace);
  const holder = await openHolder(store, 'n1', 600);
  // The worker by hand promotes as `leader:test`.
  await campaign(store, await openHolder(store, 'test', 600));
  let mended = false;
  const work = (): Promise<string[]> =>
    workAll(store, clock, holder, (args, { name }) => {
      if (name === 'bad' && !mended) throw new Error('bad');
      return [int(args.length)];
    });
  const chord = { kind: 'chord', header: [task('good'), task('good')], callback: task('good') } as const;
  await submitWorkflow(store, CLIENT, chord, { id: 'wf' });
  await submitWorkflow(store, CLIENT, task('bad', [], { retry: { count: 1, backoff: 'fixed', delayMs: 10 } }), {
    id: 'b',
  });
  await submitWorkflow(store, CLIENT, task('good', [], { unique: { key: 'u', onConflict: 'reject' } }), { id: 'u' });
  await cancelTask(store, call(), 'u');
  await pause(store, call(), { queue: 'slow' });
  await resume(store, call(), { queue: 'slow' });
  await work();
  mended = true;
  await retryTask(store, call(), 'b');
  await work();
  await advance(store, CLIENT, 'wf');
  const ended = await verifyHistory(await readHistory(kv, store.keys), {
    namespace,
    quiet: true,
    acknowledged: [
      { kind: 'workflow', id: 'wf' },
      { kind: 'task', id: 'b' },
      { kind: 'task', id: 'u' },
    ],
  });
  return { store, ended };
}

export { call, CLIENT, claimOne, openHolder, readTask, runHeld, task, int };
