/** What can be asked of this worker. Import it to submit with types; it pulls in no database. */
import { defineTask } from '@leasehold/core';

export const backupDatabase = defineTask('backupDatabase', {
  queue: 'backup',
  args: {
    path: {
      type: 'string',
      help: 'A SQLite file below the data folder: orders/shop.db, backup/sample.db, or backup/damaged.db, which fails',
    },
  },
  results: ['string', 'int64', 'int64', 'int64'],
  description: 'Copies a database while it is in use and proves the copy; gives file, bytes, pages and rows',
  retry: { count: 2 },
  timeoutMs: 1_800_000,
});
