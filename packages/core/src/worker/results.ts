/** From what a handler returned to what is stored, or to the failure that says why it cannot be. */
import { payloadBytes } from '../model/args.js';
import { encodeResults } from '../model/bind.js';
import { LeaseholdError } from '../model/errors.js';
import type { AttemptOutcome } from '../model/outcome.js';
import type { TypedValue } from '../model/signature.js';
import type { TaskDefinition } from '../model/task-types.js';
import { finalFailure, type Situation } from './verdicts.js';

export function outcomeOfReturn(
  definition: TaskDefinition,
  returned: unknown,
  limitBytes: number,
  at: Situation,
): AttemptOutcome {
  let results: readonly TypedValue[];
  try {
    results = encodeResults(definition, returned);
  } catch (error) {
    return finalFailure('BadResultError', error, at);
  }
  if (results.length === 0) return { kind: 'success', results };
  const bytes = payloadBytes(results);
  if (bytes <= limitBytes) return { kind: 'success', results };
  const message = `the results of ${definition.name} have ${bytes} bytes; the limit is ${limitBytes}. Store them elsewhere and return where.`;
  return finalFailure('ResultTooLargeError', new LeaseholdError('too-large', message), at);
}

/**
 * Results of tasks that this process settled a moment ago, for the next step of their chain. Bounded by count and by age
 * of use; keyed by the workflow's generation too, because a retry of the workflow may bring other results.
 */
export class RecentResults {
  readonly #max: number;
  readonly #byKey = new Map<string, readonly TypedValue[]>();

  constructor(max = 2_000) {
    this.#max = max;
  }

  put(id: string, generation: number, results: readonly TypedValue[]): void {
    if (results.length > 4) return;
    this.#byKey.set(`${generation}/${id}`, results);
    if (this.#byKey.size <= this.#max) return;
    const oldest = this.#byKey.keys().next();
    if (oldest.done !== true) this.#byKey.delete(oldest.value);
  }

  of(generation: number): { get(id: string): readonly TypedValue[] | undefined } {
    return { get: (id) => this.#byKey.get(`${generation}/${id}`) };
  }
}
