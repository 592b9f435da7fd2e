import { type FaultDetail, SeamgateFault } from "./fault.js";
import { plainJson } from "./plain.js";
import { measure } from "./text.js";
import type { FaultCode } from "./types.js";

/**
 * A JSON Schema: draft 4, 6, 7, 2019-09 or, where it does not say, 2020-12. A schema of a library, as Zod's, is not JSON: `ask` and
 * `parseWithSchema` take it; elsewhere, pass what its library makes of it. For an interface, as TypeBox has them, write
 * `{ ...schema }`.
 */
export type JsonSchema = boolean | Readonly<Record<string, unknown>>;

/** What a contract says beside its agent, as an object. */
export interface ContractDocument {
  /** JSON, not a schema of a library: see {@link JsonSchema}. */
  readonly schema?: JsonSchema;
  /** A JSON Type Definition (RFC 8927), in place of `schema`. */
  readonly jtd?: Readonly<Record<string, unknown>>;
  /** Schemas that `schema` refers to, by their URIs. */
  readonly resources?: Readonly<Record<string, JsonSchema>>;
  readonly [member: string]: unknown;
}

/**
 * What one agent's output must be: one whole JSON document (`schemas/contract.schema.json`), as JSON text or as the
 * object that it says. Text keeps the digits of its numbers.
 */
export type Contract = string | ContractDocument;

/**
 * What one agent may do: one whole JSON document (`schemas/profile.schema.json`), as JSON text or as the object that it
 * says. The definitions of its tools are inside, with their schemas as JSON.
 */
export type Profile = string | Readonly<Record<string, unknown>>;

/** Whether this is a contract, not an agent's name: a name has no brackets. */
export function isContract(value: string | Contract): boolean {
  return typeof value !== "string" || value.trimStart().startsWith("{");
}

/** The longest contract or profile that the component takes, in bytes. White space in it does not come that far. */
const MOST = 8 * 1024 * 1024;

/** A contract as JSON text that can stand in a request. */
export function asContract(contract: Contract): string {
  return bounded("contract", contract, "bad_contract");
}

/** The same for a profile. */
export function asProfile(profile: Profile): string {
  return bounded("profile", profile, "bad_profile");
}

function bounded(what: string, document: string | object, code: FaultCode): string {
  const text = asPlainJson(what, document, code);
  const { bytes } = measure(text);
  if (bytes > MOST) {
    throw new SeamgateFault(code, `${what}: $ must have at most ${MOST} bytes, not ${bytes}`);
  }
  return text;
}

/**
 * A document as JSON text that can stand in a request, where JSON text would lose nothing of it.
 *
 * @param isSchema - Whether it is a schema as a whole.
 * @throws {TypeError} It holds something else than JSON.
 */
export function asPlainJson(what: string, document: unknown, code: FaultCode, isSchema = false): string {
  if (typeof document === "string") {
    return asJson(what, document, code);
  }
  try {
    return plainJson(what, document, isSchema);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // A cycle; or it nests deeper than the stack.
    const isOurs = error.message.startsWith(`${what}: $`);
    throw new SeamgateFault(code, isOurs ? error.message : `${what}: $ nests too deep`, {}, { cause: error });
  }
}

/** A document as JSON text that can stand in a request. */
export function asJson(what: string, document: string | object, code: FaultCode): string {
  try {
    if (typeof document !== "string") {
      return JSON.stringify(document);
    }
    // Else it could end what it stands in, and go on with it.
    JSON.parse(document);
    return document;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new SeamgateFault(code, `${what}: $ must be JSON: ${message}`, {}, { cause: error });
  }
}

/** A contract or profile that stands in a request is read with it: what is wrong with its JSON is told of it again. */
export function ofDocument(fault: SeamgateFault): SeamgateFault {
  const [first, ...more] = fault.detail.violations ?? [];
  const what = first && /^\/(contract|profile)(\/|$)/.exec(first.pointer)?.[1];
  if (fault.code !== "bad_request" || first === undefined || what === undefined) {
    return fault;
  }
  const path = (whole: string) => (whole.startsWith(`$.${what}`) ? `$${whole.slice(what.length + 2)}` : whole);
  const violations = [first, ...more].map((violation) => ({
    ...violation,
    path: path(violation.path),
    pointer: violation.pointer.replace(`/${what}`, ""),
    // Offsets into a request that the caller has not seen.
    span: null,
  }));
  const detail: FaultDetail = { ...fault.detail, violations };
  const code = what === "contract" ? "bad_contract" : "bad_profile";
  return new SeamgateFault(code, `${what}: ${path(first.path)} ${first.message}`, detail);
}
