'use client';
/**
 * Acting safely.
 *
 * A1  What was acted on is faded, and ignores the pointer, until the page has seen the revision of the reply.
 * A2  When the board is older than 30 s, an action asks again, saying how old.
 * A3  A refusal is told in the words of whoever refused; a conflict says that nothing was done.
 */
import { compareDecimal, type Done } from '@leasehold/wire';
import { createContext, lazy, Suspense, useCallback, useContext, useMemo, useState, type ReactNode } from 'react';
import { useT, type Translate } from '../i18n';
import { useHealth, useLink } from '../live/hooks';
import { useRev } from '../live/rev';
import { useNotify, type Notice } from '../ui/toast';
import { ApiError } from './call';

export interface Action {
  /** Ids of the rows it changes. */
  readonly ids: readonly string[];
  readonly run: () => Promise<Done>;
  readonly said: (done: Done) => Omit<Notice, 'kind'>;
  readonly after?: (done: Done) => void;
}

interface Acting {
  /** Resolves to false when it was refused or not confirmed. */
  act(action: Action): Promise<boolean>;
  /** The revision that must be seen before the row counts as current; empty: in flight. */
  awaited(id: string): string | undefined;
}

const OldDataDialog = lazy(async () => ({ default: (await import('./old-data-dialog')).OldDataDialog }));

const ActingContext = createContext<Acting | null>(null);

const TITLES = {
  conflict: 'problem.conflict',
  'wrong-state': 'problem.wrongState',
  'not-found': 'problem.notFound',
  invalid: 'problem.invalid',
  'too-large': 'problem.tooLarge',
  'unique-conflict': 'problem.unique',
  denied: 'problem.denied',
  unreachable: 'problem.unreachable',
  unavailable: 'problem.unavailable',
  'storage-full': 'problem.storageFull',
} as const;

export function problemTitle(error: unknown, t: Translate): string {
  const code = error instanceof ApiError ? error.code : '';
  return t(Object.hasOwn(TITLES, code) ? TITLES[code as keyof typeof TITLES] : 'problem.other');
}

export function problemText(error: unknown, t: Translate): string {
  if (error instanceof ApiError && error.code === 'unreachable') return t('problem.unreachableText');
  return error instanceof Error ? error.message : String(error);
}

export function ActingProvider({ children }: { children: ReactNode }) {
  const t = useT();
  const notify = useNotify();
  const rev = useRev();
  const { freshness, proofAgeMs } = useHealth();
  const [pending, setPending] = useState<ReadonlyMap<string, string>>(new Map());
  const [asked, setAsked] = useState<{ readonly answer: (yes: boolean) => void } | null>(null);

  const confirmOld = useCallback(() => new Promise<boolean>((answer) => setAsked({ answer })), []);
  const mark = useCallback((ids: readonly string[], revision: string | null) => {
    setPending((old) => {
      const next = new Map(old);
      for (const id of ids) {
        if (revision === null) next.delete(id);
        else next.set(id, revision);
      }
      return next;
    });
  }, []);

  const act = useCallback(
    async (action: Action): Promise<boolean> => {
      if (rev !== undefined) {
        notify({ kind: 'refused', title: t('past.noActing'), text: t('past.note') });
        return false;
      }
      if (freshness === 'stale' && !(await confirmOld())) return false;
      mark(action.ids, '');
      try {
        const done = await action.run();
        mark(action.ids, done.revision);
        notify({ kind: 'done', ...action.said(done) });
        action.after?.(done);
        return true;
      } catch (error) {
        mark(action.ids, null);
        notify({ kind: 'refused', title: problemTitle(error, t), text: problemText(error, t) });
        return false;
      }
    },
    [rev, freshness, confirmOld, mark, notify, t],
  );

  const acting = useMemo<Acting>(() => ({ act, awaited: (id) => pending.get(id) }), [act, pending]);
  return (
    <ActingContext value={acting}>
      {children}
      {asked !== null && (
        <Suspense>
          <OldDataDialog ageMs={proofAgeMs} onAnswer={(yes) => (asked.answer(yes), setAsked(null))} />
        </Suspense>
      )}
    </ActingContext>
  );
}

export function useActing(): Acting {
  const acting = useContext(ActingContext);
  if (acting === null) throw new Error('useActing needs an ActingProvider around it');
  return acting;
}

/** True while something was done to this row that the page has not seen yet. */
export function useFaded(id: string): boolean {
  const { revision } = useLink();
  const awaited = useActing().awaited(id);
  if (awaited === undefined) return false;
  return awaited === '' || compareDecimal(revision, awaited) < 0;
}
