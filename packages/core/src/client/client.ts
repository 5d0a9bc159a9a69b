/** The library's front door for everything but running handlers. */
import { hostname } from 'node:os';
import { connectEtcd, type EtcdOptions } from '../kv/etcd-kv.js';
import { prefixEnd, type Kv } from '../kv/kv.js';
import { toWorkflow, type Part } from '../model/build.js';
import { decodeRecord } from '../model/codec.js';
import { LeaseholdError } from '../model/errors.js';
import { isDerivedId } from '../model/ids.js';
import type { Actor, NodeRecord, WorkflowRecord } from '../model/records.js';
import type { Workflow } from '../model/signature.js';
import { LIMITS } from '../model/signature.js';
import type { TaskRecord } from '../model/task.js';
import { checkWorkflow, type SignatureDefaults } from '../model/validate.js';
import { createStore, type StoreOptions } from '../store/create.js';
import { advance } from '../store/drive.js';
import { readWorkflow } from '../store/graph.js';
import * as operate from '../store/operate.js';
import type { Operated, SettingsTarget } from '../store/operate.js';
import * as queues from '../store/queues.js';
import { seen } from '../store/claim.js';
import type { OperatorCall, Store } from '../store/store.js';
import { StorageMeter, type StorageMeterOptions } from '../store/storage.js';
import { submitWorkflow } from '../store/submit.js';
import { membersAsTheyEnd } from './ends.js';
import { taskResults, waitForTask, waitForWorkflow, workflowResults, type Handle } from './handle.js';
import { pendingTasks, scheduledTasks } from './inspect.js';
import type { WaitOptions } from './wait.js';

export interface ClientOptions extends StoreOptions {
  /** An open connection, or etcd's endpoints. */
  readonly kv?: Kv;
  readonly etcd?: EtcdOptions;
  /** Who submits; appears in records. Default: the host's name. */
  readonly name?: string;
  readonly defaults?: SignatureDefaults;
  /** etcd's quota, if it is not its default of 2 GiB: new work is refused above 60 % of it. */
  readonly storage?: StorageMeterOptions;
  /** Machinery's pre-publish handler: sees, and may change, everything that is submitted. */
  readonly beforePublish?: (workflow: Workflow) => Workflow;
}

export interface SubmitCall {
  /** Makes the submission idempotent: the same id again is the same task or workflow. */
  readonly id?: string;
  /** For people; workflows only. */
  readonly name?: string;
  readonly tags?: readonly string[];
  /** How long to go on trying while the store does not answer, ms. Default 30 000. */
  readonly giveUpMs?: number;
}

export class Client {
  readonly store: Store;
  readonly actor: Actor;
  /** Measures how full the store is, now and then. */
  readonly storage: StorageMeter;
  readonly #options: ClientOptions;
  readonly #ownKv: Kv | undefined;
  readonly #unfolding = new Set<Promise<void>>();

  constructor(options: ClientOptions) {
    const own = options.kv === undefined && options.etcd !== undefined ? connectEtcd(options.etcd) : undefined;
    const kv = options.kv ?? own;
    if (kv === undefined)
      throw new LeaseholdError('invalid', 'give `etcd: { endpoints }` or an open `kv`', { field: 'etcd' });
    this.#options = options;
    this.#ownKv = own;
    this.store = createStore(kv, options);
    this.storage = new StorageMeter(kv, options.storage);
    this.actor = { kind: 'client', name: options.name ?? hostname() };
  }

  /**
   * Submits a signature or a workflow. Acknowledged means stored: it will end.
   * @throws LeaseholdError `invalid`, `too-large`, `unique-conflict`, `storage-full`, `unavailable`.
   */
  async submit(part: Part, call: SubmitCall = {}): Promise<Handle<readonly unknown[]>> {
    const given = toWorkflow(part);
    const published = this.#options.beforePublish?.(given) ?? given;
    // A copy: what the caller changes in its own while this waits is not what was submitted.
    const workflow = copyOf(checkWorkflow(published, { ...LIMITS, ...this.store.limits }));
    const id = call.id ?? (workflow.kind === 'task' ? workflow.signature.id : undefined);
    if (id !== undefined && isDerivedId(id)) {
      throw new LeaseholdError('invalid', `id: "${id}" has the form of a workflow member's; choose one without a dot`, {
        field: 'id',
        value: id,
      });
    }
    await this.storage.admit();
    const done = await submitWorkflow(this.store, this.actor, workflow, {
      ...call,
      ...(id === undefined ? {} : { id }),
      ...(this.#options.defaults === undefined ? {} : { defaults: this.#options.defaults }),
    });
    // Acknowledged already; who submitted a large one also unfolds it, and if it dies the leader does.
    if (done.chore) this.#unfold(done.id);
    return this.#handle(done.kind, done);
  }

  /** The submission is safe without it: the leader writes what is not written after a while. */
  #unfold(id: string): void {
    const writing = advance(this.store, this.actor, { workflow: id, joins: [] }).catch(() => undefined);
    this.#unfolding.add(writing);
    void writing.then(() => this.#unfolding.delete(writing));
  }

  /** A handle on something submitted earlier, here or elsewhere. */
  async handle(id: string): Promise<Handle<readonly unknown[]>> {
    const { kind, revision } = await this.#find(id);
    return this.#handle(kind, { id, revision, created: false });
  }

  #handle(
    kind: 'task' | 'workflow',
    { id, revision, created }: { id: string; revision: bigint; created: boolean },
  ): Handle<readonly unknown[]> {
    const { store } = this;
    const result = async (options?: WaitOptions): Promise<readonly unknown[]> =>
      kind === 'task'
        ? taskResults(store, await waitForTask(store, id, options))
        : workflowResults(store, await waitForWorkflow(store, id, options));
    return { id, revision, created, result };
  }

  async get(id: string): Promise<TaskRecord | undefined> {
    const [kv] = (await this.store.kv.range({ key: this.store.keys.task(id) })).kvs;
    return seen(kv)[0]?.task;
  }

  async getWorkflow(id: string): Promise<WorkflowRecord | undefined> {
    return (await readWorkflow(this.store, id))?.record;
  }

  /** Waits until a task has ended and returns its record, whatever it ended as. */
  wait(id: string, options?: WaitOptions): Promise<TaskRecord> {
    return waitForTask(this.store, id, options);
  }

  waitWorkflow(id: string, options?: WaitOptions): Promise<WorkflowRecord> {
    return waitForWorkflow(this.store, id, options);
  }

  /** Members of a workflow in the order in which they end. */
  members(id: string, options?: WaitOptions): AsyncGenerator<TaskRecord> {
    return membersAsTheyEnd(this.store, id, options);
  }

  /** Tasks ready in a queue, the next one first. */
  pending(queue: string): AsyncGenerator<TaskRecord> {
    return pendingTasks(this.store, queue);
  }

  /** Tasks waiting for their time, the next one first. */
  scheduled(): AsyncGenerator<TaskRecord> {
    return scheduledTasks(this.store);
  }

  /** Live nodes and what they serve. */
  async nodes(): Promise<readonly NodeRecord[]> {
    const prefix = this.store.keys.kind('nodes');
    const { kvs } = await this.store.kv.range({ key: prefix, rangeEnd: prefixEnd(prefix) });
    return kvs.map((kv) => decodeRecord<NodeRecord>(kv.value, 'node'));
  }

  /** Cancels a task or a whole workflow. @throws LeaseholdError `not-found`, `wrong-state`. */
  async cancel(id: string, options: { readonly reason?: string; readonly force?: boolean } = {}): Promise<Operated> {
    const { kind } = await this.#find(id);
    const call = this.call(options.reason);
    return this.#drive(
      kind === 'task'
        ? await operate.cancelTask(this.store, call, id, options)
        : await operate.cancelWorkflow(this.store, call, id),
    );
  }

  /** Runs an ended task again, or what failed of a workflow. @throws LeaseholdError `not-found`, `wrong-state`, `unique-conflict`. */
  async retry(id: string, options: { readonly reason?: string; readonly from?: number } = {}): Promise<Operated> {
    const { kind } = await this.#find(id);
    const call = this.call(options.reason);
    return this.#drive(
      kind === 'task'
        ? await operate.retryTask(this.store, call, id)
        : await operate.retryWorkflow(this.store, call, id, options),
    );
  }

  pause(target: SettingsTarget, reason?: string): Promise<Operated> {
    return operate.pause(this.store, this.call(reason), target);
  }

  resume(target: SettingsTarget): Promise<Operated> {
    return operate.resume(this.store, this.call(), target);
  }

  /** Sets limits of a queue, a task name, or everything; `null` takes one away. */
  setLimits(target: SettingsTarget, change: queues.LimitChange, reason?: string): Promise<Operated> {
    return queues.setLimits(this.store, this.call(reason), target, change);
  }

  /**
   * Cancels everything that waits in a queue; what runs is left alone.
   * @throws LeaseholdError `conflict` when other than `expectedCount` tasks wait.
   */
  async purge(
    queue: string,
    options: { readonly expectedCount?: number; readonly reason?: string } = {},
  ): Promise<queues.Purged> {
    const purged = await queues.purgeQueue(this.store, this.call(options.reason), queue, options);
    for (const drive of purged.drives) await advance(this.store, this.actor, drive);
    return purged;
  }

  /** Pauses a queue, and resolves when nothing of it runs any more. @throws LeaseholdError `timeout`. */
  drain(
    queue: string,
    options: Omit<queues.DrainOptions, 'sleep'> & { readonly reason?: string } = {},
  ): Promise<Operated> {
    const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
    return queues.drainQueue(this.store, this.call(options.reason), queue, { sleep, ...options });
  }

  /** An operator's act under a new operation id. */
  call(reason?: string): OperatorCall {
    const id = this.store.newId();
    return { actor: this.actor, operationId: id, ...(reason === undefined ? {} : { reason }) };
  }

  /**
   * Ends the committer, and the connection if this client opened it. Large workflows that it is still writing are written
   * first, as far as the store answers; what is left the leader writes.
   */
  async close(): Promise<void> {
    await Promise.all(this.#unfolding);
    this.store.committer.close();
    await this.#ownKv?.close();
  }

  async #drive(operated: Operated): Promise<Operated> {
    if (operated.drive !== undefined) await advance(this.store, this.actor, operated.drive);
    return operated;
  }

  async #find(id: string): Promise<{ kind: 'task' | 'workflow'; revision: bigint }> {
    const { kv, keys } = this.store;
    const answer = await kv.txn({
      compare: [],
      success: [
        { kind: 'range', key: keys.task(id) },
        { kind: 'range', key: keys.workflow(id) },
      ],
    });
    const [task, workflow] = answer.results.map((result) => (result.kind === 'range' ? result.kvs[0] : undefined));
    if (task !== undefined) return { kind: 'task', revision: task.modRevision };
    if (workflow !== undefined) return { kind: 'workflow', revision: workflow.modRevision };
    throw new LeaseholdError('not-found', `there is no task or workflow ${id}`, { id });
  }
}

/** What cannot be copied cannot be stored either: it is left to the checks that name the field. */
function copyOf(workflow: Workflow): Workflow {
  try {
    return structuredClone(workflow);
  } catch {
    return workflow;
  }
}

/** Connects a client. Lazy: the first call opens the connection. @throws LeaseholdError `invalid`. */
export function connect(options: ClientOptions): Client {
  return new Client(options);
}
