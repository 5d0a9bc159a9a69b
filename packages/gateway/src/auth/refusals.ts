/** What somebody was not allowed to do is recorded, as what he did is; not more often than a person could mean it. */
import type { FastifyRequest } from 'fastify';
import { actorText, isLeaseholdError } from '@leasehold/core/model';
import { recordRefusal, type Store } from '@leasehold/core/store';
import type { Logger } from '@leasehold/core';
import type { Identity } from '../guard/identity.js';
import { ProblemError } from '../rest/problems.js';
import type { Access } from './access.js';

export interface RefusalsOptions {
  readonly store: Store;
  readonly logger: Logger;
  readonly access: Access;
}

export class Refusals {
  readonly #options: RefusalsOptions;

  constructor(options: RefusalsOptions) {
    this.#options = options;
  }

  /** Never fails: a refusal stands whether or not it could be recorded. */
  async record(
    { actor }: Pick<Identity, 'actor'>,
    request: Pick<FastifyRequest, 'params' | 'id'>,
    operation: string | undefined,
    error: unknown,
  ): Promise<void> {
    const { store, logger, access } = this.#options;
    const code = error instanceof ProblemError || isLeaseholdError(error) ? error.code : 'internal';
    const why = error instanceof Error ? error.message.slice(0, 300) : '';
    try {
      if (!(await access.acts.worthRecording(actorText(actor)))) {
        logger.warn('gateway: refused, and too often for the audit', { actor: actorText(actor), operation, code });
        return;
      }
      const { id, name } = (request.params ?? {}) as { readonly id?: string; readonly name?: string };
      const target = id ?? name;
      const call = { actor, operationId: store.newId(), request: request.id };
      const targets = target === undefined ? [] : [target.slice(0, 600)];
      await recordRefusal(store, call, operation ?? 'unknown', targets, { code, why });
    } catch (failure) {
      logger.warn('gateway: a refusal could not be recorded', { error: failure });
    }
  }
}
