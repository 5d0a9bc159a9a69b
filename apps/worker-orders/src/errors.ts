/** Refusals by the business, not by the machine. `final`: trying again changes nothing, a person has to. */
export class OutOfStockError extends RangeError {
  override readonly name = 'OutOfStockError';

  constructor(sku: string, wanted: number, left: bigint) {
    super(`${sku}: ${wanted} wanted, ${left} left; restock it and retry`);
  }
}

export class BadQuantityError extends RangeError {
  override readonly name = 'BadQuantityError';
  readonly final = true;

  constructor(quantity: number) {
    super(`quantity is ${quantity}; it must be at least 1`);
  }
}

export class UnknownSkuError extends Error {
  override readonly name = 'UnknownSkuError';
  readonly final = true;

  constructor(sku: string) {
    super(`no article ${JSON.stringify(sku)}`);
  }
}

export class UnknownUserError extends Error {
  override readonly name = 'UnknownUserError';
  readonly final = true;

  constructor(id: bigint) {
    super(`no user ${id}`);
  }
}

export class UnverifiedUserError extends Error {
  override readonly name = 'UnverifiedUserError';
  readonly final = true;

  constructor(id: bigint) {
    super(`user ${id} did not pass verification; the profile stays as it is`);
  }
}

/** A later attempt of the same task has been here: whatever this one is doing, it has been given up on. */
export class StaleAttemptError extends Error {
  override readonly name = 'StaleAttemptError';
  readonly final = true;

  constructor(taskId: string, token: bigint, seen: bigint) {
    super(`attempt with token ${token} of ${taskId} is stale: ${seen} has been here`);
  }
}
