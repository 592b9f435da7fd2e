import type { Cryptography } from "./crypto.js";
import { LoadError } from "./fault.js";
import { sha256 } from "./sha256.js";

/** The cryptography of browsers and Workers: WebCrypto, whose digests are too slow for short texts. */
export const webCryptography: Cryptography = {
  sha256,
  async hasSigned(key, signed, signature) {
    const subtle = globalThis.crypto?.subtle;
    if (subtle === undefined) {
      throw new LoadError(
        "there is no `crypto.subtle`, which verifies signatures: serve the page by HTTPS, or from localhost",
      );
    }
    let imported: CryptoKey;
    try {
      imported = await subtle.importKey("raw", buffer(key), "Ed25519", false, ["verify"]);
    } catch (error) {
      if (error instanceof Error && error.name === "NotSupportedError") {
        throw new LoadError("this engine has no Ed25519 (Chrome has it from 137, Firefox from 129, Safari from 17)", {
          cause: error,
        });
      }
      // These bytes are not a valid key.
      return false;
    }
    return subtle.verify("Ed25519", imported, buffer(signature), buffer(signed));
  },
};

/** Copies bytes to a buffer of their own. */
function buffer(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}
