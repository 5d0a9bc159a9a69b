/**
 * Which sub-transactions may share a request (C2 of the committer): no key that one of them writes or deletes may be
 * written, deleted or compared by another.
 */
import type { Op } from '../kv/kv.js';
import type { SubTxn } from './commit.js';

export interface Touching {
  readonly sub: SubTxn;
  /** It compares or deletes whole ranges, as few do. */
  readonly ranged: boolean;
}

interface Span {
  readonly key: string;
  readonly end?: string;
}

/** What the sub-transactions of one request touch. Single keys, as nearly all are, are looked up, not compared in turn. */
export class Conflicts {
  readonly #written = new Set<string>();
  readonly #compared = new Set<string>();
  readonly #writtenRanges: Span[] = [];
  readonly #comparedRanges: Span[] = [];

  add({ sub, ranged }: Touching): void {
    for (const { key } of sub.compare) this.#compared.add(key);
    for (const op of sub.success) if (op.kind === 'put' || op.kind === 'delete') this.#written.add(op.key);
    if (sub.failure !== undefined)
      for (const op of sub.failure) if (op.kind === 'put' || op.kind === 'delete') this.#written.add(op.key);
    if (!ranged) return;
    this.#comparedRanges.push(...comparedSpans(sub).filter(isRange));
    this.#writtenRanges.push(...writtenSpans(sub).filter(isRange));
  }

  conflicts(item: Touching): boolean {
    const { sub, ranged } = item;
    if (ranged || this.#writtenRanges.length > 0 || this.#comparedRanges.length > 0) return this.#rangesConflict(sub);
    for (const { key } of sub.compare) if (this.#written.has(key)) return true;
    for (const op of sub.success) if (this.#keyConflicts(op)) return true;
    if (sub.failure !== undefined) for (const op of sub.failure) if (this.#keyConflicts(op)) return true;
    return false;
  }

  #keyConflicts(op: Op): boolean {
    if (op.kind !== 'put' && op.kind !== 'delete') return false;
    return this.#written.has(op.key) || this.#compared.has(op.key);
  }

  #rangesConflict(sub: SubTxn): boolean {
    return (
      writtenSpans(sub).some(
        (span) =>
          touches(span, this.#written, this.#writtenRanges) || touches(span, this.#compared, this.#comparedRanges),
      ) || comparedSpans(sub).some((span) => touches(span, this.#written, this.#writtenRanges))
    );
  }
}

const isRange = ({ end }: Span): boolean => end !== undefined;

function comparedSpans({ compare }: SubTxn): Span[] {
  return compare.map(({ key, rangeEnd }) => span(key, rangeEnd));
}

function writtenSpans({ success, failure = [] }: SubTxn): Span[] {
  return [...success, ...failure].flatMap((op) => {
    if (op.kind === 'put') return [span(op.key, undefined)];
    return op.kind === 'delete' ? [span(op.key, op.rangeEnd)] : [];
  });
}

function touches(span: Span, keys: ReadonlySet<string>, ranges: readonly Span[]): boolean {
  if (ranges.some((range) => overlaps(span, range))) return true;
  if (span.end === undefined) return keys.has(span.key);
  for (const key of keys) if (key >= span.key && key < span.end) return true;
  return false;
}

function overlaps(a: Span, b: Span): boolean {
  const aBeforeB = a.end === undefined ? a.key < b.key : a.end <= b.key;
  const bBeforeA = b.end === undefined ? b.key < a.key : b.end <= a.key;
  return !aBeforeB && !bBeforeA;
}

function span(key: string, end: string | undefined): Span {
  return end === undefined ? { key } : { key, end };
}
