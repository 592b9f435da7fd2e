import type { Checks } from "./checks.js";
import { type FaultDetail, SeamgateFault } from "./fault.js";
import { inJson, kindOf, plainJson } from "./plain.js";
import type { ContractPolicy, JsonSchema } from "./policy.js";
import { isPlainObject, isStandard, type StandardSchema } from "./standard.js";
import { measure } from "./text.js";
import type { FaultCode } from "./types.js";

/** A contract as an object. */
export interface ContractDocument extends ContractPolicy {
  /**
   * The schema of the document. If it is a library's schema, the gate judges by its JSON Schema, and the schema's own
   * checks run on the documents that the gate accepts.
   */
  readonly schema?: JsonSchema | StandardSchema | undefined;
  /** A JSON Type Definition (RFC 8927), instead of `schema`. */
  readonly jtd?: Readonly<Record<string, unknown>> | undefined;
  /** A library's schema is not a contract. It belongs in `schema`. */
  readonly "~standard"?: never;
}

/** A contract whose schema comes from a library and determines the type of the data. */
export interface TypedContract<T, Input = unknown> extends ContractPolicy {
  readonly schema: StandardSchema<T, Input>;
}

/**
 * A contract, which says what the output of one agent must be: one self-contained JSON document
 * (`schemas/contract.schema.json`), as JSON text or as an object. Text keeps the digits of numbers.
 */
export type Contract = string | ContractDocument;

/**
 * A profile, which says what one agent may do: one self-contained JSON document (`schemas/profile.schema.json`), as
 * JSON text or as an object. It includes the definitions of its tools, with their schemas as JSON.
 */
export type Profile = string | Readonly<Record<string, unknown>>;

/** The most bytes of a contract or profile that the component accepts, not counting white space. */
const MOST = 8 * 1024 * 1024;

/** A contract in the form that the gate uses. */
export interface TakenContract {
  /** JSON text that can be embedded in a request. */
  readonly text: string;
  /** The checks that cannot be expressed as JSON. */
  readonly checks: Checks | undefined;
}

/**
 * Reads a contract that a caller passed. All callers use this function to decide whether a value is a contract.
 *
 * @throws {TypeError} It holds a value that is neither JSON nor, as `schema`, a library's schema.
 * @throws {SeamgateFault} `bad_contract`.
 */
export function takeContract(contract: unknown, argument = "contract"): TakenContract {
  const isFunction = typeof contract === "function" && !isStandard(contract);
  if (typeof contract !== "string" && (Object(contract) !== contract || Array.isArray(contract) || isFunction)) {
    const first = { contract: "", of: "a schema that implements Standard JSON Schema, the name of an agent, or " };
    const wanted = `${first[argument as keyof typeof first] ?? "the name of an agent, or "}a contract`;
    throw new TypeError(`\`${argument}\` must be ${wanted}, as an object or as JSON text, not ${kindOf(contract)}`);
  }
  if (typeof contract !== "object" || contract === null || !isPlainObject(contract) || isStandard(contract)) {
    return { text: bounded("contract", contract, "bad_contract"), checks: undefined };
  }
  const { schema, ...policy } = contract as ContractDocument;
  if (!isStandard(schema)) {
    return { text: bounded("contract", contract, "bad_contract"), checks: undefined };
  }
  // Patterns that libraries generate may use lookaround, so they run in the engine with a step limit.
  const members = asPlainJson("contract", { patterns: "backtracking", ...policy }, "bad_contract").slice(1, -1);
  const text = bounded("contract", `{${members},"schema":${inJson(schema)}}`, "bad_contract");
  return { text, checks: { schema, items: policy.items } };
}

/** The contract that an output is judged by: that of an agent, or one that is passed with the output. */
export interface Subject {
  /** Empty if a contract is passed with the output. */
  readonly agent: string;
  readonly contract: string | undefined;
  readonly checks: Checks | undefined;
}

/** Reads the name of an agent, or a contract. A name has no braces. */
export function takeSubject(agentOrContract: unknown, argument = "agentOrContract"): Subject {
  if (typeof agentOrContract === "string" && !agentOrContract.trimStart().startsWith("{")) {
    return { agent: agentOrContract, contract: undefined, checks: undefined };
  }
  const { text, checks } = takeContract(agentOrContract, argument);
  return { agent: "", contract: text, checks };
}

/** Returns a contract as JSON text that can be embedded in a request. */
export function asContract(contract: Contract): string {
  return takeContract(contract).text;
}

/**
 * Returns the name of an agent.
 *
 * @throws {TypeError} It is not a string.
 */
export function asAgent(agent: string): string {
  if (typeof agent !== "string") {
    throw new TypeError(`\`agent\` must be the name of an agent, a string, not ${kindOf(agent)}`);
  }
  return agent;
}

/** Returns a profile as JSON text that can be embedded in a request. */
export function asProfile(profile: Profile): string {
  return bounded("profile", profile, "bad_profile");
}

function bounded(what: string, document: unknown, code: FaultCode): string {
  const text = asPlainJson(what, document, code);
  const { bytes } = measure(text);
  if (bytes > MOST) {
    throw new SeamgateFault(code, `${what}: $ must have at most ${MOST} bytes, not ${bytes}`);
  }
  return text;
}

/**
 * Returns a document as JSON text that can be embedded in a request, if JSON can represent it without loss.
 *
 * @param isSchema - True if the whole document is a schema.
 * @throws {TypeError} It holds a value that is not JSON.
 */
export function asPlainJson(what: string, document: unknown, code: FaultCode, isSchema = false): string {
  if (typeof document === "string") {
    return asJson(what, document, code);
  }
  try {
    return plainJson(what, document, isSchema);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // It has a cycle, or is nested too deeply for the stack.
    const isOurs = error.message.startsWith(`${what}: $`);
    throw new SeamgateFault(code, isOurs ? error.message : `${what}: $ nests too deep`, {}, { cause: error });
  }
}

/** Returns a document as JSON text that can be embedded in a request. */
export function asJson(what: string, document: string | object, code: FaultCode): string {
  try {
    if (typeof document !== "string") {
      return JSON.stringify(document);
    }
    // Otherwise invalid text could close the enclosing object and add members to it.
    JSON.parse(document);
    return document;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const isPath = typeof document === "string" && /^[^{}[\]"\s][^{}[\]"\n]*\.json$/.test(document);
    const hint = !isPath
      ? ""
      : what === "profile"
        ? "; read a file with readProfiles"
        : "; read a file with readContracts";
    throw new SeamgateFault(code, `${what}: $ must be JSON: ${message}${hint}`, {}, { cause: error });
  }
}

/** Converts a fault about a request to one about the contract or profile in it, if the JSON of that is invalid. */
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
    // The offsets refer to the request, which the caller has not seen.
    span: null,
  }));
  const detail: FaultDetail = { ...fault.detail, violations };
  const code = what === "contract" ? "bad_contract" : "bad_profile";
  return new SeamgateFault(code, `${what}: ${path(first.path)} ${first.message}`, detail);
}
