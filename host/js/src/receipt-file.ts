import { CborError, CborReader } from "./cbor.js";
import {
  ALGORITHM,
  BYTES,
  CONTENT_TYPE_LABEL,
  COSE_SIGN1,
  CWT_CLAIMS,
  EDDSA,
  fixed,
  ISSUED_AT,
  ISSUER,
  KEY_ID,
  SUBJECT,
  toBeSigned,
} from "./cose.js";

/** The media type of the signed statement. */
const CONTENT_TYPE = "application/vnd.seamgate.receipt+json";

/** The most bytes of a receipt: 512 MiB. */
export const MAX_RECEIPT: number = 512 * 1024 * 1024;

/** A line of the journal; or its SHA-256 digest, if the line is withheld. */
export type Part = string | Uint8Array;

/** The content of a receipt's file. Nothing in it is verified yet. */
export interface ReceiptFile {
  /** The public key that the file names, 32 bytes. */
  readonly key: Uint8Array;
  readonly issuer: string;
  readonly subject: string;
  /** The time of signing, in seconds since 1970. */
  readonly issuedAt: number;
  /** The signed statement, as JSON text. */
  readonly statement: Uint8Array;
  readonly lines: readonly Part[];
  readonly artifacts: readonly string[];
  readonly profiles: readonly string[];
  readonly signature: Uint8Array;
  /** The bytes that are signed. */
  readonly signed: Uint8Array;
}

/** Reads the file of a receipt. Returns undefined if it is not in the canonical encoding. */
export function receiptFile(file: Uint8Array): ReceiptFile | undefined {
  try {
    return read(file);
  } catch (error) {
    if (error instanceof CborError) return undefined;
    throw error;
  }
}

function read(file: Uint8Array): ReceiptFile {
  const reader = new CborReader(file);
  reader.tag(COSE_SIGN1);
  reader.items(4);
  const header = reader.bytes();
  const { key, issuer, subject, issuedAt } = readHeader(new CborReader(header));
  reader.members(1);
  reader.name("seamgate");
  reader.members(3);
  reader.name("lines");
  const lines = list(reader, part);
  reader.name("artifacts");
  const artifacts = list(reader, (reader) => reader.text());
  reader.name("profiles");
  const profiles = list(reader, (reader) => reader.text());
  const statement = reader.bytes();
  const signature = reader.bytes();
  reader.end();
  const signed = toBeSigned(header, statement);
  return { key, issuer, subject, issuedAt, statement, lines, artifacts, profiles, signature, signed };
}

function readHeader(reader: CborReader): Pick<ReceiptFile, "key" | "issuer" | "subject" | "issuedAt"> {
  reader.members(4);
  reader.integer(ALGORITHM);
  reader.integer(EDDSA);
  reader.integer(CONTENT_TYPE_LABEL);
  reader.name(CONTENT_TYPE);
  reader.integer(KEY_ID);
  const key = fixed(reader.bytes(), BYTES);
  reader.integer(CWT_CLAIMS);
  reader.members(3);
  reader.integer(ISSUER);
  const issuer = reader.text();
  reader.integer(SUBJECT);
  const subject = reader.text();
  reader.integer(ISSUED_AT);
  const issuedAt = reader.unsigned();
  reader.end();
  return { key, issuer, subject, issuedAt };
}

function list<T>(reader: CborReader, item: (reader: CborReader) => T): T[] {
  return Array.from({ length: reader.array() }, () => item(reader));
}

function part(reader: CborReader): Part {
  const part = reader.textOrBytes();
  return typeof part === "string" ? part : fixed(part, BYTES);
}
