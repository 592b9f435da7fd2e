const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The major types of CBOR (RFC 8949, section 3.1) that are read. */
const MAJOR = { unsigned: 0, negative: 1, bytes: 2, text: 3, array: 4, map: 5, tag: 6 } as const;

/** The simple value `null` (RFC 8949, section 3.3). */
const NULL = 0xf6;

/** The bytes have another type or value than expected, or are not in the deterministic encoding. */
export class CborError extends Error {
  override readonly name = "CborError";
}

/**
 * Reads deterministic CBOR (RFC 8949, section 4.2) of a known shape: the caller says what comes next. Lengths are
 * definite, every head is the shortest possible, and a length is checked against the remaining bytes.
 */
export class CborReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Reads an unsigned integer of at most 2^53-1. */
  unsigned(): number {
    return this.#head(MAJOR.unsigned);
  }

  /** Reads a byte string. The result shares the memory of the input. */
  bytes(): Uint8Array {
    return this.#take(this.#head(MAJOR.bytes));
  }

  /** Reads a text string. */
  text(): string {
    return this.#decoded(this.#take(this.#head(MAJOR.text)));
  }

  /** Reads a text string, or a byte string. */
  textOrBytes(): string | Uint8Array {
    return this.#bytes[this.#at] !== undefined && (this.#bytes[this.#at] as number) >> 5 === MAJOR.bytes
      ? this.bytes()
      : this.text();
  }

  /** Reads the head of an array. Returns the number of its items, which never exceeds the number of remaining bytes. */
  array(): number {
    const length = this.#head(MAJOR.array);
    if (length > this.#bytes.length - this.#at) throw new CborError("an array has more items than there are bytes");
    return length;
  }

  /** Reads `null`. */
  none(): void {
    if (this.#take(1)[0] !== NULL) throw new CborError(`expected null at byte ${this.#at - 1}`);
  }

  /** Reads an integer that must equal this value. */
  integer(value: number): void {
    this.#expect(value < 0 ? MAJOR.negative : MAJOR.unsigned, value < 0 ? -1 - value : value);
  }

  /** Reads a text that must equal this one. */
  name(text: string): void {
    if (this.text() !== text) throw new CborError(`expected ${text}`);
  }

  /** Reads the head of an array that must have this many items. */
  items(length: number): void {
    this.#expect(MAJOR.array, length);
  }

  /** Reads the head of a map that must have this many members. */
  members(length: number): void {
    this.#expect(MAJOR.map, length);
  }

  /** Reads a tag that must have this number. */
  tag(number: number): void {
    this.#expect(MAJOR.tag, number);
  }

  /** Checks that all bytes are read. */
  end(): void {
    if (this.#at !== this.#bytes.length) throw new CborError("there are bytes after the end");
  }

  #expect(major: number, value: number): void {
    if (this.#head(major) !== value) throw new CborError(`expected ${value} at byte ${this.#at}`);
  }

  /** Reads a head of this major type. Returns its argument. */
  #head(major: number): number {
    const [first] = this.#take(1) as unknown as [number];
    const short = first & 0x1f;
    if (first >> 5 !== major || short > 27) throw new CborError(`another type at byte ${this.#at - 1}`);
    if (short < 24) return short;
    const more = this.#take(2 ** (short - 24));
    const value = more.reduce((sum, byte) => sum * 256 + byte, 0);
    // A shorter head could hold the value, or the value is too large for an exact number.
    const least = [24, 2 ** 8, 2 ** 16, 2 ** 32][short - 24] as number;
    if (value < least || value > Number.MAX_SAFE_INTEGER) throw new CborError(`another encoding at byte ${this.#at}`);
    return value;
  }

  #take(length: number): Uint8Array {
    if (length > this.#bytes.length - this.#at) throw new CborError("it ends too early");
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  #decoded(bytes: Uint8Array): string {
    try {
      return decoder.decode(bytes);
    } catch (error) {
      throw new CborError("a text is not UTF-8", { cause: error });
    }
  }
}

/** Returns a byte string as CBOR. */
export function cborBytes(bytes: Uint8Array): Uint8Array[] {
  const { length } = bytes;
  if (length < 24) return [Uint8Array.of(0x40 | length), bytes];
  const size = length < 2 ** 8 ? 0 : length < 2 ** 16 ? 1 : 2;
  const head = new Uint8Array(1 + 2 ** size);
  head[0] = 0x58 + size;
  for (let at = head.length - 1, rest = length; at > 0; at -= 1, rest = Math.floor(rest / 256)) head[at] = rest % 256;
  return [head, bytes];
}
