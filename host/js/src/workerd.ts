import modules from "./component/modules.js";
import type { Backend } from "./engine.js";
import { LoadError } from "./fault.js";
import { use } from "./platform.js";

export * from "./index.js";

/** What runs the sandbox of gates. */
export const backend: Backend = "webassembly";

// Nothing is compiled: workerd allows that only to itself, and gives imported files as modules.
use({
  component: async () => modules,
  addon: () => new LoadError("there is none outside of Node"),
  warn: () => {},
  worker() {
    throw new LoadError("there are no workers to start in this runtime: use Gate, whose fuel bounds each call");
  },
  processors: () => 1,
});
