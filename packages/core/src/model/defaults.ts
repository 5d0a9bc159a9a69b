/** Pure: what a definition gives to the signatures of its task. */
import type { HandlerInfo } from './records.js';
import type { Signature } from './signature.js';
import type { DefinitionDefaults } from './task-types.js';

/**
 * A signature with a definition's defaults under what it says itself: retry, headers and labels field by field, tags
 * together. What is no object or list where one belongs is left as it is, to be refused by the checks.
 */
export function mergeDefaults<T extends Partial<Signature>>(defaults: DefinitionDefaults, given: T): T {
  const { retry, headers, labels, tags } = given;
  return {
    ...defaults,
    ...given,
    ...(defaults.retry !== undefined && mayMerge(retry) ? { retry: { ...defaults.retry, ...retry } } : {}),
    ...(defaults.headers !== undefined && mayMerge(headers) ? { headers: { ...defaults.headers, ...headers } } : {}),
    ...(defaults.labels !== undefined && mayMerge(labels) ? { labels: { ...defaults.labels, ...labels } } : {}),
    ...(defaults.tags !== undefined && (tags === undefined || Array.isArray(tags))
      ? { tags: [...new Set([...defaults.tags, ...(tags ?? [])])] }
      : {}),
  };
}

function mayMerge(given: object | undefined): boolean {
  return given === undefined || (typeof given === 'object' && given !== null && !Array.isArray(given));
}

/**
 * A signature that was made by name (a form, a shell, JSON), with the defaults that a live worker advertises for the name;
 * as it is when none does. Whoever submits by the definition itself has them already.
 */
export function withAdvertised(signature: Signature, handler: HandlerInfo | undefined): Signature {
  if (handler === undefined) return signature;
  return mergeDefaults({ queue: handler.queue, ...handler.defaults }, signature);
}
