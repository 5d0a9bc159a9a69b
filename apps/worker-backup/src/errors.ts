import { FinalError } from '@leasehold/core';

/** The source is not a sound database: a copy of it would be worth nothing, and a person has to look. */
export class DamagedDatabaseError extends FinalError {
  override readonly name = 'DamagedDatabaseError';
}

/** The copy is not what the source was. */
export class UnprovenBackupError extends Error {
  override readonly name = 'UnprovenBackupError';
}

export class PathError extends FinalError {
  override readonly name = 'PathError';
}
