import { AxeBuilder } from '@axe-core/playwright';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from './stack.js';

async function post(url: string, address: string, body: unknown): Promise<void> {
  const answer = await fetch(`${url}/api/v1${address}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID(), origin: url },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(200);
}

test('a queue is drained from the board: the count falls to none, and it stays paused', async ({ page, stack }) => {
  const { url, dataDir } = stack;
  const worker = await stack.worker('gate');
  await post(url, '/queues/gates/limits', { ordered: true, rate: { count: 100, intervalMs: 1_000 } });
  await post(url, '/tasks', { name: 'waitAtGate', args: [{ type: 'string', value: 'drained' }], queue: 'gates' });
  await page.goto('/queues?q=gates');
  const row = page.getByRole('row').filter({ hasText: 'gates' });
  await expect(row).toContainText('in order of commits');
  await expect(row).toContainText('100 per');
  await expect(row).toContainText('1 / ');
  await page.getByRole('button', { name: 'Drain gates' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox').fill('deploy');
  await dialog.getByRole('button', { name: 'Drain' }).click();
  await expect(row).toContainText('draining: 1 still runs');
  const { violations } = await new AxeBuilder({ page }).include('main').analyze();
  expect(violations).toEqual([]);
  await writeFile(path.join(dataDir, 'gates', 'drained'), '');
  await expect(row).toContainText('nothing runs');
  await expect(page.getByRole('button', { name: 'Resume gates' })).toBeVisible();
  // Other tests use the same queue after this one.
  await post(url, '/queues/gates/resume', {});
  await post(url, '/queues/gates/limits', { ordered: false, rate: null });
  await worker.kill();
});

test('the cluster page tells etcd’s own quota, and from where on new work is refused', async ({ page }) => {
  await page.goto('/cluster');
  await expect(page.getByText(/ of 8(\.0)? G/)).toBeVisible({ timeout: 30_000 });
  await expect(page.getByText('New work is refused from')).toBeVisible();
  const { violations } = await new AxeBuilder({ page }).include('main').analyze();
  expect(violations).toEqual([]);
});
