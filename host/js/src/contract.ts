import { type FaultDetail, SeamgateFault } from "./fault.js";
import { measure } from "./text.js";

/**
 * What one agent's output must be: one whole JSON document (`schemas/contract.schema.json`), as JSON text or as the
 * object that it says. Text keeps the digits of its numbers.
 */
export type Contract = string | Readonly<Record<string, unknown>>;

/** Whether this is a contract, not an agent's name: a name has no brackets. */
export function isContract(value: string | Contract): boolean {
  return typeof value !== "string" || value.trimStart().startsWith("{");
}

/** The longest contract that the component takes, in bytes. White space in it does not come that far in a request. */
const MOST = 8 * 1024 * 1024;

/** A contract as JSON text that can stand in a request. */
export function asContract(contract: Contract): string {
  const text = typeof contract === "string" ? contract : written(contract);
  const { bytes } = measure(text);
  if (bytes > MOST) {
    throw new SeamgateFault("bad_contract", `contract: $ must have at most ${MOST} bytes, not ${bytes}`);
  }
  if (text === contract) {
    // Else it could end what it stands in, and go on with it.
    unlessBroken(() => JSON.parse(text));
  }
  return text;
}

function written(contract: object): string {
  return unlessBroken(() => JSON.stringify(contract));
}

function unlessBroken<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new SeamgateFault("bad_contract", `contract: $ must be JSON: ${message}`, {}, { cause: error });
  }
}

/** A contract that stands in a request is read with it: what is wrong with its JSON is told of the contract again. */
export function ofContract(fault: SeamgateFault): SeamgateFault {
  const [first, ...more] = fault.detail.violations ?? [];
  if (fault.code !== "bad_request" || first === undefined || !/^\/contract(\/|$)/.test(first.pointer)) {
    return fault;
  }
  const violations = [first, ...more].map((violation) => ({
    ...violation,
    path: violation.path.replace(/^\$\.contract/, "$"),
    pointer: violation.pointer.replace(/^\/contract/, ""),
    // Offsets into a request that the caller has not seen.
    span: null,
  }));
  const detail: FaultDetail = { ...fault.detail, violations };
  const message = `contract: ${first.path.replace(/^\$\.contract/, "$")} ${first.message}`;
  return new SeamgateFault("bad_contract", message, detail);
}
