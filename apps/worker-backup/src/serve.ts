import { handle, type Handling } from '@leasehold/core';
import { backupDatabase as backup, type BackupOptions } from './backup.js';
import { backupDatabase } from './tasks.js';

export function backupHandlers(options: BackupOptions): readonly Handling[] {
  return [handle(backupDatabase, (args, context) => backup(options, args, context))];
}
