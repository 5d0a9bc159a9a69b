/** What can be asked of this worker. Import it to submit with types; it pulls in no database. */
import { defineTask } from '@leasehold/core';

export const processInventory = defineTask('processInventory', {
  queue: 'orders',
  args: {
    sku: { type: 'string', help: 'An article number, such as SKU-99283' },
    quantity: { type: 'int32', help: 'How many leave the warehouse; at least 1' },
  },
  results: ['int64'],
  description: 'Takes an article off the stock and gives how many are left',
  retry: { count: 3 },
});

export const restock = defineTask('restock', {
  queue: 'orders',
  args: { sku: { type: 'string' }, quantity: { type: 'int32', help: 'How many arrive; at least 1' } },
  results: ['int64'],
  description: 'Adds an article to the stock and gives how many there are now',
  retry: { count: 3 },
});

export const verifyUser = defineTask('verifyUser', {
  queue: 'users',
  args: { id: { type: 'int64', help: 'A user: 1001 to 1010 exist, 1007 is blocked' } },
  results: ['bool'],
  description: 'Checks that a user exists, is not blocked and has an address that can be written to',
  retry: { count: 3 },
});

/** In a chain after `verifyUser` its answer becomes `verified`. */
export const updateProfile = defineTask('updateProfile', {
  queue: 'users',
  args: {
    id: { type: 'int64' },
    displayName: { type: 'string' },
    verified: { type: 'bool', optional: true, help: 'The answer of verifyUser; false refuses the change' },
  },
  results: ['int64'],
  description: 'Changes how a user is called and gives the version of the profile',
  retry: { count: 3 },
});
