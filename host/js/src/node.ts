import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
// biome-ignore lint/style/useNodejsImportProtocol: with `node:`, webpack 5.112 makes code of it that fails.
import { Worker } from "worker_threads";
import { version } from "./component/about.js";
import { files } from "./component/files.js";
import type { Component } from "./component.js";
import type { Backend } from "./engine.js";
import { LoadError } from "./fault.js";
import { addons } from "./native/addons.js";
import type { Addon } from "./native.js";
import { use } from "./platform.js";

export * from "./index.js";

// A bundle in CommonJS has no `import.meta`.
const here: string = import.meta.url ?? pathToFileURL(__filename).href;

let compiled: Promise<Component> | undefined;
let loaded: Addon | LoadError | undefined;

/** What runs the sandbox of gates that are given no component. */
export const backend: Backend = addon() instanceof LoadError ? "webassembly" : "native";

/** The addon of this package for this machine. `SEAMGATE_BACKEND` says that there must be one, or that it is not to be used. */
function addon(): Addon | LoadError {
  loaded ??= loadAddon();
  if (loaded instanceof LoadError && process.env.SEAMGATE_BACKEND === "native") {
    throw loaded;
  }
  return loaded;
}

function loadAddon(): Addon | LoadError {
  const wanted = process.env.SEAMGATE_BACKEND ?? "";
  if (!["", "native", "webassembly"].includes(wanted)) {
    throw new LoadError(`SEAMGATE_BACKEND must be native or webassembly, not ${JSON.stringify(wanted)}`);
  }
  if (wanted === "webassembly") {
    return new LoadError("SEAMGATE_BACKEND=webassembly says not to use it");
  }
  const machine = `${process.platform}-${process.arch}`;
  const name = `native/${machine}.node`;
  try {
    const file = located(addons[machine] ?? (() => new URL(name, here)), name);
    // As `require` does it, of which each bundler makes something else.
    const module = { exports: {} };
    process.dlopen(module, fileURLToPath(file));
    return module.exports as Addon;
  } catch (error) {
    const why = error instanceof Error ? error.message.split("\n")[0] : error;
    return new LoadError(`the package has none for ${machine}, or it cannot be loaded: ${why}`, { cause: error });
  }
}

/**
 * A file of this package: where its bundler put it, beside the bundle, or in the package that is installed.
 *
 * @throws {LoadError} It is nowhere.
 */
function located(place: () => URL, name: string): URL {
  const beside = path.posix.basename(name);
  for (const candidate of [place, () => new URL(beside, here), () => installed(name)]) {
    try {
      const url = candidate();
      if (url !== undefined && existsSync(url)) return url;
    } catch {
      // There is no `import.meta`, or a manifest that is none.
    }
  }
  throw new LoadError(
    `${beside} is neither beside ${fileURLToPath(here)} nor in an installed seamgate ${version}: ` +
      `have the bundler keep 'seamgate' external, or copy node_modules/seamgate/dist/${name} beside the bundle`,
  );
}

/** A file of the package where it is installed, for a bundle that left its files behind; none of another version. */
function installed(name: string): URL | undefined {
  for (let at = new URL(".", here), last = ""; at.href !== last; last = at.href, at = new URL("..", at)) {
    const manifest = new URL("node_modules/seamgate/package.json", at);
    if (existsSync(manifest)) {
      const file = new URL(`dist/${name}`, new URL(".", manifest));
      return JSON.parse(readFileSync(manifest, "utf8")).version === version && existsSync(file) ? file : undefined;
    }
  }
  return undefined;
}

use({
  component() {
    compiled ??= compile();
    return compiled;
  },
  addon,
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
});

/** A worker of this package. */
function begun(start: unknown): Worker {
  // Flags of the program are not for it: some would be refused.
  const options = { workerData: start, execArgv: [] };
  const name = "worker-node.js";
  const beside = new URL(name, here);
  const file = existsSync(beside) ? beside : installed(name);
  try {
    // The last one is written so that bundlers see that it is a module.
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
