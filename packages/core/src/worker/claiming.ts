/**
 * One claim, decided again as often as what it was decided on turns out old, within reason. Losing a race is an answer, not
 * an error.
 */
import { isPoison } from '../model/transition.js';
import {
  claim,
  type Candidate,
  type ClaimResult,
  type Held,
  type RateUnit,
  type Seen,
  type SettingsSeen,
} from '../store/claim.js';
import { limitsOf } from '../store/edge.js';
import { readWorkflow } from '../store/graph.js';
import { readTasks } from '../store/ready.js';
import type { Session } from '../store/session.js';
import type { Store } from '../store/store.js';
import type { Limits, Slot } from './limits.js';
import type { Rates } from './rates.js';
import type { SettingsView } from './settings.js';
import type { Entry } from './window.js';

export interface Grounds {
  readonly store: Store;
  readonly settings: SettingsView;
  readonly limits: Limits;
  readonly rates: Rates;
}

/** What was chosen here of all that limits the task; the claim's guards say whether it really is free. */
export interface Reserved {
  readonly slots: readonly Slot[];
  readonly units: readonly RateUnit[];
  /**
   * The settings by which it was allowed and its limits were chosen. They guard every try: later ones may be a pause, and
   * nobody has looked (I9).
   */
  readonly settings: SettingsSeen;
}

/** `held`: somebody has it, or it is not to be begun as it is. `again`: it may be tried anew. */
export type Decided = { readonly held: Held } | 'held' | 'again';

const TRIES = 4;

export async function decideClaim(
  grounds: Grounds,
  session: Session,
  queue: string,
  entry: Entry,
  { slots, units, settings }: Reserved,
): Promise<Decided> {
  const { store } = grounds;
  let current = recordOf(entry) ?? (await readTasks(store, [entry.id]))[0];
  for (let tries = 0; tries < TRIES; tries++) {
    if (current === undefined || !mayRun(current, queue, entry, slots, store.now())) return 'held';
    const candidate: Candidate = { task: current.task, revision: current.revision, settings, slots, units };
    const result = await claim(store, session.holder, candidate);
    if (result.kind === 'claimed') return { held: result.held };
    const next = await afterRefusal(grounds, session, result, candidate);
    if (typeof next === 'string') return next;
    current = next;
  }
  return 'again';
}

/** The record as it came with the entry: both were written at one revision. */
function recordOf({ seen, ready, revision }: Entry): Seen | undefined {
  return seen ?? (ready?.record === undefined ? undefined : { task: ready.record, revision });
}

/** Whether the record, as it is now, is what the entry says, and may be begun. */
function mayRun({ task }: Seen, queue: string, entry: Entry, slots: readonly Slot[], nowMs: number): boolean {
  if (task.queue !== queue || task.order !== entry.order) return false;
  if (task.state === 'STARTED' && isPoison(task)) return false;
  if (task.state !== 'PENDING' && task.state !== 'STARTED') return false;
  // Past its time: left to the expirer, which says so in its record.
  if (task.expiresMs !== undefined && task.attempt === 0 && task.expiresMs <= nowMs) return false;
  if (task.deadlineMs !== undefined && task.deadlineMs <= nowMs) return false;
  // The limits of the entry were reserved; a record with others is another entry's business.
  return limitsOf(task).every(({ limit }) => slots.some((slot) => slot.limit === limit));
}

/** What a refusal means: a verdict, or the record to decide on again. */
async function afterRefusal(
  grounds: Grounds,
  session: Session,
  result: Exclude<ClaimResult, { kind: 'claimed' }>,
  candidate: Candidate,
): Promise<'held' | 'again' | Seen> {
  switch (result.kind) {
    case 'fenced':
      await session.check();
      return 'again';
    case 'held':
      return 'held';
    case 'changed':
      return result.task ?? 'held';
    case 'blocked':
      if (result.by === 'settings') return withNews(grounds.settings);
      // The unit may not be all that was taken meanwhile.
      if (result.by === 'units') await grounds.rates.catchUp();
      return underVersion(grounds, candidate, result.task);
  }
}

/** It was decided on old news. What is newer is waited for, so that the next decision is not made on the same. */
async function withNews(view: { catchUp(): Promise<void> }): Promise<'again'> {
  await view.catchUp();
  return 'again';
}

/**
 * The workflow went on under another version, or a slot was taken. In a workflow that still runs it is decided again under
 * its present version; in one that is being cancelled nothing starts any more.
 */
async function underVersion(
  { store, limits }: Grounds,
  candidate: Candidate,
  current: Seen | undefined,
): Promise<'held' | 'again' | Seen> {
  if (current === undefined) return 'held';
  const { task, revision } = current;
  if (task.workflow === undefined) return withNews(limits);
  const workflow = await readWorkflow(store, task.workflow.id);
  if (workflow?.record.state !== 'RUNNING') return 'held';
  const { version } = workflow;
  if (version === candidate.task.workflow?.version) return withNews(limits);
  return { task: { ...task, workflow: { ...task.workflow, version } }, revision };
}
