// Links with a compressed output and contract in the fragment. Fragments are not sent to servers. Their content is
// untrusted: its size is limited before it is read, and while it is decompressed.

/** The most characters of a fragment. Mail and chat do not accept longer links. */
const LONGEST = 32_000;

/** The most bytes of its decompressed content. */
const MOST = 1024 * 1024;

/** The beginning of a fragment, which identifies its format. */
const FORM = "v1.";

/** A link cannot be made or read; the message says why. */
export class LinkError extends Error {
  name = "LinkError";
}

/** The fragment for an output and a contract. @throws {LinkError} They are too long. */
export async function made(output, contract) {
  const held = new TextEncoder().encode(JSON.stringify([output, contract]));
  if (held.length > MOST) {
    throw new LinkError(`Output and contract have ${held.length} bytes; a link holds at most ${MOST}.`);
  }
  const pressed = await through(held, new CompressionStream("deflate-raw"), Number.POSITIVE_INFINITY);
  let text = "";
  for (const byte of pressed) {
    text += String.fromCharCode(byte);
  }
  const fragment = FORM + btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  if (fragment.length > LONGEST) {
    throw new LinkError(`The link would have ${fragment.length} characters; it can have at most ${LONGEST}.`);
  }
  return fragment;
}

/** Returns the content of a fragment. @throws {LinkError} It is not a fragment from {@link made}. */
export async function read(fragment) {
  if (fragment.length > LONGEST) {
    throw new LinkError(`it has ${fragment.length} characters, and at most ${LONGEST} are read`);
  }
  if (!fragment.startsWith(FORM)) {
    throw new LinkError(`what follows # must begin with ${FORM}`);
  }
  let held;
  try {
    const text = atob(fragment.slice(FORM.length).replaceAll("-", "+").replaceAll("_", "/"));
    const pressed = Uint8Array.from(text, (character) => character.charCodeAt(0));
    const whole = await through(pressed, new DecompressionStream("deflate-raw"), MOST);
    held = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(whole));
  } catch (error) {
    throw error instanceof LinkError ? error : new LinkError("a part of it is missing or changed", { cause: error });
  }
  if (!Array.isArray(held) || held.length !== 2 || held.some((text) => typeof text !== "string")) {
    throw new LinkError("it holds something else than an output and a contract");
  }
  return { output: held[0], contract: held[1] };
}

/** Bytes as a stream changes them, as long as they are no more than `most`. */
async function through(given, stream, most) {
  const changed = new Blob([given]).stream().pipeThrough(stream).getReader();
  const parts = [];
  let length = 0;
  for (let part = await changed.read(); !part.done; part = await changed.read()) {
    length += part.value.length;
    if (length > most) {
      await changed.cancel();
      throw new LinkError(`it holds more than ${most} bytes`);
    }
    parts.push(part.value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
