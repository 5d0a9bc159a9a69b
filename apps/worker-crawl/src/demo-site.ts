/** A small web site on loopback, so that the crawler has something real to read without leaving the machine. */
import { createServer, type ServerResponse } from 'node:http';

export interface DemoSite {
  readonly url: string;
  close(): Promise<void>;
}

const ARTICLES = 24;
const WORDS = 'lease lock queue token worker barrier chord chain watch shard fence promote rescue claim settle'.split(
  ' ',
);

/** Starts on `port`, or on a free one when that is taken (or 0). */
export async function startDemoSite(port = 0): Promise<DemoSite> {
  const server = createServer((request, response) => {
    response.setHeader('cache-control', 'no-store');
    answer(new URL(request.url ?? '/', 'http://demo').pathname, response);
  });
  const listen = (at: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(at, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
  await listen(port).catch(() => listen(0));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the demo site has no port');
  return {
    url: `http://127.0.0.1:${address.port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer(path: string, response: ServerResponse): void {
  const article = /^\/articles\/(\d{1,3})$/.exec(path);
  if (article !== null && Number(article[1]) >= 1 && Number(article[1]) <= ARTICLES) {
    return html(response, 200, articlePage(Number(article[1])));
  }
  const fixed = PAGES[path];
  if (fixed !== undefined) return fixed(response);
  html(response, 404, page('Not found', '<p>There is no such page.</p>'));
}

const PAGES: Readonly<Record<string, (response: ServerResponse) => void>> = {
  '/': (response) => html(response, 200, page('The Demo Gazette', list(ARTICLES))),
  '/about': (response) =>
    html(response, 200, page('About', '<p>Served by the crawler itself.</p><a href="/">Home</a>')),
  '/robots.txt': (response) => {
    response.setHeader('content-type', 'text/plain');
    response.end('User-agent: *\nDisallow: /private/\nCrawl-delay: 0.2\n');
  },
  '/private/': (response) => html(response, 200, page('Private', '<p>Not for crawlers.</p>')),
  '/old': (response) => redirect(response, '/about'),
  '/away': (response) => redirect(response, 'http://192.0.2.1/'),
  '/loop': (response) => redirect(response, '/loop'),
  '/busy': (response) => {
    response.setHeader('retry-after', '2');
    html(response, 503, page('Busy', '<p>Too much to do; come back later.</p>'));
  },
  '/data.json': (response) => {
    response.setHeader('content-type', 'application/json');
    response.end('{"articles":24}');
  },
  '/endless': endless,
};

function redirect(response: ServerResponse, to: string): void {
  response.writeHead(302, { location: to }).end();
}

function html(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(body);
}

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><title>${title}</title></head><body><h1>${title}</h1>${body}</body></html>`;
}

function list(count: number): string {
  const item = (n: number): string => `<li><a href="/articles/${n}">Article ${n}</a></li>`;
  return `<ul>${Array.from({ length: count }, (_, index) => item(index + 1)).join('')}</ul><a href="/about">About</a>`;
}

/** Different for every number and the same at every visit. */
function articlePage(n: number): string {
  const word = (index: number): string => WORDS[(n * 7 + index * (n + 3)) % WORDS.length] ?? '';
  const paragraph = (p: number): string => `<p>${Array.from({ length: 60 }, (_, i) => word(p * 60 + i)).join(' ')}</p>`;
  const text = Array.from({ length: 3 + (n % 9) }, (_, index) => paragraph(index)).join('');
  const more = `<a href="/articles/${(n % ARTICLES) + 1}">Next</a> <a href="/">Home</a> <a href="#top">Top</a>`;
  return page(`On the ${word(0)} and the ${word(1)}, part ${n}`, text + more);
}

/** A page without an end, for the size limit; it stops when the reader leaves. */
function endless(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/html' });
  const line = '<p>and so on</p>\n'.repeat(1_000);
  const more = (): void => {
    while (!response.destroyed && response.write(line));
  };
  response.on('drain', more);
  more();
}
