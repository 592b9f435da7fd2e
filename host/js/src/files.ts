import type { Contract, Profile } from "./contract.js";
import { asContract, asProfile } from "./contract.js";
import { complete, type Limits } from "./limits.js";
import { later, told } from "./native.js";
import { only } from "./options.js";
import { kindOf } from "./plain.js";
import { addon } from "./platform.js";

/** Options of {@link bake}. */
export interface BakeOptions {
  readonly profiles?: readonly Profile[];
  /** The limits for compiling each contract or profile: `contractFuel` and `contractFuelPerByte`. */
  readonly limits?: Limits;
}

/**
 * Reads the contract in a file, or all contracts in a folder (`NAME.contract.json`). Returns each as one self-contained
 * document, with the schemas embedded that it names by relative paths. Requires the native addon.
 *
 * @throws {FileError} A file cannot be read, or a path leads out of the folder.
 */
export function readContracts(path: string): string[] {
  return told(() => addon("readContracts").contracts(path));
}

/**
 * Reads the profile in a file, or all profiles in a folder (`NAME.profile.json`), with the definitions in
 * `NAME.lock.json`. See {@link readContracts}.
 */
export function readProfiles(path: string): string[] {
  return told(() => addon("readProfiles").profiles(path));
}

/**
 * Make a component with compiled contracts inside, as `seamgate bake` does. Its gates start with them at no cost, and
 * accept no others. Baking takes seconds and does not block this thread. Requires the native addon.
 *
 * @returns The component's bytes, for `Gate.load({ component })`, or to be saved as a file.
 * @throws {SeamgateFault} A contract or a profile is invalid, or two belong to the same agent.
 * @throws {TypeError} One holds a value that is not JSON.
 */
export async function bake(contracts: readonly Contract[], options: BakeOptions = {}): Promise<Uint8Array> {
  only("options", options, { profiles: true, limits: true });
  if (!Array.isArray(contracts)) {
    throw new TypeError(`\`contracts\` must be a list of contracts, not ${kindOf(contracts)}`);
  }
  const texts = contracts.map((contract: Contract) => asContract(contract));
  const profiles = (options.profiles ?? []).map((profile) => asProfile(profile));
  return later(addon("bake").bake(texts, profiles, complete(options.limits)));
}
