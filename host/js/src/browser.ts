import { files } from "./component/files.js";
import type { Component } from "./component.js";
import type { Backend } from "./engine.js";
import { LoadError } from "./fault.js";
import { use } from "./platform.js";
import { webCryptography } from "./web-crypto.js";

export * from "./index.js";

/** What runs the sandbox of gates. */
export const backend: Backend = "webassembly";

let compiled: Promise<Component> | undefined;

use({
  component() {
    compiled ??= compile();
    return compiled;
  },
  addon: () => new LoadError("there is none outside of Node"),
  warn: () => {},
  worker(start) {
    // Written so that bundlers see that this is a file, too.
    const worker = new Worker(new URL("./worker-browser.js", import.meta.url), { type: "module" });
    worker.postMessage(start);
    return {
      post: (message) => worker.postMessage(message),
      listen(message, ended) {
        worker.onmessage = (event) => message(event.data);
        worker.onerror = (event) => ended(new Error(event.message ?? "its script cannot be loaded"));
      },
      // A page does not end because nothing is left to do.
      hold: () => {},
      end: () => worker.terminate(),
    };
  },
  processors: () => navigator.hardwareConcurrency ?? 1,
  cryptography: webCryptography,
});

async function compile(): Promise<Component> {
  const modules = Object.entries(files).map(async ([name, place]) => {
    const url = place();
    try {
      const response = await fetch(url);
      if (!response.ok) {
        throw new Error(`the server answered ${response.status}`);
      }
      // Not as it streams: that is refused where a server does not say that it is WebAssembly.
      return [name, await WebAssembly.compile(await response.arrayBuffer())] as const;
    } catch (error) {
      throw new LoadError(`cannot load ${url}: ${error instanceof Error ? error.message : error}`, { cause: error });
    }
  });
  return Object.fromEntries(await Promise.all(modules));
}
