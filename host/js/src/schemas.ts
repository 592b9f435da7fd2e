import type { Gate } from "./gate.js";
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

/**
 * A contract that is nothing but a schema, both as JSON text. Its agent is named by what the schema says.
 *
 * @param policy - Further members of the contract, as they stand in JSON text before the schema.
 */
export function contractOf(schema: string, policy = ""): string {
  return `{"agent":"schema-${nameOf(policy + schema)}",${policy}"schema":${schema}}`;
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
