import { setTimeout as sleep } from 'node:timers/promises';
import { uuidv7 } from 'uuidv7';
import type {} from '../../../tooling/vitest/provided.d.ts';
import {
  connectEtcd,
  MemoryStore,
  type Kv,
  type KvEvent,
  type WatchMessage,
  type WatchRequest,
} from '../../src/kv/index.js';

/** A store to test: its handle, keys of one's own, and a way to let time pass. */
export interface Target {
  readonly kv: Kv;
  readonly prefix: string;
  /** The end of the range of all keys under `prefix`. */
  readonly end: string;
  readonly passTime: (ms: number) => Promise<void>;
}

export type OpenTarget = () => Target;

export function memoryTarget(): OpenTarget {
  let nowMs = 0;
  const store = new MemoryStore({ now: () => nowMs });
  return () => ({
    kv: store.connect(),
    ...freshKeys(),
    passTime: (ms) => {
      nowMs += ms;
      store.tick();
      return Promise.resolve();
    },
  });
}

export function etcdTarget(endpoint: string): OpenTarget {
  return () => ({
    kv: connectEtcd({ endpoints: [endpoint] }),
    ...freshKeys(),
    passTime: (ms) => sleep(ms),
  });
}

export function freshKeys(): { readonly prefix: string; readonly end: string } {
  const stem = `/test/${uuidv7()}`;
  return { prefix: `${stem}/`, end: `${stem}0` };
}

/** A watch whose messages are kept, and can be waited for. */
export interface Recording {
  readonly messages: readonly WatchMessage[];
  readonly events: readonly KvEvent[];
  /** Resolves when `done` holds, which is asked after every message. */
  until(done: () => boolean): Promise<void>;
  requestProgress(): void;
  close(): void;
}

export function record(kv: Kv, request: WatchRequest): Recording {
  const messages: WatchMessage[] = [];
  const events: KvEvent[] = [];
  const waiting = new Set<() => void>();
  const handle = kv.watch(request, (message) => {
    messages.push(message);
    if (message.kind === 'events') events.push(...message.events);
    for (const check of waiting) check();
  });
  return {
    messages,
    events,
    until: (done) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (!done()) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
    requestProgress: () => handle.requestProgress(),
    close: () => handle.close(),
  };
}

/** The code that a call fails with; a call that succeeds is reported as such. */
export async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'no error';
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}
