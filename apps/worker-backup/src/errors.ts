/** The source is not a sound database: a copy of it would be worth nothing. `final`: a person has to look. */
export class DamagedDatabaseError extends Error {
  override readonly name = 'DamagedDatabaseError';
  readonly final = true;
}

/** The copy is not what the source was. */
export class UnprovenBackupError extends Error {
  override readonly name = 'UnprovenBackupError';
}

export class PathError extends Error {
  override readonly name = 'PathError';
  readonly final = true;
}
