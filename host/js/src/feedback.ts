import { visible } from "./standard.js";
import type { Quarantined, Violation, Wanted } from "./types.js";

/** The limits of the gate's own feedback, in bytes: in all, for a path, for a message, and for the received value. */
const MOST = 2048;
const MOST_PLACE = 160;
const MOST_MESSAGE = 300;
const MOST_RECEIVED = 80;

const HEAD = "The output does not match what was asked for.\n";
const TAIL = "Send the whole corrected output again.";
const MORE = "- and 9999 more.\n".length;

/** The gate's sentence for an output of which only some items are used. */
const ITEMS_HEAD = "Not all items of the output could be used.\n";
const MOST_ARRAY = 256;
const MOST_KEY = 64;

/** The most items that the gate asks for again. If there are more, it asks for the whole output. */
const MOST_ITEMS = 1000;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Returns the feedback for a document that the gate accepts but a schema's own checks reject, in the gate's words: what
 * was wrong and where, with the producer's own text quoted as data. At most 2,048 bytes.
 */
export function feedback(violations: Iterable<Violation>): string {
  const lines = Array.from(violations, lineOf);
  return `${HEAD}${told(lines, MOST - HEAD.length - TAIL.length).text}${TAIL}`;
}

/** The same for items in quarantine if other items are kept: asks only for the named items again. */
export function itemsFeedback(
  quarantined: readonly Quarantined[],
  { path, key, max }: { readonly path: string; readonly key?: string | undefined; readonly max?: number | undefined },
  kept: number,
): { wanted: Wanted; feedback: string } {
  const wants = (max === undefined || kept < max) && quarantined.length < MOST_ITEMS;
  const array = cut(visible(path.replace(/\[\*\]$/, "")), MOST_ARRAY);
  const tail = (count: number) => {
    const one = count === 1;
    const which = one
      ? "the item named above again, corrected"
      : `the ${count} items named above again, corrected, in the order of their numbers`;
    const them = one ? "it" : "them";
    const quoted = key === undefined ? "" : visible(JSON.stringify(cut(key, MOST_KEY)));
    const same =
      key === undefined
        ? ""
        : ` Do not change ${one ? "its" : "their"} member ${quoted}, unless that is what is wrong.`;
    return `Send only ${which}: the same document, with nothing but ${them} in ${array}.${same} The other items are kept.`;
  };
  // The first violation of every item comes before the others.
  const first = quarantined.flatMap(({ violations }) => violations.slice(0, 1).map(lineOf));
  const further = quarantined.flatMap(({ violations }) => violations.slice(1).map(lineOf));
  const room = MOST - ITEMS_HEAD.length - encoder.encode(wants ? tail(quarantined.length) : TAIL).length;
  const { text, count } = told([...first, ...further], room);
  const items = Math.min(count, first.length);
  return wants
    ? { wanted: "items", feedback: `${ITEMS_HEAD}${text}${tail(items)}` }
    : { wanted: "whole", feedback: `${ITEMS_HEAD}${text}${TAIL}` };
}

/** Returns the first lines that fit, and their number. */
function told(lines: readonly string[], room: number): { text: string; count: number } {
  let left = room - MORE;
  const fits = (line: string) => {
    left -= encoder.encode(line).length;
    return left >= 0;
  };
  const end = lines.findIndex((line) => !fits(line));
  const count = end < 0 ? lines.length : end;
  const more = count < lines.length ? `- and ${lines.length - count} more.\n` : "";
  return { text: lines.slice(0, count).join("") + more, count };
}

function lineOf({ path, message, received }: Violation): string {
  const what = cut(visible(message).replace(/\.+$/, ""), MOST_MESSAGE);
  const quoted = received === "" ? "" : ` Received: ${visible(JSON.stringify(cut(received, MOST_RECEIVED)))}`;
  return `- at ${cut(visible(path), MOST_PLACE)}: ${what}.${quoted}\n`;
}

/** Truncates a text to at most this many bytes, and marks the truncation. */
function cut(text: string, most: number): string {
  const bytes = encoder.encode(text);
  if (bytes.length <= most) {
    return text;
  }
  let end = most - "…".length * 3;
  // Never cut within a character.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) {
    end -= 1;
  }
  return `${decoder.decode(bytes.subarray(0, end))}…`;
}
