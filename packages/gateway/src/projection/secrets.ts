/**
 * Which arguments are secret: those that the signature marks, and those that a handler of that name declares (or names as
 * one). Declarations are remembered after their nodes are gone. Bounded by names.
 */
import type { HandlerInfo } from '@leasehold/core/model';
import { isSecretName } from '../guard/redact.js';

const NAMES = 10_000;

export class DeclaredSecrets {
  readonly #positions = new Map<string, readonly number[]>();

  /** True when it says more than was known. */
  learn({ name, args }: HandlerInfo): boolean {
    const declared = args.flatMap((arg, index) => (arg.secret === true || isSecretName(arg.name) ? [index] : []));
    const known = this.#positions.get(name) ?? [];
    const all = [...new Set([...known, ...declared])];
    if (all.length === known.length || this.#positions.size >= NAMES) return false;
    this.#positions.set(name, all);
    return true;
  }

  of(task: { readonly name: string; readonly secrets?: readonly number[] }): readonly number[] {
    return [...(task.secrets ?? []), ...(this.#positions.get(task.name) ?? [])];
  }
}
