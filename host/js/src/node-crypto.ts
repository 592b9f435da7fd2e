import { createHash, createPublicKey, verify } from "node:crypto";
import type { Cryptography } from "./crypto.js";
import { base64Url } from "./public-key.js";

/**
 * The cryptography of Node. Its WebCrypto is not used because Ed25519 there prints a warning that it is experimental.
 */
export const nodeCryptography: Cryptography = {
  sha256: (bytes) => createHash("sha256").update(bytes).digest(),
  async hasSigned(key, signed, signature) {
    const jwk = { kty: "OKP", crv: "Ed25519", x: base64Url(key) };
    return verify(null, signed, createPublicKey({ key: jwk, format: "jwk" }), signature);
  },
};
