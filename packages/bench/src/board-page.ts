/** The task list in Chromium, and what happens in it: rows, long tasks, bytes, and when a mark came into the page. */
import { chromium, type Browser, type Page } from '@playwright/test';

/** Runs in the page, before it. */
const WATCH = `
  window.__bench = { marks: {}, long: [], frames: 0 };
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.__bench.long.push(entry.duration);
  }).observe({ type: 'longtask', buffered: true });
  const seen = (text) => {
    for (const [mark] of text.matchAll(/mark-\\d+/g))
      window.__bench.marks[mark] ??= performance.timeOrigin + performance.now();
  };
  const start = () => new MutationObserver((records) => {
    for (const { target, addedNodes, type } of records) {
      if (type === 'characterData') seen(target.data);
      for (const node of addedNodes) seen(node.textContent ?? '');
    }
  }).observe(document, { subtree: true, childList: true, characterData: true });
  start();
`;

export interface PageReading {
  /** Epoch ms at which each mark was in the DOM. */
  readonly marks: Readonly<Record<string, number>>;
  /** Durations of tasks of the main thread above 50 ms. */
  readonly long: readonly number[];
}

export class BoardPage {
  readonly #browser: Browser;
  readonly #page: Page;
  readonly firstRowsMs: number;
  readonly #bytes: { count: number };

  private constructor(browser: Browser, page: Page, firstRowsMs: number, bytes: { count: number }) {
    this.#browser = browser;
    this.#page = page;
    this.firstRowsMs = firstRowsMs;
    this.#bytes = bytes;
  }

  static async open(url: string): Promise<BoardPage> {
    const asRoot = process.getuid?.() === 0;
    const browser = await chromium.launch({
      executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
      args: ['--disable-gpu', '--disable-background-networking', ...(asRoot ? ['--no-sandbox'] : [])],
    });
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.addInitScript(WATCH);
    const bytes = { count: 0 };
    page.on('websocket', (socket) => socket.on('framereceived', ({ payload }) => (bytes.count += payload.length)));
    // Once for the code, so that compiling it is not measured; then as an operator would come.
    await page.goto(`${url}/tasks`);
    await page.locator('[data-task]').first().waitFor();
    const began = performance.now();
    await page.goto(`${url}/tasks`);
    await page.locator('[data-task]').first().waitFor();
    return new BoardPage(browser, page, performance.now() - began, bytes);
  }

  rows(): Promise<number> {
    return this.#page.locator('[data-task]').count();
  }

  /** Of the rows in view, the upper first. */
  async ids(): Promise<readonly string[]> {
    const script = `[...document.querySelectorAll('[data-task]')].map((row) => [row.getBoundingClientRect().top, row.dataset.task])
      .filter(([top]) => top > 0 && top < innerHeight - 60).sort(([a], [b]) => a - b).map(([, id]) => id)`;
    return this.#page.evaluate<string[]>(script);
  }

  /** Bytes of the socket since the last call. */
  bytes(): number {
    const { count } = this.#bytes;
    this.#bytes.count = 0;
    return count;
  }

  /** Since the last call. */
  read(): Promise<PageReading> {
    return this.#page.evaluate<PageReading>(
      `(() => { const now = window.__bench; window.__bench = { marks: {}, long: [] }; return now; })()`,
    );
  }

  close(): Promise<void> {
    return this.#browser.close();
  }
}
