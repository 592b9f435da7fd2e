import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { files } from "./component/files.js";
import type { Component } from "./component.js";
import type { Backend } from "./engine.js";
import { LoadError } from "./fault.js";
import type { Addon } from "./native.js";
import { use } from "./platform.js";

export * from "./index.js";

let compiled: Promise<Component> | undefined;
let loaded: Addon | LoadError | undefined;

/** What runs the sandbox of gates that are given no component. */
export const backend: Backend = addon() instanceof LoadError ? "webassembly" : "native";

/** The addon of this package for this machine. `SEAMGATE_BACKEND` says that there must be one, or that it is not to be used. */
function addon(): Addon | LoadError {
  loaded ??= load();
  if (loaded instanceof LoadError && process.env.SEAMGATE_BACKEND === "native") {
    throw loaded;
  }
  return loaded;
}

function load(): Addon | LoadError {
  const wanted = process.env.SEAMGATE_BACKEND ?? "";
  if (!["", "native", "webassembly"].includes(wanted)) {
    throw new LoadError(`SEAMGATE_BACKEND must be native or webassembly, not ${JSON.stringify(wanted)}`);
  }
  if (wanted === "webassembly") {
    return new LoadError("SEAMGATE_BACKEND=webassembly says not to use it");
  }
  const name = `${process.platform}-${process.arch}`;
  try {
    return createRequire(import.meta.url)(`./native/${name}.node`);
  } catch (error) {
    const why = error instanceof Error ? error.message.split("\n")[0] : error;
    return new LoadError(`the package has none for ${name}, or it cannot be loaded: ${why}`, { cause: error });
  }
}

use({
  component() {
    compiled ??= compile();
    return compiled;
  },
  addon,
  worker(start) {
    // Flags of the program are not for it: some would be refused.
    const worker = new Worker(new URL("./worker-node.js", import.meta.url), { workerData: start, execArgv: [] });
    let failure: Error | undefined;
    return {
      post: (message) => worker.postMessage(message),
      listen(message, ended) {
        worker.on("message", message);
        worker.on("error", (error) => {
          failure = error;
        });
        worker.on("exit", (code) => ended(failure ?? new Error(`it exited with ${code}`)));
      },
      hold: (held) => (held ? worker.ref() : worker.unref()),
      end: () => void worker.terminate(),
    };
  },
  processors: availableParallelism,
});

async function compile(): Promise<Component> {
  const modules = files.map(async (name) => {
    const url = new URL(`./component/${name}`, import.meta.url);
    try {
      return [name, await WebAssembly.compile(await readFile(url))] as const;
    } catch (error) {
      throw new LoadError(`cannot load ${url}: ${error instanceof Error ? error.message : error}`, { cause: error });
    }
  });
  return Object.fromEntries(await Promise.all(modules));
}
