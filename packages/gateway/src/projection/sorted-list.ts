/**
 * An ordered list of ids in chunks. A change costs one chunk, a snapshot nothing: it shares the chunks, which are never
 * changed in place, and the list copies its table of chunks when it is written next. So a frozen view of 100 000 rows is
 * kept by sharing, not by copying.
 */
export interface Slot {
  readonly key: number | string;
  readonly id: string;
}

export type SlotOrder = (a: Slot, b: Slot) => number;

/** Keys of one list are all of one kind. Ends in the id, so it is total. */
export function slotOrder(desc: boolean): SlotOrder {
  const ascending: SlotOrder = (a, b) => {
    if (a.key !== b.key) return a.key < b.key ? -1 : 1;
    return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
  };
  return desc ? (a, b) => ascending(b, a) : ascending;
}

type Chunk = readonly Slot[];

export interface ListSnapshot {
  readonly size: number;
  slice(offset: number, limit: number): readonly Slot[];
}

const CHUNK = 256;

class Chunks implements ListSnapshot {
  readonly size: number;
  readonly #chunks: readonly Chunk[];

  constructor(chunks: readonly Chunk[], size: number) {
    this.#chunks = chunks;
    this.size = size;
  }

  slice(offset: number, limit: number): readonly Slot[] {
    return sliceChunks(this.#chunks, offset, limit);
  }
}

function sliceChunks(chunks: readonly Chunk[], offset: number, limit: number): readonly Slot[] {
  const out: Slot[] = [];
  let skip = offset;
  for (const chunk of chunks) {
    if (skip >= chunk.length) {
      skip -= chunk.length;
      continue;
    }
    for (let i = skip; i < chunk.length && out.length < limit; i++) out.push(chunk[i] as Slot);
    skip = 0;
    if (out.length >= limit) break;
  }
  return out;
}

export class SortedList implements ListSnapshot {
  readonly #order: SlotOrder;
  #chunks: Chunk[];
  #size: number;
  #shared = false;

  constructor(order: SlotOrder, slots: readonly Slot[] = []) {
    this.#order = order;
    const sorted = [...slots].sort(order);
    this.#chunks = [];
    for (let at = 0; at < sorted.length; at += CHUNK) this.#chunks.push(sorted.slice(at, at + CHUNK));
    this.#size = sorted.length;
  }

  get size(): number {
    return this.#size;
  }

  slice(offset: number, limit: number): readonly Slot[] {
    return sliceChunks(this.#chunks, offset, limit);
  }

  snapshot(): ListSnapshot {
    this.#shared = true;
    return new Chunks(this.#chunks, this.#size);
  }

  insert(slot: Slot): void {
    this.#own();
    const at = Math.min(this.#chunkOf(slot), Math.max(0, this.#chunks.length - 1));
    const chunk = this.#chunks[at] ?? [];
    const place = this.#placeIn(chunk, slot);
    const next = [...chunk.slice(0, place), slot, ...chunk.slice(place)];
    if (next.length <= 2 * CHUNK) this.#chunks[at] = next;
    else this.#chunks.splice(at, 1, next.slice(0, CHUNK), next.slice(CHUNK));
    this.#size++;
  }

  /** False when it is not there. */
  remove(slot: Slot): boolean {
    const at = this.#chunkOf(slot);
    const chunk = this.#chunks[at];
    if (chunk === undefined) return false;
    const place = this.#placeIn(chunk, slot);
    if (chunk[place]?.id !== slot.id || chunk[place].key !== slot.key) return false;
    this.#own();
    if (chunk.length === 1) this.#chunks.splice(at, 1);
    else this.#chunks[at] = [...chunk.slice(0, place), ...chunk.slice(place + 1)];
    this.#size--;
    return true;
  }

  #own(): void {
    if (!this.#shared) return;
    this.#chunks = [...this.#chunks];
    this.#shared = false;
  }

  /** The first chunk whose last slot is not before `slot`; the number of chunks when there is none. */
  #chunkOf(slot: Slot): number {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const last = this.#chunks[middle]?.at(-1);
      if (last !== undefined && this.#order(last, slot) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #placeIn(chunk: Chunk, slot: Slot): number {
    let low = 0;
    let high = chunk.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#order(chunk[middle] as Slot, slot) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
