import { CONTRACT_FUEL, CONTRACT_FUEL_PER_BYTE, FUEL, FUEL_PER_BYTE, OUTPUT_BYTES } from "./defaults.js";
import { SeamgateFault } from "./fault.js";

/**
 * Bounds on one call. Passing one is a typed {@link SeamgateFault}, never a verdict.
 *
 * Not here: memory, which is 64 MiB an instance; the stack, which is the engine's; a contract's own caps on documents;
 * and the wall clock, which only a {@link WorkerGate} has.
 */
export interface Limits {
  /** Fuel for each call, about one unit for each WebAssembly instruction. Default: 100,000,000. */
  readonly fuel?: number;
  /** Further fuel for each byte of output and contract. Default: 500. */
  readonly fuelPerByte?: number;
  /**
   * Fuel for compiling one contract that is registered, beside that for the call: whoever wrote it is trusted more than who
   * wrote the output. Not for one that comes with a call. Default: 500,000,000.
   */
  readonly contractFuel?: number;
  /** Further fuel for each byte of that contract. Default: 2,500. */
  readonly contractFuelPerByte?: number;
  /** Longest output, in bytes of UTF-8; looked at before the sandbox is entered. Default: 8 MiB. */
  readonly outputBytes?: number;
}

const DEFAULTS: Required<Limits> = {
  fuel: FUEL,
  fuelPerByte: FUEL_PER_BYTE,
  contractFuel: CONTRACT_FUEL,
  contractFuelPerByte: CONTRACT_FUEL_PER_BYTE,
  outputBytes: OUTPUT_BYTES,
};

/** The most that the component's counter holds. */
const MOST_FUEL = 2n ** 63n - 1n;

/** All limits, checked. */
export function complete(limits: Limits = {}): Required<Limits> {
  for (const [name, limit] of Object.entries(limits)) {
    if (!(name in DEFAULTS)) {
      throw new TypeError(`\`limits\` has no member \`${name}\`: its members are ${Object.keys(DEFAULTS).join(", ")}`);
    }
    if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 0)) {
      throw new TypeError(`\`limits.${name}\` must be an integer from 0 to 2^53-1, not ${String(limit)}`);
    }
  }
  return {
    fuel: limits.fuel ?? DEFAULTS.fuel,
    fuelPerByte: limits.fuelPerByte ?? DEFAULTS.fuelPerByte,
    contractFuel: limits.contractFuel ?? DEFAULTS.contractFuel,
    contractFuelPerByte: limits.contractFuelPerByte ?? DEFAULTS.contractFuelPerByte,
    outputBytes: limits.outputBytes ?? DEFAULTS.outputBytes,
  };
}

/** The fuel for a call with so many bytes of output and contract. */
export function fuelFor(limits: Required<Limits>, bytes: number): bigint {
  return within(BigInt(limits.fuel) + BigInt(limits.fuelPerByte) * BigInt(bytes));
}

/** The fuel for compiling a contract of so many bytes. */
export function fuelForContract(limits: Required<Limits>, bytes: number): bigint {
  return within(BigInt(limits.contractFuel) + BigInt(limits.contractFuelPerByte) * BigInt(bytes));
}

function within(fuel: bigint): bigint {
  return fuel < MOST_FUEL ? fuel : MOST_FUEL;
}

/** Refuse an output of so many bytes, or not. */
export function smallEnough(limits: Required<Limits>, bytes: number): void {
  const limit = limits.outputBytes;
  if (bytes > limit) {
    throw new SeamgateFault("input_too_large", `the output has ${bytes} bytes; the limit is ${limit}`, {
      bytes,
      limit,
    });
  }
}
