import { FinalError } from '@leasehold/core';

/** Refusals by the business, not by the machine. A `FinalError` is not tried again: a person has to change something. */
export class OutOfStockError extends RangeError {
  override readonly name = 'OutOfStockError';

  constructor(sku: string, wanted: number, left: bigint) {
    super(`${sku}: ${wanted} wanted, ${left} left; restock it and retry`);
  }
}

export class BadQuantityError extends FinalError {
  override readonly name = 'BadQuantityError';

  constructor(quantity: number) {
    super(`quantity is ${quantity}; it must be at least 1`);
  }
}

export class UnknownSkuError extends FinalError {
  override readonly name = 'UnknownSkuError';

  constructor(sku: string) {
    super(`no article ${JSON.stringify(sku)}`);
  }
}

export class UnknownUserError extends FinalError {
  override readonly name = 'UnknownUserError';

  constructor(id: bigint) {
    super(`no user ${id}`);
  }
}

export class UnverifiedUserError extends FinalError {
  override readonly name = 'UnverifiedUserError';

  constructor(id: bigint) {
    super(`user ${id} did not pass verification; the profile stays as it is`);
  }
}

/** A later attempt of the same task has been here: whatever this one is doing, it has been given up on. */
export class StaleAttemptError extends FinalError {
  override readonly name = 'StaleAttemptError';

  constructor(taskId: string, token: bigint, seen: bigint) {
    super(`attempt with token ${token} of ${taskId} is stale: ${seen} has been here`);
  }
}
