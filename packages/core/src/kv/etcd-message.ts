/**
 * The wire format of protobuf, as far as etcd's hot messages need it. Written and read by hand, because all transitions
 * pass here: a reflecting library makes three objects for each field of each of the 64 transitions in a request.
 *
 * A message is written from its end to its beginning: what is nested is written before its length is needed, so that
 * nothing is measured apart from being written. `tag` is (field number << 3) | wire type, below 128 unless said otherwise.
 */
export class MessageWriter {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #at = FIRST_BYTES;

  /** Bytes written so far; what `frame` is told to be the beginning of a nested message. */
  get length(): number {
    return this.#bytes.length - this.#at;
  }

  /** What was written, and an empty writer again. */
  take(): Buffer {
    // The scratch is used for the next message while this one waits to be sent.
    const taken = Buffer.from(this.#bytes.subarray(this.#at));
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = Buffer.allocUnsafe(FIRST_BYTES);
    this.#at = this.#bytes.length;
    return taken;
  }

  /** Forgets what was written. */
  clear(): void {
    this.#at = this.#bytes.length;
  }

  /** A nested message, all that was written since the writer was `before` bytes long. */
  frame(tag: number, before: number): void {
    const length = this.length - before;
    this.#reserve(MAX_VARINT_BYTES + 1);
    this.#varint(length);
    this.#byte(tag);
  }

  /** A number below 2^53, also when it is 0. */
  number(tag: number, value: number): void {
    this.#reserve(MAX_VARINT_BYTES + 1);
    this.#varint(value);
    this.#byte(tag);
  }

  int64(tag: number, value: bigint): void {
    this.#reserve(MAX_VARINT_BYTES + 1);
    if (value >= 0n && value <= MAX_SAFE) this.#varint(Number(value));
    else this.#bigVarint(BigInt.asUintN(64, value));
    this.#byte(tag);
  }

  /** A bytes field, also when it is empty. `highTag`: the second byte of a tag that needs two. */
  text(tag: number, text: string, highTag?: number): void {
    this.#reserve(text.length * 3 + MAX_VARINT_BYTES + 2);
    const length = this.#utf8(text);
    this.#varint(length);
    if (highTag !== undefined) this.#byte(highTag);
    this.#byte(tag);
  }

  #utf8(text: string): number {
    if (text.length <= SHORT_CHARS && this.#ascii(text)) return text.length;
    const length = Buffer.byteLength(text);
    this.#at -= length;
    this.#bytes.write(text, this.#at, length);
    return length;
  }

  /** For keys a loop is faster than a call out of JavaScript. False, with nothing written, for other characters. */
  #ascii(text: string): boolean {
    const bytes = this.#bytes;
    let at = this.#at;
    for (let i = text.length - 1; i >= 0; i--) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) return false;
      bytes[--at] = code;
    }
    this.#at = at;
    return true;
  }

  #byte(value: number): void {
    this.#bytes[--this.#at] = value;
  }

  #varint(value: number): void {
    if (value < 0x80) return this.#byte(value);
    let length = 1;
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length += 1;
    const start = this.#at - length;
    let rest = value;
    for (let at = start; at < this.#at - 1; at++) {
      this.#bytes[at] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#at - 1] = rest;
    this.#at = start;
  }

  #bigVarint(value: bigint): void {
    const groups: number[] = [];
    let rest = value;
    for (; rest >= 0x80n; rest >>= 7n) groups.push(Number(rest & 0x7fn) | 0x80);
    groups.push(Number(rest));
    for (let i = groups.length - 1; i >= 0; i--) this.#byte(groups[i] ?? 0);
  }

  #reserve(bytes: number): void {
    if (this.#at >= bytes) return;
    const { length } = this;
    const grown = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, length + bytes));
    this.#bytes.copy(grown, grown.length - length, this.#at);
    this.#at = grown.length - length;
    this.#bytes = grown;
  }
}

/**
 * Reads one message after another out of the same bytes. Nested messages share the reader: their reader function is given
 * where they end. Fields that nobody knows are passed over.
 */
export class MessageReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get end(): number {
    return this.#bytes.length;
  }

  /** More is left of the message that ends there. */
  before(end: number): boolean {
    return this.#at < end;
  }

  /** A tag, a length or another number below 2^53. */
  number(): number {
    let value = 0;
    let factor = 1;
    for (;;) {
      const byte = this.#next();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 0x80;
    }
  }

  int64(): bigint {
    const start = this.#at;
    let value = 0;
    let factor = 1;
    for (let groups = 0; groups < SAFE_GROUPS; groups++) {
      const byte = this.#next();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return BigInt(value);
      factor *= 0x80;
    }
    this.#at = start;
    return this.#big();
  }

  text(): string {
    const length = this.number();
    const start = this.#at;
    this.#pass(length);
    return length === 0 ? '' : this.#bytes.toString('utf8', start, this.#at);
  }

  /** Where the nested message that begins here ends. */
  nested(): number {
    const length = this.number();
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new RangeError('a message ends before its last field');
    return end;
  }

  skip(tag: number): void {
    switch (tag & 7) {
      case 0:
        while (this.#next() >= 0x80);
        return;
      case 1:
        return this.#pass(8);
      case 2:
        return this.#pass(this.number());
      case 5:
        return this.#pass(4);
      default:
        throw new RangeError(`a field has the wire type ${tag & 7}, which protobuf 3 does not have`);
    }
  }

  #big(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.#next();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
  }

  #next(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw new RangeError('a message ends within a field');
    return byte;
  }

  #pass(bytes: number): void {
    this.#at += bytes;
    if (this.#at > this.#bytes.length) throw new RangeError('a message ends before its last field');
  }
}

const FIRST_BYTES = 128 * 1024;
const KEPT_BYTES = 4 * 1024 * 1024;
const MAX_VARINT_BYTES = 10;
/** Up to seven groups of seven bits are a number that needs no `bigint` arithmetic. */
const SAFE_GROUPS = 7;
const SHORT_CHARS = 120;
const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);
