import type { Contract, Profile } from "./contract.js";
import { asContract, asProfile } from "./contract.js";
import { complete, type Limits } from "./limits.js";
import { later, told } from "./native.js";
import { only } from "./options.js";
import { kindOf } from "./plain.js";
import { addon } from "./platform.js";

/** What is compiled into a component. */
export interface BakeOptions {
  readonly profiles?: readonly Profile[];
  /** What compiling each may use: `contractFuel` and `contractFuelPerByte`. */
  readonly limits?: Limits;
}

/**
 * The contract in a file, or those in a folder (`NAME.contract.json`), each as one whole document: schemas that it names by a relative
 * path are put in. It needs the native addon.
 *
 * @throws {FileError} A file cannot be read, or a path leads out of the folder.
 */
export function readContracts(path: string): string[] {
  return told(() => addon("readContracts").contracts(path));
}

/** The profile in a file, or those in a folder (`NAME.profile.json`), with the definitions of `NAME.lock.json`: see {@link readContracts}. */
export function readProfiles(path: string): string[] {
  return told(() => addon("readProfiles").profiles(path));
}

/**
 * Make a component with compiled contracts inside, as `seamgate bake` does. Gates of it begin with them at no cost, and take no others. It
 * takes seconds, off this thread, and needs the native addon.
 *
 * @returns The component: for `Gate.load({ component })`, and for a file.
 * @throws {SeamgateFault} A contract or a profile is invalid, or two have one agent.
 * @throws {TypeError} One holds something else than JSON.
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
