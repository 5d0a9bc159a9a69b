/** Long work in slices: after some milliseconds everybody else has a turn. */
const SLICE_MS = 8;
/** The clock is read once for so many items. */
const LOOK_EVERY = 32;

export class Pace {
  readonly #turn: () => Promise<void>;
  #since = performance.now();
  #items = 0;

  constructor(turn: () => Promise<void>) {
    this.#turn = turn;
  }

  /** Asked after each item. */
  get due(): boolean {
    return ++this.#items % LOOK_EVERY === 0 && performance.now() - this.#since >= SLICE_MS;
  }

  async rest(): Promise<void> {
    await this.#turn();
    this.#since = performance.now();
  }
}

/** The event loop goes round once. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
