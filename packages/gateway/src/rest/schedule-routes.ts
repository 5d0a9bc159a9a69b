/** Schedules: read from the projection, changed by core's guarded and audited acts. */
import { LeaseholdError, type MissedPolicy, type OverlapPolicy, type Workflow } from '@leasehold/core/model';
import {
  deleteSchedule,
  pauseSchedule,
  readSchedule,
  resumeSchedule,
  runScheduleNow,
  upsertSchedule,
  type Operated,
  type OperatorCall,
  type Store,
} from '@leasehold/core/store';
import {
  ActOnSchedule,
  Done,
  RunSchedule,
  ScheduleDetail,
  ScheduleDone,
  ScheduleRow,
  UpsertSchedule,
  type ScheduleRun,
} from '@leasehold/wire';
import { z } from 'zod';
import type { Board } from '../projection/board.js';
import { scheduleRow } from '../projection/rows.js';
import { withHandlerDefaults } from './advertised.js';
import { IdParams, operatorCall, route, type Route } from './route.js';
import { shownSource } from './workflow-detail.js';

/** Runs shown of one schedule. */
const RUNS = 10;

const listSchedules = route({
  method: 'GET',
  url: '/schedules',
  permission: 'board.read',
  summary: 'Schedules, the next to run first',
  response: z.object({ revision: z.string(), rows: z.array(ScheduleRow) }),
  run: async (_call, { board }) => {
    board.refresh();
    const followed = board.views.followRows('schedules', {});
    const table = board.views.small('schedules');
    const rows = followed.list.slice(0, followed.list.size).flatMap(({ id }) => table.get(id) ?? []);
    followed.release();
    return { revision: board.revision, rows };
  },
});

const getSchedule = route({
  method: 'GET',
  url: '/schedules/:id',
  permission: 'board.read',
  summary: 'A schedule, what it submits, and its last runs',
  params: IdParams,
  response: ScheduleDetail,
  run: async ({ params, identity }, { board }) =>
    scheduleDetail(board, params.id, identity.permissions.has('payload.read')),
});

const putSchedule = route({
  method: 'POST',
  url: '/schedules/:id',
  permission: 'schedule.write',
  summary: 'Make a schedule, or change one',
  params: IdParams,
  body: UpsertSchedule,
  response: Done,
  run: async (call, { store, board }) => {
    const { id } = call.params;
    const { body } = call;
    const before = await readSchedule(store, id);
    const given = body.workflow as Workflow | undefined;
    const workflow = given === undefined ? before?.record.workflow : withHandlerDefaults(board, store, given);
    if (workflow === undefined) {
      throw new LeaseholdError('invalid', 'workflow: a new schedule needs one', { field: 'workflow' });
    }
    const zone = body.zone ?? before?.record.zone;
    const missed = (body.missed as MissedPolicy | undefined) ?? before?.record.missed;
    const overlap = (body.overlap as OverlapPolicy | undefined) ?? before?.record.overlap;
    const { revision } = await upsertSchedule(store, operatorCall(call, body), {
      id,
      spec: body.spec,
      workflow,
      ...defined({ zone, missed, overlap }),
      ...boundsOf(body, before?.record),
    });
    return { id, revision: revision.toString() };
  },
});

const BOUNDS = ['startMs', 'endMs', 'count', 'jitterMs', 'missedWindowMs'] as const;
type Bounds = { readonly [K in (typeof BOUNDS)[number]]?: number };

/** What is given, else what was there; `null` takes it away. Whatever it is, the core checks it, in its own words. */
function boundsOf(given: { readonly [K in keyof Bounds]?: unknown }, before: Bounds | undefined): Bounds {
  const bounds = BOUNDS.map((field) => [field, given[field] === undefined ? before?.[field] : given[field]] as const);
  return Object.fromEntries(bounds.filter(([, value]) => value !== undefined && value !== null)) as Bounds;
}

/** Without what is undefined. */
function defined<T extends object>(given: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never;
}

type ScheduleAct = (store: Store, call: OperatorCall, id: string) => Promise<Operated>;

function actRoute(verb: string, summary: string, run: ScheduleAct): Route {
  return route({
    method: 'POST',
    url: `/schedules/:id/${verb}`,
    permission: 'schedule.write',
    summary,
    params: IdParams,
    body: ActOnSchedule,
    response: Done,
    run: async (call, { store }) => {
      const { id } = call.params;
      const { revision } = await run(store, operatorCall(call, call.body), id);
      return { id, revision: revision.toString() };
    },
  });
}

const runNow = route({
  method: 'POST',
  url: '/schedules/:id/run',
  permission: 'schedule.write',
  summary: 'Submit it once now, outside its instants',
  params: IdParams,
  body: RunSchedule,
  response: ScheduleDone,
  run: async (call, { store }) => {
    const { id } = call.params;
    const { revision, submittedId } = await runScheduleNow(store, operatorCall(call, call.body), id);
    return { id, revision: revision.toString(), submittedId };
  },
});

export const SCHEDULE_ROUTES: readonly Route[] = [
  listSchedules,
  getSchedule,
  putSchedule,
  actRoute('pause', 'Pause a schedule; what falls into the pause is not made up for', pauseSchedule),
  actRoute('resume', 'Let a paused schedule run again', resumeSchedule),
  actRoute('delete', 'Delete a schedule; what it has submitted goes on', deleteSchedule),
  runNow,
];

function scheduleDetail(board: Board, id: string, payload: boolean): ScheduleDetail {
  board.refresh();
  const { state, facts, leases } = board;
  const row = scheduleRow({ state, facts, leases }, id);
  const record = state.schedules.get(id)?.record;
  if (row === undefined || record === undefined) {
    throw new LeaseholdError('not-found', `there is no schedule ${id}`, { id });
  }
  const { startMs, endMs, count, jitterMs } = record;
  return {
    asOf: board.revision,
    row,
    workflow: shownSource(board, record.workflow, payload),
    anchorMs: record.anchorMs,
    missedWindowMs: record.missedWindowMs,
    ...defined({ startMs, endMs, count, jitterMs }),
    runs: runsOf(board, id),
  };
}

/** What it submitted has its id and the instant in theirs, or `now` and the operation's id. */
function runsOf({ state }: Board, scheduleId: string): ScheduleRun[] {
  const prefix = `${scheduleId}-`;
  const runs: ScheduleRun[] = [];
  const add = (id: string, run: Omit<ScheduleRun, 'id' | 'instantMs'>): void => {
    const rest = id.slice(prefix.length);
    const instantMs = /^\d{1,16}$/.test(rest) ? Number(rest) : undefined;
    if (instantMs === undefined && !/^now-[^.]+$/.test(rest)) return;
    runs.push({ id, ...run, ...defined({ instantMs }) });
  };
  for (const { id, state: taskState, createdMs, endedMs, workflow } of state.tasks.values()) {
    if (!id.startsWith(prefix) || workflow !== undefined) continue;
    add(id, { kind: 'task', state: taskState, createdMs, ...defined({ endedMs }) });
  }
  for (const [id, { record }] of state.workflows) {
    if (!id.startsWith(prefix)) continue;
    add(id, {
      kind: 'workflow',
      state: record.state,
      createdMs: record.createdMs,
      ...defined({ endedMs: record.endedMs }),
    });
  }
  return runs.sort((a, b) => b.createdMs - a.createdMs).slice(0, RUNS);
}
