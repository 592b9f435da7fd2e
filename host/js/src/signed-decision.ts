// Signed approvals: JWS in compact form (RFC 7515, section 7.1), signed with Ed25519 (RFC 8037).

import type { Cryptography } from "./crypto.js";
import { ofBase64Url, publicKey } from "./public-key.js";
import { integerOf, isJson, membersOf, namedMembers, stringOf } from "./slices.js";

/** The most bytes of a token in an event. */
const MAX_TOKEN = 16 * 1024;

const CLAIMS = ["run", "key", "digest", "decision", "principal", "iat", "exp"] as const;

/** The signed claims: the principal, the decision, the call and the run. */
export interface Claims {
  readonly run: string;
  readonly key: string;
  readonly digest: string;
  readonly decision: string;
  readonly principal: string;
}

/**
 * Reads a token, and verifies that its principal signed it. Returns undefined if the signature is invalid or the token
 * has expired.
 *
 * @param keys - The public keys of a principal.
 * @param now - The current time, in milliseconds since 1970.
 */
export async function signedClaims(
  token: string,
  keys: (principal: string) => readonly string[],
  now: bigint,
  cryptography: Cryptography,
): Promise<Claims | undefined> {
  const parts = token.split(".");
  const [header, payload, signature] = parts.map(ofBase64Url);
  if (parts.length !== 3 || token.length > MAX_TOKEN || !header || !payload || !signature) return undefined;
  const { alg, crit = "null" } = namedMembers(objectOf(header), ["alg", "crit"]) ?? {};
  if (stringOf(alg) !== "EdDSA" || crit !== "null") return undefined;
  const claims = claimsOf(objectOf(payload));
  if (claims === undefined) return undefined;
  const signed = new TextEncoder().encode(token.slice(0, token.lastIndexOf(".")));
  for (const key of keys(claims.principal)) {
    const read = publicKey(key);
    if (read !== undefined && (await cryptography.hasSigned(read, signed, signature))) {
      return claims.expires === undefined || claims.expires * 1000n > now ? claims : undefined;
    }
  }
  return undefined;
}

/** Returns the text of bytes that are a JSON object. */
function objectOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.startsWith("{") && isJson(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

function claimsOf(json: string | undefined): (Claims & { readonly expires: bigint | undefined }) | undefined {
  const members = namedMembers(json, CLAIMS);
  const isKnown = json !== undefined && membersOf(json)?.every(([name]) => CLAIMS.some((claim) => claim === name));
  if (members === undefined || !isKnown) return undefined;
  const [run, key, digest, decision, principal] = CLAIMS.slice(0, 5).map((name) => stringOf(members[name]));
  const [issued, expires] = [members.iat, members.exp].map((time) => (time === "null" ? undefined : time));
  const areTimes = [issued, expires].every((time) => time === undefined || integerOf(time) !== undefined);
  if (!areTimes || [run, key, digest, decision, principal].some((text) => text === undefined)) return undefined;
  const texts = { run, key, digest, decision, principal } as Claims;
  return { ...texts, expires: integerOf(expires) };
}
