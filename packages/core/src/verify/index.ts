/** The offline checker behind `leasehold verify`: history in, violations out. */
export { Checker, checkHistory, verifyHistory, type CheckerOptions, type Expectations } from './checker.js';
export {
  byRevision,
  readHistory,
  readRecording,
  recordLines,
  type History,
  type HistoryRevision,
  type HistoryStart,
  type ReadOptions,
} from './history.js';
export type { Acknowledged } from './quiet.js';
export type { Invariant, Violation } from './violation.js';
