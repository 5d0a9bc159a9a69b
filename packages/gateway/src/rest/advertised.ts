/** What is submitted by name takes the defaults that a live worker advertises for the name: its queue, retries, timeout. */
import {
  checkWorkflow,
  LIMITS,
  mapSignatures,
  withAdvertised,
  type HandlerInfo,
  type Workflow,
} from '@leasehold/core/model';
import type { Store } from '@leasehold/core/store';
import type { Board } from '../projection/board.js';

/** Callbacks inside a signature keep to what they say. @throws LeaseholdError `invalid`, `too-large` for a bad shape. */
export function withHandlerDefaults(board: Board, store: Store, given: Workflow): Workflow {
  const handlers = new Map<string, HandlerInfo>();
  for (const { record } of board.state.liveNodes()) {
    for (const handler of record.handlers) if (!handlers.has(handler.name)) handlers.set(handler.name, handler);
  }
  const checked = checkWorkflow(given, { ...LIMITS, ...store.limits });
  return mapSignatures(checked, (signature) => withAdvertised(signature, handlers.get(signature.name)));
}
