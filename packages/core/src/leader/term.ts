/** One term of office: what every duty works with while this node leads. */
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import type { Leadership } from '../store/leadership.js';
import type { Drive } from '../store/settle.js';
import type { Store } from '../store/store.js';

export interface Term {
  readonly store: Store;
  readonly leadership: Leadership;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A write was refused by the fence: the term may be over. */
  doubt(): void;
  /** A workflow has something to do now. */
  drive(drive: Drive): void;
}
