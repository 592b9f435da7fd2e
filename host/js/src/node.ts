import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { files } from "./component/files.js";
import type { Component } from "./component.js";
import { LoadError } from "./fault.js";
import { use } from "./platform.js";

export * from "./index.js";

let compiled: Promise<Component> | undefined;

use({
  component() {
    compiled ??= compile();
    return compiled;
  },
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
