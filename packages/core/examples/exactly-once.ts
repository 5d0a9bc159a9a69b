import { defineTask, handle, type Client } from '@leasehold/core';

export const credit = defineTask('credit', {
  args: { account: 'string', cents: 'int64' },
  retry: { count: 2, backoff: 'fixed', delayMs: 1_000 },
});

/** Stands for any database: in it, `apply` is one transaction over the row of the task and the balance. */
export class Ledger {
  readonly balances = new Map<string, bigint>();
  readonly #tasks = new Map<string, { token: bigint; done: boolean }>();

  /** Once per task, and never for an attempt that lost its lease to a newer one. */
  apply(task: string, token: bigint, account: string, cents: bigint): void {
    const row = this.#tasks.get(task) ?? { token: 0n, done: false };
    if (token < row.token) throw new Error('a newer attempt of this task has been here');
    if (!row.done) this.balances.set(account, (this.balances.get(account) ?? 0n) + cents);
    this.#tasks.set(task, { token, done: true });
  }
}

export const ledger = new Ledger();

export const handlers = [
  handle(credit, ({ account, cents }, { id, tokenNumber, attempt }) => {
    ledger.apply(id, tokenNumber, account, cents);
    // The worst moment to die: it is done, and nobody knows.
    if (attempt === 1) throw new Error('the power went off');
  }),
];

export async function main(client: Client): Promise<readonly unknown[]> {
  const submitted = await client.submit(credit.signature({ account: 'ann', cents: 500 }));
  await submitted.result();
  return [ledger.balances.get('ann')];
}
