/** An output as the component takes it. */
export interface Given {
  readonly text: string;
  /** How many bytes of UTF-8 it has. */
  readonly bytes: number;
  /** Where it first was not Unicode, as the number of bytes before; U+FFFD stands in `text` from there on. */
  readonly invalid?: number;
}

// A byte order mark is text like any other: left out, offsets would be wrong.
const lossy = new TextDecoder("utf-8", { ignoreBOM: true });
const strict = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/** A text as it was given. Half a surrogate pair is not Unicode: it is replaced, and its place is said. */
export function ofString(text: string): Given {
  const { bytes, lone } = measure(text);
  return lone === undefined
    ? { text, bytes }
    : { text: lossy.decode(new TextEncoder().encode(text)), bytes, invalid: lone };
}

/** Bytes, of which nobody knows whether they are UTF-8. */
export function ofBytes(output: Uint8Array): Given {
  try {
    return { text: strict.decode(output), bytes: output.length };
  } catch {
    const text = lossy.decode(output);
    return { text, bytes: measure(text).bytes, invalid: firstReplaced(text, output) };
  }
}

/** How long a text is in UTF-8, where half a surrogate pair counts as what replaces it, and where the first half is. */
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

/** Where U+FFFD stands in a text that something else stood for in the bytes: all before it is the same in both. */
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

/** Where the JSON value ends that begins at a place of JSON text without optional white space. */
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

/** A member of an object that is JSON text without optional white space, as it is written. */
export function memberText(json: string, name: string): string | undefined {
  const before = `"${name}":`;
  for (let at = 1; at < json.length; at = valueEnd(json, at) + 1) {
    if (json.startsWith(before, at)) {
      return json.slice(at + before.length, valueEnd(json, at));
    }
  }
  return undefined;
}

/** Where the quote stands that ends the string that begins at `start`. */
function stringEnd(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== '"') {
    at += json[at] === "\\" ? 2 : 1;
  }
  return at;
}
