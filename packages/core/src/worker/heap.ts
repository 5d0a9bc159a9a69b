/** A binary heap: the least item first. What is not wanted any more is skipped by whoever takes it out. */
export class Heap<T> {
  readonly #before: (a: T, b: T) => boolean;
  #items: T[] = [];

  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = items[up] as T;
      if (!this.#before(item, parent)) break;
      items[at] = parent;
      at = up;
    }
    items[at] = item;
  }

  pop(): T | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (items.length === 0 || last === undefined) return first;
    let at = 0;
    for (;;) {
      let down = 2 * at + 1;
      if (down >= items.length) break;
      if (down + 1 < items.length && this.#before(items[down + 1] as T, items[down] as T)) down += 1;
      const child = items[down] as T;
      if (!this.#before(child, last)) break;
      items[at] = child;
      at = down;
    }
    items[at] = last;
    return first;
  }

  clear(): void {
    this.#items = [];
  }

  /** Leaves out what is not wanted. A sorted list is a heap. */
  keep(wanted: (item: T) => boolean): void {
    this.#items = this.#items.filter(wanted).sort((a, b) => (this.#before(a, b) ? -1 : 1));
  }
}
