import robotsParser from 'robots-parser';
import { RobotsError, statusError } from './errors.js';
import { read, ROBOT_NAME, type ReadLimits } from './read.js';

interface Rules {
  isAllowed(url: string, robot: string): boolean | undefined;
  getMatchingLineNumber(url: string, robot: string): number;
  getCrawlDelay(robot: string): number | undefined;
}

/** The package is CommonJS and its types describe an ES module, so its one function is typed here. */
const parseRobots = robotsParser as unknown as (url: string, text: string) => Rules;

const KEPT_MS = 300_000;
/** RFC 9309 asks for at least 500 KiB. */
const LIMITS: ReadLimits = { bytes: 512_000, timeMs: 10_000 };
const LONGEST_PAUSE_MS = 10_000;
const MOST_SITES = 1_000;

/** What each site asks of crawlers, remembered for five minutes. */
export class Robots {
  readonly #rules = new Map<string, { readonly rules: Rules; readonly untilMs: number }>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Throws when the page may not be read; gives the pause that the site asks for, ms (0: none asked). */
  async check(url: URL, signal: AbortSignal): Promise<number> {
    const rules = await this.#of(url, signal);
    if (rules.isAllowed(url.href, ROBOT_NAME) === false) {
      throw new RobotsError(url, rules.getMatchingLineNumber(url.href, ROBOT_NAME));
    }
    return Math.min(LONGEST_PAUSE_MS, (rules.getCrawlDelay(ROBOT_NAME) ?? 0) * 1_000);
  }

  async #of(url: URL, signal: AbortSignal): Promise<Rules> {
    const known = this.#rules.get(url.origin);
    if (known !== undefined && known.untilMs > this.#now()) return known.rules;
    const where = new URL('/robots.txt', url);
    const answer = await read(where, LIMITS, signal);
    // RFC 9309: a site without rules (4xx) may be read; one in trouble (5xx) may not, until it has recovered.
    if (answer.status >= 500) throw statusError(where, answer.status);
    const rules = parseRobots(where.href, answer.status === 200 ? answer.body : '');
    if (this.#rules.size >= MOST_SITES) this.#rules.clear();
    this.#rules.set(url.origin, { rules, untilMs: this.#now() + KEPT_MS });
    return rules;
  }
}
