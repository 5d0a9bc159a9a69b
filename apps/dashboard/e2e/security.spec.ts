/** Scenarios 19, 22 and 23 on a board with users. 20 and 21 are in board.spec.ts. */
import { AxeBuilder } from '@axe-core/playwright';
import { test as base, expect, type BrowserContext, type Page } from '@playwright/test';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { openStack, type Stack } from './stack.js';

const CLI = fileURLToPath(new URL('../../../packages/cli/dist/main.js', import.meta.url));
const PASSWORD = 'correct horse battery';
const SECRET = 'hunter2-hunter2-hunter2';

/** As a person would: the password goes in by the pipe. */
async function user(file: string, ...args: readonly string[]): Promise<void> {
  const child = fork(CLI, ['user', ...args, '--file', file], { stdio: ['pipe', 'ignore', 'pipe', 'ipc'] });
  let said = '';
  child.stderr?.on('data', (data: Buffer) => (said += data.toString()));
  child.stdin?.end(`${PASSWORD}\n`);
  const [code] = (await once(child, 'exit')) as [number];
  expect(code, said).toBe(0);
}

interface Secured extends Stack {
  readonly usersFile: string;
}

const test = base.extend<object, { secured: Secured }>({
  secured: [
    async ({}, use) => {
      const folder = await mkdtemp(path.join(tmpdir(), 'leasehold-e2e-users-'));
      const usersFile = path.join(folder, 'users.json');
      await user(usersFile, 'add', 'vera', '--role', 'viewer');
      await user(usersFile, 'add', 'olga', '--role', 'operator');
      await user(usersFile, 'add', 'adam', '--role', 'admin');
      const { stack, close } = await openStack({ LEASEHOLD_USERS_FILE: usersFile });
      await use({ ...stack, usersFile });
      await close();
      await rm(folder, { recursive: true, force: true });
    },
    { scope: 'worker', timeout: 120_000 },
  ],
  baseURL: async ({ secured }, use) => use(secured.url),
});

const live = (page: Page) => page.getByText(/Live · rev|Idle · verified/).first();

async function signIn(page: Page, name: string, to = '/tasks'): Promise<void> {
  await page.goto(to);
  await expect(page).toHaveURL(/\/login\?to=/);
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page).toHaveURL(new RegExp(`${to.replaceAll('?', '\\?')}$`));
  await expect(live(page)).toBeVisible();
}

/** As the page itself sends it. */
const post = (page: Page, route: string, body: object) =>
  page.evaluate(
    async ([at, data]) => {
      const answer = await fetch(`/api/v1${at}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(data),
      });
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    },
    [route, body] as const,
  );

async function submit(page: Page): Promise<string> {
  const args = [
    { type: 'string', value: 'open' },
    { type: 'string', value: SECRET, name: 'password' },
  ];
  const { status, body } = await post(page, '/tasks', { name: 'nobodyKnows', queue: 'parked', args });
  expect(status).toBe(200);
  return String(body['id']);
}

async function asAdmin<T>(context: BrowserContext, run: (page: Page) => Promise<T>): Promise<T> {
  const page = await context.newPage();
  await signIn(page, 'adam');
  const result = await run(page);
  await page.close();
  return result;
}

test('scenario 19: a viewer has no buttons that act, and what he sends himself is refused', async ({
  page,
  browser,
}) => {
  const admin = await browser.newContext();
  const id = await asAdmin(admin, submit);
  await admin.close();
  await signIn(page, 'vera');
  await page.goto(`/tasks/${id}`);
  for (const name of ['Cancel task', 'Retry', 'Retry with edits']) {
    const button = page.getByRole('button', { name, exact: true });
    if ((await button.count()) === 0) continue;
    await expect(button).toHaveAttribute('aria-disabled', 'true');
    await expect(button).toHaveAttribute('title', /You lack task\.(cancel|retry)/);
  }
  await expect(page.getByRole('button', { name: /Reveal/ })).toHaveAttribute('title', 'You lack secret.reveal');
  await page.goto('/queues');
  await expect(page.getByRole('button', { name: 'Pause' })).toHaveCount(0);
  const refused = await post(page, `/tasks/${id}/cancel`, { reason: 'x' });
  expect([refused.status, refused.body['detail']]).toEqual([403, 'this needs the permission task.cancel']);
  expect((await post(page, '/tasks', { name: 'nobodyKnows', args: [] })).status).toBe(403);
});

test('without signing in there is no page and no API', async ({ page, secured }) => {
  for (const at of ['/', '/tasks', '/tasks/x?y=1', '/audit']) {
    await page.goto(at);
    await expect(page).toHaveURL(/\/login\?to=/);
  }
  const api = await fetch(`${secured.url}/api/v1/tasks`);
  expect(api.status).toBe(401);
});

test('the login: a wrong password is said, in both languages it fits a phone, and nothing is inaccessible', async ({
  page,
}) => {
  await page.goto('/tasks');
  await page.getByLabel('Name').fill('olga');
  await page.getByLabel('Password').fill('not that one');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByRole('alert').filter({ hasText: 'wrong' })).toBeVisible();
  const found = await new AxeBuilder({ page }).analyze();
  expect(found.violations).toEqual([]);
  await page.screenshot({ path: 'test-results/login-light.png' });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 360, height: 640 });
  await page.context().addCookies([{ name: 'lh_lang', value: 'ko', url: page.url() }]);
  await page.reload();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(wide).toBeLessThanOrEqual(360);
  await page.screenshot({ path: 'test-results/login-dark-360.png' });
});

test('scenario 22: a secret is in no page, answer or frame until it is revealed for a reason, which is recorded', async ({
  page,
}) => {
  const seen: string[] = [];
  page.on('response', (response) => {
    void response.text().then(
      (text) => seen.push(text),
      () => undefined,
    );
  });
  page.on('websocket', (socket) => socket.on('framereceived', ({ payload }) => seen.push(String(payload))));
  await signIn(page, 'adam');
  const id = await submit(page);
  for (const at of ['/tasks', `/tasks/${id}`, '/audit']) {
    await page.goto(at);
    await expect(live(page)).toBeVisible();
    expect(await page.content()).not.toContain(SECRET);
  }
  await page.goto(`/tasks/${id}`);
  const reveal = page.getByRole('button', { name: 'Reveal hidden values' });
  await expect(reveal).toBeVisible();
  expect(seen.join('\n')).not.toContain(SECRET);
  await reveal.click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByRole('button', { name: 'Reveal' })).toBeDisabled();
  await dialog.getByLabel('Reason').fill('ticket 4711');
  await dialog.getByRole('button', { name: 'Reveal' }).click();
  await expect(page.getByText(SECRET)).toBeVisible();
  await page.reload();
  await expect(reveal).toBeVisible();
  await expect(page.getByText(SECRET)).toHaveCount(0);
  await page.goto('/audit');
  await expect(page.getByText('ticket 4711').first()).toBeVisible();
});

test('scenario 23: signed out elsewhere, or less allowed: the open board is cut within seconds', async ({
  page,
  context,
  secured,
}) => {
  await signIn(page, 'olga');
  const other = await context.newPage();
  await other.goto('/queues');
  await expect(live(other)).toBeVisible();
  await other.getByRole('button', { name: 'Preferences' }).click();
  await other.getByRole('menuitem', { name: 'Sign out' }).click();
  await expect(page).toHaveURL(/\/login\?to=/, { timeout: 6_000 });
  await other.close();
  await signIn(page, 'olga');
  await page.goto('/queues');
  await expect(live(page)).toBeVisible();
  await user(secured.usersFile, 'rm', 'olga');
  await expect(page).toHaveURL(/\/login\?to=/, { timeout: 6_000 });
  await user(secured.usersFile, 'add', 'olga', '--role', 'operator');
  expect(await readFile(secured.usersFile, 'utf8')).not.toContain(PASSWORD);
});

test('tokens: made once, shown once, revoked at once', async ({ page, secured }) => {
  await signIn(page, 'adam', '/tokens');
  await page.getByRole('button', { name: 'New token' }).click();
  await page.getByLabel('What it is for').fill('nightly import');
  await page.getByRole('button', { name: 'Make token' }).click();
  const token = await page.locator('code').filter({ hasText: /^lh_/ }).innerText();
  await page.screenshot({ path: 'test-results/token-made.png' });
  const status = async (): Promise<number> =>
    (await fetch(`${secured.url}/api/v1/tasks`, { headers: { authorization: `Bearer ${token}` } })).status;
  expect(await status()).toBe(200);
  await page.getByRole('button', { name: 'Done' }).click();
  await expect(page.getByText('nightly import')).toBeVisible();
  await expect(page.getByText(token)).toHaveCount(0);
  const found = await new AxeBuilder({ page }).analyze();
  expect(found.violations).toEqual([]);
  await page.screenshot({ path: 'test-results/tokens.png' });
  await page.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await expect(page.getByText('nightly import')).toHaveCount(0);
  expect(await status()).toBe(401);
});

test('every page says the headers that keep it from being misused', async ({ secured }) => {
  for (const at of ['/login', '/tasks']) {
    const { headers } = await fetch(`${secured.url}${at}`, { redirect: 'manual' });
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
  }
  const [one, two] = await Promise.all([fetch(`${secured.url}/login`), fetch(`${secured.url}/login`)]);
  const csp = one.headers.get('content-security-policy') ?? '';
  expect(csp).toMatch(/script-src 'self' 'nonce-[^']+' 'strict-dynamic'/);
  expect(csp).toContain("frame-ancestors 'none'");
  expect(csp).not.toContain('unsafe-');
  expect(two.headers.get('content-security-policy')).not.toBe(csp);
});
