import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Client, Handling } from '../src/index.js';
import { createTestScheduler, type TestScheduler } from '../src/testing/index.js';
import * as exactlyOnce from '../examples/exactly-once.js';
import * as images from '../examples/images.js';
import * as inventory from '../examples/inventory.js';
import * as nightly from '../examples/nightly.js';
import * as profile from '../examples/profile.js';
import * as testing from '../examples/testing.js';
import { parseMachinery } from '../src/model/machinery.js';

interface Example {
  readonly handlers: readonly Handling[];
  readonly main: (client: Client) => Promise<readonly unknown[]>;
}

/** Runs an example while time passes. */
async function played({ handlers, main }: Example, use: (scheduler: TestScheduler) => Promise<void> = async () => {}) {
  const scheduler = await createTestScheduler({ handlers });
  const state = { done: false };
  const running = main(scheduler.client);
  const settled = Promise.allSettled([running]).then(() => (state.done = true));
  for (let i = 0; !state.done && i < 1_000; i++) await scheduler.advance(100);
  await settled;
  await use(scheduler);
  await scheduler.stop();
  return running;
}

describe('the examples', () => {
  it('inventory: 50 of SKU-99283 are taken', async () => {
    expect(await played(inventory)).toEqual([70]);
  });

  it('profile: verifyUser, then updateProfile with what it returned', async () => {
    expect(await played(profile)).toEqual(['ann@example.org lives in Oslo']);
  });

  it('images: all sizes, then one upload', async () => {
    expect(await played(images)).toEqual([3]);
  });

  it('nightly: a nested pipeline', async () => {
    const names: string[] = [];
    const results = await played(nightly, async ({ tasks }) => {
      names.push(...(await tasks()).map(({ name, state }) => `${name} ${state}`));
    });
    expect(results).toEqual([['nightly: 1120 rows'], [], []]);
    expect(names.filter((name) => name === 'vacuum SUCCESS')).toHaveLength(2);
  });

  it('exactly-once: an attempt that died after its work does it no second time; a stale one is refused', async () => {
    expect(await played(exactlyOnce)).toEqual([500n]);
    const ledger = new exactlyOnce.Ledger();
    ledger.apply('t', 2n, 'ann', 1n);
    expect(() => ledger.apply('t', 1n, 'ann', 1n)).toThrow('newer attempt');
    expect(ledger.balances.get('ann')).toBe(1n);
  });

  it('testing: a handler without etcd', async () => {
    await testing.main();
  });
});

const folder = (name: string): URL => new URL(`../${name}/`, import.meta.url);

describe('the documentation', () => {
  const FENCE = /^```ts (examples\/[\w-]+\.ts)\n([\s\S]*?)^```$/gm;

  it('shows examples as they are in their files', async () => {
    const shown = new Set<string>();
    for (const page of ['handlers.md', 'workflows.md', 'moving-from-machinery.md']) {
      const text = await readFile(new URL(page, folder('docs')), 'utf8');
      for (const [, file = '', code] of text.matchAll(FENCE)) {
        shown.add(file);
        expect(`${page}, ${file}\n${code}`).toBe(
          `${page}, ${file}\n${await readFile(new URL(`../${file}`, import.meta.url), 'utf8')}`,
        );
      }
    }
    const files = (await readdir(fileURLToPath(folder('examples')))).filter((file) => file !== 'run.ts');
    expect([...shown].sort()).toEqual(files.map((file) => `examples/${file}`).sort());
  });

  it('moving-from-machinery.md: its JSON is taken as it is, and does what it says', async () => {
    const text = await readFile(new URL('moving-from-machinery.md', folder('docs')), 'utf8');
    const [, json = ''] = /```json\n([\s\S]*?)```/.exec(text) ?? [];
    const { workflow, notes } = parseMachinery(json);
    expect(notes).toEqual([]);
    const { add, handleAdd, handleMultiply } = await import('./machinery/tasks.js');
    expect(add.name).toBe('add');
    const scheduler = await createTestScheduler({ handlers: [handleAdd, handleMultiply] });
    expect(await scheduler.run(workflow)).toEqual([88n]);
    await scheduler.stop();
  });
});
