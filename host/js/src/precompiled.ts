import type { Component } from "./component.js";
import { LoadError } from "./fault.js";
import { use } from "./platform.js";
import { webCryptography } from "./web-crypto.js";

/** Has gates run a component that the bundler gives as modules: nothing is compiled, which these runtimes allow only to themselves. */
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
