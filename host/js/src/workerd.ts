import modules from "./component/modules.js";
import type { Backend } from "./engine.js";
import { usePrecompiled } from "./precompiled.js";

export * from "./index.js";

/** The engine that runs the sandbox of gates. */
export const backend: Backend = "webassembly";

usePrecompiled(modules);
