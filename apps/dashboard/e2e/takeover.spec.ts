import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { live, putTogether, recordOf, rowOf, submit, watchesIn } from './records.js';
import { expect, test, type Stack } from './stack.js';

interface Rows<R> {
  readonly rows: readonly R[];
}
const read = async <R>(stack: Stack, what: string): Promise<readonly R[]> =>
  ((await (await fetch(`${stack.url}/api/v1/${what}`)).json()) as Rows<R>).rows;

test('scenario 6: kill -9 of a worker: its lease ends, the lock is freed, the task runs elsewhere, the node departs; no reload', async ({
  page,
  stack,
}) => {
  test.setTimeout(120_000);
  const workers = await Promise.all([stack.worker('gate'), stack.worker('gate')]);
  const id = await submit(stack.url, 'waitAtGate', 'gates', [{ type: 'string', value: 'takeover' }]);
  await page.goto('/tasks?queue=gates');
  const row = rowOf(page, id);
  await expect(row).toContainText('Running');
  await expect(row).toContainText(/token/);
  const token = /token\s([\d\s]+)/.exec(await row.innerText())?.[1] ?? '';
  await page.evaluate(() => Object.assign(window, { stayed: true }));
  const lock = (await read<{ id: string; node: string }>(stack, 'locks')).find((each) => each.id === id);
  const holder = (await read<{ id: string; pid: number }>(stack, 'nodes')).find((node) => node.id === lock?.node);
  const victim = workers.find((worker) => worker.process.pid === holder?.pid);
  if (victim === undefined) throw new Error('nobody holds the task');
  await victim.kill();
  await expect(row).toContainText('attempt 2', { timeout: 40_000 });
  await expect(row).toContainText(/token/);
  expect(/token\s([\d\s]+)/.exec(await row.innerText())?.[1]).not.toBe(token);
  const [after] = (await read<{ id: string; node: string }>(stack, 'locks')).filter((each) => each.id === id);
  expect(after?.node).not.toBe(holder?.id);
  await writeFile(path.join(stack.dataDir, 'gates', 'takeover'), '');
  await expect(row).toContainText('Succeeded');
  await page.locator('nav a[href="/nodes"]').first().click();
  await expect(page.getByRole('heading', { name: 'Departed' })).toBeVisible();
  await expect(page.getByRole('region', { name: 'Departed' })).toContainText(holder?.id.slice(-4) ?? '');
  expect(await page.evaluate(() => 'stayed' in window)).toBe(true);
  await Promise.all(workers.map((worker) => worker.kill()));
});

test('scenario 8: history is compacted while the board is cut off: one new list, the gap is said, and no loop', async ({
  page,
  stack,
}) => {
  test.setTimeout(120_000);
  const id = await submit(stack.url, 'nobodyKnows', 'cut-off', [{ type: 'string', value: 'before' }]);
  await page.goto('/tasks?queue=cut-off');
  await expect(live(page)).toBeVisible();
  await expect(rowOf(page, id)).toContainText('before');
  const watches = await watchesIn(stack);
  const lists = async (): Promise<number> => {
    const cluster = (await (await fetch(`${stack.url}/api/v1/cluster`)).json()) as { feed: { relists: number } };
    return cluster.feed.relists;
  };
  const listed = await lists();
  await stack.link.refuse(true);
  stack.link.killConnections();
  const record = await recordOf(stack, id);
  let revision = '0';
  for (let n = 0; n < 20; n++)
    revision = await putTogether(stack, [{ ...record, args: [{ type: 'string', value: `after-${n}` }] }]);
  await stack.kv.compact(BigInt(revision));
  await stack.link.refuse(false);
  await expect(rowOf(page, id)).toContainText('after-19', { timeout: 40_000 });
  await expect(page.getByText(/compacted/i).first()).toBeVisible();
  await expect(live(page)).toBeVisible();
  await expect.poll(lists).toBe(listed + 1);
  // What comes afterwards comes by the watch.
  for (let n = 20; n < 25; n++) {
    await putTogether(stack, [{ ...record, args: [{ type: 'string', value: `after-${n}` }] }]);
    await expect(rowOf(page, id)).toContainText(`after-${n}`);
  }
  expect(await lists()).toBe(listed + 1);
  await expect.poll(() => watchesIn(stack)).toBeLessThanOrEqual(watches);
});
