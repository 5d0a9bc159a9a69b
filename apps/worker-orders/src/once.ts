/**
 * An effect that happens once, although its task may be executed more than once.
 *
 * The scheduler promises that the state of a task changes exactly once; it cannot promise that a handler runs only once:
 * a worker may do its work and die before it can say so, and then another attempt runs. What can be promised is an
 * effect that is made once, with two rules kept in the same transaction as the effect itself:
 *
 * O1  The task's row in `applied` is written with the effect. Where the row is there, the effect is there: the recorded
 *     result is given again, and nothing is done.
 * O2  A row with a higher fencing token is somebody's who came later. This attempt has been given up on and must not
 *     even report a result.
 */
import { StaleAttemptError } from './errors.js';
import type { Shop } from './shop.js';
import type { Work } from './work.js';

interface AppliedRow {
  readonly token: string;
  readonly result: string;
}

/** Makes `effect` in one transaction with the proof that it was made; gives its result, or the recorded one. */
export function once(shop: Shop, work: Work, effect: () => bigint): bigint {
  const find = shop.prepare('SELECT token, result FROM applied WHERE task_id = ?');
  const record = shop.prepare('INSERT INTO applied (task_id, token, result) VALUES (?, ?, ?)');
  const raise = shop.prepare('UPDATE applied SET token = ? WHERE task_id = ?');
  return shop
    .transaction((): bigint => {
      // Inside the transaction, so that nothing is written after the lease was known to be lost.
      work.signal.throwIfAborted();
      const row = find.get(work.id) as AppliedRow | undefined;
      if (row === undefined) {
        const result = effect();
        record.run(work.id, String(work.tokenNumber), String(result));
        return result;
      }
      if (BigInt(row.token) > work.tokenNumber)
        throw new StaleAttemptError(work.id, work.tokenNumber, BigInt(row.token));
      raise.run(String(work.tokenNumber), work.id);
      work.log(`was applied by an earlier attempt; its result is given again`);
      return BigInt(row.result);
    })
    .immediate();
}
