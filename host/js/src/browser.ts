import { files } from "./component/files.js";
import type { Component } from "./component.js";
import type { Backend } from "./engine.js";
import { LoadError } from "./fault.js";
import { use } from "./platform.js";
import { webCryptography } from "./web-crypto.js";

export * from "./index.js";

/** The engine that runs the sandbox of gates. */
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
    // In the form that bundlers recognize as a file.
    const worker = new Worker(new URL("./worker-browser.js", import.meta.url), { type: "module" });
    worker.postMessage(start);
    return {
      post: (message) => worker.postMessage(message),
      listen(message, ended) {
        worker.onmessage = (event) => message(event.data);
        worker.onerror = (event) => ended(new Error(event.message ?? "its script cannot be loaded"));
      },
      // Not needed: a page stays open even if there is nothing left to do.
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
      // Without streaming, which fails if the server does not send the media type of WebAssembly.
      return [name, await WebAssembly.compile(await response.arrayBuffer())] as const;
    } catch (error) {
      throw new LoadError(`cannot load ${url}: ${error instanceof Error ? error.message : error}`, { cause: error });
    }
  });
  return Object.fromEntries(await Promise.all(modules));
}
