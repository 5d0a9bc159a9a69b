import { decodeTask } from '../../src/model/codec.js';
import { defineTask } from '../../src/model/define.js';
import type { Signature } from '../../src/model/signature.js';
import type { TaskRecord } from '../../src/model/task.js';
import { normalizeSignature } from '../../src/model/validate.js';
import { silentLogger, type Clock } from '../../src/runtime/index.js';
import { submitTask, type OperatorCall, type Store } from '../../src/store/index.js';
import { createWorker, handle, type TaskContext, type Worker, type WorkerOptions } from '../../src/worker/index.js';
import { memoryRig, type MemoryRig } from '../store/stores.js';

export const OPERATOR = { kind: 'operator', name: 'op' } as const;
const CLIENT = { kind: 'client', name: 'test' } as const;

/** A task without arguments, handled by `run`. */
export function handling(name: string, run: (context: TaskContext) => unknown = () => undefined) {
  return handle(defineTask(name), (_args, context) => run(context));
}

export async function submit(store: Store, name: string, options: Partial<Signature> = {}): Promise<string> {
  const signature = normalizeSignature({ args: [], ...options, name }, {}, store.now());
  return (await submitTask(store, CLIENT, signature)).id;
}

export async function taskOf(store: Store, id: string): Promise<TaskRecord> {
  const [kv] = (await store.kv.range({ key: store.keys.task(id) })).kvs;
  if (kv === undefined) throw new Error(`there is no task ${id}`);
  return decodeTask(kv.value);
}

export async function lockOf(store: Store, id: string): Promise<string | undefined> {
  return (await store.kv.range({ key: store.keys.lock(id) })).kvs[0]?.value;
}

/** Keys of a kind that are left. */
export async function keysOf(store: Store, kind: Parameters<Store['keys']['kind']>[0]): Promise<readonly string[]> {
  const prefix = store.keys.kind(kind);
  const { kvs } = await store.kv.range({ key: prefix, rangeEnd: `${prefix.slice(0, -1)}0` });
  return kvs.map(({ key }) => key.slice(prefix.length));
}

let operations = 0;
export function call(reason?: string): OperatorCall {
  operations += 1;
  return {
    actor: OPERATOR,
    operationId: `op-${operations}-${Math.random()}`,
    ...(reason === undefined ? {} : { reason }),
  };
}

export function worker(store: Store, clock: Clock, options: WorkerOptions): Worker {
  return createWorker(store, { clock, logger: silentLogger, statsEveryMs: 0, ...options });
}

/** A gate that a handler waits at. */
export function gate<T = void>(): { readonly open: (value: T) => void; readonly passed: Promise<T> } {
  let open: (value: T) => void = () => undefined;
  const passed = new Promise<T>((resolve) => (open = resolve));
  return { open, passed };
}

export interface WorkerRig extends MemoryRig {
  readonly store: Store;
  start(options: WorkerOptions): Promise<Worker>;
}

/** The twin with one process, whose workers have run for a moment. */
export function workerRig(): WorkerRig {
  const rig = memoryRig();
  const { store } = rig.process();
  return {
    ...rig,
    store,
    start: async (options) => {
      const made = worker(store, rig.clock, options);
      await made.start();
      await rig.advance(250);
      return made;
    },
  };
}
