// Reads public keys of Ed25519, as written in profiles and by people, and their strict base64 (RFC 4648).

/** The type of an Ed25519 key of SSH (RFC 8709). */
const SSH_ED25519 = "ssh-ed25519";

const KEY_BYTES = 32;

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Reads a public key: its 32 bytes as base64url, or a line of OpenSSH. Undefined if it is neither. */
export function publicKey(text: string): Uint8Array | undefined {
  const line = trimmed(text);
  const key = line.startsWith(SSH_ED25519) ? ofSsh(line.slice(SSH_ED25519.length)) : ofBase64Url(text);
  return key?.length === KEY_BYTES ? key : undefined;
}

function ofSsh(rest: string): Uint8Array | undefined {
  const [text] = trimmed(rest).split(/\p{White_Space}+/u);
  const blob = text ? decoded(text, "+/", "=") : undefined;
  const head = [0, 0, 0, SSH_ED25519.length, ...new TextEncoder().encode(SSH_ED25519), 0, 0, 0, KEY_BYTES];
  const isOne = blob?.length === head.length + KEY_BYTES && head.every((byte, at) => blob[at] === byte);
  return isOne ? blob.slice(head.length) : undefined;
}

/** Trims white space as defined by Unicode. JavaScript's `trim` keeps U+0085 and removes U+FEFF. */
export function trimmed(text: string): string {
  const start = /^\p{White_Space}*/u.exec(text)?.[0].length ?? 0;
  let end = text.length;
  while (end > start && /\p{White_Space}/u.test(text[end - 1] as string)) end -= 1;
  return text.slice(start, end);
}

/** Reads base64url without padding. Undefined for anything else. */
export function ofBase64Url(text: string): Uint8Array | undefined {
  return decoded(text, "-_", "");
}

/** Returns bytes as base64url without padding. */
export function base64Url(bytes: Uint8Array): string {
  const digits = `${ALPHABET}-_`;
  let text = "";
  let [held, bits] = [0, 0];
  for (const byte of bytes) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 6; bits -= 6) text += digits[(held >> (bits - 6)) & 63];
    held &= 0xff;
  }
  return bits === 0 ? text : text + digits[(held << (6 - bits)) & 63];
}

function decoded(text: string, last: string, padding: string): Uint8Array | undefined {
  const digits = `${ALPHABET}${last}`;
  if (padding !== "" && text.length % 4 !== 0) return undefined;
  const padded = padding === "" ? 0 : text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const length = text.length - padded;
  if (length % 4 === 1 || (padding !== "" && (length + padded) % 4 !== 0)) return undefined;
  const bytes = new Uint8Array(Math.floor((length * 3) / 4));
  let [held, bits, at] = [0, 0, 0];
  for (let index = 0; index < length; index += 1) {
    const digit = digits.indexOf(text[index] as string);
    if (digit === -1) return undefined;
    held = ((held & 0x3f) << 6) | digit;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[at] = (held >> bits) & 0xff;
      at += 1;
    }
  }
  // Unused bits must be zero, so that each byte string has only one encoding.
  return (held & ((1 << bits) - 1)) === 0 ? bytes : undefined;
}
