import { AxeBuilder } from '@axe-core/playwright';
import { copyFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { expect, test, type Stack } from './stack.js';

async function inQueue(stack: Stack, queue: string): Promise<{ total: number; rows: { id: string; args: string }[] }> {
  const response = await fetch(`${stack.url}/api/v1/tasks?queue=${queue}`);
  return (await response.json()) as { total: number; rows: { id: string; args: string }[] };
}

async function openJson(page: Page): Promise<void> {
  await page.goto('/tasks/new?name=nobodyKnows');
  await page.getByRole('tab', { name: 'JSON' }).click();
}

const signature = (queue: string, value: string): string =>
  `{"name":"nobodyKnows","queue":"${queue}","args":[${value}]}`;

test('scenario 11: bad JSON, a wrong type and too much are refused; 2^60 and unicode keep every digit and letter; a double click makes one', async ({
  page,
  stack,
}) => {
  await openJson(page);
  const text = page.getByLabel('A signature or a workflow');
  const submit = page.getByRole('button', { name: 'Submit task' });
  await text.fill('{"name": "nobodyKnows", ');
  await expect(page.getByText('Quoted object key expected')).toBeVisible();
  await expect(submit).toBeDisabled();

  await text.fill(signature('s11', '{"type":"int32","value":50.5}'));
  await submit.click();
  await expect(page.getByText(/50\.5 is not int32/).first()).toBeVisible();
  await text.fill(signature('s11', `{"type":"string","value":"${'x'.repeat(300_000)}"}`));
  await submit.click();
  await expect(page.getByText(/262144/).first()).toBeVisible();
  expect((await inQueue(stack, 's11')).total).toBe(0);

  await text.fill(
    signature('s11', '{"type":"int64","value":1152921504606846976},{"type":"string","value":"재고 🚚 Ünï"}'),
  );
  await submit.dblclick();
  await expect(page).toHaveURL(/\/tasks\/[0-9a-f-]{36}$/);
  await expect(page.getByText('1152921504606846976').first()).toBeVisible();
  await expect(page.getByText('재고 🚚 Ünï').first()).toBeVisible();
  const { total, rows } = await inQueue(stack, 's11');
  expect(total, JSON.stringify(rows)).toBe(1);
});

test('scenario 11: a chain of three through the builder: results go on from step to step', async ({
  page,
  workers,
}) => {
  expect(workers.orders.process.exitCode).toBeNull();
  await page.goto('/workflows/new');
  await page.getByRole('tab', { name: 'JSON' }).click();
  const step = (name: string, args: readonly object[], more: object = {}) => ({
    kind: 'task',
    signature: { name, queue: 'users', args, ...more },
  });
  const user = { type: 'int64', value: '1001' };
  const rename = (name: string, more: object = {}) =>
    step('updateProfile', [user, { type: 'string', value: name }], more);
  // The second takes what the first gives; the third would have no use for a version, so the second hands nothing on.
  const steps = [step('verifyUser', [user]), rename('Ada L.', { immutable: true }), rename('Ada Lovelace')];
  await page.getByLabel('The workflow as JSON').fill(JSON.stringify({ kind: 'chain', steps }));
  await page.getByRole('button', { name: 'Load into the outline' }).click();
  await page.getByRole('button', { name: 'Submit 3 tasks' }).click();
  await expect(page).toHaveURL(/\/workflows\/[0-9a-f-]{36}$/);
  await expect(page.getByText('3 of 3 succeeded').first()).toBeVisible({ timeout: 30_000 });
});

/** Goes from control to control as hands on a keyboard do. */
async function tabTo(page: Page, found: () => Promise<boolean>): Promise<void> {
  for (let presses = 0; presses < 80; presses++) {
    if (await found()) return;
    await page.keyboard.press('Tab');
  }
  throw new Error('the keyboard does not lead there');
}

const focusedRole = (page: Page): Promise<string | null> =>
  page.evaluate(() => document.activeElement?.getAttribute('role') ?? null);
const focusedText = (page: Page): Promise<string> => page.evaluate(() => document.activeElement?.textContent ?? '');

async function addByKeyboard(page: Page, name: string, args: readonly string[]): Promise<void> {
  await page.keyboard.press('a');
  await expect.poll(() => focusedRole(page)).toBe('combobox');
  await page.keyboard.type(name);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('treeitem', { selected: true })).toContainText(name);
  for (const [i, text] of args.entries()) {
    if (i > 0) await page.keyboard.press('Tab');
    await page.keyboard.type(text);
  }
  await page.keyboard.press('Escape');
  await expect.poll(() => focusedRole(page)).toBe('treeitem');
}

test('scenario 12: a chord of pictures built by keyboard alone; one member fails at the barrier, is retried alone, and the callback uploads all', async ({
  page,
  stack,
  workers,
}) => {
  test.setTimeout(150_000);
  expect(workers.media.process.exitCode).toBeNull();
  await page.goto('/workflows/new');
  await expect(page.getByRole('tree')).toBeVisible();
  await tabTo(page, async () => (await focusedRole(page)) === 'treeitem');
  await page.keyboard.press('o');
  await expect(page.getByRole('treeitem', { selected: true })).toContainText('Chord');
  await addByKeyboard(page, 'compressImage', ['images/dunes.png', '60']);
  for (let copies = 0; copies < 3; copies++) await page.keyboard.press('d');
  await addByKeyboard(page, 'compressImage', ['images/late.png', '61']);
  await addByKeyboard(page, 'uploadToS3', []);
  await expect(page.getByRole('treeitem')).toHaveCount(8);
  await page.keyboard.press('Control+z');
  await page.keyboard.press('Control+Shift+z');
  await expect(page.getByRole('treeitem')).toHaveCount(8);
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id }) => id)).toEqual([]);
  await tabTo(page, async () => /^Submit 6 tasks$/.test(await focusedText(page)));
  await page.keyboard.press('Enter');

  await expect(page).toHaveURL(/\/workflows\/[0-9a-f-]{36}$/);
  await expect(page.getByText('Failed', { exact: true }).first()).toBeVisible({ timeout: 60_000 });
  await expect(page.getByText('4 of 6 succeeded').first()).toBeVisible();
  const images = path.join(stack.dataDir, 'media', 'images');
  await copyFile(path.join(images, 'dunes.png'), path.join(images, 'late.png'));
  await page.getByRole('button', { name: 'Retry failed members' }).click();
  await expect(page.getByText('6 of 6 succeeded').first()).toBeVisible({ timeout: 60_000 });
  // Only what had failed ran again: the others are still at their first attempt.
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  const response = await fetch(`${stack.url}/api/v1/workflows/${id}`);
  const { members } = (await response.json()) as { members: { name: string; attempt: { n: number } }[] };
  expect(members.slice(0, 4).map(({ attempt }) => attempt.n)).toEqual([1, 1, 1, 1]);
  await page.getByRole('button', { name: /Retry from here: 6/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Retry from here' }).click();
  await expect(page.getByText('run 3').first()).toBeVisible();
  await expect(page.getByText('6 of 6 succeeded').first()).toBeVisible({ timeout: 60_000 });
});
