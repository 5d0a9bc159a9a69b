/**
 * A map ordered by key, for the memory twin: sorted blocks of at most `BLOCK` keys, found by binary search.
 *
 * Keys compare as plain strings; the twin passes byte strings (see `byteOrder`), so that this is etcd's order.
 */

const BLOCK = 256;

interface Block<V> {
  readonly keys: string[];
  readonly values: V[];
}

/** A bound of `undefined` means there is none. */
export class SortedMap<V> {
  #blocks: Block<V>[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: string): V | undefined {
    const block = this.#blocks[this.#blockOf(key)];
    if (block === undefined) return undefined;
    const at = lowerBound(block.keys, key);
    return block.keys[at] === key ? block.values[at] : undefined;
  }

  set(key: string, value: V): void {
    const index = this.#blockOf(key);
    const block = this.#blocks[index];
    if (block === undefined) {
      this.#blocks.push({ keys: [key], values: [value] });
      this.#size += 1;
      return;
    }
    const at = lowerBound(block.keys, key);
    if (block.keys[at] === key) {
      block.values[at] = value;
      return;
    }
    block.keys.splice(at, 0, key);
    block.values.splice(at, 0, value);
    this.#size += 1;
    if (block.keys.length > BLOCK) this.#split(index, block);
  }

  delete(key: string): boolean {
    const index = this.#blockOf(key);
    const block = this.#blocks[index];
    if (block === undefined) return false;
    const at = lowerBound(block.keys, key);
    if (block.keys[at] !== key) return false;
    block.keys.splice(at, 1);
    block.values.splice(at, 1);
    this.#size -= 1;
    if (block.keys.length === 0) this.#blocks.splice(index, 1);
    return true;
  }

  /** Calls `visit` for every pair of [from, to) in order, until it returns false. */
  scan(from: string, to: string | undefined, visit: (value: V, key: string) => boolean | void): void {
    for (let index = this.#blockOf(from); index < this.#blocks.length; index += 1) {
      const { keys, values } = this.#blocks[index] as Block<V>;
      const start = lowerBound(keys, from);
      for (let at = start; at < keys.length; at += 1) {
        const key = keys[at] as string;
        if (to !== undefined && key >= to) return;
        if (visit(values[at] as V, key) === false) return;
      }
    }
  }

  /** How many keys lie in [from, to): whole blocks are counted without looking into them. */
  count(from: string, to: string | undefined): number {
    let total = 0;
    for (let index = this.#blockOf(from); index < this.#blocks.length; index += 1) {
      const { keys } = this.#blocks[index] as Block<V>;
      const start = lowerBound(keys, from);
      const whole = to === undefined || (keys[keys.length - 1] as string) < to;
      const end = whole ? keys.length : lowerBound(keys, to);
      if (end > start) total += end - start;
      if (!whole) break;
    }
    return total;
  }

  /** The last block whose first key is not above `key`; the first block when there is none. */
  #blockOf(key: string): number {
    let low = 0;
    let high = this.#blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      const first = (this.#blocks[middle] as Block<V>).keys[0] as string;
      if (first <= key) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #split(index: number, block: Block<V>): void {
    const half = block.keys.length >> 1;
    this.#blocks.splice(index + 1, 0, { keys: block.keys.splice(half), values: block.values.splice(half) });
  }
}

function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

// eslint-disable-next-line no-control-regex -- the ASCII range is what is meant
const ASCII = /^[\0-\x7f]*$/;

/** The string whose code units are the UTF-8 bytes of `text`, so that comparing strings compares bytes, as etcd does. */
export function byteOrder(text: string): string {
  return ASCII.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

export function inByteOrder(keys: Iterable<string>): string[] {
  return [...keys]
    .map((key) => ({ key, at: byteOrder(key) }))
    .sort((a, b) => (a.at < b.at ? -1 : 1))
    .map(({ key }) => key);
}
