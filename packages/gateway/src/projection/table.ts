/** Entries by id, and the live lists over them. */
import { LiveList, type ListSpec } from './live-list.js';

interface Entry {
  readonly id: string;
}

export type ChangeListener<E> = (before: E | undefined, after: E | undefined) => void;

/** How many removed entries are remembered, so that a departed row can still be drawn. */
const REMEMBERED = 2_000;
/** Lists nobody follows any more that are kept up to date, for whoever comes back to them. */
const IDLE_LISTS = 8;

export class Table<E extends Entry> {
  readonly #entries = new Map<string, E>();
  readonly #removed = new Map<string, E>();
  readonly #lists = new Map<string, { readonly list: LiveList<E>; users: number }>();
  readonly #onChange: ChangeListener<E>;

  constructor(onChange: ChangeListener<E> = () => undefined) {
    this.#onChange = onChange;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(id: string): E | undefined {
    return this.#entries.get(id);
  }

  /** Also an entry that was removed lately. */
  recall(id: string): E | undefined {
    return this.#entries.get(id) ?? this.#removed.get(id);
  }

  values(): IterableIterator<E> {
    return this.#entries.values();
  }

  ids(): IterableIterator<string> {
    return this.#entries.keys();
  }

  set(entry: E): void {
    const before = this.#entries.get(entry.id);
    if (before === entry) return;
    this.#entries.set(entry.id, entry);
    this.#removed.delete(entry.id);
    this.#changed(before, entry);
  }

  delete(id: string): void {
    const before = this.#entries.get(id);
    if (before === undefined) return;
    this.#entries.delete(id);
    this.#removed.set(id, before);
    if (this.#removed.size > REMEMBERED) this.#removed.delete(this.#removed.keys().next().value ?? '');
    this.#changed(before, undefined);
  }

  /** The list of a specification; `name` is equal for equal specifications. Give it back with `release`. */
  follow(name: string, spec: () => ListSpec<E>): LiveList<E> {
    const known = this.#lists.get(name);
    if (known !== undefined) {
      known.users++;
      this.#lists.delete(name);
      this.#lists.set(name, known);
      return known.list;
    }
    const list = new LiveList(spec(), this.#entries.values());
    this.#lists.set(name, { list, users: 1 });
    return list;
  }

  release(name: string): void {
    const known = this.#lists.get(name);
    if (known === undefined) return;
    known.users--;
    const idle = [...this.#lists].filter(([, { users }]) => users === 0);
    for (const [each] of idle.slice(0, Math.max(0, idle.length - IDLE_LISTS))) this.#lists.delete(each);
  }

  get lists(): number {
    return this.#lists.size;
  }

  #changed(before: E | undefined, after: E | undefined): void {
    for (const { list } of this.#lists.values()) list.change(before, after);
    this.#onChange(before, after);
  }
}
