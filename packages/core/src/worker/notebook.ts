/**
 * Progress and log lines of the running attempts, coalesced: what a moment brings is written together, a little later.
 * Bounded per attempt, so that a handler that logs without end fills nobody's store.
 */
import { cut } from '../model/outcome.js';
import type { Clock, Timer } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import type { Held } from '../store/claim.js';
import { writeNotes, type LogLineRecord, type ProgressRecord } from '../store/notes.js';
import type { Session } from '../store/session.js';
import type { Store } from '../store/store.js';

export const NOTE_LIMITS = Object.freeze({
  everyMs: 500,
  lineBytes: 2_048,
  messageBytes: 256,
  /** Of one attempt; what comes after is dropped, and the log says so. */
  logBytes: 65_536,
  chunkBytes: 16_384,
});

/** The notes of one attempt. */
export class Page {
  readonly session: Session;
  readonly held: Held;
  readonly #now: () => number;
  readonly #dirty: (page: Page) => void;
  #progress: ProgressRecord | undefined;
  #lines: LogLineRecord[] = [];
  #bytes = 0;
  #chunks = 0;
  #full = false;

  constructor(session: Session, held: Held, now: () => number, dirty: (page: Page) => void) {
    this.session = session;
    this.held = held;
    this.#now = now;
    this.#dirty = dirty;
  }

  get pending(): boolean {
    return this.#progress !== undefined || this.#lines.length > 0;
  }

  progress(fraction: number, message: unknown): void {
    const clamped = Number.isFinite(fraction) ? Math.min(1, Math.max(0, fraction)) : undefined;
    this.#progress = {
      attempt: this.held.task.attempt,
      atMs: this.#now(),
      ...(clamped === undefined ? {} : { fraction: clamped }),
      ...(message === undefined
        ? {}
        : { message: cut(typeof message === 'string' ? message : JSON.stringify(message), NOTE_LIMITS.messageBytes) }),
    };
    this.#dirty(this);
  }

  /** Untyped callers pass anything. */
  log(text: unknown): void {
    if (this.#full) return;
    const message = cut(String(text), NOTE_LIMITS.lineBytes);
    this.#bytes += message.length + LINE_OVERHEAD;
    this.#full = this.#bytes > NOTE_LIMITS.logBytes;
    const limit = `(the log of this attempt ends here: it reached ${NOTE_LIMITS.logBytes} bytes)`;
    this.#lines.push({ atMs: this.#now(), message: this.#full ? limit : message });
    this.#dirty(this);
  }

  /** What is to be written now, one chunk of lines at most. */
  take(): { progress?: ProgressRecord; chunk?: { n: number; lines: readonly LogLineRecord[] } } {
    const progress = this.#progress;
    this.#progress = undefined;
    let bytes = 0;
    let count = 0;
    for (const { message } of this.#lines) {
      bytes += message.length + LINE_OVERHEAD;
      if (count > 0 && bytes > NOTE_LIMITS.chunkBytes) break;
      count += 1;
    }
    const lines = this.#lines.splice(0, count);
    return {
      ...(progress === undefined ? {} : { progress }),
      ...(lines.length === 0 ? {} : { chunk: { n: this.#chunks++, lines } }),
    };
  }
}

const LINE_OVERHEAD = 30;

export class Notebook {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #dirty = new Set<Page>();
  #timer: Timer | undefined;

  constructor(store: Store, clock: Clock, logger: Logger) {
    this.#store = store;
    this.#clock = clock;
    this.#logger = logger;
  }

  open(session: Session, held: Held): Page {
    return new Page(session, held, this.#store.now, (page) => {
      this.#dirty.add(page);
      this.#timer ??= this.#clock.setTimer(NOTE_LIMITS.everyMs, () => this.#writeAll());
    });
  }

  /** Writes what is left of an attempt, before it is settled and its lock is gone. */
  async flush(page: Page): Promise<void> {
    this.#dirty.delete(page);
    while (page.pending) if (!(await this.#write(page))) return;
  }

  close(): void {
    this.#timer?.cancel();
    this.#dirty.clear();
  }

  #writeAll(): void {
    this.#timer = undefined;
    const pages = [...this.#dirty];
    this.#dirty.clear();
    for (const page of pages) void this.flush(page);
  }

  /** Notes are no reason to fail: what cannot be written is dropped. */
  async #write(page: Page): Promise<boolean> {
    const { id, attempt } = page.held.task;
    try {
      return await writeNotes(this.#store, page.session.holder, {
        id,
        attempt,
        token: page.held.token,
        ...page.take(),
      });
    } catch (error) {
      this.#logger.debug('notes of an attempt could not be written', { task: id, error });
      return false;
    }
  }
}
