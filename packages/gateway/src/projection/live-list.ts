/** One list that is kept up to date: the entries that match a filter, in an order. Shared by all who ask for the same. */
import { SortedList, slotOrder, type ListSnapshot, type Slot } from './sorted-list.js';
import type { Match } from './match.js';

export interface ListSpec<E> {
  readonly match: Match<E>;
  readonly keyOf: (entry: E) => number | string;
  readonly desc: boolean;
}

interface Entry {
  readonly id: string;
}

/** What a holder of a frozen list is told: an id entered or left the live one. */
export type MembershipListener = (id: string, entered: boolean) => void;

export class LiveList<E extends Entry> {
  readonly #spec: ListSpec<E>;
  readonly #listeners = new Set<MembershipListener>();
  #list: SortedList;

  constructor(spec: ListSpec<E>, entries: Iterable<E>) {
    this.#spec = spec;
    const slots: Slot[] = [];
    for (const entry of entries) if (spec.match(entry)) slots.push(this.#slot(entry));
    this.#list = new SortedList(slotOrder(spec.desc), slots);
  }

  get size(): number {
    return this.#list.size;
  }

  slice(offset: number, limit: number): readonly Slot[] {
    return this.#list.slice(offset, limit);
  }

  snapshot(): ListSnapshot {
    return this.#list.snapshot();
  }

  matches(entry: E): boolean {
    return this.#spec.match(entry);
  }

  /** For paging by key: the slot that an entry has. */
  slotOf(entry: E): Slot {
    return this.#slot(entry);
  }

  onMembership(listener: MembershipListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** True when order, membership or a member changed. */
  change(before: E | undefined, after: E | undefined): boolean {
    const was = before !== undefined && this.#spec.match(before);
    const is = after !== undefined && this.#spec.match(after);
    if (!was && !is) return false;
    const from = was ? this.#slot(before) : undefined;
    const to = is ? this.#slot(after) : undefined;
    if (from !== undefined && to !== undefined && from.key === to.key) return true;
    if (from !== undefined) this.#list.remove(from);
    if (to !== undefined) this.#list.insert(to);
    if (was !== is) for (const tell of this.#listeners) tell((after ?? before)?.id ?? '', is);
    return true;
  }

  #slot(entry: E): Slot {
    return { key: this.#spec.keyOf(entry), id: entry.id };
  }
}
