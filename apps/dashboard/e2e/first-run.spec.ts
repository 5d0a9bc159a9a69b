import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from './stack.js';

/** Fills the form of a task that live workers advertise. */
async function openForm(page: import('@playwright/test').Page, name: string): Promise<void> {
  await page.goto('/tasks/new');
  await page.getByRole('option', { name: new RegExp(`^${name}\\b`) }).click();
  await expect(page.getByRole('button', { name: 'Submit task' })).toBeVisible();
}

test('a task submitted by the form runs, and its result is seen without a reload', async ({ page, workers }) => {
  expect(workers.orders.process.exitCode).toBeNull();
  await openForm(page, 'processInventory');
  await page.getByLabel(/^sku/).fill('SKU-99283');
  await page.getByLabel(/^quantity/).fill('50');
  await page.getByRole('button', { name: 'Submit task' }).click();
  await expect(page).toHaveURL(/\/tasks\/[0-9a-f-]{36}$/);
  await expect(page.getByRole('heading', { name: /processInventory/ })).toBeVisible();
  await expect(page.getByText('Succeeded').first()).toBeVisible();
  await expect(page.getByText('450', { exact: true })).toBeVisible();
});

test('a wrong value is refused where it was typed, before anything is sent', async ({ page, workers }) => {
  expect(workers.orders.process.exitCode).toBeNull();
  await openForm(page, 'processInventory');
  await page.getByLabel(/^sku/).fill('SKU-99283');
  await page.getByLabel(/^quantity/).fill('50.5');
  await page.getByRole('button', { name: 'Submit task' }).click();
  await expect(page.getByText(/50\.5 is not int32/).first()).toBeVisible();
  await expect(page).toHaveURL(/\/tasks\/new/);
});

test('a chain verifyUser → updateProfile through the builder runs to its end', async ({ page, workers }) => {
  expect(workers.orders.process.exitCode).toBeNull();
  await page.goto('/workflows/new');
  await page.getByRole('tab', { name: 'JSON' }).click();
  const chain = {
    kind: 'chain',
    steps: [
      { kind: 'task', signature: { name: 'verifyUser', queue: 'users', args: [{ type: 'int64', value: '1001' }] } },
      {
        kind: 'task',
        signature: {
          name: 'updateProfile',
          queue: 'users',
          args: [
            { type: 'int64', value: '1001' },
            { type: 'string', value: 'Ada L.' },
          ],
        },
      },
    ],
  };
  await page.getByLabel('The workflow as JSON').fill(JSON.stringify(chain));
  await page.getByRole('button', { name: 'Load into the outline' }).click();
  await expect(page.getByRole('treeitem', { name: /verifyUser/ })).toBeVisible();
  await page.getByRole('button', { name: 'Submit 2 tasks' }).click();
  await expect(page).toHaveURL(/\/workflows\/[0-9a-f-]{36}$/);
  await expect(page.getByText('2 of 2 succeeded').first()).toBeVisible();
});

test('a group of image tasks through the builder: all members succeed', async ({ page, workers }) => {
  expect(workers.media.process.exitCode).toBeNull();
  await page.goto('/workflows/new');
  await page.getByRole('tab', { name: 'JSON' }).click();
  const image = (file: string) => ({
    kind: 'task',
    signature: {
      name: 'compressImage',
      queue: 'media',
      args: [
        { type: 'string', value: `images/${file}` },
        { type: 'int32', value: 60 },
      ],
    },
  });
  const group = { kind: 'group', members: [image('dunes.png'), image('dunes.png'), image('dunes.png')] };
  await page.getByLabel('The workflow as JSON').fill(JSON.stringify(group));
  await page.getByRole('button', { name: 'Load into the outline' }).click();
  await page.getByRole('button', { name: 'Submit 3 tasks' }).click();
  await expect(page).toHaveURL(/\/workflows\/[0-9a-f-]{36}$/);
  await expect(page.getByText('3 of 3 succeeded').first()).toBeVisible({ timeout: 40_000 });
});

test('a failed task is retried from its page: attempt 2 in the timeline', async ({ page, workers }) => {
  expect(workers.orders.process.exitCode).toBeNull();
  await openForm(page, 'processInventory');
  await page.getByLabel(/^sku/).fill('SKU-40100');
  await page.getByLabel(/^quantity/).fill('1');
  await page.getByLabel('Retries').fill('0');
  await page.getByRole('button', { name: 'Submit task' }).click();
  await expect(page.getByText('Failed').first()).toBeVisible();
  await page.getByRole('button', { name: 'Retry', exact: true }).click();
  await expect(page.getByText('sent again by an operator')).toBeVisible();
  await expect(page.getByText('attempt 2').first()).toBeVisible();
  await expect(page.getByText('Failed').first()).toBeVisible();
});

test('kill -9 of a worker: its lock is freed with its lease, and another worker finishes the task', async ({
  page,
  stack,
}) => {
  test.setTimeout(90_000);
  const first = await stack.worker('gate');
  await openForm(page, 'waitAtGate');
  await page.getByLabel(/^gate/).fill('one');
  await page.getByRole('button', { name: 'Submit task' }).click();
  await expect(page.getByText('Running').first()).toBeVisible();
  await expect(page.getByText('Fencing token').first()).toBeVisible();
  await stack.worker('gate');
  await first.kill();
  await expect(page.getByText('attempt 2').first()).toBeVisible({ timeout: 30_000 });
  await writeFile(path.join(stack.dataDir, 'gates', 'one'), '');
  await expect(page.getByText('Succeeded').first()).toBeVisible();
  await expect(page.getByText('passed in attempt 2')).toBeVisible();
  await expect(page.getByText(/1 lost/)).toBeVisible();
});
