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
   * What the document must be. With a schema of a library, the gate judges by its JSON Schema, and the schema's own checks run on what
   * the gate accepts.
   */
  readonly schema?: JsonSchema | StandardSchema | undefined;
  /** A JSON Type Definition (RFC 8927), in place of `schema`. */
  readonly jtd?: Readonly<Record<string, unknown>> | undefined;
  /** A schema of a library is no contract: it stands in `schema`. */
  readonly "~standard"?: never;
}

/** A contract whose schema is one of a library, and says the type of the data. */
export interface TypedContract<T, Input = unknown> extends ContractPolicy {
  readonly schema: StandardSchema<T, Input>;
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

/** The longest contract or profile that the component takes, in bytes. White space in it does not come that far. */
const MOST = 8 * 1024 * 1024;

/** A contract as the gate takes it. */
export interface TakenContract {
  /** JSON text that can stand in a request. */
  readonly text: string;
  /** The checks that no JSON text holds. */
  readonly checks: Checks | undefined;
}

/**
 * Reads a contract that a caller passed: the one place that decides what is one.
 *
 * @throws {TypeError} It holds something else than JSON and, as `schema`, a schema of a library.
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
  // What libraries write of themselves may look around in patterns: those have a step limit.
  const members = asPlainJson("contract", { patterns: "backtracking", ...policy }, "bad_contract").slice(1, -1);
  const text = bounded("contract", `{${members},"schema":${inJson(schema)}}`, "bad_contract");
  return { text, checks: { schema, items: policy.items } };
}

/** What an output is judged by: the contract of an agent, or one that comes with it. */
export interface Subject {
  /** Empty where a contract comes with the output. */
  readonly agent: string;
  readonly contract: string | undefined;
  readonly checks: Checks | undefined;
}

/** Reads the name of an agent, or a contract: a name has no brackets. */
export function takeSubject(agentOrContract: unknown, argument = "agentOrContract"): Subject {
  if (typeof agentOrContract === "string" && !agentOrContract.trimStart().startsWith("{")) {
    return { agent: agentOrContract, contract: undefined, checks: undefined };
  }
  const { text, checks } = takeContract(agentOrContract, argument);
  return { agent: "", contract: text, checks };
}

/** A contract as JSON text that can stand in a request. */
export function asContract(contract: Contract): string {
  return takeContract(contract).text;
}

/**
 * The name of an agent.
 *
 * @throws {TypeError} It is no string.
 */
export function asAgent(agent: string): string {
  if (typeof agent !== "string") {
    throw new TypeError(`\`agent\` must be the name of an agent, a string, not ${kindOf(agent)}`);
  }
  return agent;
}

/** The same for a profile. */
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
    const isPath = typeof document === "string" && /^[^{}[\]"\s][^{}[\]"\n]*\.json$/.test(document);
    const hint = !isPath
      ? ""
      : what === "profile"
        ? "; read a file with readProfiles"
        : "; read a file with readContracts";
    throw new SeamgateFault(code, `${what}: $ must be JSON: ${message}${hint}`, {}, { cause: error });
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
