import { FinalError } from '@leasehold/core';
import { createServer, type RequestListener, type Server } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { checkUrl, readAllowed } from '../src/allowed.js';
import { Crawler } from '../src/crawl.js';
import { startDemoSite, type DemoSite } from '../src/demo-site.js';
import {
  MissingPageError,
  NotHtmlError,
  PageTooLargeError,
  RefusedUrlError,
  RobotsError,
  TooManyRedirectsError,
  UnwellServerError,
} from '../src/errors.js';
import { USER_AGENT } from '../src/read.js';
import { Turns } from '../src/turns.js';
import type { Work } from '../src/work.js';

const quiet: Work = { signal: new AbortController().signal, log: () => undefined };
let site: DemoSite;
beforeAll(async () => void (site = await startDemoSite()));
afterAll(() => site.close());

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`;
}

function crawler(base = site.url, pauseMs = 0): Crawler {
  return new Crawler({ allowed: readAllowed(undefined), base, pauseMs });
}
const crawl = (url: string): Promise<[string, number, bigint]> => crawler().crawlPage({ url }, quiet);

describe('the demo site', () => {
  test('gives title, links and size of a page', async () => {
    const [title, links, bytes] = await crawl('/');
    expect(title).toBe('The Demo Gazette');
    expect(links).toBe(25);
    expect(bytes).toBeGreaterThan(1_000n);
  });

  test('has articles that differ, and whose links to themselves count once', async () => {
    const [first, links] = await crawl('/articles/1');
    const [second] = await crawl('/articles/2');
    expect(first).not.toBe(second);
    expect(links).toBe(3);
  });

  test('is read through a redirect', async () => {
    expect((await crawl('/old'))[0]).toBe('About');
  });

  test('can be named by a full URL', async () => {
    expect((await crawl(`${site.url}about#x`))[0]).toBe('About');
  });
});

describe('a page that cannot be read', () => {
  test('a 404 is final, a 503 is worth another try', async () => {
    const missing = await crawl('/missing').catch((error: unknown) => error);
    expect(missing).toBeInstanceOf(MissingPageError);
    expect(missing).toMatchObject({ status: 404 });
    const busy = await crawl('/busy').catch((error: unknown) => error);
    expect(busy).toBeInstanceOf(UnwellServerError);
    expect(busy).not.toBeInstanceOf(FinalError);
  });

  test('robots.txt is obeyed, and named', async () => {
    await expect(crawl('/private/')).rejects.toThrow(RobotsError);
    await expect(crawl('/private/')).rejects.toThrow(/robots\.txt, line 2/);
  });

  test('a page without an end is cut off', async () => {
    await expect(crawl('/endless')).rejects.toThrow(PageTooLargeError);
  });

  test('what is no page is refused', async () => {
    await expect(crawl('/data.json')).rejects.toThrow(NotHtmlError);
  });

  test('a redirect to a host that is not allowed is refused, and so is one in circles', async () => {
    await expect(crawl('/away')).rejects.toThrow(RefusedUrlError);
    await expect(crawl('/loop')).rejects.toThrow(TooManyRedirectsError);
  });

  test('a server that is not there is an error', async () => {
    await expect(crawl('http://127.0.0.1:1/')).rejects.toThrow();
  });

  test('nothing is read when robots.txt answers 5xx', async () => {
    const base = await serve(
      (request, response) => void response.writeHead(request.url === '/robots.txt' ? 500 : 200).end(),
    );
    await expect(crawler(base).crawlPage({ url: '/' }, quiet)).rejects.toThrow(/robots\.txt answered 500/);
  });
});

test.each([
  'http://example.com/',
  'ftp://127.0.0.1/',
  'file:///etc/passwd',
  'http://u:p@127.0.0.1/',
  'http://[::',
  'http://127.0.0.1.example.com/',
])('refuses the URL %s', (url) => {
  expect(() => checkUrl(url, 'http://127.0.0.1/', readAllowed(''))).toThrow(RefusedUrlError);
});

test('allows what is configured, by host or by host and port', () => {
  const allowed = readAllowed('example.com, Other.example:8080');
  expect(checkUrl('https://example.com/a#b', 'http://x/', allowed).href).toBe('https://example.com/a');
  expect(checkUrl('http://other.example:8080/', 'http://x/', allowed).host).toBe('other.example:8080');
  expect(() => checkUrl('http://other.example/', 'http://x/', allowed)).toThrow(RefusedUrlError);
  expect(() => checkUrl('http://127.0.0.1/', 'http://x/', allowed)).toThrow(RefusedUrlError);
});

describe('politeness', () => {
  test('says who it is, and never has two requests at one host', async () => {
    let open = 0;
    let most = 0;
    const agents = new Set<string | undefined>();
    const base = await serve((request, response) => {
      agents.add(request.headers['user-agent']);
      most = Math.max(most, (open += 1));
      setImmediate(() => {
        open -= 1;
        response.setHeader('content-type', 'text/html');
        response.end('<title>x</title>');
      });
    });
    const polite = crawler(base);
    await Promise.all(Array.from({ length: 6 }, (_, n) => polite.crawlPage({ url: `/${n}` }, quiet)));
    expect(most).toBe(1);
    expect([...agents]).toEqual([USER_AGENT]);
  });

  test('pauses between two visits of one host, but not for another', async () => {
    let now = 0;
    const turns = new Turns(() => now);
    const { signal } = quiet;
    await turns.take('a', 50, signal, () => Promise.resolve());
    await turns.take('b', 0, signal, () => Promise.resolve());
    const began = performance.now();
    const second = turns.take('a', 0, signal, () => Promise.resolve(performance.now() - began));
    expect(await second).toBeGreaterThan(40);
    now = 100;
    expect(await turns.take('a', 0, signal, () => Promise.resolve('at once'))).toBe('at once');
  });

  test('giving up while waiting lets the next one through', async () => {
    const turns = new Turns();
    let release = (): void => undefined;
    const first = turns.take('a', 0, quiet.signal, () => new Promise<void>((resolve) => (release = resolve)));
    const abort = new AbortController();
    const second = turns.take('a', 0, abort.signal, () => Promise.resolve('second'));
    const third = turns.take('a', 0, quiet.signal, () => Promise.resolve('third'));
    abort.abort(new Error('gave up'));
    await expect(second).rejects.toThrow('gave up');
    release();
    await first;
    expect(await third).toBe('third');
  });

  test('an abort ends a request that hangs', async () => {
    const base = await serve((request, response) => {
      if (request.url === '/robots.txt') response.writeHead(404).end();
      else setImmediate(() => abort.abort(new Error('lease lost')));
    });
    const abort = new AbortController();
    await expect(crawler(base).crawlPage({ url: '/' }, { ...quiet, signal: abort.signal })).rejects.toThrow(
      'lease lost',
    );
  });
});
