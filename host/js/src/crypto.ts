/** What receipts need of cryptography. */
export interface Cryptography {
  /** Returns the SHA-256 digest of bytes. */
  sha256(bytes: Uint8Array): Uint8Array;
  /** Returns whether a public key of Ed25519, 32 bytes, has signed bytes. */
  hasSigned(key: Uint8Array, signed: Uint8Array, signature: Uint8Array): Promise<boolean>;
}
