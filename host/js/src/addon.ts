import { version } from "./component/about.js";
import { LoadError } from "./fault.js";
import { addons } from "./native/addons.js";
import type { Addon } from "./native.js";
import { placesOf } from "./place.js";

let loaded: Addon | LoadError | undefined;
let isTold = false;

/** Returns the addon for this machine. `SEAMGATE_BACKEND` can require the addon or disable it. */
export function addon(): Addon | LoadError {
  loaded ??= load();
  if (loaded instanceof LoadError && process.env.SEAMGATE_BACKEND === "native") {
    throw loaded;
  }
  return loaded;
}

/** Warns once that gates run without the addon and are therefore slower. */
export function warn(why: LoadError): void {
  if (isTold || process.env.SEAMGATE_BACKEND || !addons.some(({ machine }) => machine === MACHINE)) return;
  isTold = true;
  process.emitWarning(
    `seamgate runs on WebAssembly, which is slower: ${why.message}. SEAMGATE_BACKEND=webassembly chooses this without a warning`,
    { code: "SEAMGATE_WEBASSEMBLY" },
  );
}

const MACHINE = `${process.platform}-${process.arch}`;

function load(): Addon | LoadError {
  const wanted = process.env.SEAMGATE_BACKEND ?? "";
  if (!["", "native", "webassembly"].includes(wanted)) {
    throw new LoadError(`SEAMGATE_BACKEND must be native or webassembly, not ${JSON.stringify(wanted)}`);
  }
  if (wanted === "webassembly") {
    return new LoadError("SEAMGATE_BACKEND=webassembly says not to use it");
  }
  const fitting = addons.filter(({ machine }) => machine === MACHINE);
  if (fitting.length === 0) {
    return new LoadError(`there is none for ${MACHINE}`);
  }
  let failure: Error | undefined;
  for (const { name, file, main } of fitting) {
    for (const path of placesOf(name, file, main)) {
      try {
        return opened(path);
      } catch (error) {
        failure ??= error as Error;
      }
    }
  }
  if (failure !== undefined) {
    return new LoadError(`it cannot be loaded: ${failure.message.split("\n")[0]}`, { cause: failure });
  }
  const names = fitting.map(({ name }) => `${name} ${version}`).join(" or ");
  const files = fitting.map(({ file }) => file).join(" or ");
  return new LoadError(
    `${names} is not installed, and ${files} is not beside the bundle. npm installs it unless it is told to omit optional packages`,
  );
}

/** Opens an addon without `require`, which bundlers rewrite in different ways. */
function opened(path: string): Addon {
  const module = { exports: {} };
  process.dlopen(module, path);
  const addon = module.exports as Addon;
  if (addon.version() !== version) {
    throw new Error(`${path} is of seamgate ${addon.version()}, and this is ${version}`);
  }
  return addon;
}
