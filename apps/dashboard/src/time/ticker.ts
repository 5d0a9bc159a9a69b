'use client';
import { createContext, useContext, useSyncExternalStore } from 'react';
import { serverOffset } from './offset';

/** One timer for each pace, running only while somebody looks: 200 visible stopwatches cost one interval. */
interface Ticker {
  subscribe(listener: () => void): () => void;
  now(): number;
}

function makeTicker(everyMs: number): Ticker {
  const listeners = new Set<() => void>();
  let timer: ReturnType<typeof setInterval> | undefined;
  let now = Date.now();
  const tick = (): void => {
    now = Date.now();
    for (const listener of listeners) listener();
  };
  return {
    now: () => now,
    subscribe(listener) {
      listeners.add(listener);
      timer ??= setInterval(tick, everyMs);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
  };
}

const TICKERS = { second: makeTicker(1_000), fast: makeTicker(200) } as const;

/** Set on pages that show the past: there the clock stands still. */
const Standing = createContext<number | undefined>(undefined);
export const AtMoment = Standing.Provider;

/** The server's time, ticking. A browser whose clock is wrong still shows true ages. */
export function useNow(pace: keyof typeof TICKERS = 'second'): number {
  const ticker = TICKERS[pace];
  const local = useSyncExternalStore(ticker.subscribe, ticker.now, ticker.now);
  const atMs = useContext(Standing);
  return atMs ?? local + serverOffset();
}

/** This machine's own time, for what it measures itself. */
export function useLocalNow(): number {
  const ticker = TICKERS.second;
  return useSyncExternalStore(ticker.subscribe, ticker.now, ticker.now);
}
