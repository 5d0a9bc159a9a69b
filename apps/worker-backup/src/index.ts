export * from './tasks.js';
export * from './errors.js';
export { backupDatabase as backup, COPIES, type BackupOptions } from './backup.js';
export { makeSamples } from './samples.js';
export { backupHandlers } from './serve.js';
export type { RunCopy } from './run.js';
export type { Work } from './work.js';
