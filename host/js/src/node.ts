import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
// biome-ignore lint/style/useNodejsImportProtocol: with `node:`, webpack 5.112 generates code that fails.
import { Worker } from "worker_threads";
import { addon, warn } from "./addon.js";
import { files } from "./component/files.js";
import type { Component } from "./component.js";
import type { Backend } from "./engine.js";
import { LoadError } from "./fault.js";
import { nodeCryptography } from "./node-crypto.js";
import { here, installed, located } from "./place.js";
import { use } from "./platform.js";

export * from "./index.js";

let compiled: Promise<Component> | undefined;

/** The engine that runs the sandbox of gates without the option `component`. */
export const backend: Backend = addon() instanceof LoadError ? "webassembly" : "native";

use({
  component() {
    compiled ??= compile();
    return compiled;
  },
  addon,
  warn,
  worker(start) {
    const worker = begun(start);
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
  cryptography: nodeCryptography,
});

/** Starts a worker of this package. */
function begun(start: unknown): Worker {
  // The program's flags are not passed on, because workers reject some of them.
  const options = { workerData: start, execArgv: [] };
  const name = "worker-node.js";
  const beside = new URL(name, here);
  const file = existsSync(beside) ? beside : installed(name);
  try {
    // The last one has the form that bundlers recognize as a module.
    return file === undefined
      ? new Worker(new URL("./worker-node.js", import.meta.url), options)
      : new Worker(file, options);
  } catch (error) {
    throw new LoadError(`a worker cannot be started: ${name} is not beside ${fileURLToPath(here)}`, { cause: error });
  }
}

async function compile(): Promise<Component> {
  const modules = Object.entries(files).map(async ([name, place]) => {
    const url = located(place, `component/${name}`);
    try {
      return [name, await WebAssembly.compile(await readFile(url))] as const;
    } catch (error) {
      throw new LoadError(`cannot load ${url}: ${error instanceof Error ? error.message : error}`, { cause: error });
    }
  });
  return Object.fromEntries(await Promise.all(modules));
}
