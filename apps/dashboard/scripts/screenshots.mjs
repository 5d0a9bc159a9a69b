/**
 * Pictures of every page for people to look at: node apps/dashboard/scripts/screenshots.mjs [url] [--only name,name] [--as light,dark,360,ko]
 * Writes to the git-ignored `screenshots/` at the top. Prints what the browser complained about.
 */
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';

const base = (process.argv[2]?.startsWith('http') ? process.argv[2] : 'http://127.0.0.1:4400').replace(/\/$/, '');
const option = (name) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1]?.split(',');
};
const folder = fileURLToPath(new URL('../../../screenshots/', import.meta.url));
const WAYS = {
  light: { viewport: { width: 1440, height: 900 }, theme: 'light', language: 'en' },
  dark: { viewport: { width: 1440, height: 900 }, theme: 'dark', language: 'en' },
  360: { viewport: { width: 360, height: 760 }, theme: 'light', language: 'en' },
  ko: { viewport: { width: 1440, height: 900 }, theme: 'light', language: 'ko' },
};

const first = (page, selector) => page.locator(selector).first();
const open = (list, selector) => async (page) => {
  await page.goto(`${base}${list}`);
  await first(page, selector).click();
  await page.waitForURL((url) => !url.pathname.endsWith(list.split('?')[0]));
};

/** Each page: an address, or a way to get there; then what to do before the picture. */
const PAGES = {
  triage: '/',
  tasks: '/tasks',
  'tasks-filtered': '/tasks?state=FAILURE&sort=-updated',
  'tasks-nothing': '/tasks?q=there-is-no-such-thing',
  'tasks-selected': async (page) => {
    await page.goto(`${base}/tasks`);
    const boxes = page.locator('[role=row][data-task] input[type=checkbox]');
    await boxes.nth(1).click();
    await boxes.nth(3).click({ modifiers: ['Shift'] });
  },
  'tasks-expanded': async (page) => {
    await page.goto(`${base}/tasks`);
    await page.locator('[role=row][data-task] button[aria-expanded]').nth(1).click();
  },
  'tasks-columns': '/tasks?cols=state,task,queue,attempt,priority,created,tags,workflow,id,revision',
  'tasks-kanban': '/tasks?layout=kanban',
  'task-failed': open('/tasks?state=FAILURE', '[data-task] a'),
  'task-running': open('/tasks?state=STARTED', '[data-task] a'),
  'task-waiting': open('/tasks?state=PENDING', '[data-task] a'),
  'task-done': open('/tasks?state=SUCCESS', '[data-task] a'),
  'task-new': '/tasks/new',
  'task-new-form': async (page) => {
    await page.goto(`${base}/tasks/new`);
    await first(page, '[role=option]').click();
  },
  workflows: '/workflows',
  workflow: open('/workflows', 'main a[href*="/workflows/"]:not([href$="/new"])'),
  'workflow-group': async (page) => {
    await page.goto(`${base}/workflows`);
    await page.locator('main a[href*="/workflows/"]:not([href$="/new"])').nth(2).click();
    await page.waitForURL((url) => !url.pathname.endsWith('/workflows'));
  },
  'workflow-new': '/workflows/new',
  'workflow-new-filled': async (page) => {
    await page.goto(`${base}/workflows/new`);
    await page.waitForTimeout(500);
    await page.locator('[data-template]').nth(2).click();
  },
  locks: '/locks',
  nodes: '/nodes',
  node: open('/nodes', 'main a[href*="/nodes/"]'),
  queues: '/queues',
  queue: open('/queues', 'main a[href*="/queues/"]'),
  errors: '/errors',
  error: open('/errors', 'main a[href*="/errors/"]'),
  schedules: '/schedules',
  audit: '/audit',
  cluster: '/cluster',
  bulk: '/bulk',
  history: '/history',
  events: '/events',
  settings: '/settings',
  tokens: '/tokens',
  login: '/login',
  palette: async (page) => {
    await page.goto(`${base}/tasks`);
    await page.waitForTimeout(800);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('fail');
  },
  keys: async (page) => {
    await page.goto(`${base}/tasks`);
    await page.waitForTimeout(800);
    await page.keyboard.press('?');
  },
  'not-found': '/no-such-page',
};

await mkdir(folder, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
const complaints = new Map();
for (const [way, { viewport, theme, language }] of Object.entries(WAYS)) {
  if (!(option('as') ?? Object.keys(WAYS)).includes(way)) continue;
  const context = await browser.newContext({
    viewport,
    locale: language,
    timezoneId: 'Asia/Seoul',
    reducedMotion: 'reduce',
  });
  const cookie = (name, value) => ({ name, value, url: base });
  await context.addCookies([cookie('lh_theme', theme), cookie('lh_lang', language)]);
  for (const [name, go] of Object.entries(PAGES)) {
    if (!(option('only') ?? Object.keys(PAGES)).includes(name)) continue;
    const page = await context.newPage();
    const note = (text) =>
      complaints.set(text.slice(0, 300), [...(complaints.get(text.slice(0, 300)) ?? []), `${name}.${way}`]);
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && note(message.text()));
    page.on('pageerror', (error) => note(String(error)));
    try {
      if (typeof go === 'string') await page.goto(`${base}${go}`);
      else await go(page);
      await page.waitForTimeout(Number(process.env.SETTLE_MS ?? 1_200));
      await page.screenshot({ path: `${folder}${name}.${way}.png` });
    } catch (error) {
      note(`no picture: ${String(error)}`);
    }
    await page.close();
  }
  await context.close();
}
await browser.close();
for (const [text, where] of complaints) console.log(`${where.join(' ')}\n  ${text}`);
console.log(`Pictures are in ${folder}`);
