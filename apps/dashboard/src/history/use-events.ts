'use client';
import type { EventPage, StreamGroup } from '@leasehold/wire';
import { useEffect, useRef, useState } from 'react';
import { call } from '../api/call';
import { paths } from '../api/paths';

/** Groups that are kept in the page; older ones are dropped, and the page says so. */
export const KEPT_GROUPS = 500;
const WAIT_MS = 10_000;
const AGAIN_MS = 2_000;

export interface EventsFilter {
  readonly kinds: readonly string[];
  readonly prefix: string;
  readonly task: string;
  /** Where to begin; undefined: with the latest. */
  readonly after: string | undefined;
}

export interface Stream {
  /** Newest first. */
  readonly groups: readonly StreamGroup[];
  /** Dropped from the page to stay within bounds. */
  readonly dropped: number;
  /** Changes that the server no longer held. */
  readonly missed: boolean;
  readonly revision: string | undefined;
  readonly error: Error | null;
}

const NOTHING: Stream = { groups: [], dropped: 0, missed: false, revision: undefined, error: null };

export function added(stream: Stream, page: EventPage): Stream {
  const all = [...page.groups.toReversed(), ...stream.groups];
  return {
    groups: all.slice(0, KEPT_GROUPS),
    dropped: stream.dropped + Math.max(0, all.length - KEPT_GROUPS),
    missed: stream.missed || page.missed,
    revision: page.revision,
    error: null,
  };
}

function searchOf({ kinds, prefix, task }: EventsFilter, after: string | undefined): string {
  const search = new URLSearchParams();
  for (const kind of kinds) search.append('kind', kind);
  if (prefix !== '') search.set('prefix', prefix);
  if (task !== '') search.set('task', task);
  if (after !== undefined) search.set('after', after);
  search.set('waitMs', String(after === undefined ? 0 : WAIT_MS));
  return search.toString();
}

/** One question at a time, each waiting at the server for the next change; none while paused or hidden. */
export function useEvents(filter: EventsFilter, paused: boolean): Stream {
  const asked = JSON.stringify(filter);
  const [stream, setStream] = useState<Stream>(NOTHING);
  const at = useRef<{ readonly asked: string; readonly revision: string | undefined }>({
    asked: '',
    revision: undefined,
  });
  useEffect(() => {
    if (paused) return undefined;
    const wanted = JSON.parse(asked) as EventsFilter;
    if (at.current.asked !== asked) {
      at.current = { asked, revision: wanted.after };
      setStream(NOTHING);
    }
    const stopping = new AbortController();
    const { signal } = stopping;
    const run = async (): Promise<void> => {
      while (!signal.aborted) {
        if (document.hidden) await shown(signal);
        try {
          const path = paths.events(searchOf(wanted, at.current.revision));
          const page = await call({ answer: 'EventPage', path, signal });
          if (signal.aborted) return;
          at.current = { asked, revision: page.revision };
          setStream((old) => added(old, page));
        } catch (error) {
          if (signal.aborted) return;
          setStream((old) => ({ ...old, error: error instanceof Error ? error : new Error(String(error)) }));
          await waited(AGAIN_MS, signal);
        }
      }
    };
    void run();
    return () => stopping.abort();
  }, [asked, paused]);
  return stream;
}

function shown(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener('visibilitychange', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look);
    signal.addEventListener('abort', look, { once: true });
  });
}

function waited(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}
