import { expect, test } from './stack.js';

test('scenario 7: etcd silent for half a minute: amber, then hatched; back: live again, and the row of the meantime is there', async ({
  page,
  stack,
  workers,
}) => {
  test.setTimeout(180_000);
  expect(workers.orders.process.exitCode).toBeNull();
  const submit = async (): Promise<string> => {
    const response = await fetch(`${stack.url}/api/v1/tasks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID(), origin: stack.url },
      body: JSON.stringify({
        name: 'restock',
        queue: 'orders',
        args: [
          { type: 'string', value: 'SKU-31337' },
          { type: 'int32', value: 1 },
        ],
      }),
    });
    return ((await response.json()) as { id: string }).id;
  };
  await page.goto('/tasks');
  const live = page.getByText(/Live · rev|Idle · verified/).first();
  await expect(live).toBeVisible();
  // The pointer rests on a row: its list is frozen, the pill is not.
  const first = await submit();
  await page
    .getByRole('row')
    .filter({ hasText: first.slice(-8) })
    .filter({ hasText: 'Succeeded' })
    .hover();
  const [member] = stack.etcd.members;
  member?.pause();
  await expect(page.getByText(/Reconnecting · as of/).first()).toBeVisible({ timeout: 30_000 });
  await expect(page.locator('.hatched').first()).toBeVisible({ timeout: 60_000 });
  member?.resume();
  await expect(live).toBeVisible({ timeout: 60_000 });
  await expect(page.locator('.hatched')).toHaveCount(0);
  await page.mouse.move(0, 0);
  const id = await submit();
  await expect(
    page
      .getByRole('row')
      .filter({ hasText: id.slice(-8) })
      .filter({ hasText: 'Succeeded' }),
  ).toBeVisible();
});
