/** Machinery's own test tasks, with its names. */
import { defineTask, handle, type Handling } from '../../src/index.js';

export const add = defineTask('add', { variadic: 'int64', results: ['int64'] });
export const multiply = defineTask('multiply', { variadic: 'int64', results: ['int64'] });
export const sum = defineTask('sum', { args: ['[]int64'], results: ['int64'] });
export const returnJustError = defineTask('return_just_error', { args: ['string', 'bool'], results: [] });
export const returnMultipleValues = defineTask('return_multiple_values', {
  args: ['string', 'string', 'bool'],
  results: ['string', 'string'],
});
export const panic = defineTask('panic', { results: [] });
export const delayTest = defineTask('delay_test', { results: ['int64'] });
const total = (values: readonly bigint[]): bigint => values.reduce((a, b) => a + b, 0n);

export const handleAdd = handle(add, total);
export const handleMultiply = handle(multiply, (values) => values.reduce((a, b) => a * b, 1n));

/** All of them; `now` is the clock that the delayed task reads. */
export function testHandlers(now: () => number): readonly Handling[] {
  return [
    handleAdd,
    handleMultiply,
    handle(sum, ([values]) => total(values)),
    handle(returnJustError, ([message, fail]) => {
      if (fail) throw new Error(message);
    }),
    handle(returnMultipleValues, ([a, b, fail]) => {
      if (fail) throw new Error('some error');
      return [a, b] as const;
    }),
    handle(panic, () => {
      throw new Error('oops');
    }),
    handle(delayTest, () => BigInt(now()) * 1_000_000n),
  ];
}
