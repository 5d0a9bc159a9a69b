/** How often. Counted in this process: several boards each count for themselves, which only multiplies the limit by them. */
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Identity } from '../guard/identity.js';
import type { LimitOptions } from './options.js';

/** Undefined: go on. Otherwise after how many seconds to try again. */
export type Wait = number | undefined;

const LONGEST_BLOCK_S = 900;

/**
 * Guesses at passwords. Every wrong one counts against the address it comes from; who uses his
 * minute up is blocked for one, then two, four ... fifteen. Names are not counted: anybody could lock anybody out.
 */
export class LoginLimit {
  readonly #wrong: RateLimiterMemory;
  readonly #blocks = new RateLimiterMemory({ points: 1_000_000, duration: 3_600, keyPrefix: 'blocks' });

  constructor({ loginsPerMinute }: Required<LimitOptions>) {
    this.#wrong = new RateLimiterMemory({ points: loginsPerMinute, duration: 60, keyPrefix: 'wrong' });
  }

  /** Takes one try. Give it back with `passed`, so that only wrong ones count. */
  async take(address: string): Promise<Wait> {
    try {
      await this.#wrong.consume(address);
      return undefined;
    } catch (over) {
      const left = waitOf(over);
      const now = await this.#wrong.get(address);
      // The first refusal of a block makes it; those within it only wait.
      if (now !== null && now.consumedPoints > (this.#wrong.points ?? 0) + 1) return left;
      const { consumedPoints } = await this.#blocks.consume(address);
      const blockS = Math.min(LONGEST_BLOCK_S, 60 * 2 ** (consumedPoints - 1));
      await this.#wrong.block(address, blockS);
      return blockS;
    }
  }

  async passed(address: string): Promise<void> {
    await this.#wrong.reward(address, 1);
  }
}

/** Changes by one user, and refusals that are worth a record. */
export class ActLimit {
  readonly #people: RateLimiterMemory;
  readonly #tokens: RateLimiterMemory;
  readonly #checks = new RateLimiterMemory({ points: 600, duration: 60 });
  readonly #refusals = new RateLimiterMemory({ points: 30, duration: 60 });
  readonly #allRefusals = new RateLimiterMemory({ points: 300, duration: 60 });

  constructor({ changesPerMinute }: Required<LimitOptions>) {
    this.#people = new RateLimiterMemory({ points: changesPerMinute, duration: 60 });
    this.#tokens = new RateLimiterMemory({ points: 10 * changesPerMinute, duration: 60 });
  }

  /** Whoever is let in for being on this machine owns it, and is not counted. */
  change({ actor, credential }: Identity): Promise<Wait> {
    if (credential === undefined || actor.method === 'loopback') return Promise.resolve(undefined);
    const limiter = credential.startsWith('token ') ? this.#tokens : this.#people;
    return taken(limiter, `${actor.kind}:${actor.name}`);
  }

  /** Questions that are sent as POST because they are long: they write nothing. */
  check({ actor, credential }: Identity): Promise<Wait> {
    if (credential === undefined) return Promise.resolve(undefined);
    return taken(this.#checks, `${actor.kind}:${actor.name}`);
  }

  /** False: so many were refused lately that more records would only fill the store. */
  async worthRecording(who: string): Promise<boolean> {
    return (await taken(this.#refusals, who)) === undefined && (await taken(this.#allRefusals, 'all')) === undefined;
  }
}

async function taken(limiter: RateLimiterMemory, key: string): Promise<Wait> {
  try {
    await limiter.consume(key);
    return undefined;
  } catch (over) {
    return waitOf(over);
  }
}

function waitOf(over: unknown): number {
  if (over instanceof RateLimiterRes) return Math.max(1, Math.ceil(over.msBeforeNext / 1_000));
  throw over;
}
