import { defineTask, handle, type Client } from '@leasehold/core';

/** Defined once, for those who submit it and those who run it: name, typed arguments, results, defaults. */
export const processInventory = defineTask('process-inventory', {
  args: { sku: 'string', quantity: 'int32' },
  results: ['int32'],
  retry: { count: 3 },
  timeoutMs: 60_000,
});

const stock = new Map([['SKU-99283', 120]]);

export const handlers = [
  handle(processInventory, ({ sku, quantity }, { progress }) => {
    const left = (stock.get(sku) ?? 0) - quantity;
    if (left < 0) throw new Error(`${sku}: ${-left} too few`);
    stock.set(sku, left);
    progress(1, `${quantity} of ${sku} taken`);
    return left;
  }),
];

export async function main(client: Client): Promise<readonly unknown[]> {
  const submitted = await client.submit(processInventory.signature({ sku: 'SKU-99283', quantity: 50 }));
  return submitted.result();
}
