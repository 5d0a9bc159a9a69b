/** Commits an outcome, however long the store takes to answer (X3). */
import { LeaseholdError } from '../model/errors.js';
import type { AttemptOutcome } from '../model/outcome.js';
import type { TaskRecord } from '../model/task.js';
import { Backoff } from '../runtime/backoff.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import type { Held } from '../store/claim.js';
import { advance } from '../store/drive.js';
import type { Session } from '../store/session.js';
import { settle, type Drive, type SettleResult } from '../store/settle.js';
import type { Store } from '../store/store.js';

export type Settled =
  | { readonly kind: 'settled'; readonly task: TaskRecord }
  /** Somebody else's word counts: its lock was lost or taken away. */
  | { readonly kind: 'superseded' | 'lost' };

interface Settling {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
}

export async function settleAttempt(
  { store, clock, logger }: Settling,
  session: Session,
  held: Held,
  outcome: AttemptOutcome,
  givenUp: () => boolean,
): Promise<Settled> {
  const backoff = new Backoff({ minMs: 100, maxMs: 2_000, random: store.random });
  let current = outcome;
  let replaced = 0;
  while (!givenUp() && session.isTrusted()) {
    try {
      return await concluded(
        { store, clock, logger },
        session,
        held,
        await settle(store, session.holder, held, current),
      );
    } catch (error) {
      const other = storable(error, current, held, store.now());
      if (other === undefined || replaced++ >= 2) {
        logger.warn('an outcome could not be committed yet', { task: held.task.id, error, tries: backoff.tries });
        await clock.sleep(backoff.nextMs(), session.signal);
      } else {
        logger.error('an outcome cannot be stored', { task: held.task.id, error });
        current = other;
      }
    }
  }
  return { kind: 'lost' };
}

async function concluded(
  { store, logger }: Settling,
  session: Session,
  held: Held,
  result: SettleResult,
): Promise<Settled> {
  switch (result.kind) {
    case 'settled':
      if (result.drive !== undefined) drive(store, logger, session, result.drive);
      return { kind: 'settled', task: result.task };
    case 'superseded':
      if (isOwn(result.task, session, held)) return ownEnd(store, logger, session, result.task);
      logger.warn('the attempt was superseded: its outcome counts for nothing', {
        task: held.task.id,
        token: held.token,
      });
      return { kind: 'superseded' };
    case 'fenced':
      await session.check();
      return { kind: 'lost' };
  }
}

/** An earlier try, whose answer never came, had been applied after all. */
function isOwn(task: TaskRecord | undefined, session: Session, held: Held): task is TaskRecord {
  const mine = task?.attempt === held.task.attempt && task.by === `node:${session.id}`;
  return mine && task.state !== 'STARTED';
}

function ownEnd(store: Store, logger: Logger, session: Session, task: TaskRecord): Settled {
  if (task.workflow !== undefined) drive(store, logger, session, task.workflow.id);
  return { kind: 'settled', task };
}

/** The leader does it too, later; so a failure here costs time only. */
function drive(store: Store, logger: Logger, session: Session, what: Drive | string): void {
  advance(store, { kind: 'node', name: session.id }, what).catch((error: unknown) => {
    logger.warn('a workflow could not be advanced; the leader will', { workflow: what, error });
  });
}

/** The outcome to be stored instead of one that cannot be; undefined when trying again may help. */
function storable(error: unknown, outcome: AttemptOutcome, held: Held, nowMs: number): AttemptOutcome | undefined {
  const code = codeOf(error);
  if (code !== 'too-large' && code !== 'too-many-operations' && code !== 'invalid') return undefined;
  const { attempt } = held.task;
  const message = error instanceof Error ? error.message : String(error);
  // A failure that does not fit either is cut to nearly nothing.
  const type = outcome.kind === 'success' ? 'ResultTooLargeError' : 'UnstorableError';
  return { kind: 'failure', error: { type, message: message.slice(0, 200), attempt, atMs: nowMs, final: true } };
}

function codeOf(error: unknown): unknown {
  if (error instanceof LeaseholdError) return error.code;
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
