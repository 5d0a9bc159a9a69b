import { AxeBuilder } from '@axe-core/playwright';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { expect, test, type Stack } from './stack.js';

const PAGES = ['/errors', '/schedules', '/audit', '/cluster'];

async function post(url: string, route: string, body: object): Promise<Response> {
  return fetch(`${url}/api/v1${route}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID(), origin: url },
    body: JSON.stringify(body),
  });
}

async function submit(url: string, name: string, args: readonly object[], queue: string): Promise<string> {
  const response = await post(url, '/tasks', { name, args, queue, retry: { count: 0 } });
  expect(response.status, await response.clone().text()).toBe(200);
  return ((await response.json()) as { id: string }).id;
}

const string = (value: string) => ({ type: 'string', value });
const parked = (url: string, mark: string): Promise<string> => submit(url, 'nobodyKnows', [string(mark)], 'parked');
const failing = (url: string): Promise<string> =>
  submit(url, 'processInventory', [string('SKU-40100'), { type: 'int32', value: 1 }], 'orders');

const live = (page: Page) => page.getByText(/Live · rev|Idle · verified/).first();
const rowOf = (page: Page, id: string) => page.locator(`[data-task="${id}"]`);

async function makeSchedule(stack: Stack, id: string): Promise<void> {
  const workflow = { kind: 'task', signature: { name: 'nobodyKnows', queue: 'parked', args: [string('x')] } };
  const response = await post(stack.url, `/schedules/${id}`, {
    spec: '30 2 * * 1-5',
    zone: 'Asia/Seoul',
    workflow,
    revisionSeen: '0',
  });
  expect(response.status, await response.clone().text()).toBe(200);
}

test('scenario 3: under the pointer order and membership stay; what is new is counted, and shown when asked for', async ({
  page,
  stack,
}) => {
  const first = await parked(stack.url, 'first');
  await page.goto('/tasks?queue=parked');
  await expect(live(page)).toBeVisible();
  await rowOf(page, first).hover();
  const before = await rowOf(page, first).boundingBox();
  const more = await Promise.all(Array.from({ length: 40 }, (_, i) => parked(stack.url, `more-${i}`)));
  const show = page.getByRole('button', { name: /Show 40 new/ });
  await expect(show).toBeVisible();
  const after = await rowOf(page, first).boundingBox();
  expect(after?.y).toBe(before?.y);
  await expect(rowOf(page, more[0] ?? '')).toHaveCount(0);
  await show.click();
  await expect(page.getByRole('button', { name: /Show \d+ new/ })).toHaveCount(0);
  await expect(page.locator('[data-task]').first()).not.toHaveAttribute('data-task', first);
});

test('scenario 4: three selected rows stay selected while others come', async ({ page, stack }) => {
  const ids = await Promise.all(['a', 'b', 'c'].map((mark) => parked(stack.url, `select-${mark}`)));
  await page.goto('/tasks?queue=parked');
  await expect(live(page)).toBeVisible();
  for (const id of ids) await rowOf(page, id).getByRole('checkbox').click();
  await Promise.all(Array.from({ length: 20 }, (_, i) => parked(stack.url, `flow-${i}`)));
  await expect(page.getByText(/Paused · \+20/).first()).toBeVisible();
  for (const id of ids) await expect(rowOf(page, id).getByRole('checkbox')).toBeChecked();
});

test('scenario 13: of two operators who retry at once, one wins and the other is told', async ({ stack, workers }) => {
  expect(workers.orders.process.exitCode).toBeNull();
  const id = await failing(stack.url);
  const read = async () =>
    (await (await fetch(`${stack.url}/api/v1/tasks/${id}`)).json()) as { row: { state: string; revision: string } };
  await expect.poll(async () => (await read()).row.state).toBe('FAILURE');
  const { revision } = (await read()).row;
  const answers = await Promise.all(
    [0, 1].map(() => post(stack.url, `/tasks/${id}/retry`, { revisionSeen: revision })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  const refused = answers.find(({ status }) => status === 409);
  expect(await refused?.text()).toContain('nothing was done');
});

test('scenario 15: a lock is released by force with a reason, and the audit says who and why', async ({
  page,
  stack,
}) => {
  await stack.worker('gate');
  const id = await submit(stack.url, 'waitAtGate', [string('two')], 'gates');
  await page.goto('/locks');
  const row = page.getByRole('row').filter({ hasText: id.slice(-8) });
  await row.getByRole('button', { name: /release/i }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Reason').fill('stuck at the gate');
  await dialog.getByRole('button', { name: /release/i }).click();
  await expect(page.getByText(/lock released/).first()).toBeVisible();
  await page.goto('/audit');
  const entry = page.getByRole('row').filter({ hasText: 'lock.force-release' });
  await expect(entry).toContainText('stuck at the gate');
  await expect(entry).toContainText('operator:local');
  await writeFile(path.join(stack.dataDir, 'gates', 'two'), '');
});

test('failures are grouped, and the group leads to its tasks', async ({ page, stack, workers }) => {
  expect(workers.orders.process.exitCode).toBeNull();
  await failing(stack.url);
  await page.goto('/errors');
  await page.getByRole('table', { name: 'Errors' }).getByRole('link').first().click();
  await expect(page).toHaveURL(/\/errors\/.+/);
  await expect(page.getByText('processInventory').first()).toBeVisible();
  await page.getByRole('link', { name: 'Show its tasks' }).click();
  await expect(page).toHaveURL(/\/tasks\?error=/);
  await expect(page.locator('[data-task]').first()).toBeVisible();
});

test('a schedule is made, run by hand, paused with a reason, resumed and deleted, each in the audit', async ({
  page,
}) => {
  await page.goto('/schedules');
  await page.getByRole('button', { name: 'New schedule' }).first().click();
  await page.getByLabel('Id', { exact: true }).fill('nightly');
  await page.getByLabel('Cron expression').fill('30 2 * * 1-5');
  await page.getByLabel('Time zone').last().fill('Asia/Seoul');
  const workflow = { kind: 'task', signature: { name: 'nobodyKnows', queue: 'parked', args: [string('x')] } };
  await page.getByLabel('Workflow as JSON').fill(JSON.stringify(workflow));
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page).toHaveURL(/\/schedules\/nightly$/);
  await expect(page.getByText(/at 02:30/).first()).toBeVisible();
  await expect(page.getByText('In its zone (Asia/Seoul)')).toBeVisible();
  await page.getByRole('button', { name: 'Run now' }).click();
  await expect(page.getByRole('link', { name: 'by hand' })).toBeVisible();
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('dialog').getByLabel('Reason').fill('stocktaking');
  await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
  await expect(page.getByText(/Paused by operator:local: stocktaking/)).toBeVisible();
  await page.getByRole('button', { name: 'Resume' }).click();
  await expect(page.getByText(/Paused by/)).toHaveCount(0);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page).toHaveURL(/\/schedules$/);
  await page.goto('/audit');
  for (const operation of [
    'schedule.upsert',
    'schedule.run-now',
    'schedule.pause',
    'schedule.resume',
    'schedule.delete',
  ])
    await expect(page.getByRole('row').filter({ hasText: operation }).first()).toBeVisible();
});

test('an ended workflow is run again from one of its members', async ({ page, stack }) => {
  const step = (mark: string) => ({
    kind: 'task',
    signature: { name: 'nobodyKnows', queue: 'parked', args: [string(mark)] },
  });
  const made = await post(stack.url, '/workflows', { workflow: { kind: 'chain', steps: [step('1'), step('2')] } });
  const { id } = (await made.json()) as { id: string };
  await page.goto(`/workflows/${id}`);
  await page.getByRole('button', { name: 'Cancel workflow' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel workflow' }).click();
  const heading = page.getByRole('heading', { level: 1 });
  await expect(heading).toContainText('Cancelled');
  await page.getByRole('button', { name: 'Retry from here: 1' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Retry from here' }).click();
  await expect(heading).toContainText('Running');
});

test('a node is drained with a reason, and says so', async ({ page, stack }) => {
  const worker = await stack.worker('gate');
  const find = async (): Promise<string> => {
    const answer = await fetch(`${stack.url}/api/v1/nodes`);
    const { rows } = (await answer.json()) as { rows: { id: string; pid: number }[] };
    return rows.find(({ pid }) => pid === worker.process.pid)?.id ?? '';
  };
  await expect.poll(find).not.toBe('');
  await page.goto(`/nodes/${encodeURIComponent(await find())}`);
  await page.getByRole('button', { name: 'Drain' }).click();
  await page.getByRole('dialog').getByLabel('Reason').fill('new kernel');
  await page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click();
  await expect(page.getByText('draining', { exact: true })).toBeVisible();
});

for (const theme of ['light', 'dark'] as const) {
  test(`axe finds nothing on errors, schedules, audit and cluster, ${theme}`, async ({ page, stack, workers }) => {
    expect(workers.orders.process.exitCode).toBeNull();
    await failing(stack.url);
    await makeSchedule(stack, `axe-${theme}`);
    const rows = (await (await fetch(`${stack.url}/api/v1/errors`)).json()) as { rows: { id: string }[] };
    const inside = rows.rows.slice(0, 1).map(({ id }) => `/errors/${encodeURIComponent(id)}`);
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    for (const route of [...PAGES, `/schedules/axe-${theme}`, ...inside]) {
      await page.goto(route);
      await expect(live(page)).toBeVisible();
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      const { violations } = await new AxeBuilder({ page })
        .withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'])
        .analyze();
      expect(violations.map(({ id, nodes }) => `${route}: ${id}: ${nodes[0]?.html}`)).toEqual([]);
    }
  });
}

test('errors, schedules, audit and cluster fit 360 px, and are whole in Korean', async ({ page, stack }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await makeSchedule(stack, 'narrow');
  await page.context().addCookies([{ name: 'lh_lang', value: 'ko', url: stack.url }]);
  for (const route of [...PAGES, '/schedules/narrow']) {
    await page.goto(route);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    await expect(page.locator('html')).toHaveAttribute('lang', 'ko');
    const text = await page.locator('body').innerText();
    expect(text, route).not.toMatch(
      /\b(?:error|schedule|audit|cluster)\.(?!upsert|pause|resume|delete|run-now)[a-z]+\b/i,
    );
    expect(await page.evaluate(() => document.documentElement.scrollWidth), route).toBeLessThanOrEqual(360);
  }
});
