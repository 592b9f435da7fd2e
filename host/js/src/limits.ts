import { CONTRACT_FUEL, CONTRACT_FUEL_PER_BYTE, FUEL, FUEL_PER_BYTE, OUTPUT_BYTES } from "./defaults.js";
import { SeamgateFault } from "./fault.js";

/**
 * Limits of one call. Exceeding one throws a {@link SeamgateFault}; there is no verdict.
 *
 * They do not cover memory, which is limited to 64 MiB for each instance; the stack, which the engine limits; a
 * contract's own caps on documents; and wall-clock time, which only a {@link WorkerGate} limits.
 */
export interface Limits {
  /** Fuel for each call, about one unit per WebAssembly instruction. Default: 100,000,000. */
  readonly fuel?: number;
  /** Additional fuel for each byte of output and contract. Default: 500. */
  readonly fuelPerByte?: number;
  /**
   * Fuel for compiling one registered contract, in addition to `fuel`, because the author of a contract is trusted more
   * than the author of an output. Does not apply to a contract that is passed with a call. Default: 500,000,000.
   */
  readonly contractFuel?: number;
  /** Additional fuel for each byte of that contract. Default: 2,500. */
  readonly contractFuelPerByte?: number;
  /** The most bytes of an output, in UTF-8. Checked before the sandbox is entered. Default: 8 MiB. */
  readonly outputBytes?: number;
}

const DEFAULTS: Required<Limits> = {
  fuel: FUEL,
  fuelPerByte: FUEL_PER_BYTE,
  contractFuel: CONTRACT_FUEL,
  contractFuelPerByte: CONTRACT_FUEL_PER_BYTE,
  outputBytes: OUTPUT_BYTES,
};

/** The maximum of the component's fuel counter. */
const MOST_FUEL = 2n ** 63n - 1n;

/** Validates limits, and fills in the defaults. */
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

/** Returns the fuel for a call with this many bytes of output and contract. */
export function fuelFor(limits: Required<Limits>, bytes: number): bigint {
  return within(BigInt(limits.fuel) + BigInt(limits.fuelPerByte) * BigInt(bytes));
}

/** Returns the fuel for compiling a contract of this many bytes. */
export function fuelForContract(limits: Required<Limits>, bytes: number): bigint {
  return within(BigInt(limits.contractFuel) + BigInt(limits.contractFuelPerByte) * BigInt(bytes));
}

function within(fuel: bigint): bigint {
  return fuel < MOST_FUEL ? fuel : MOST_FUEL;
}

/** Throws a fault if an output has too many bytes. */
export function smallEnough(limits: Required<Limits>, bytes: number): void {
  const limit = limits.outputBytes;
  if (bytes > limit) {
    throw new SeamgateFault("input_too_large", `the output has ${bytes} bytes; the limit is ${limit}`, {
      bytes,
      limit,
    });
  }
}
