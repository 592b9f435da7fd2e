import { CborError, CborReader } from "./cbor.js";
import {
  ALGORITHM,
  BYTES,
  COSE_SIGN1,
  CWT_CLAIMS,
  EDDSA,
  fixed,
  ISSUED_AT,
  joined,
  KEY_ID,
  toBeSigned,
} from "./cose.js";
import type { Cryptography } from "./crypto.js";
import { base64Url } from "./public-key.js";

/** The most bytes of a witness's statement: 64 KiB. */
const MAX_WITNESS = 64 * 1024;

/** Labels and values of the header parameters for proofs (RFC 9942). */
const TREE = 395;
const RFC9162_SHA256 = 1;
const PROOFS = 396;
const INCLUSION = -1;

/** The most digests in a proof: those of a tree with 2^64 leaves. */
const MAX_PATH = 64;

/** The end of the year 9999, the latest time that RFC 3339 can express, in seconds since 1970. */
const MAX_DATE = 253_402_300_799;

/** A statement of a witness: a file is an entry of its log. Nothing in it is verified yet. */
interface Statement {
  /** The protected header, which is signed with the root of the log. */
  readonly header: Uint8Array;
  readonly key: Uint8Array;
  /** In seconds since 1970. */
  readonly issuedAt: number;
  /** The number of the entry, from 0. */
  readonly index: number;
  /** The number of entries. */
  readonly size: number;
  /** The siblings of the nodes above the entry, from the bottom up. */
  readonly path: readonly Uint8Array[];
  readonly signature: Uint8Array;
}

/** The result of a check, and what it found. */
export interface WitnessCheck {
  readonly ok: boolean;
  readonly detail: string;
}

/**
 * Checks that a trusted witness signed that a file is an entry of its log.
 *
 * @param keys - The trusted public keys, as base64url, or `any`.
 */
export async function checkWitness(
  file: Uint8Array,
  witness: Uint8Array,
  keys: "any" | readonly string[],
  cryptography: Cryptography,
): Promise<WitnessCheck> {
  const failed = (detail: string) => ({ ok: false, detail });
  const statement = read(witness);
  if (statement === undefined) {
    return failed(
      "it is no statement of a witness: it must be a tagged COSE_Sign1 message (RFC 9052, section 4.2) with an inclusion proof, in one encoding",
    );
  }
  const { header, key, issuedAt, index, size, path, signature } = statement;
  if (keys !== "any" && !keys.includes(base64Url(key))) return failed("a key signed it that was not given");
  const hash = (...parts: Uint8Array[]) => cryptography.sha256(joined(parts));
  const root = rootOf(hash(LEAF, cryptography.sha256(file)), index, size, path, hash);
  if (root === undefined) return failed("its proof fits no log of this size");
  const isSigned = await cryptography.hasSigned(key, toBeSigned(header, root), signature);
  if (!isSigned) return failed("it is about another file, or the signature is wrong");
  return { ok: true, detail: `entry ${index + 1} of ${size} in its log at ${written(issuedAt)}, by its clock` };
}

/** Reads a statement. Returns undefined if it is not in the canonical encoding. */
function read(witness: Uint8Array): Statement | undefined {
  if (witness.length > MAX_WITNESS) return undefined;
  try {
    const reader = new CborReader(witness);
    reader.tag(COSE_SIGN1);
    reader.items(4);
    const header = reader.bytes();
    reader.members(1);
    reader.integer(PROOFS);
    reader.members(1);
    reader.integer(INCLUSION);
    reader.items(1);
    const proof = new CborReader(reader.bytes());
    reader.none();
    const signature = reader.bytes();
    reader.end();
    proof.items(3);
    const [size, index] = [proof.unsigned(), proof.unsigned()];
    const length = proof.array();
    if (length > MAX_PATH) throw new CborError("the proof is too long");
    const path = Array.from({ length }, () => fixed(proof.bytes(), BYTES));
    proof.end();
    const { key, issuedAt } = readHeader(new CborReader(header), size);
    return { header, key, issuedAt, index, size, path, signature };
  } catch (error) {
    if (error instanceof CborError) return undefined;
    throw error;
  }
}

function readHeader(reader: CborReader, size: number): Pick<Statement, "key" | "issuedAt"> {
  reader.members(4);
  reader.integer(ALGORITHM);
  reader.integer(EDDSA);
  reader.integer(KEY_ID);
  const key = fixed(reader.bytes(), BYTES);
  reader.integer(CWT_CLAIMS);
  reader.members(2);
  reader.integer(ISSUED_AT);
  const issuedAt = reader.unsigned();
  reader.name("entries");
  // An inclusion proof does not bind the size of the tree.
  if (reader.unsigned() !== size) throw new CborError("the proof is of another size");
  reader.integer(TREE);
  reader.integer(RFC9162_SHA256);
  reader.end();
  return { key, issuedAt };
}

/** The first byte of what is hashed for a leaf, and for a node (RFC 9162, section 2.1.1). */
const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

/**
 * Returns the root that follows from a leaf and its inclusion proof (RFC 9162, section 2.1.3.2). Undefined if the proof
 * does not fit a tree of this size.
 */
function rootOf(
  leaf: Uint8Array,
  index: number,
  size: number,
  path: readonly Uint8Array[],
  hash: (...parts: Uint8Array[]) => Uint8Array,
): Uint8Array | undefined {
  if (index >= size) return undefined;
  let [node, last, root] = [index, size - 1, leaf];
  const up = () => {
    // Numbers of up to 53 bits have no shift.
    node = Math.floor(node / 2);
    last = Math.floor(last / 2);
  };
  for (const sibling of path) {
    if (last === 0) return undefined;
    if (node % 2 === 1 || node === last) {
      root = hash(NODE, sibling, root);
      // A node without a sibling was repeated on the next level.
      while (node % 2 === 0 && node !== 0) up();
    } else {
      root = hash(NODE, root, sibling);
    }
    up();
  }
  return last === 0 ? root : undefined;
}

/** Formats a time in seconds since 1970 as in RFC 3339. */
function written(seconds: number): string {
  return new Date(Math.min(seconds, MAX_DATE) * 1000).toISOString().replace(".000Z", "Z");
}
