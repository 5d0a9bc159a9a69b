import { DEFAULT_TASK_ORDER, PROTOCOL, SOCKET_PATH } from '@leasehold/wire';
import { readFile } from 'node:fs/promises';
import { io, type Socket } from 'socket.io-client';
import { live, putTogether, recordOf, submit, watchesIn } from './records.js';
import { expect, test } from './stack.js';

const VIEWERS = 50;

/** Resolves with the socket when it has the first window of the list. */
function follow(url: string): Promise<{ readonly socket: Socket; changes: number }> {
  return new Promise((resolve, reject) => {
    const socket = io(url, {
      path: SOCKET_PATH,
      transports: ['websocket'],
      auth: { protocol: PROTOCOL },
      extraHeaders: { origin: url },
      forceNew: true,
    });
    const viewer = { socket, changes: 0 };
    socket.on('connect_error', reject);
    socket.on('change', (_change: unknown, ack: () => void) => {
      viewer.changes++;
      ack();
    });
    socket.on('snapshot', (_snapshot: unknown, ack: () => void) => {
      ack();
      resolve(viewer);
    });
    socket.on('connect', () => {
      const query = { view: 'tasks', filter: {}, order: DEFAULT_TASK_ORDER, window: { offset: 0, limit: 120 } };
      socket.emit('subscribe', { sub: 'list', query });
    });
  });
}

async function rssMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1_024;
}

test('scenario 28, report B14: fifty viewers are one watch of each range in etcd, all of them follow, and memory stays flat', async ({
  page,
  stack,
}) => {
  test.setTimeout(120_000);
  const id = await submit(stack.url, 'nobodyKnows', 'watched', [{ type: 'string', value: 'x' }]);
  await page.goto('/tasks');
  await expect(live(page)).toBeVisible();
  const watches = await watchesIn(stack);
  const viewers = await Promise.all(Array.from({ length: VIEWERS }, () => follow(stack.url)));
  expect(await watchesIn(stack)).toBe(watches);
  const before = await rssMib(stack.boardPid);
  const record = await recordOf(stack, id);
  for (let n = 0; n < 200; n++)
    await putTogether(stack, [{ ...record, args: [{ type: 'string', value: `turn-${n}` }] }]);
  await expect(page.locator(`[data-task="${id}"]`)).toContainText('turn-199');
  await expect.poll(() => viewers.filter(({ changes }) => changes > 0).length).toBe(VIEWERS);
  expect(await watchesIn(stack)).toBe(watches);
  expect((await rssMib(stack.boardPid)) - before).toBeLessThan(120);
  for (const { socket } of viewers) socket.disconnect();
});
