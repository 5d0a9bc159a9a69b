/** A scheduler process for tests: no-op handlers that tell their parent what ran, with which token. */
import { defineTask, handle, silentLogger, startNode } from '../../src/index.js';

const [endpoint = '', namespace = '', ttl = '2000'] = process.argv.slice(2);
const told: string[] = [];
const noop = handle(
  defineTask('noop', { args: ['int64', 'string'], results: ['int64'] }),
  ([n], { id, attempt, token }) => {
    told.push(`${id} ${attempt} ${token.revision}`);
    return n;
  },
);

const node = await startNode({
  etcd: { endpoints: [endpoint] },
  namespace,
  handlers: [noop],
  concurrency: 200,
  leaseTtlMs: Number(ttl),
  logger: silentLogger,
});

const flush = (): void => {
  if (told.length > 0) process.send?.({ ran: told.splice(0) });
};
const timer = setInterval(flush, 20);
process.send?.({ ready: true });
process.on('message', (message) => {
  if (message !== 'stop') return;
  void node.stop().then(() => {
    clearInterval(timer);
    flush();
    process.send?.({ stopped: true }, () => process.exit(0));
  });
});
