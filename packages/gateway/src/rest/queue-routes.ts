/** What is done to a queue as a whole, besides pausing it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { advance, drainQueue, purgeQueue, setLimits } from '@leasehold/core/store';
import { Done } from '@leasehold/wire';
import { z } from 'zod';
import { NameParams, operatorCall, route, type Route } from './route.js';

/** `expectedCount` is what the operator saw: nothing is purged when another number waits. */
export const PurgeQueue = z.strictObject({
  reason: z.string().min(1).max(500),
  expectedCount: z.number().int().min(0),
});
export const Purged = Done.extend({ purged: z.number(), left: z.number() });

/** `null` takes a limit away; what is left out stays. */
export const SetLimits = z.strictObject({
  reason: z.string().min(1).max(500).exactOptional(),
  revisionSeen: z.string().regex(/^\d+$/).exactOptional(),
  concurrency: z.number().nullable().exactOptional(),
  rate: z
    .strictObject({ count: z.number(), intervalMs: z.number(), even: z.boolean().exactOptional() })
    .nullable()
    .exactOptional(),
  ordered: z.boolean().exactOptional(),
});

/** Waits at most this long; a drain may take hours, and the board shows it live. */
const DRAIN_WAIT_MS = 30_000;

/** `waitMs` 0, the default, answers at once with how many still run. */
export const DrainQueue = z.strictObject({
  reason: z.string().min(1).max(500),
  revisionSeen: z.string().regex(/^\d+$/).exactOptional(),
  waitMs: z.number().int().min(0).max(DRAIN_WAIT_MS).exactOptional(),
});
/** Drained when nothing runs any more. The queue stays paused either way. */
export const Drained = Done.extend({ running: z.number() });

const purge = route({
  method: 'POST',
  url: '/queues/:name/purge',
  permission: 'queue.purge',
  summary: 'Cancel everything that waits in a queue, if as many tasks wait as were seen; what runs is left alone',
  params: NameParams,
  body: PurgeQueue,
  response: Purged,
  run: async (call, { store, logger }) => {
    const { name } = call.params;
    const { expectedCount } = call.body;
    const { purged, left, revision, drives } = await purgeQueue(store, operatorCall(call, call.body), name, {
      expectedCount,
    });
    for (const drive of drives) {
      advance(store, call.identity.actor, drive).catch((error: unknown) => {
        logger.warn('gateway: a workflow could not be driven on; the leader will', { id: drive.workflow, error });
      });
    }
    return { id: name, revision: revision.toString(), purged, left };
  },
});

const limits = route({
  method: 'POST',
  url: '/queues/:name/limits',
  permission: 'queue.limits',
  summary: 'Set how many tasks of a queue run at once, how many begin in an interval, and whether in order of commits',
  params: NameParams,
  body: SetLimits,
  response: Done,
  run: async (call, { store }) => {
    const { name } = call.params;
    const { concurrency, rate, ordered } = call.body;
    const change = {
      ...(concurrency === undefined ? {} : { concurrency }),
      ...(rate === undefined ? {} : { rate }),
      ...(ordered === undefined ? {} : { ordered }),
    };
    const { revision } = await setLimits(store, operatorCall(call, call.body), { queue: name }, change);
    return { id: name, revision: revision.toString() };
  },
});

const drain = route({
  method: 'POST',
  url: '/queues/:name/drain',
  permission: 'queue.pause',
  summary: 'Pause a queue and wait a while for what runs; answers how many still run. It stays paused',
  params: NameParams,
  body: DrainQueue,
  response: Drained,
  run: async (call, { store }) => {
    const { name } = call.params;
    const waitMs = call.body.waitMs ?? 0;
    let running = 0;
    const operated = await drainQueue(store, operatorCall(call, call.body), name, {
      sleep: (ms) => sleep(ms),
      everyMs: 250,
      timeoutMs: waitMs,
      onRunning: (count) => (running = count),
      onTimeout: 'return',
    });
    return { id: name, revision: operated.revision.toString(), running: operated.drained ? 0 : running };
  },
});

export const QUEUE_ROUTES: readonly Route[] = [purge, drain, limits];
