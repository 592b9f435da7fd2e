import type {} from "vitest";
import type { Contract, OutputOptions } from "./index.js";

export * from "./matchers.js";

declare module "vitest" {
  // biome-ignore lint/suspicious/noExplicitAny: as Vitest declares it.
  interface Matchers<T = any> {
    /** Passes where the gate accepts the output by a contract. */
    toPassContract(contract: Contract, options?: OutputOptions): void;
  }
}
