import { startEtcd, type RunningEtcd } from '@leasehold/etcd-local';
import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  connect,
  defineTask,
  handle,
  startNode,
  type Client,
  type Logger,
  type SchedulerNode,
} from '../../src/index.js';

const noop = defineTask('noop', { args: ['int64'], results: ['int64'] });
const handlers = [handle(noop, ([n]) => n)];

let etcd: RunningEtcd | undefined;
let node: SchedulerNode | undefined;
let client: Client | undefined;

afterEach(async () => {
  await node?.stop({ deadlineMs: 0 });
  await client?.close();
  await etcd?.stop();
  [etcd, node, client] = [undefined, undefined, undefined];
});

/** A port that nobody listens on now. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/** A logger that lets a test wait for something to be said. */
function listening(): { logger: Logger; said: (text: RegExp) => Promise<string> } {
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  const say = (message: string, fields: unknown = {}): void => {
    lines.push(
      `${message} ${JSON.stringify(fields, (_, value: unknown) => (value instanceof Error ? value.message : typeof value === 'bigint' ? String(value) : value))}`,
    );
    for (const look of waiting) look();
  };
  const logger: Logger = { debug: say, info: say, warn: say, error: say, child: () => logger };
  const said = (text: RegExp): Promise<string> =>
    new Promise((resolve) => {
      const look = (): void => {
        const line = lines.find((one) => text.test(one));
        if (line === undefined) return;
        waiting.delete(look);
        resolve(line);
      };
      waiting.add(look);
      look();
    });
  return { logger, said };
}

describe('etcd away', () => {
  it(
    'at the start: the node says where it looked, goes on trying, and works when etcd comes',
    { timeout: 60_000 },
    async () => {
      const [clientPort, peerPort] = [await freePort(), await freePort()];
      const endpoint = `127.0.0.1:${clientPort}`;
      const { logger, said } = listening();
      node = await startNode({ etcd: { endpoints: [endpoint] }, namespace: 'away', handlers, logger });
      expect(await said(/no session could be opened; trying again/)).toContain(String(clientPort));
      client = connect({ etcd: { endpoints: [endpoint] }, namespace: 'away' });
      const submitted = client.submit(noop.signature([7n]));
      etcd = await startEtcd({ ports: [{ client: clientPort, peer: peerPort }], unsafeNoFsync: true });
      expect(await (await submitted).result({ timeoutMs: 40_000 })).toEqual([7n]);
    },
  );

  it('nobody answers for longer than the submitter waits: a clear refusal, nothing acknowledged', async () => {
    const port = await freePort();
    client = connect({ etcd: { endpoints: [`127.0.0.1:${port}`] }, namespace: 'away' });
    await expect(client.submit(noop.signature([1n]), { giveUpMs: 500 })).rejects.toMatchObject({ code: 'unavailable' });
  });

  it(
    'during a run: etcd is killed and comes back; everything acknowledged ends, once',
    { timeout: 120_000 },
    async () => {
      etcd = await startEtcd({});
      const { logger } = listening();
      node = await startNode({
        etcd: { endpoints: etcd.endpoints },
        namespace: 'away',
        handlers,
        concurrency: 50,
        logger,
      });
      const submitter = connect({ etcd: { endpoints: etcd.endpoints }, namespace: 'away' });
      client = submitter;
      const asked = Array.from({ length: 1_000 }, (_, i) =>
        submitter.submit(noop.signature([BigInt(i)]), { id: `t${i}` }),
      );
      const first = await asked[0];
      await first?.result({ timeoutMs: 30_000 });
      const [member] = etcd.members;
      await member?.stop('SIGKILL');
      await member?.restart();
      const handles = await Promise.all(asked);
      const results = await Promise.all(handles.map((one) => one.result({ timeoutMs: 60_000 })));
      expect(results.map((values) => values[0])).toEqual(results.map((_, i) => BigInt(i)));
      const tasks = await Promise.all(handles.map((one) => submitter.get(one.id)));
      expect(tasks.every((task) => task?.state === 'SUCCESS' && task.attempt === task.losses + 1)).toBe(true);
    },
  );
});
