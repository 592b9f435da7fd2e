import type { Component } from "./component.js";
import { LoadError } from "./fault.js";
import { use } from "./platform.js";
import { webCryptography } from "./web-crypto.js";

/** Makes gates run a component that the bundler provides as modules, for runtimes that do not allow compiling. */
export function usePrecompiled(modules: Component): void {
  use({
    component: async () => modules,
    addon: () => new LoadError("there is none outside of Node"),
    warn: () => {},
    worker() {
      throw new LoadError("there are no workers to start in this runtime: use Gate, whose fuel bounds each call");
    },
    processors: () => 1,
    cryptography: webCryptography,
  });
}
