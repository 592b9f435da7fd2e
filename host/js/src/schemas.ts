import { asPlainJson, type TakenContract } from "./contract.js";
import type { Gate } from "./gate.js";
import type { Names } from "./options.js";
import { inJson, kindOf } from "./plain.js";
import type { ContractPolicy } from "./policy.js";
import { isStandard } from "./standard.js";
import type { ContractInfo } from "./types.js";

/** So many are kept. With one more, all are forgotten: programs that make schemas without end do not fill the memory. */
const MOST = 256;

/** A contract that is registered in a gate, out of sight of its author. */
export interface Compiled {
  readonly gate: Gate;
  readonly info: ContractInfo;
}

interface Kept {
  readonly gates: Gate[];
  readonly contracts: Map<string, Compiled>;
}

/** What was compiled beside each gate, with its limits. */
const kept = new WeakMap<Gate, Kept>();

/**
 * Compile a contract that is JSON text, unless that was done before.
 *
 * @throws {SeamgateFault} `bad_contract`; or a limit was passed.
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
  // An agent has one contract in a gate.
  let gate = all.gates.find((gate) => !gate.has(agent));
  if (gate === undefined) {
    gate = beside.sibling();
    all.gates.push(gate);
  }
  const made = { gate, info: gate.register(contract) };
  all.contracts.set(contract, made);
  return made;
}

/** How an output is held to a schema, beside the schema itself. */
export interface SchemaOptions {
  /** What the contract says beside the schema, as `{ retry: { limit: 3 } }` or `{ coerce: "lossless" }`. */
  readonly contract?: ContractPolicy | undefined;
  /**
   * For a schema of a library: it alone judges the document that the gate found and read. So `preprocess`, `coerce` and defaults see
   * what the model wrote, and not only what the JSON Schema accepts. Default: false.
   */
  readonly preprocess?: boolean | undefined;
}

export const SCHEMA_OPTIONS: Names<SchemaOptions> = { contract: true, preprocess: true };

/** A schema that stands for a contract. */
export interface OfSchema extends TakenContract {
  /** The contract that is described to the model. */
  readonly described: string;
}

/**
 * Reads a schema that a caller passed in place of a contract, and what comes with it. Its agent is named by what it says.
 *
 * @throws {TypeError} It is no schema; or `contract` has another one.
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
  // What libraries write of themselves may look around in patterns: those have a step limit.
  const patterns = isLibrary ? ({ patterns: "backtracking" } as const) : {};
  const text = isLibrary ? inJson(schema) : asPlainJson("schema", schema, "bad_contract", true);
  const members = asPlainJson("contract", { ...patterns, ...policy }, "bad_contract").slice(1, -1);
  const described = contractOf(text, members, policy?.agent);
  const checks = isLibrary ? { schema, items: policy?.items } : undefined;
  if (!preprocess) {
    return { described, text: described, checks };
  }
  // Anything may be an item, too.
  const items = policy?.items && { items: { schema: true, ...policy.items } };
  const any = asPlainJson("contract", { ...patterns, ...policy, ...items }, "bad_contract").slice(1, -1);
  return { described, text: contractOf("true", any, policy?.agent), checks };
}

/** A contract as JSON text, of the members beside its schema, and its schema. */
function contractOf(schema: string, members: string, agent: string | undefined): string {
  const before = members === "" ? "" : `${members},`;
  const named = agent === undefined ? `"agent":"schema-${nameOf(before + schema)}",` : "";
  return `{${named}${before}"schema":${schema}}`;
}

/** A short name for a text (FNV-1a): two texts that share one are in different gates. */
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
    // The gate says what is wrong with it.
    return "";
  }
}
