import { AxeBuilder } from '@axe-core/playwright';
import { expect, test } from './stack.js';

const ROUTES = [
  '/',
  '/tasks',
  '/tasks/new',
  '/workflows',
  '/workflows/new',
  '/locks',
  '/nodes',
  '/queues',
  '/history',
  '/events',
  '/settings',
];

/** Submits through the API, as another client would. */
async function submit(url: string, name: string, args: readonly object[], queue: string): Promise<string> {
  const response = await fetch(`${url}/api/v1/tasks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID(), origin: url },
    body: JSON.stringify({ name, args, queue }),
  });
  expect(response.status, await response.clone().text()).toBeLessThan(300);
  return ((await response.json()) as { id: string }).id;
}

const restock = (url: string): Promise<string> =>
  submit(
    url,
    'restock',
    [
      { type: 'string', value: 'SKU-31337' },
      { type: 'int32', value: 1 },
    ],
    'orders',
  );

test('scenario 2: what another client submits is on the board, live, without a reload', async ({
  page,
  stack,
  workers,
}) => {
  expect(workers.orders.process.exitCode).toBeNull();
  await page.goto('/tasks');
  await expect(page.getByText(/Live · rev|Idle · verified/).first()).toBeVisible();
  const id = await restock(stack.url);
  await expect(
    page
      .getByRole('row')
      .filter({ hasText: id.slice(-8) })
      .filter({ hasText: 'Succeeded' }),
  ).toBeVisible();
});

test('scenario 9: with the websocket blocked, long-polling stays live', async ({ page, stack, workers }) => {
  expect(workers.orders.process.exitCode).toBeNull();
  await page.routeWebSocket(/.*/, (socket) => socket.close());
  await page.goto('/tasks');
  await expect(page.getByText(/Live · rev|Idle · verified/).first()).toBeVisible();
  const id = await restock(stack.url);
  await expect(page.getByRole('row').filter({ hasText: id.slice(-8) })).toBeVisible();
});

test('scenario 18: filters live in the address: back, forward, reload and bad parameters', async ({ page }) => {
  await page.goto('/tasks?state=SUCCESS');
  await page.goto('/tasks?state=FAILURE');
  await page.goBack();
  await expect(page).toHaveURL(/state=SUCCESS/);
  await expect(page.getByText('Failed', { exact: true }).first()).toBeVisible();
  await page.goto('/tasks?state=NONSENSE&from=yesterday-ish');
  await expect(page.getByText(/Not understood in the address/)).toBeVisible();
});

test('scenario 20: a page of another origin can change nothing', async ({ stack }) => {
  const response = await fetch(`${stack.url}/api/v1/queues/orders/pause`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'idempotency-key': crypto.randomUUID(),
      origin: 'http://evil.example',
    },
    body: JSON.stringify({ reason: 'no' }),
  });
  expect(response.status).toBe(403);
  const text = await fetch(`${stack.url}/api/v1/queues/orders/pause`, {
    method: 'POST',
    headers: { 'content-type': 'text/plain', 'idempotency-key': crypto.randomUUID(), origin: stack.url },
    body: JSON.stringify({ reason: 'no' }),
  });
  expect(text.status).toBeGreaterThanOrEqual(400);
});

test('scenario 21: a hostile name is text everywhere, and no policy is broken', async ({ page, stack }) => {
  const broken: string[] = [];
  page.on('console', (message) => {
    if (/Content Security Policy/i.test(message.text())) broken.push(message.text());
  });
  page.on('dialog', (dialog) => void dialog.dismiss().then(() => broken.push('a dialog opened')));
  const name = '<img src=x onerror=alert(1)>';
  const id = await submit(stack.url, name, [{ type: 'string', value: '</script><script>alert(2)</script>' }], 'nobody');
  await page.goto(`/tasks/${id}`);
  await expect(page.getByRole('heading', { name })).toBeVisible();
  await page.goto('/tasks?queue=nobody');
  await expect(page.getByText(name).first()).toBeVisible();
  expect(broken).toEqual([]);
});

for (const theme of ['light', 'dark'] as const) {
  test(`scenario 26: axe finds nothing on any page, ${theme}`, async ({ page, stack, workers }) => {
    test.setTimeout(120_000);
    expect(workers.orders.process.exitCode).toBeNull();
    const id = await restock(stack.url);
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    for (const route of [...ROUTES, `/tasks/${id}`]) {
      await page.goto(route);
      await expect(page.getByText(/Live · rev|Idle · verified/).first()).toBeVisible();
      const { violations } = await new AxeBuilder({ page })
        .withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'])
        .analyze();
      expect(violations.map(({ id: rule, nodes }) => `${route}: ${rule}: ${nodes[0]?.html}`)).toEqual([]);
    }
  });
}

test('scenario 27: at 360 px nothing is wider than the screen, and a failed task can be retried', async ({
  page,
  stack,
  workers,
}) => {
  expect(workers.orders.process.exitCode).toBeNull();
  await page.setViewportSize({ width: 360, height: 740 });
  const args = [
    { type: 'string', value: 'SKU-40100' },
    { type: 'int32', value: 5 },
  ];
  const id = await submit(stack.url, 'processInventory', args, 'orders');
  for (const route of [...ROUTES, `/tasks/${id}`]) {
    await page.goto(route);
    await expect(page.getByText(/rev|verified/).first()).toBeVisible();
    expect(await page.evaluate(() => document.documentElement.scrollWidth), route).toBeLessThanOrEqual(360);
  }
  await expect(page.getByText('Failed').first()).toBeVisible();
  await page.getByRole('button', { name: 'Retry', exact: true }).click();
  await expect(page.getByText('attempt 2').first()).toBeVisible();
});

test('scenario 29: the whole board in Korean, no key and no English sentence left', async ({ page, stack }) => {
  await page.context().addCookies([{ name: 'lh_lang', value: 'ko', url: stack.url }]);
  for (const route of ROUTES) {
    await page.goto(route);
    await expect(page.locator('html')).toHaveAttribute('lang', 'ko');
    await expect(page.getByText(/[가-힣]{2,}/).first()).toBeVisible();
    const text = await page.locator('body').innerText();
    expect(text, route).not.toMatch(
      /\b(?:state|facet|board|task|form|builder|node|lock|queue|flow|triage)\.[a-z][A-Za-z.]+\b/,
    );
    expect(text, route).not.toMatch(
      /\b(?:New task|New workflow|Search or jump|Nothing|No task|What is|Held by|Live · rev)\b/,
    );
  }
});
