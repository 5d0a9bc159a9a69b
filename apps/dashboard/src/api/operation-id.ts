import { newId } from '@leasehold/core/model';

/** The id of one operation, also of what it makes. Works on plain http too. */
export function newOperationId(): string {
  return newId(Date.now(), (count) => crypto.getRandomValues(new Uint8Array(count)));
}
