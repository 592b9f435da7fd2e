import { visible } from "./standard.js";
import type { Violation } from "./types.js";

/** As the gate's own: so many bytes in all, of a place, of a message, and of what was received. */
const MOST = 2048;
const MOST_PLACE = 160;
const MOST_MESSAGE = 300;
const MOST_RECEIVED = 80;

const HEAD = "The output does not match what was asked for.\n";
const TAIL = "Send the whole corrected output again.";
const MORE = "- and 9999 more.\n".length;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * What the producer is told where a schema's own checks reject what the gate accepts, in the words of the gate: what was
 * wrong and where, the producer's own text quoted as data. At most 2,048 bytes.
 */
export function feedback(violations: Iterable<Violation>): string {
  let room = MOST - HEAD.length - TAIL.length - MORE;
  let lines = "";
  let leftOut = 0;
  for (const violation of violations) {
    const line = lineOf(violation);
    const bytes = encoder.encode(line).length;
    if (leftOut > 0 || bytes > room) {
      leftOut += 1;
    } else {
      lines += line;
      room -= bytes;
    }
  }
  const more = leftOut > 0 ? `- and ${leftOut} more.\n` : "";
  return `${HEAD}${lines}${more}${TAIL}`;
}

function lineOf({ path, message, received }: Violation): string {
  const what = cut(visible(message).replace(/\.+$/, ""), MOST_MESSAGE);
  const quoted = received === "" ? "" : ` Received: ${visible(JSON.stringify(cut(received, MOST_RECEIVED)))}`;
  return `- at ${cut(visible(path), MOST_PLACE)}: ${what}.${quoted}\n`;
}

/** A text in at most so many bytes; the cut is shown. */
function cut(text: string, most: number): string {
  const bytes = encoder.encode(text);
  if (bytes.length <= most) {
    return text;
  }
  let end = most - "…".length * 3;
  // Not within a character.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) {
    end -= 1;
  }
  return `${decoder.decode(bytes.subarray(0, end))}…`;
}
