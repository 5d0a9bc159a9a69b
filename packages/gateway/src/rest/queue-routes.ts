/** What is done to a queue as a whole, besides pausing it. */
import { advance, purgeQueue, setLimits } from '@leasehold/core/store';
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
});

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
  summary: 'Set how many tasks of a queue run at once, and how many begin in an interval',
  params: NameParams,
  body: SetLimits,
  response: Done,
  run: async (call, { store }) => {
    const { name } = call.params;
    const { concurrency, rate } = call.body;
    const change = {
      ...(concurrency === undefined ? {} : { concurrency }),
      ...(rate === undefined ? {} : { rate }),
    };
    const { revision } = await setLimits(store, operatorCall(call, call.body), { queue: name }, change);
    return { id: name, revision: revision.toString() };
  },
});

export const QUEUE_ROUTES: readonly Route[] = [purge, limits];
