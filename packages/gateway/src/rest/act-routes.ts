/** What can be done. Each act is one guarded, audited, idempotent transaction of core's store; this only passes it on. */
import {
  checkArgs,
  decodePayload,
  decodeTask,
  LeaseholdError,
  LIMITS,
  type Json,
  type TaskRecord,
  type TypedValue,
} from '@leasehold/core/model';
import {
  advance,
  cancelTask,
  cancelWorkflow,
  deleteTask,
  drainNode,
  forceRelease,
  pause,
  rescheduleTask,
  resume,
  retryTask,
  retryWorkflow,
  type Operated,
  type SettingsTarget,
  type Store,
} from '@leasehold/core/store';
import {
  CancelTask,
  CancelWorkflow,
  DeleteTask,
  Done,
  ForceRelease,
  PauseQueue,
  RescheduleTask,
  ResumeQueue,
  RetryTask,
  RetryWorkflow,
} from '@leasehold/wire';
import type { z } from 'zod';
import { restoreHidden } from '../guard/restore.js';
import { IdParams, NameParams, operatorCall, route, type Call, type Route, type RouteContext } from './route.js';

/** Answers at once; what follows in the workflow goes on behind, and by the leader if this process dies. */
function done(
  { store, logger }: RouteContext,
  identity: Call<unknown, unknown, unknown>['identity'],
  id: string,
  operated: Operated,
): Done {
  if (operated.drive !== undefined) {
    advance(store, identity.actor, operated.drive).catch((error: unknown) => {
      logger.warn('gateway: a workflow could not be driven on; the leader will', { id, error });
    });
  }
  return { id, revision: operated.revision.toString() };
}

const retryOne = route({
  method: 'POST',
  url: '/tasks/:id/retry',
  permission: 'task.retry',
  summary: 'Run an ended (or retrying, or scheduled) task again, with its arguments or edited ones',
  params: IdParams,
  body: RetryTask,
  response: Done,
  run: async (call, context) => {
    const { id } = call.params;
    const args = call.body.args === undefined ? undefined : await editedArgs(context.store, id, call.body.args);
    const operated = await retryTask(
      context.store,
      operatorCall(call, call.body),
      id,
      args === undefined ? {} : { args },
    );
    return done(context, call.identity, id, operated);
  },
});

/** Arguments as edited; an entry `{ hidden: true }` keeps what is stored at its position, which the editor never saw. */
async function editedArgs(store: Store, id: string, given: readonly unknown[]): Promise<readonly TypedValue[]> {
  const { task, args } = await storedArgs(store, id);
  const whole = given.map((entry, index) => {
    const stored = args[index];
    if (!isHidden(entry)) return withHidden(entry, stored, `args[${index}]`);
    if (stored !== undefined) return stored;
    throw new LeaseholdError('invalid', `args[${index}]: there is no stored value to keep`, {
      field: `args[${index}]`,
    });
  });
  return checkArgs(whole, task.secrets ?? [], { ...LIMITS, ...store.limits });
}

/** Parts that were hidden inside a value stay as they were too. */
function withHidden(entry: unknown, stored: TypedValue | undefined, field: string): unknown {
  if (typeof entry !== 'object' || entry === null || !('value' in entry)) return entry;
  return { ...entry, value: restoreHidden(entry.value as Json, stored?.value, field) };
}

function isHidden(entry: unknown): boolean {
  return typeof entry === 'object' && entry !== null && (entry as { hidden?: unknown }).hidden === true;
}

async function storedArgs(store: Store, id: string): Promise<{ task: TaskRecord; args: readonly TypedValue[] }> {
  const answer = await store.kv.txn({
    compare: [],
    success: [
      { kind: 'range', key: store.keys.task(id) },
      { kind: 'range', key: store.keys.args(id) },
    ],
  });
  const [record, payload] = answer.results.map((result) => (result.kind === 'range' ? result.kvs[0] : undefined));
  if (record === undefined) throw new LeaseholdError('not-found', `there is no task ${id}`, { id });
  const task = decodeTask(record.value);
  return { task, args: task.args ?? (payload === undefined ? [] : (decodePayload(payload.value).args ?? [])) };
}

const cancelOne = route({
  method: 'POST',
  url: '/tasks/:id/cancel',
  permission: 'task.cancel',
  summary: 'Cancel a task; a running one is asked to stop',
  params: IdParams,
  body: CancelTask,
  response: Done,
  run: async (call, context) => {
    const { id } = call.params;
    return done(context, call.identity, id, await cancelTask(context.store, operatorCall(call, call.body), id));
  },
});

const rescheduleOne = route({
  method: 'POST',
  url: '/tasks/:id/reschedule',
  permission: 'task.reschedule',
  summary: 'Another time, another priority, or now',
  params: IdParams,
  body: RescheduleTask,
  response: Done,
  run: async (call, context) => {
    const { id } = call.params;
    const operated = await rescheduleTask(context.store, operatorCall(call, call.body), id, rescheduling(call.body));
    return done(context, call.identity, id, operated);
  },
});

const deleteOne = route({
  method: 'POST',
  url: '/tasks/:id/delete',
  permission: 'task.delete',
  summary: 'Delete an ended task that belongs to no workflow, ten minutes after its end or later',
  params: IdParams,
  body: DeleteTask,
  response: Done,
  run: async (call, context) => {
    const { id } = call.params;
    return done(context, call.identity, id, await deleteTask(context.store, operatorCall(call, call.body), id));
  },
});

const MAX_DATE_MS = 8_640_000_000_000_000;

function rescheduling({ etaMs, priority }: z.output<typeof RescheduleTask>): { etaMs?: number; priority?: number } {
  if (etaMs === undefined && priority === undefined) {
    throw new LeaseholdError('invalid', 'etaMs: give etaMs, priority, or both', { field: 'etaMs' });
  }
  const whole = (value: unknown, field: string, max: number): number => {
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max) return value;
    throw new LeaseholdError(
      'invalid',
      `${field}: ${JSON.stringify(String(value)).slice(0, 40)} is not a whole number from 0 to ${max}`,
      { field },
    );
  };
  return {
    ...(etaMs === undefined ? {} : { etaMs: whole(etaMs, 'etaMs', MAX_DATE_MS) }),
    ...(priority === undefined ? {} : { priority: whole(priority, 'priority', LIMITS.priorityMax) }),
  };
}

const cancelAll = route({
  method: 'POST',
  url: '/workflows/:id/cancel',
  permission: 'workflow.cancel',
  summary: 'Cancel a workflow: nothing more of it starts',
  params: IdParams,
  body: CancelWorkflow,
  response: Done,
  run: async (call, context) => {
    const { id } = call.params;
    return done(context, call.identity, id, await cancelWorkflow(context.store, operatorCall(call, call.body), id));
  },
});

const retryAll = route({
  method: 'POST',
  url: '/workflows/:id/retry',
  permission: 'workflow.retry',
  summary: 'Run the failed members of a workflow again, or everything from one member on',
  params: IdParams,
  body: RetryWorkflow,
  response: Done,
  run: async (call, context) => {
    const { id } = call.params;
    const { from } = call.body;
    const operated = await retryWorkflow(
      context.store,
      operatorCall(call, call.body),
      id,
      from === undefined ? {} : { from },
    );
    return done(context, call.identity, id, operated);
  },
});

const forceReleaseOne = route({
  method: 'POST',
  url: '/locks/:id/force-release',
  permission: 'lock.force-release',
  summary: 'Take a lock away from its holder; the handler may go on running',
  params: IdParams,
  body: ForceRelease,
  response: Done,
  run: async (call, context) => {
    const { id } = call.params;
    return done(context, call.identity, id, await forceRelease(context.store, operatorCall(call, call.body), id));
  },
});

const drainOne = route({
  method: 'POST',
  url: '/nodes/:id/drain',
  permission: 'node.drain',
  summary: 'Ask a node to take nothing more and finish what it runs',
  params: IdParams,
  body: ResumeQueue,
  response: Done,
  run: async (call, context) => {
    const { id } = call.params;
    return done(context, call.identity, id, await drainNode(context.store, operatorCall(call, call.body), id));
  },
});

/** Pause and resume of a queue, a task name, and everything. */
function settingsRoutes(url: string, what: string, targetOf: (name: string) => SettingsTarget): readonly Route[] {
  const named = url.endsWith(':name');
  const params = named ? { params: NameParams } : {};
  const nameOf = (call: { readonly params: unknown }): string =>
    named ? (call.params as z.output<typeof NameParams>).name : 'all';
  return [
    route({
      method: 'POST',
      url: `${url}/pause`,
      permission: 'queue.pause',
      summary: `Pause ${what}: after this no further claim commits`,
      ...params,
      body: PauseQueue,
      response: Done,
      run: async (call, context) => {
        const name = nameOf(call);
        return done(
          context,
          call.identity,
          name,
          await pause(context.store, operatorCall(call, call.body), targetOf(name)),
        );
      },
    }),
    route({
      method: 'POST',
      url: `${url}/resume`,
      permission: 'queue.pause',
      summary: `Resume ${what}`,
      ...params,
      body: ResumeQueue,
      response: Done,
      run: async (call, context) => {
        const name = nameOf(call);
        return done(
          context,
          call.identity,
          name,
          await resume(context.store, operatorCall(call, call.body), targetOf(name)),
        );
      },
    }),
  ];
}

export const ACT_ROUTES: readonly Route[] = [
  retryOne,
  cancelOne,
  rescheduleOne,
  deleteOne,
  cancelAll,
  retryAll,
  forceReleaseOne,
  drainOne,
  ...settingsRoutes('/queues/:name', 'a queue', (queue) => ({ queue })),
  ...settingsRoutes('/names/:name', 'a task name', (name) => ({ name })),
  ...settingsRoutes('/all', 'everything', () => 'all'),
];
