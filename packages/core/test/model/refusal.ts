import { isLeaseholdError, LeaseholdError } from '../../src/model/errors.js';

/** The coded error with which `act` refuses. */
export function refusal(act: () => unknown): LeaseholdError {
  let given: unknown;
  try {
    given = act();
  } catch (error) {
    if (isLeaseholdError(error)) return error;
    throw error;
  }
  throw new Error(`nothing was refused; it gave ${typeof given}`);
}
