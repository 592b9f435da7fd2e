import type {} from "vitest";
import type { Contract, OutputOptions, StandardSchema } from "./index.js";

export * from "./matchers.js";

declare module "vitest" {
  // biome-ignore lint/suspicious/noExplicitAny: the same declaration as in Vitest.
  interface Matchers<T = any> {
    /** Passes if the gate accepts the output by a contract or by a library's schema. */
    toPassContract(contract: Contract | StandardSchema, options?: OutputOptions): void;
  }
}
