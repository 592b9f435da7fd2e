/** The cryptographic functions that receipts need. */
export interface Cryptography {
  /** Returns the SHA-256 digest of bytes. */
  sha256(bytes: Uint8Array): Uint8Array;
  /** Verifies an Ed25519 signature of bytes by a public key of 32 bytes. */
  hasSigned(key: Uint8Array, signed: Uint8Array, signature: Uint8Array): Promise<boolean>;
}
