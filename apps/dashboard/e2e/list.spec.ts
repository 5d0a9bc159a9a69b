import { expect, test } from './stack.js';
import { live, putMany, putTogether, recordOf, rowOf, submit } from './records.js';

const FULL = process.env['LEASEHOLD_FULL'] === '1';
const string = (value: string) => ({ type: 'string', value });
const parked = (url: string, queue: string, mark: string): Promise<string> =>
  submit(url, 'nobodyKnows', queue, [string(mark)]);

test('scenario 1, reports B2 and B10: of very many tasks the first rows come at once, few are in the page, and few bytes travel', async ({
  page,
  stack,
}) => {
  test.setTimeout(FULL ? 300_000 : 90_000);
  const many = FULL ? 100_000 : 5_000;
  const record = await recordOf(stack, await parked(stack.url, 'crowd', 'template'));
  await putMany(stack, record, many, 'crowd');
  let bytes = 0;
  page.on('websocket', (socket) => socket.on('framereceived', ({ payload }) => (bytes += payload.length)));
  await page.goto('/tasks?queue=crowd');
  await expect(page.getByTestId('list-total')).toContainText(/\d/);
  bytes = 0;
  const began = Date.now();
  await page.goto('/tasks?queue=crowd');
  await page.locator('[data-task]').first().waitFor();
  expect(Date.now() - began).toBeLessThan(FULL ? 2_000 : 6_000);
  expect(bytes).toBeLessThan(250_000);
  await expect(page.getByTestId('list-total')).toContainText(many >= 100_000 ? '100' : '5');
  expect(await page.locator('[data-task]').count()).toBeLessThan(200);
  await page.getByRole('grid', { name: 'Tasks' }).evaluate((list) => list.scrollTo({ top: list.scrollHeight }));
  await expect(rowOf(page, 'crowd-0000000')).toBeVisible();
  expect(await page.locator('[data-task]').count()).toBeLessThan(200);
});

test('scenario 4, report B25: three selected and one open row survive what flows, and the bar says that updates are paused', async ({
  page,
  stack,
}) => {
  const ids = await Promise.all(['a', 'b', 'c'].map((mark) => parked(stack.url, 'steady', mark)));
  await page.goto('/tasks?queue=steady');
  await expect(live(page)).toBeVisible();
  for (const id of ids) await rowOf(page, id).getByRole('checkbox').click();
  const [first = ''] = ids;
  await rowOf(page, first)
    .getByRole('button', { name: /More about/ })
    .click();
  const opened = page.getByRole('region', { name: new RegExp(`More about nobodyKnows, …${first.slice(-8)}`) });
  await expect(opened).toBeVisible();
  await Promise.all(Array.from({ length: 30 }, (_, i) => parked(stack.url, 'steady', `flow-${i}`)));
  await expect(page.getByRole('toolbar')).toContainText('Updates paused · +30');
  for (const id of ids) await expect(rowOf(page, id).getByRole('checkbox')).toBeChecked();
  await expect(opened).toBeVisible();
  // The connection breaks and comes back: both are keyed by id.
  await page.context().setOffline(true);
  await page.evaluate(() => dispatchEvent(new Event('offline')));
  await page.context().setOffline(false);
  await page.evaluate(() => dispatchEvent(new Event('online')));
  await expect(live(page).or(page.getByText(/Paused/).first())).toBeVisible();
  for (const id of ids) await expect(rowOf(page, id).getByRole('checkbox')).toBeChecked();
  await expect(opened).toBeVisible();
});

test('backing out of the cancel dialog leaves the selection as it was', async ({ page, stack }) => {
  const ids = await Promise.all(['a', 'b'].map((mark) => parked(stack.url, 'backing-out', mark)));
  await page.goto('/tasks?queue=backing-out');
  for (const id of ids) await rowOf(page, id).getByRole('checkbox').click();
  for (const leave of ['Escape', 'back', 'outside'] as const) {
    await page
      .getByRole('toolbar')
      .getByRole('button', { name: /^Cancel/ })
      .click();
    await expect(page.getByRole('dialog')).toBeVisible();
    if (leave === 'Escape') await page.keyboard.press('Escape');
    else if (leave === 'back') await page.getByRole('dialog').getByRole('button', { name: 'Back' }).click();
    else await page.mouse.click(5, 400);
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await expect(page.getByRole('toolbar')).toContainText('2 selected');
  }
});

test('scenario 5: a transaction on five keys appears at once, never two of five', async ({ page, stack }) => {
  const ids = await Promise.all([1, 2, 3, 4, 5].map((n) => parked(stack.url, 'five', `old-${n}`)));
  const records = await Promise.all(ids.map((id) => recordOf(stack, id)));
  await page.goto('/tasks?queue=five');
  for (const id of ids) await expect(rowOf(page, id)).toBeVisible();
  await page.evaluate(() => {
    const seen = new Set<string>();
    Object.assign(window, { seen });
    const look = (): void => {
      const rows = [...document.querySelectorAll('[data-task]')].map(
        (row) => /now-(\d+)/.exec(row.textContent)?.[1] ?? '-',
      );
      seen.add(rows.join());
    };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  for (let round = 1; round <= 20; round++) {
    await putTogether(
      stack,
      records.map((record) => ({ ...record, args: [string(`now-${round}`)] })),
    );
  }
  await expect(rowOf(page, ids[0] ?? '')).toContainText('now-20');
  const seen = await page.evaluate(() => [...(window as unknown as { seen: Set<string> }).seen]);
  expect(seen.length).toBeGreaterThan(1);
  for (const picture of seen) expect(new Set(picture.split(',')).size, picture).toBe(1);
});

test('scenario 10: a tab that was hidden for five minutes is right at once, without a storm', async ({
  page,
  stack,
}) => {
  const id = await parked(stack.url, 'hidden', 'seen-0');
  const record = await recordOf(stack, id);
  let changes = 0;
  page.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => {
      if (String(payload).includes('"change"')) changes++;
    }),
  );
  await page.goto('/tasks?queue=hidden');
  await expect(rowOf(page, id)).toContainText('seen-0');
  const turn = (hidden: boolean): Promise<void> =>
    page.evaluate((now) => {
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => now });
      Object.defineProperty(document, 'visibilityState', {
        configurable: true,
        get: () => (now ? 'hidden' : 'visible'),
      });
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);
  await turn(true);
  await putTogether(stack, [{ ...record, args: [string('seen-1')] }]);
  await expect
    .poll(async () => (await (await fetch(`${stack.url}/api/v1/tasks/${id}`)).text()).includes('seen-1'))
    .toBe(true);
  changes = 0;
  // What five minutes bring: 300 changes, one a second, without the waiting.
  for (let n = 2; n <= 300; n++) await putTogether(stack, [{ ...record, args: [string(`seen-${n}`)] }]);
  expect(changes).toBeLessThanOrEqual(2);
  await turn(false);
  await expect(rowOf(page, id)).toContainText('seen-300', { timeout: 3_000 });
  expect(changes).toBeLessThan(25);
});

test('scenario 18, report B29: facets, columns, sort and layout are of the address; back, forward, reload and a saved view bring them again', async ({
  page,
  stack,
}) => {
  await parked(stack.url, 'addressed', 'x');
  await page.goto('/tasks');
  const facets = page.getByRole('complementary', { name: 'Filters' });
  await facets.getByRole('link', { name: /Pending/ }).click();
  await expect(page).toHaveURL(/state=PENDING/);
  await expect(facets.getByRole('link', { name: /Pending/ })).toHaveAttribute('aria-current', 'true');
  await facets.getByRole('link', { name: /addressed/ }).click();
  await expect(page).toHaveURL(/queue=addressed/);
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Attempts' }).click();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('columnheader', { name: 'Attempts' })).toBeVisible();
  await page.getByRole('columnheader', { name: 'Attempts' }).getByRole('button').click();
  await expect(page).toHaveURL(/sort=-?attempt/);
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitem', { name: 'Save this view' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('mine');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.goBack();
  await expect(page).not.toHaveURL(/sort=/);
  await page.goBack();
  await expect(page).not.toHaveURL(/queue=/);
  await expect(facets.getByRole('link', { name: /Pending/ })).toHaveAttribute('aria-current', 'true');
  await page.goForward();
  await expect(page).toHaveURL(/queue=addressed/);
  await page.goto('/tasks');
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitem', { name: 'mine' }).click();
  await expect(page).toHaveURL(/queue=addressed.*sort=-?attempt/);
  await page.reload();
  await expect(page.getByRole('columnheader', { name: 'Attempts' })).toBeVisible();
});

test('dragging over the histogram chooses a time, and the address has it', async ({ page, stack }) => {
  await parked(stack.url, 'dragged', 'x');
  await page.goto('/tasks?queue=dragged');
  const plot = page.locator('.chart .u-over');
  await expect(plot).toBeVisible();
  const box = await plot.boundingBox();
  if (box === null) throw new Error('the histogram has no place');
  await page.mouse.move(box.x + box.width * 0.2, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.95, box.y + 20, { steps: 5 });
  await page.mouse.up();
  await expect(page).toHaveURL(/from=\d{13}&to=\d{13}/);
  await page.getByLabel('Time range').selectOption('whole');
  await expect(page).not.toHaveURL(/from=/);
});

test('by state: a column for each state with its count, cards that cannot be dragged, failures where they belong', async ({
  page,
  stack,
  workers,
}) => {
  expect(workers.orders.process.exitCode).toBeNull();
  const waiting = await parked(stack.url, 'kanban', 'x');
  const failing = await submit(stack.url, 'processInventory', 'orders', [
    string('SKU-40100'),
    { type: 'int32', value: 1 },
  ]);
  await page.goto('/tasks?layout=kanban');
  await expect(page.locator('[data-column="PENDING"]').locator(`[data-task="${waiting}"]`)).toBeVisible();
  const failed = page.locator('[data-column="FAILURE"]').locator(`[data-task="${failing}"]`);
  await expect(failed).toBeVisible();
  expect(await page.locator('[draggable="true"]').count()).toBe(0);
  await page.mouse.move(0, 0);
  // Report B7: only the failed ones are asked for.
  await page.goto('/tasks?layout=kanban&state=FAILURE');
  await expect(page.locator('[data-column]')).toHaveCount(1);
  await expect(failed).toBeVisible();
});

test('report B28: a search that is still being typed does not take the reader back from a task', async ({
  page,
  stack,
}) => {
  const id = await parked(stack.url, 'typed', 'x');
  await page.goto('/tasks?queue=typed');
  const link = rowOf(page, id).getByRole('link').first();
  await expect(link).toBeVisible();
  await page.getByRole('searchbox').fill('nobody');
  await link.click();
  await expect(page).toHaveURL(new RegExp(`/tasks/${id}$`));
  // Longer than the pause after which the search would have gone into the address.
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 600)));
  expect(page.url()).toMatch(new RegExp(`/tasks/${id}$`));
});

test('report B4: another filter keeps what is shown until the answer is there', async ({ page, stack }) => {
  await parked(stack.url, 'kept', 'x');
  await page.goto('/tasks?queue=kept');
  await expect(page.locator('[data-task]').first()).toBeVisible();
  await page.evaluate(() => {
    Object.assign(window, { flickers: 0 });
    new MutationObserver(() => {
      if (document.querySelector('[role="grid"]') === null) (window as unknown as { flickers: number }).flickers++;
    }).observe(document.body, { subtree: true, childList: true });
  });
  await page
    .getByRole('complementary', { name: 'Filters' })
    .getByRole('link', { name: /Pending/ })
    .click();
  await expect(page).toHaveURL(/state=PENDING/);
  await expect(page.locator('[data-task]').first()).toBeVisible();
  expect(await page.evaluate(() => (window as unknown as { flickers: number }).flickers)).toBe(0);
});
