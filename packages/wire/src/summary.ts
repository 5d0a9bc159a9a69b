/**
 * The summary view: what does not belong to one row. It is a live view whose rows are sections, so that only sections
 * that changed travel, and one reducer serves all.
 */
import { z } from 'zod';
import { Percentiles } from './rows.js';
import { Decimal, Millis } from './scalars.js';

const counts = z.record(z.string(), z.number());

/** Tasks by state, over everything that is kept. */
export const Counters = z.object({ id: z.literal('states'), total: z.number(), states: counts });
export type Counters = z.infer<typeof Counters>;

/** Facets of the sidebar; each list is cut to the largest, `more` says how many were left out. */
export const Facets = z.object({
  id: z.literal('facets'),
  queues: z.array(
    z.object({
      name: z.string(),
      /** Tasks that have not ended. */
      live: z.number(),
      running: z.number(),
      limit: z.number().exactOptional(),
      paused: z.boolean(),
      hasWorker: z.boolean(),
    }),
  ),
  names: z.array(z.object({ name: z.string(), count: z.number() })),
  nodes: z.array(
    z.object({ id: z.string(), host: z.string(), running: z.number(), capacity: z.number(), draining: z.boolean() }),
  ),
  tags: z.array(z.object({ tag: z.string(), count: z.number() })),
  more: z.object({ queues: z.number(), names: z.number(), nodes: z.number(), tags: z.number() }),
});
export type Facets = z.infer<typeof Facets>;

export const LeaderCard = z.object({
  id: z.literal('leader'),
  /** Absent: there is none. */
  node: z.string().exactOptional(),
  sinceMs: Millis.exactOptional(),
  /** Since when there is none. */
  goneMs: Millis.exactOptional(),
  candidates: z.number(),
  /** SCHEDULED and RETRY tasks whose time has passed, and the oldest such time. */
  overdue: z.number(),
  oldestDueMs: Millis.exactOptional(),
  /** STARTED tasks without a lock. */
  unlocked: z.number(),
  overdueSchedules: z.number(),
  /** What the leader says of its own duties, this term. */
  health: z
    .object({
      promoted: z.number(),
      rescued: z.number(),
      repaired: z.number(),
      /** Workflows that it cannot drive on. */
      stuck: z.number().exactOptional(),
      lateP50Ms: z.number().exactOptional(),
      lateP99Ms: z.number().exactOptional(),
      compacts: z.boolean().exactOptional(),
    })
    .exactOptional(),
});
export type LeaderCard = z.infer<typeof LeaderCard>;

/** Per second, oldest first; the last bucket is the running second. */
export const Rates = z.object({
  id: z.literal('rates'),
  /** Epoch second of the last bucket. */
  second: z.number(),
  submitted: z.array(z.number()),
  started: z.array(z.number()),
  succeeded: z.array(z.number()),
  failed: z.array(z.number()),
  wait: Percentiles,
  run: Percentiles,
});
export type Rates = z.infer<typeof Rates>;

/** Each number links to a filtered list. */
export const Triage = z.object({
  id: z.literal('triage'),
  failed: z.number(),
  errors: z.number(),
  waitingLong: z.number(),
  runningLong: z.number(),
  leasesEnding: z.number(),
  queuesWithoutWorker: z.array(z.string()),
  namesWithoutWorker: z.array(z.string()),
  paused: z.array(z.string()),
});
export type Triage = z.infer<typeof Triage>;

export const ClusterCard = z.object({
  id: z.literal('cluster'),
  clusterId: z.string(),
  version: z.string(),
  revision: Decimal,
  dbSizeBytes: z.number(),
  alarms: z.array(z.string()),
  members: z.number(),
  /** Caps of the projection that were reached: rows that exist and are not on the board. */
  dropped: z.number(),
});
export type ClusterCard = z.infer<typeof ClusterCard>;

export const SummarySection = z.discriminatedUnion('id', [Counters, Facets, LeaderCard, Rates, Triage, ClusterCard]);
export type SummarySection = z.infer<typeof SummarySection>;

/** The sections by name; a section that has not come yet is absent. */
export type Summary = { readonly [S in SummarySection as S['id']]?: S };
