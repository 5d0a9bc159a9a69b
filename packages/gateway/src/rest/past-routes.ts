/** The time machine. */
import { Difference, DifferenceQuery, HistorySpan, Moment, MomentQuery } from '@leasehold/wire';
import { LeaseholdError } from '@leasehold/core/model';
import type { Store } from '@leasehold/core/store';
import { compactionFloor, readSamples } from '../past/clock-samples.js';
import { differenceOf } from '../past/difference.js';
import { route, type Route, type RouteContext } from './route.js';

/** Samples that are sent: as many as a slider has room for. */
const SHOWN_SAMPLES = 240;

const getSpan = route({
  method: 'GET',
  url: '/history',
  permission: 'board.read',
  summary: 'How far back history goes, and which revision it was at which time',
  response: HistorySpan,
  run: (_call, context) => historySpan(context),
});

const getMoment = route({
  method: 'GET',
  url: '/history/moment',
  permission: 'board.read',
  summary: 'A revision that is still there, with its time; or the revision of a time',
  query: MomentQuery,
  response: Moment,
  run: async ({ query }, { pasts, store }) => {
    const revision = query.rev ?? (await revisionAt(store, query.time));
    return pasts.with(revision, ({ moment, state }) => ({ ...moment, states: state.counts.states.toRecord() }));
  },
});

const getDifference = route({
  method: 'GET',
  url: '/history/difference',
  permission: 'board.read',
  summary: 'What differs between two revisions, or between one and now',
  query: DifferenceQuery,
  response: Difference,
  run: async ({ query: { from, to } }, { pasts, board, store }) =>
    pasts.with(from, (before) => {
      if (to !== undefined) return pasts.with(to, (after) => differenceOf(before, after));
      const moment = { revision: board.revision, atMs: store.now() };
      return differenceOf(before, { state: board.state, moment });
    }),
});

export const PAST_ROUTES: readonly Route[] = [getSpan, getMoment, getDifference];

async function historySpan({ board, store }: RouteContext): Promise<HistorySpan> {
  const [floor, samples] = await Promise.all([compactionFloor(store), readSamples(store)]);
  const kept = samples.filter(({ revision }) => revision >= (floor ?? 0n));
  const every = Math.max(1, Math.ceil(kept.length / SHOWN_SAMPLES));
  return {
    now: { revision: board.revision, atMs: store.now() },
    samples: kept
      .filter((_, i) => (kept.length - 1 - i) % every === 0)
      .map(({ revision, atMs }) => ({ revision: revision.toString(), atMs })),
    ...(floor === undefined ? {} : { floor: floor.toString() }),
  };
}

async function revisionAt(store: Store, timeMs: number | undefined): Promise<string> {
  if (timeMs === undefined) throw new LeaseholdError('invalid', 'rev: give a revision or a time', { field: 'rev' });
  const sample = (await readSamples(store)).findLast(({ atMs }) => atMs <= timeMs);
  if (sample !== undefined) return sample.revision.toString();
  throw new LeaseholdError(
    'not-found',
    'time: nobody wrote down which revision it was then; a leader does, from its election on',
    {
      field: 'time',
    },
  );
}
