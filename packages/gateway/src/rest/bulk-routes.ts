/** Bulk operations: counted on the projection at one revision, started and aborted by core's audited acts. */
import {
  BULK_LIMITS,
  DESTRUCTIVE,
  LeaseholdError,
  mayAct,
  type BulkAction,
  type BulkTarget,
  type Json,
} from '@leasehold/core/model';
import { abortBulk, bulkLeft, createBulk } from '@leasehold/core/store';
import {
  BulkCount,
  BulkDetail,
  BulkLeftPage,
  BulkPage,
  CountBulk,
  Done,
  ResumeQueue,
  StartBulk,
  type TaskFilter,
} from '@leasehold/wire';
import { z } from 'zod';
import type { Permission } from '../guard/identity.js';
import type { Board } from '../projection/board.js';
import { matchTask } from '../projection/match.js';
import { bulkRow } from '../projection/rows.js';
import { ProblemError } from './problems.js';
import { IdParams, operatorCall, route, type Route } from './route.js';

/** A bulk may do nothing that its operator may not do one by one. */
const NEEDS: Readonly<Record<BulkAction, Permission>> = {
  retry: 'task.retry',
  cancel: 'task.cancel',
  delete: 'task.delete',
  reprioritise: 'task.reschedule',
};

interface Meant {
  readonly filter?: TaskFilter;
  readonly tasks?: readonly { readonly id: string; readonly revision: string }[];
}

function requireOneOf({ filter, tasks }: Meant): void {
  if ((filter === undefined) === (tasks === undefined)) {
    throw new LeaseholdError('invalid', 'filter: give either filter or tasks', { field: 'filter' });
  }
}

/** What a filter means: all that match now and have not changed since `asOf`. What is picked means what was picked. */
function targetsOf(board: Board, { filter, tasks }: Meant, asOf: bigint, payload: boolean): readonly BulkTarget[] {
  if (tasks !== undefined) return tasks.map(({ id, revision }): BulkTarget => [id, revision]);
  const match = matchTask(filter ?? {}, payload);
  const targets: BulkTarget[] = [];
  for (const entry of board.state.tasks.values()) {
    if (match(entry) && BigInt(entry.revision) <= asOf) targets.push([entry.id, entry.revision]);
  }
  return targets;
}

function needsTyping(action: BulkAction, count: number): boolean {
  return DESTRUCTIVE.has(action) && count > BULK_LIMITS.untyped;
}

const countOne = route({
  method: 'POST',
  url: '/bulk/count',
  permission: 'board.read',
  summary: 'How many tasks a bulk would mean, and at which revision; changes nothing',
  body: CountBulk,
  response: BulkCount,
  run: async ({ body, identity }, { board, store }) => {
    requireOneOf(body);
    const asOf = board.revision;
    const targets = targetsOf(board, body, BigInt(asOf), identity.permissions.has('payload.read'));
    const possible = targets.filter(([id]) => {
      const entry = board.state.tasks.get(id);
      return entry !== undefined && mayAct(body.action, entry, store.now());
    });
    const count = targets.length;
    return { count, possible: possible.length, asOf, typed: needsTyping(body.action, count) };
  },
});

const startOne = route({
  method: 'POST',
  url: '/bulk',
  permission: 'bulk.run',
  summary: 'Start a bulk: the tasks that were counted, as they were then; what came or changed later is left alone',
  body: StartBulk,
  response: Done,
  run: async (call, { board, store }) => {
    const { action, filter, tasks, count, asOf, typed, priority } = call.body;
    requireOneOf(call.body);
    const needed = NEEDS[action];
    if (!call.identity.permissions.has(needed)) {
      throw new ProblemError('denied', `this needs the permission ${needed}`, { permission: needed });
    }
    if (needsTyping(action, count) && typed !== String(count)) {
      const message = `typed: type the count, ${count}, to ${action} more than ${BULK_LIMITS.untyped} tasks`;
      throw new LeaseholdError('invalid', message, { field: 'typed', count });
    }
    const targets = targetsOf(board, call.body, BigInt(asOf), call.identity.permissions.has('payload.read'));
    if (targets.length > count) {
      const message = `${targets.length} tasks are meant, not ${count}; count again`;
      throw new LeaseholdError('conflict', message, { count: targets.length, expected: count });
    }
    const { revision } = await createBulk(store, operatorCall(call, reasonOf(call.body)), {
      action,
      targets,
      snapshot: BigInt(asOf),
      filter: shown(filter, tasks?.length, count - targets.length),
      ...(priority === undefined ? {} : { priority: priority as number }),
    });
    return { id: call.operationId, revision: revision.toString() };
  },
});

function reasonOf({ reason }: { readonly reason?: string }): { readonly reason?: string } {
  return reason === undefined ? {} : { reason };
}

/** `changed`: counted, but changed before the start; they are left alone without being named. */
function shown(filter: TaskFilter | undefined, picked: number | undefined, changed: number): Json {
  return {
    ...filter,
    ...(picked === undefined ? {} : { picked }),
    ...(changed === 0 ? {} : { changed }),
  };
}

const listAll = route({
  method: 'GET',
  url: '/bulk',
  permission: 'board.read',
  summary: 'Bulks, the newest first',
  response: BulkPage,
  run: async (_call, { board }) => {
    board.refresh();
    const followed = board.views.followRows('bulks', {});
    const table = board.views.small('bulks');
    const rows = followed.list.slice(0, 500).flatMap(({ id }) => table.get(id) ?? []);
    followed.release();
    return { revision: board.revision, rows };
  },
});

const getOne = route({
  method: 'GET',
  url: '/bulk/:id',
  permission: 'board.read',
  summary: 'A bulk and how far it has come',
  params: IdParams,
  response: BulkDetail,
  run: async ({ params: { id } }, { board }) => {
    const { state, facts, leases } = board;
    const row = bulkRow({ state, facts, leases }, id);
    if (row === undefined) throw new LeaseholdError('not-found', `there is no bulk ${id}`, { id });
    return { asOf: board.revision, row, updatedMs: row.updatedMs };
  },
});

const LeftQuery = z.object({
  limit: z.coerce.number().int().min(1).max(500).default(100),
  cursor: z.string().max(10).optional(),
});

const listLeft = route({
  method: 'GET',
  url: '/bulk/:id/left',
  permission: 'board.read',
  summary: 'What a bulk did not do, and why: skipped (its state did not allow it) or conflicted (it had changed)',
  params: IdParams,
  query: LeftQuery,
  response: BulkLeftPage,
  run: async ({ params: { id }, query: { limit, cursor } }, { board, store }) => {
    if (!board.state.bulks.has(id)) throw new LeaseholdError('not-found', `there is no bulk ${id}`, { id });
    if (cursor !== undefined && !/^\d{1,5}$/.test(cursor)) {
      throw new LeaseholdError('invalid', 'cursor: it is not one that this API gave; start without a cursor', {
        field: 'cursor',
      });
    }
    const { left, next } = await bulkLeft(store, id, { from: Number(cursor ?? 0), limit });
    return {
      rows: left.map(([task, kind, code, message]) => ({ id: task, kind, code, message })),
      ...(next === undefined ? {} : { next: String(next) }),
    };
  },
});

const abortOne = route({
  method: 'POST',
  url: '/bulk/:id/abort',
  permission: 'bulk.run',
  summary: 'Stop a bulk after the chunk that is under way',
  params: IdParams,
  body: ResumeQueue,
  response: Done,
  run: async (call, { store }) => {
    const { id } = call.params;
    const { revision } = await abortBulk(store, operatorCall(call, call.body), id);
    return { id, revision: revision.toString() };
  },
});

export const BULK_ROUTES: readonly Route[] = [countOne, startOne, listAll, getOne, listLeft, abortOne];
