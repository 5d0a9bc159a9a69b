import { connectEtcd, type Kv } from '@leasehold/core/kv';
import { encodeRecord, Keys, type NodeRecord } from '@leasehold/core/model';
import { expect, test, type Stack } from './stack.js';

async function post(stack: Stack, route: string, body: object): Promise<{ id: string }> {
  const response = await fetch(`${stack.url}/api/v1${route}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID(), origin: stack.url },
    body: JSON.stringify(body),
  });
  expect(response.status, await response.clone().text()).toBe(200);
  return (await response.json()) as { id: string };
}

interface Reasons {
  readonly state: string;
  readonly codes: readonly string[];
}

async function reasonsOf(stack: Stack, id: string): Promise<Reasons> {
  const response = await fetch(`${stack.url}/api/v1/tasks/${id}`);
  if (!response.ok) return { state: '', codes: [] };
  const { row, why } = (await response.json()) as { row: { state: string }; why: { code: string }[] };
  return { state: row.state, codes: why.map(({ code }) => code) };
}

/** A node that serves a queue and claims nothing: a record under a lease of its own, as any worker writes it. */
async function idleNode(kv: Kv, id: string, queue: string, name: string): Promise<void> {
  const lease = await kv.leaseGrant(600);
  const record: NodeRecord = {
    id,
    host: 'shelf-host',
    pid: 1,
    version: '1.0.0',
    startedMs: Date.now(),
    leaseId: lease.id.toString(),
    leaseTtlMs: 600_000,
    queues: [{ name: queue, concurrency: 1, weight: 1 }],
    handlers: [{ name, queue, args: [], results: [] }],
    labels: { zone: 'a' },
    draining: false,
    candidate: false,
    layout: 1,
  };
  const key = new Keys('shop').node(id);
  await kv.txn({ compare: [], success: [{ kind: 'put', key, value: encodeRecord(record), lease: lease.id }] });
}

const HOUR_MS = 3_600_000;

test('scenario 16: the page of a waiting task says why it waits, eleven reasons', async ({ page, stack }) => {
  test.setTimeout(240_000);
  const kv = connectEtcd({ endpoints: [...stack.etcd.endpoints] });
  await idleNode(kv, 'shelf-1', 'shelf', 'known');
  const task = (name: string, queue: string, more: object = {}) => ({
    kind: 'task',
    signature: { name, queue, args: [], ...more },
  });
  const alone = async (name: string, queue: string, more: object = {}): Promise<string> =>
    (await post(stack, '/tasks', { name, queue, args: [], ...more })).id;
  const memberOf = async (workflow: object, wanted: string): Promise<string> => {
    const { id } = await post(stack, '/workflows', { workflow });
    let found: string | undefined;
    await expect
      .poll(async () => {
        const response = await fetch(`${stack.url}/api/v1/workflows/${id}`);
        const { members = [] } = (await response.json()) as { members?: { id: string; name: string }[] };
        found = members.find(({ name }) => name === wanted)?.id;
        return found;
      })
      .toBeDefined();
    return found ?? '';
  };
  await post(stack, '/queues/stopped/pause', { reason: 'stocktaking' });
  await post(stack, '/names/forbidden/pause', { reason: 'being fixed' });

  const cases: readonly (readonly [code: string, id: string, says: RegExp])[] = [
    ['no-worker', await alone('anything', 'nobody'), /no live worker serves queue nobody/],
    ['unknown-name', await alone('stranger', 'shelf'), /no live worker of shelf knows stranger/],
    ['labels-mismatch', await alone('known', 'shelf', { labels: { zone: 'b' } }), /no node has the labels/],
    ['queue-paused', await alone('known', 'stopped'), /queue stopped paused by .*stocktaking/],
    ['name-paused', await alone('forbidden', 'nobody'), /forbidden paused by .*being fixed/],
    ['not-due', await alone('known', 'shelf', { etaMs: Date.now() + HOUR_MS }), /due /],
    ['position', await alone('known', 'shelf'), /next in shelf|before it in shelf/],
    [
      'waits-for-task',
      await memberOf({ kind: 'chain', steps: [task('first', 'nobody'), task('second', 'nobody')] }, 'second'),
      /waits for first/,
    ],
    [
      'barrier',
      await memberOf(
        {
          kind: 'chord',
          header: [task('part', 'nobody'), task('part', 'nobody'), task('part', 'nobody')],
          callback: task('sum', 'nobody'),
        },
        'sum',
      ),
      /barrier 0 of 3/,
    ],
    // Nobody leads here, so nothing that is due is promoted.
    ['no-leader', await alone('known', 'shelf', { etaMs: Date.now() + 1_500 }), /no leader to promote it/],
  ];
  for (const [code, id, says] of cases) {
    await expect
      .poll(async () => (await reasonsOf(stack, id)).codes, { message: code, timeout: 20_000 })
      .toContain(code);
    await page.goto(`/tasks/${id}`);
    await expect(page.getByRole('region', { name: 'Why it does not run' }), code).toContainText(says);
  }
  // Everything paused stands before whatever else holds a ready task up.
  await post(stack, '/all/pause', { reason: 'night' });
  const [, ready] = cases[6] ?? ['', ''];
  await expect.poll(async () => (await reasonsOf(stack, ready)).codes[0]).toBe('all-paused');
  await page.goto(`/tasks/${ready}`);
  await expect(page.getByRole('region', { name: 'Why it does not run' })).toContainText(
    /everything is paused by .*night/,
  );
  await kv.close();
});
