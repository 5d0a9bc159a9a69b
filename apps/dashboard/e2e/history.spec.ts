import { AxeBuilder } from '@axe-core/playwright';
import { connectEtcd } from '@leasehold/core/kv';
import type { Page } from '@playwright/test';
import { expect, test, type Stack } from './stack.js';

async function submit(stack: Stack, sku: string): Promise<string> {
  const response = await fetch(`${stack.url}/api/v1/tasks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID(), origin: stack.url },
    body: JSON.stringify({
      name: 'restock',
      queue: 'orders',
      args: [
        { type: 'string', value: sku },
        { type: 'int32', value: 1 },
      ],
    }),
  });
  return ((await response.json()) as { id: string }).id;
}

async function revisionOf(stack: Stack): Promise<string> {
  const response = await fetch(`${stack.url}/api/v1/tasks?limit=1`);
  return ((await response.json()) as { revision: string }).revision;
}

async function stateOf(stack: Stack, id: string): Promise<string> {
  const response = await fetch(`${stack.url}/api/v1/tasks/${id}`);
  return response.ok ? ((await response.json()) as { row: { state: string } }).row.state : '';
}

async function isClean(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`)).toEqual(
    [],
  );
}

test('scenario 17: ?rev= shows the past with writes off and says so; back to live is one click; below the floor it says that it is gone', async ({
  page,
  stack,
  context,
}) => {
  test.setTimeout(180_000);
  // Nobody serves the queue yet: the task waits, at a known revision.
  const id = await submit(stack, 'SKU-31337');
  await expect.poll(() => stateOf(stack, id)).toBe('PENDING');
  const before = await revisionOf(stack);
  await stack.worker('orders');
  await expect.poll(() => stateOf(stack, id), { timeout: 30_000 }).toBe('SUCCESS');
  const later = await submit(stack, 'SKU-40100');
  await expect.poll(() => stateOf(stack, later)).toBe('SUCCESS');

  await page.goto(`/tasks?rev=${before}`);
  const row = page.getByRole('row').filter({ hasText: id.slice(-8) });
  await expect(row).toContainText('Pending');
  await expect(page.getByTestId('live-pill')).toContainText('Viewing rev');
  await expect(page.getByRole('row').filter({ hasText: later.slice(-8) })).toHaveCount(0);
  await expect(page.getByTestId('list-total')).toContainText('1');

  // A link followed keeps the moment; the task is as it was, with the reason it waited for; its buttons are off.
  await row.getByRole('link').first().click();
  await expect(page).toHaveURL(new RegExp(`/tasks/${id}\\?rev=${before}`));
  await expect(page.getByText(/no live worker/i).first()).toBeVisible();
  await expect(page.getByRole('button', { name: 'Cancel' })).toHaveAttribute('aria-disabled', 'true');
  await isClean(page);

  // Two people with one link see the same.
  const other = await context.newPage();
  await other.goto(page.url());
  await expect(other.getByTestId('live-pill')).toContainText('Viewing rev');
  await expect(other.locator('main')).toContainText('Pending');
  await other.close();

  await page.getByRole('link', { name: 'Back to live' }).click();
  await expect(page).not.toHaveURL(/rev=/);
  await expect(page.locator('main')).toContainText('Succeeded');
  await expect(page.getByTestId('live-pill')).not.toContainText('Viewing');

  // The time machine itself: chosen by revision, compared with now.
  await page.goto('/history');
  await page.getByRole('textbox', { name: 'Revision' }).fill(before);
  await page.getByRole('button', { name: 'Go' }).last().click();
  await expect(page.getByTestId('chosen')).toContainText('Pending');
  const difference = page.getByTestId('difference');
  await expect(difference).toContainText('1appeared');
  await expect(difference).toContainText('1changed');
  await isClean(page);

  // Compacted: a clear message, nothing that pretends to be the past, and the way back.
  const kv = connectEtcd({ endpoints: [...stack.etcd.endpoints] });
  const { revision } = await kv.status();
  await kv.compact(revision);
  await kv.close();
  // Another moment than the one that is still in memory.
  await page.goto(`/tasks?rev=${BigInt(before) - 1n}`);
  await expect(page.getByRole('heading', { level: 1 })).toContainText('is gone');
  await expect(page.locator('main')).toContainText(revision.toString().replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f'));
  await isClean(page);
  await page.getByRole('link', { name: 'Back to live' }).click();
  await expect(page.getByRole('row').filter({ hasText: later.slice(-8) })).toBeVisible();
});
