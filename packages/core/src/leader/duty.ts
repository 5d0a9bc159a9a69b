/**
 * A duty of the leader: a loop that looks at how things are and brings them on, woken by what it watches, by the time it
 * named itself, and in any case after a slow interval.
 *
 * 1. What it watches only wakes it. What it does is decided on what it reads (level-triggered), so an event that was
 *    missed, or a view that had to be built anew, costs time and nothing else.
 * 2. A write that the fence refuses ends the pass and puts the term in doubt; it is never tried again under that fence.
 */
import { isLeaseholdError } from '../model/errors.js';
import { Lifecycle, type Service } from '../runtime/service.js';
import { Loop } from '../runtime/loop.js';
import { Feed, type FeedOptions, type FeedRange, type FeedSink } from '../store/feed.js';
import type { Term } from './term.js';

export interface DutyOptions {
  readonly name: string;
  /** One pass. A number: look again after so many ms at the latest. */
  readonly pass: (signal: AbortSignal) => Promise<number | void>;
  /** Look again at least so often, ms. */
  readonly intervalMs: number;
  readonly watch?: DutyWatch;
}

export interface DutyWatch extends FeedSink {
  readonly ranges: readonly FeedRange[];
  readonly filter?: 'no-put' | 'no-delete';
  /** Whether `replace` is given what is there; default false. */
  readonly list?: boolean;
}

export class Duty implements Service {
  readonly name: string;
  readonly #loop: Loop;
  readonly #feed: Feed | undefined;
  readonly #lifecycle: Lifecycle;

  constructor(term: Term, options: DutyOptions) {
    const { clock } = term;
    const logger = term.logger.child({ duty: options.name });
    this.name = options.name;
    this.#loop = new Loop({
      name: options.name,
      clock,
      logger,
      intervalMs: options.intervalMs,
      pass: async (signal) => {
        try {
          return await options.pass(signal);
        } catch (error) {
          if (!isLeaseholdError(error, 'session-lost')) throw error;
          logger.info(`${options.name}: refused by the fence`, { term: term.leadership.term });
          term.doubt();
        }
      },
    });
    this.#feed =
      options.watch === undefined ? undefined : new Feed(feedOptions(term, options.name, options.watch), options.watch);
    this.#lifecycle = new Lifecycle({
      name: options.name,
      begin: async (signal) => {
        await this.#feed?.start(signal);
        await this.#loop.start(signal);
      },
      end: async () => {
        await Promise.all([this.#loop.stop(), this.#feed?.stop()]);
      },
    });
  }

  start(signal?: AbortSignal): Promise<void> {
    return this.#lifecycle.start(signal);
  }

  stop(): Promise<void> {
    return this.#lifecycle.stop();
  }

  wake(): void {
    this.#loop.wake();
  }

  /** Resolves when no pass runs and none is due at once; for tests. */
  idle(): Promise<void> {
    return this.#loop.idle();
  }
}

function feedOptions(term: Term, name: string, watch: DutyWatch): FeedOptions {
  const { store, clock, logger } = term;
  return {
    kv: store.kv,
    clock,
    logger,
    name: `leader/${name}`,
    ranges: watch.ranges,
    epochKey: store.keys.epoch(),
    list: watch.list ?? false,
    ...(watch.filter === undefined ? {} : { filter: watch.filter }),
  };
}
