import { asPlainJson, type TakenContract } from "./contract.js";
import type { Gate } from "./gate.js";
import type { Names } from "./options.js";
import { inJson, kindOf } from "./plain.js";
import type { ContractPolicy } from "./policy.js";
import { isStandard } from "./standard.js";
import type { ContractInfo } from "./types.js";

/**
 * The most contracts that are kept. One more drops all of them, so that programs that keep generating schemas do not
 * fill the memory.
 */
const MOST = 256;

/** A contract that is registered in a hidden gate. */
export interface Compiled {
  readonly gate: Gate;
  readonly info: ContractInfo;
}

interface Kept {
  readonly gates: Gate[];
  readonly contracts: Map<string, Compiled>;
}

/** The contracts compiled for each gate, with its limits. */
const kept = new WeakMap<Gate, Kept>();

/**
 * Compiles a contract that is JSON text, or returns it if it is already compiled.
 *
 * @throws {SeamgateFault} `bad_contract`; or a limit was exceeded.
 */
export function compiled(contract: string, beside: Gate): Compiled {
  let all = kept.get(beside);
  const known = all?.contracts.get(contract);
  if (known !== undefined) {
    return known;
  }
  if (all === undefined || all.contracts.size >= MOST) {
    all = { gates: [], contracts: new Map() };
    kept.set(beside, all);
  }
  const agent = agentOf(contract);
  // A gate has only one contract for each agent.
  let gate = all.gates.find((gate) => !gate.has(agent));
  if (gate === undefined) {
    gate = beside.sibling();
    all.gates.push(gate);
  }
  const made = { gate, info: gate.register(contract) };
  all.contracts.set(contract, made);
  return made;
}

/** Options for judging an output by a schema. */
export interface SchemaOptions {
  /** Further members of the contract, such as `{ retry: { limit: 3 } }` or `{ coerce: "lossless" }`. */
  readonly contract?: ContractPolicy | undefined;
  /**
   * If true, a library's schema alone judges the document that the gate found and parsed, instead of its JSON Schema.
   * Its `preprocess`, `coerce` and defaults then see everything that the model wrote, before any JSON Schema rejects
   * it. Default: false.
   */
  readonly preprocess?: boolean | undefined;
}

export const SCHEMA_OPTIONS: Names<SchemaOptions> = { contract: true, preprocess: true };

/** A contract made from a schema. */
export interface OfSchema extends TakenContract {
  /** The contract that the description for the model is based on. */
  readonly described: string;
}

/**
 * Reads a schema that a caller passed instead of a contract, with its options. The name of its agent is derived from
 * the content.
 *
 * @throws {TypeError} It is not a schema, or `contract` has another one.
 */
export function takeSchema(schema: unknown, { contract: policy, preprocess = false }: SchemaOptions): OfSchema {
  const isLibrary = isStandard(schema);
  if (policy !== undefined && ("schema" in policy || "jtd" in policy)) {
    throw new TypeError("`contract` must have no `schema` and no `jtd`: the schema stands beside it");
  }
  if (preprocess && !isLibrary) {
    throw new TypeError("`preprocess` needs a schema of a library, such as Zod: a JSON Schema has none");
  }
  if (!isLibrary && typeof schema !== "boolean" && (Object(schema) !== schema || Array.isArray(schema))) {
    const wanted = "a JSON Schema, an object or a boolean, or a schema of a library with `~standard`";
    throw new TypeError(`\`schema\` must be ${wanted}, not ${kindOf(schema)}`);
  }
  // Patterns that libraries generate may use lookaround, so they run in the engine with a step limit.
  const patterns = isLibrary ? ({ patterns: "backtracking" } as const) : {};
  const text = isLibrary ? inJson(schema) : asPlainJson("schema", schema, "bad_contract", true);
  const members = asPlainJson("contract", { ...patterns, ...policy }, "bad_contract").slice(1, -1);
  const described = contractOf(text, members, policy?.agent);
  const checks = isLibrary ? { schema, items: policy?.items } : undefined;
  if (!preprocess) {
    return { described, text: described, checks };
  }
  // The schema of an item accepts anything as well.
  const items = policy?.items && { items: { schema: true, ...policy.items } };
  const any = asPlainJson("contract", { ...patterns, ...policy, ...items }, "bad_contract").slice(1, -1);
  return { described, text: contractOf("true", any, policy?.agent), checks };
}

/** Returns a contract as JSON text, given its schema and its other members. */
function contractOf(schema: string, members: string, agent: string | undefined): string {
  const before = members === "" ? "" : `${members},`;
  const named = agent === undefined ? `"agent":"schema-${nameOf(before + schema)}",` : "";
  return `{${named}${before}"schema":${schema}}`;
}

/** Returns a short name for a text (FNV-1a). Two texts with the same name are registered in different gates. */
function nameOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, "0");
}

function agentOf(contract: string): string {
  try {
    return String(JSON.parse(contract).agent);
  } catch {
    // The gate reports what is wrong.
    return "";
  }
}
