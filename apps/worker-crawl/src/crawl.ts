import { load } from 'cheerio';
import { checkUrl, parseUrl, type AllowedHosts } from './allowed.js';
import { NotHtmlError, statusError, TooManyRedirectsError } from './errors.js';
import { read, type Answer, type ReadLimits } from './read.js';
import { Robots } from './robots.js';
import { Turns } from './turns.js';
import type { Work } from './work.js';

export interface CrawlerOptions {
  readonly allowed: AllowedHosts;
  /** Where paths without a host lead. */
  readonly base: string;
  /** Between two requests to one host; a site may ask for more. */
  readonly pauseMs?: number;
  readonly limits?: ReadLimits;
}

const PAUSE_MS = 200;
const LIMITS: ReadLimits = { bytes: 2_000_000, timeMs: 15_000 };
const MOST_REDIRECTS = 5;

export class Crawler {
  readonly #options: CrawlerOptions;
  readonly #turns = new Turns();
  readonly #robots = new Robots();

  constructor(options: CrawlerOptions) {
    this.#options = options;
  }

  /** Reads one page, through redirects; gives its title, how many pages it links to, and its size. */
  async crawlPage(given: { readonly url: string }, work: Work): Promise<[title: string, links: number, bytes: bigint]> {
    const { allowed, base } = this.#options;
    const first = checkUrl(given.url, base, allowed);
    let url = first;
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
      const answer = await this.#request(url, work.signal);
      if (answer.location === null || answer.status < 300 || answer.status >= 400) return this.#page(url, answer, work);
      const next = checkUrl(answer.location, url, allowed);
      work.log(`${url.href} leads to ${next.href}`);
      url = next;
    }
    throw new TooManyRedirectsError(first, MOST_REDIRECTS);
  }

  /** robots.txt is read in the same turn as the page, so that it counts as a visit too. */
  #request(url: URL, signal: AbortSignal): Promise<Answer> {
    const { limits = LIMITS, pauseMs = PAUSE_MS } = this.#options;
    return this.#turns.take(url.host, pauseMs, signal, async () => {
      const asked = await this.#robots.check(url, signal);
      const answer = await read(url, limits, signal);
      if (asked > pauseMs) this.#turns.pause(url.host, asked);
      return answer;
    });
  }

  #page(url: URL, answer: Answer, work: Work): [string, number, bigint] {
    if (answer.status !== 200) throw statusError(url, answer.status);
    if (answer.type !== 'text/html' && answer.type !== 'application/xhtml+xml')
      throw new NotHtmlError(url, answer.type);
    const page = load(answer.body);
    const title = page('title').first().text().trim().slice(0, 500);
    const hrefs = page('a[href]').map((_, link) => page(link).attr('href'));
    const links = new Set(hrefs.get().flatMap((href) => linked(href, url)));
    work.log(`${url.href}: ${JSON.stringify(title)}, ${links.size} links, ${answer.bytes} bytes`);
    return [title, links.size, BigInt(answer.bytes)];
  }
}

/** Where a link leads, if to a page at all. */
function linked(href: string, from: URL): string[] {
  const url = parseUrl(href, from);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return [];
  url.hash = '';
  return [url.href];
}
