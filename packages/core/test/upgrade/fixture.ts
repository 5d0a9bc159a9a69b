/** One key as an earlier version left it. The version counts puts: claims compare that of a workflow's record. */
export interface StoredKey {
  readonly key: string;
  readonly value: string;
  readonly version: number;
  /** Its mod revision: what was written together is put back together. */
  readonly revision: number;
}

export interface Fixture {
  /** The simulation that it was taken from. */
  readonly seed: number;
  readonly namespace: string;
  readonly keys: readonly StoredKey[];
}
