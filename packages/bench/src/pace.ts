/** Keeps so many calls going for so long; gives how many ended, and how long each took. */
export interface Paced {
  readonly done: number;
  readonly seconds: number;
}

export async function keepBusy(lanes: number, forMs: number, call: (n: number) => Promise<number>): Promise<Paced> {
  const began = performance.now();
  let started = 0;
  let done = 0;
  const lane = async (): Promise<void> => {
    while (performance.now() - began < forMs) {
      // Not `done += await ...`: that would read `done` before the wait and lose what other lanes add meanwhile.
      const ended = await call(started++);
      done += ended;
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return { done, seconds: (performance.now() - began) / 1000 };
}

/** Runs `call` for 0 to `count` - 1, so many at a time. */
export async function each(count: number, lanes: number, call: (n: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) await call(next++);
  };
  await Promise.all(Array.from({ length: Math.min(lanes, count) }, lane));
}
