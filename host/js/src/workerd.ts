import modules from "./component/modules.js";
import { LoadError } from "./fault.js";
import { use } from "./platform.js";

export * from "./index.js";

// Nothing is compiled: workerd allows that only to itself, and gives imported files as modules.
use({
  component: async () => modules,
  worker() {
    throw new LoadError("there are no workers to start in this runtime: use Gate, whose fuel bounds each call");
  },
  processors: () => 1,
});
