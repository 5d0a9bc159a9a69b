import type { Revision } from '../kv/kv.js';

/** The invariants of DESIGN section 5 that a history can prove. I10 is about observers. */
export type Invariant = 'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I6' | 'I7' | 'I8' | 'I9' | 'I11';

export interface Violation {
  readonly invariant: Invariant;
  /** Where the history stopped being right. */
  readonly revision: Revision;
  readonly keys: readonly string[];
  readonly message: string;
}

export type Report = (invariant: Invariant, keys: readonly string[], message: string) => void;
