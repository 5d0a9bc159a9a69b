import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { connectEtcd } from '@leasehold/core/kv';
import { createStore, submitTask, type Store } from '@leasehold/core/store';
import { normalizeSignature } from '@leasehold/core/model';
import { expect, test, type Stack } from './stack.js';

const MANY = 10_000;
const LATE = 300;

async function withStore<T>(stack: Stack, run: (store: Store) => Promise<T>): Promise<T> {
  const kv = connectEtcd({ endpoints: stack.etcd.endpoints });
  const store = createStore(kv, { namespace: 'shop' });
  try {
    return await run(store);
  } finally {
    store.committer.close();
    await kv.close();
  }
}

function submitDoomed(stack: Stack, count: number): Promise<void> {
  return withStore(stack, async (store) => {
    for (let from = 0; from < count; from += 500) {
      const some = Array.from({ length: Math.min(500, count - from) }, (_, i) => from + i);
      await Promise.all(
        some.map((n) => {
          const args = [{ type: 'int64', value: String(n) }] as const;
          const signature = normalizeSignature({ name: 'doomed', queue: 'doomed', args }, {}, store.now());
          return submitTask(store, { kind: 'client', name: 'e2e' }, { ...signature, id: store.newId() });
        }),
      );
    }
  });
}

async function total(stack: Stack, query: string): Promise<number> {
  const response = await fetch(`${stack.url}/api/v1/tasks?limit=1&${query}`);
  return ((await response.json()) as { total: number }).total;
}

const live = (page: Page) => page.getByText(/Live · rev|Idle · verified/).first();
const digits = (text: string | null): number => Number((text ?? '').replace(/\D/g, ''));
const valueOf = async (page: Page, word: string): Promise<number> =>
  digits(
    await page
      .locator('dt', { hasText: new RegExp(`^${word}$`) })
      .locator('xpath=following-sibling::dd[1]')
      .textContent(),
  );

test('scenario 14: ten thousand are retried as they were counted; newcomers are left alone; aborted midway; a reload keeps the progress', async ({
  page,
  stack,
}) => {
  test.setTimeout(240_000);
  const worker = await stack.worker('doomed');
  await submitDoomed(stack, MANY);
  const failed = 'queue=doomed&state=FAILURE';
  await expect.poll(() => total(stack, failed), { timeout: 90_000 }).toBe(MANY);

  await page.goto(`/tasks?${failed}`);
  await expect(live(page)).toBeVisible();
  await page.locator('[data-task]').first().getByRole('checkbox').click();
  await page.getByRole('button', { name: /All 10.000 matching/ }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByText(/10.000 tasks at revision/)).toBeVisible();

  await submitDoomed(stack, LATE);
  await expect.poll(() => total(stack, failed), { timeout: 30_000 }).toBe(MANY + LATE);
  await worker.kill();

  await dialog.getByLabel('Reason', { exact: false }).fill('the disk has room again');
  await dialog.getByRole('button', { name: /Retry 10.000 tasks/ }).click();
  await page.getByRole('link', { name: 'Watch it' }).click();
  await expect(page.getByRole('heading', { name: /Retry 10.000 tasks/ })).toBeVisible();
  await expect.poll(() => valueOf(page, 'Done')).toBeGreaterThan(0);
  const began = performance.now();
  await total(stack, failed);
  console.log(`a read beside the running bulk: ${(performance.now() - began).toFixed(0)} ms`);
  await page.getByRole('button', { name: 'Abort' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Abort' }).click();
  await expect(page.getByTestId('bulk-state')).toHaveText('Aborted', { timeout: 20_000 });
  const done = await valueOf(page, 'Done');
  expect(done).toBeGreaterThan(0);
  expect(done).toBeLessThan(MANY);
  expect(await valueOf(page, 'Not reached')).toBe(MANY - done);

  await page.reload();
  await expect(page.getByTestId('bulk-state')).toHaveText('Aborted');
  expect(await valueOf(page, 'Done')).toBe(done);
  await expect.poll(() => total(stack, failed)).toBe(MANY + LATE - done);
  await expect.poll(() => total(stack, 'queue=doomed&state=PENDING')).toBe(done);
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id }) => id)).toEqual([]);

  // The rest, and this time to the end.
  const started = performance.now();
  await page.goto(`/tasks?${failed}`);
  await page.locator('[data-task]').first().getByRole('checkbox').click();
  await page.getByRole('button', { name: /All .* matching/ }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /Retry .* tasks/ })
    .click();
  await page.getByRole('link', { name: 'Watch it' }).click();
  await expect(page.getByTestId('bulk-state')).toHaveText('Done', { timeout: 60_000 });
  console.log(
    `${MANY + LATE - done} tasks in ${((performance.now() - started) / 1_000).toFixed(1)} s, clicks included`,
  );
  expect(await total(stack, failed)).toBe(0);

  await page.goto('/bulk');
  await expect(page.getByRole('row')).toHaveCount(3);
  await page.screenshot({ path: test.info().outputPath('bulk.png') });
});

test('a picked task is rescheduled, given another priority and back: the toast takes it back', async ({
  page,
  stack,
}) => {
  const body = { name: 'nobodyKnows', queue: 'parked', args: [] };
  const response = await fetch(`${stack.url}/api/v1/tasks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: stack.url },
    body: JSON.stringify(body),
  });
  const { id } = (await response.json()) as { id: string };
  const order = async (): Promise<string> =>
    withStore(stack, async (store) => {
      const [kv] = (await store.kv.range({ key: store.keys.task(id) })).kvs;
      return String((JSON.parse(kv?.value ?? '{}') as { order?: number }).order);
    });
  const before = await order();
  await page.goto(`/tasks/${id}`);
  await expect(live(page)).toBeVisible();
  await page.getByRole('button', { name: 'More actions' }).click();
  await expect(page.getByRole('menuitem', { name: /Delete/ })).toContainText('Only an ended task');
  await page.getByRole('menuitem', { name: /Change priority/ }).click();
  await page.getByRole('dialog').getByLabel('Priority').selectOption('7');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('nobodyKnows has priority 7', { exact: true })).toBeVisible();
  await expect.poll(order).not.toBe(before);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByText('Undone', { exact: true })).toBeVisible();
  await expect.poll(order).toBe(before);
});
