/** Runs one example on an etcd: `npx tsx --conditions=leasehold-source examples/run.ts inventory [endpoint]`. */
import { silentLogger, startNode, type Client, type Handling } from '@leasehold/core';

interface Example {
  readonly handlers: readonly Handling[];
  readonly main: (client: Client) => Promise<readonly unknown[]>;
}

const [name = 'inventory', endpoint = '127.0.0.1:2379'] = process.argv.slice(2);
const { handlers, main } = (await import(`./${name}.ts`)) as Example;
const node = await startNode({
  etcd: { endpoints: [endpoint] },
  namespace: 'examples',
  handlers,
  logger: silentLogger,
});
const results = await main(node.client);
process.stdout.write(`${results.map(String).join('\n')}\n`);
await node.stop();
