// The parts of COSE that receipts and statements of witnesses share (RFC 9052).

import { CborError, cborBytes } from "./cbor.js";

/** The tag of a `COSE_Sign1` message (section 4.2). */
export const COSE_SIGN1 = 18;

/** Labels of header parameters, the algorithm, and the claims (RFC 9052, RFC 9597, RFC 8392). */
export const ALGORITHM = 1;
export const EDDSA = -8;
export const CONTENT_TYPE_LABEL = 3;
export const KEY_ID = 4;
export const CWT_CLAIMS = 15;
export const ISSUER = 1;
export const SUBJECT = 2;
export const ISSUED_AT = 6;

/** The length of a public key, and of a SHA-256 digest. */
export const BYTES = 32;

/** Returns bytes that must have this length. */
export function fixed(bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.length !== length) throw new CborError(`expected ${length} bytes`);
  return bytes;
}

/** Returns the `Sig_structure` (section 4.4). */
export function toBeSigned(header: Uint8Array, payload: Uint8Array): Uint8Array {
  const context = new TextEncoder().encode("Signature1");
  const none = new Uint8Array(0);
  const parts = [header, none, payload].flatMap((bytes) => cborBytes(bytes));
  return joined([Uint8Array.of(0x84, 0x60 | context.length), context, ...parts]);
}

/** Returns the bytes of all parts. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
