// Splits JSON text without changing a byte, so that numbers keep their digits and members their order.

import { measure } from "./text.js";

/** A member of an object: its name, and its value as JSON text. */
export type Member = readonly [name: string, value: string];

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/** Returns whether a text is JSON (RFC 8259). */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the members of an object, in order. Undefined if it is not an object, or a name is ill-formed. The text must
 * be JSON.
 */
export function membersOf(json: string): Member[] | undefined {
  const start = spaceEnd(json, 0);
  if (json[start] !== "{") return undefined;
  const members: Member[] = [];
  let at = spaceEnd(json, start + 1);
  while (json[at] !== "}") {
    const nameEnd = stringEnd(json, at);
    const name = stringOf(json.slice(at, nameEnd));
    if (name === undefined) return undefined;
    // After the colon.
    const from = spaceEnd(json, spaceEnd(json, nameEnd) + 1);
    const to = valueEnd(json, from);
    members.push([name, json.slice(from, to)]);
    at = spaceEnd(json, to);
    if (json.charCodeAt(at) === COMMA) at = spaceEnd(json, at + 1);
  }
  return members;
}

/** Returns the items of an array, in order. Undefined if it is not an array. The text must be JSON. */
export function itemsOf(json: string): string[] | undefined {
  const start = spaceEnd(json, 0);
  if (json[start] !== "[") return undefined;
  const items: string[] = [];
  let at = spaceEnd(json, start + 1);
  while (json[at] !== "]") {
    const to = valueEnd(json, at);
    items.push(json.slice(at, to));
    at = spaceEnd(json, to);
    if (json.charCodeAt(at) === COMMA) at = spaceEnd(json, at + 1);
  }
  return items;
}

/** Returns the text of a string. Undefined if the value is not a string, or is ill-formed. */
export function stringOf(json: string | undefined): string | undefined {
  if (json?.charCodeAt(0) !== QUOTE) return undefined;
  const text: string = json.includes("\\") ? JSON.parse(json) : json.slice(1, -1);
  return measure(text).lone === undefined ? text : undefined;
}

/** The largest integer of 64 bits. */
const MAX_U64 = 2n ** 64n - 1n;

/** Returns an integer from 0 to 2^64-1 that is written only in digits. Undefined for any other value. */
export function integerOf(json: string | undefined): bigint | undefined {
  if (json === undefined || !/^(0|[1-9]\d{0,19})$/.test(json)) return undefined;
  const value = BigInt(json);
  return value <= MAX_U64 ? value : undefined;
}

/**
 * Returns the members with these names. Undefined if a name occurs twice, or it is not an object. Other members are
 * left out.
 */
export function namedMembers<Name extends string>(
  json: string | undefined,
  names: readonly Name[],
): Partial<Record<Name, string>> | undefined {
  const members = json === undefined ? undefined : membersOf(json);
  if (members === undefined) return undefined;
  const found: Partial<Record<Name, string>> = {};
  for (const [name, value] of members) {
    const known = names.find((known) => known === name);
    if (known === undefined) continue;
    if (found[known] !== undefined) return undefined;
    found[known] = value;
  }
  return found;
}

/** Returns the end of the value that begins at an offset of JSON text. */
function valueEnd(json: string, start: number): number {
  let depth = 0;
  let at = start;
  for (;;) {
    switch (json.charCodeAt(at)) {
      case QUOTE:
        at = stringEnd(json, at);
        if (depth === 0) return at;
        continue;
      case 0x7b: // {
      case 0x5b: // [
        depth += 1;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        if (depth === 0) return at;
        depth -= 1;
        if (depth === 0) return at + 1;
        break;
      case COMMA:
      case 0x20:
      case 0x09:
      case 0x0a:
      case 0x0d:
        if (depth === 0) return at;
        break;
      default:
        if (at >= json.length) return json.length;
    }
    at += 1;
  }
}

/** Returns the offset after the closing quote of the string that begins at an offset. */
function stringEnd(json: string, start: number): number {
  let at = start;
  for (;;) {
    at = json.indexOf('"', at + 1);
    if (at === -1) return json.length;
    let escapes = at - 1;
    while (json.charCodeAt(escapes) === BACKSLASH) escapes -= 1;
    if ((at - escapes) % 2 === 1) return at + 1;
  }
}

function spaceEnd(json: string, from: number): number {
  let at = from;
  for (;;) {
    const code = json.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
    at += 1;
  }
}
