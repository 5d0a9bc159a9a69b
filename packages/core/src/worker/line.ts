/**
 * The entries of an `ordered` queue: first come, first served within a priority, by the store's own order of commits.
 *
 * L1  Within a priority the place is the create revision of the ready entry: which commit made the task ready first. No
 *     clock and no counter is asked. What one commit made ready together stands in the order of ids: generated ids are in
 *     the order of submission, members in that of their group.
 * L2  Between priorities the heads are compared as in any other queue, by `order`: a higher priority first, ageing.
 */
import { Heap } from './heap.js';

/** What a line must know of its entries. */
export interface Standing {
  readonly id: string;
  readonly order: number;
  readonly priority: number;
  readonly created: bigint;
}

/** What the window needs of a heap, and of a line. */
export interface Sorted<T> {
  readonly size: number;
  push(item: T): void;
  pop(): T | undefined;
  clear(): void;
  keep(wanted: (item: T) => boolean): void;
}

const cameFirst = (a: Standing, b: Standing): boolean =>
  a.created < b.created || (a.created === b.created && a.id < b.id);

export class Line<T extends Standing> implements Sorted<T> {
  readonly #byPriority = new Map<number, Heap<T>>();
  readonly #wanted: (item: T) => boolean;

  /** `wanted`: an item for which this is false by now has left, and decides nothing. */
  constructor(wanted: (item: T) => boolean) {
    this.#wanted = wanted;
  }

  get size(): number {
    let size = 0;
    for (const heap of this.#byPriority.values()) size += heap.size;
    return size;
  }

  push(item: T): void {
    let heap = this.#byPriority.get(item.priority);
    if (heap === undefined) this.#byPriority.set(item.priority, (heap = new Heap<T>(cameFirst)));
    heap.push(item);
  }

  pop(): T | undefined {
    let first: { readonly head: T; readonly heap: Heap<T> } | undefined;
    for (const heap of this.#byPriority.values()) {
      const head = this.#headOf(heap);
      if (head === undefined) continue;
      if (first === undefined || goesBefore(head, first.head)) first = { head, heap };
    }
    return first?.heap.pop();
  }

  clear(): void {
    this.#byPriority.clear();
  }

  keep(wanted: (item: T) => boolean): void {
    for (const heap of this.#byPriority.values()) heap.keep(wanted);
  }

  #headOf(heap: Heap<T>): T | undefined {
    for (let head = heap.peek(); head !== undefined; head = heap.peek()) {
      if (this.#wanted(head)) return head;
      heap.pop();
    }
    return undefined;
  }
}

/** L2; of two that are due at one time the one with the higher priority. */
function goesBefore(a: Standing, b: Standing): boolean {
  return a.order < b.order || (a.order === b.order && a.priority > b.priority);
}
