import { chain, chord, defineTask, group, handle, type Client } from '@leasehold/core';

export const extract = defineTask('extract', { args: ['string'], results: ['int64'] });
export const transform = defineTask('transform', { args: ['string', 'int64'], results: ['int64'] });
export const load = defineTask('load', { variadic: 'int64', results: ['int64'] });
export const vacuum = defineTask('vacuum', { args: ['string'] });
export const report = defineTask('report', { args: ['string', 'int64'], results: ['string'] });

const rows: Readonly<Record<string, bigint>> = { orders: 120n, users: 30n, clicks: 1_000n };

export const handlers = [
  handle(extract, ([table]) => rows[table] ?? 0n),
  handle(transform, ([_rule, count]) => count - 10n),
  handle(load, (counts) => counts.reduce((sum, count) => sum + count, 0n)),
  handle(vacuum, () => undefined),
  handle(report, ([title, total]) => `${title}: ${total} rows`),
];

/** A chord of chains, then a report; beside it a group that nothing waits for but the end of the night. */
export const nightly = group([
  chain([
    chord(
      Object.keys(rows).map((table) => chain([extract.signature([table]), transform.partial(['clean'])])),
      load.partial([]),
    ),
    report.partial(['nightly']),
  ]),
  group([vacuum.signature(['orders']), vacuum.signature(['users'])], { onFailure: 'ignore' }),
]);

export async function main(client: Client): Promise<readonly unknown[]> {
  const submitted = await client.submit(nightly, { name: 'nightly' });
  return submitted.result();
}
