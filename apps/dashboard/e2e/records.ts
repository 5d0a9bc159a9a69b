/** Tasks that a test puts into etcd itself: many at once, or several in one transaction. */
import type { Page } from '@playwright/test';
import { expect, type Stack } from './stack.js';

const PREFIX = '/leasehold/shop/tasks/';
const AT_ONCE = 100;

export async function submit(url: string, name: string, queue: string, args: readonly object[] = []): Promise<string> {
  const response = await fetch(`${url}/api/v1/tasks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID(), origin: url },
    body: JSON.stringify({ name, queue, args, retry: { count: 0 } }),
  });
  expect(response.status, await response.clone().text()).toBe(200);
  return ((await response.json()) as { id: string }).id;
}

/** The stored record of a task, to make others after it. */
export async function recordOf(stack: Stack, id: string): Promise<Record<string, unknown>> {
  const { kvs } = await stack.kv.range({ key: `${PREFIX}${id}` });
  return JSON.parse(kvs[0]?.value ?? '{}') as Record<string, unknown>;
}

/** All in one transaction. */
export async function putTogether(stack: Stack, records: readonly Record<string, unknown>[]): Promise<string> {
  const success = records.map((record) => {
    return { kind: 'put' as const, key: `${PREFIX}${String(record['id'])}`, value: JSON.stringify(record) };
  });
  const { revision } = await stack.kv.txn({ compare: [], success });
  return revision.toString();
}

/** Copies of a record under ids of their own, in transactions of 100. */
export async function putMany(
  stack: Stack,
  record: Record<string, unknown>,
  count: number,
  mark: string,
): Promise<void> {
  for (let at = 0; at < count; at += AT_ONCE) {
    const size = Math.min(AT_ONCE, count - at);
    await putTogether(
      stack,
      Array.from({ length: size }, (_, i) => ({ ...record, id: `${mark}-${String(at + i).padStart(7, '0')}` })),
    );
  }
}

export const rowOf = (page: Page, id: string) => page.locator(`[data-task="${id}"]`);
export const live = (page: Page) => page.getByText(/Live · rev|Idle · verified/).first();

/** Watches in etcd, over all clients. */
export async function watchesIn(stack: Stack): Promise<number> {
  const text = await (await fetch(`${stack.etcd.endpoints[0]}/metrics`)).text();
  return Number(/^etcd_debugging_mvcc_watcher_total (\d+)/m.exec(text)?.[1]);
}
