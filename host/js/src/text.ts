import { kindOf } from "./plain.js";
import type { Span } from "./types.js";

/** An output in the form that the component takes. */
export interface Given {
  readonly text: string;
  /** The number of bytes in UTF-8. */
  readonly bytes: number;
  /** The byte offset of the first ill-formed character, which is U+FFFD in `text`. */
  readonly invalid?: number;
}

// A byte order mark is kept like any other text, because dropping it would shift offsets.
const lossy = new TextDecoder("utf-8", { ignoreBOM: true });
const strict = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/**
 * Returns a lower bound of an output's size in bytes, without reading it: no text has fewer bytes in UTF-8 than code
 * units in UTF-16.
 *
 * @throws {TypeError} It is neither text nor bytes.
 */
export function lengthOf(output: string | Uint8Array, argument = "output"): number {
  if (typeof output !== "string" && !(output instanceof Uint8Array)) {
    throw new TypeError(`\`${argument}\` must be a string or a Uint8Array, not ${kindOf(output)}`);
  }
  return output.length;
}

/** Reads a string. A lone surrogate is replaced, and its position is reported. */
export function ofString(text: string): Given {
  const { bytes, lone } = measure(text);
  return lone === undefined
    ? { text, bytes }
    : { text: lossy.decode(new TextEncoder().encode(text)), bytes, invalid: lone };
}

/** Reads bytes, which need not be valid UTF-8. */
export function ofBytes(output: Uint8Array): Given {
  try {
    return { text: strict.decode(output), bytes: output.length };
  } catch {
    const text = lossy.decode(output);
    return { text, bytes: measure(text).bytes, invalid: firstReplaced(text, output) };
  }
}

/**
 * Returns the length of a text in UTF-8, counting each lone surrogate as U+FFFD, and the position of the first lone
 * surrogate.
 */
export function measure(text: string): { bytes: number; lone?: number } {
  let bytes = 0;
  let lone: number | undefined;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) {
      bytes += 1;
    } else if (unit < 0x800) {
      bytes += 2;
    } else if (unit < 0xd800 || unit > 0xdfff) {
      bytes += 3;
    } else if (unit < 0xdc00 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      bytes += 4;
      at += 1;
    } else {
      lone ??= bytes;
      bytes += 3;
    }
  }
  return lone === undefined ? { bytes } : { bytes, lone };
}

/** Returns the position of the first U+FFFD that replaced other bytes. All text before it is the same in both. */
function firstReplaced(text: string, bytes: Uint8Array): number {
  let at = 0;
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    if (code === 0xfffd && !(bytes[at] === 0xef && bytes[at + 1] === 0xbf && bytes[at + 2] === 0xbd)) {
      return at;
    }
    at += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return at;
}

/** Returns the end of the value that begins at an offset of JSON text without optional white space. */
export function valueEnd(json: string, start: number): number {
  let depth = 0;
  for (let at = start; at < json.length; at++) {
    switch (json[at]) {
      case '"':
        at = stringEnd(json, at);
        break;
      case "{":
      case "[":
        depth += 1;
        break;
      case "}":
      case "]":
        depth -= 1;
        if (depth < 0) {
          return at;
        }
        break;
      case ",":
        if (depth === 0) {
          return at;
        }
        break;
    }
  }
  return json.length;
}

/** Returns the text of a member of an object that is JSON text without optional white space. */
export function memberText(json: string, name: string): string | undefined {
  const before = `"${name}":`;
  for (let at = 1; at < json.length; at = valueEnd(json, at) + 1) {
    if (json.startsWith(before, at)) {
      return json.slice(at + before.length, valueEnd(json, at));
    }
  }
  return undefined;
}

/** Returns the offset of the closing quote of the string that begins at `start`. */
function stringEnd(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== '"') {
    at += json[at] === "\\" ? 2 : 1;
  }
  return at;
}

/**
 * Returns the offset of the value of a member or an item, in an object or array that begins at an offset of such a
 * text.
 */
export function memberOf(json: string, start: number, step: string | number): number | undefined {
  const isObject = json[start] === "{";
  if (json[start] !== (typeof step === "string" ? "{" : "[")) {
    return undefined;
  }
  let number = 0;
  for (let at = start + 1; json[at] !== "]" && json[at] !== "}"; number += 1) {
    const value = isObject ? stringEnd(json, at) + 2 : at;
    if (isObject ? JSON.parse(json.slice(at, value - 1)) === step : number === step) {
      return value;
    }
    const end = valueEnd(json, value);
    at = json[end] === "," ? end + 1 : end;
  }
  return undefined;
}

/** Converts UTF-8 byte offsets to UTF-16 code units, for spans of one text in any order. */
export class Places {
  readonly #text: string;
  /** The last converted offset. */
  #bytes = 0;
  #units = 0;

  constructor(text: string) {
    this.#text = text;
  }

  of([start, end]: Span): Span {
    return [this.#unit(start), this.#unit(end)];
  }

  /** Returns the first code unit at or after this byte offset. */
  #unit(bytes: number): number {
    if (bytes < this.#bytes) {
      this.#bytes = 0;
      this.#units = 0;
    }
    while (this.#bytes < bytes && this.#units < this.#text.length) {
      const code = this.#text.codePointAt(this.#units) as number;
      this.#bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
      this.#units += code < 0x10000 ? 1 : 2;
    }
    return this.#units;
  }
}

const encoder = new TextEncoder();

/** Truncates a text to at most this many UTF-8 bytes, plus a note that says how many are left out. */
export function cutAt(text: string, bytes: number): string {
  const all = encoder.encode(text);
  if (all.length <= bytes) {
    return text;
  }
  let end = bytes;
  // Never cut within a character.
  while (((all[end] ?? 0) & 0xc0) === 0x80) {
    end -= 1;
  }
  return `${lossy.decode(all.subarray(0, end))}… [${all.length - end} bytes left out]`;
}
