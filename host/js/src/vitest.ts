import type {} from "vitest";
import type { Contract, OutputOptions, StandardSchema } from "./index.js";

export * from "./matchers.js";

declare module "vitest" {
  // biome-ignore lint/suspicious/noExplicitAny: as Vitest declares it.
  interface Matchers<T = any> {
    /** Passes where the gate accepts the output by a contract, or by a schema of a library. */
    toPassContract(contract: Contract | StandardSchema, options?: OutputOptions): void;
  }
}
