import type { Component } from "./component.js";
import type { Cryptography } from "./crypto.js";
import type { Engine } from "./engine.js";
import { LoadError } from "./fault.js";
import type { Limits } from "./limits.js";
import { type Addon, isNative, NativeEngine, ofComponentBytes } from "./native.js";
import { WebAssemblyEngine } from "./webassembly.js";

/** A worker of this platform, with the methods that are used here. */
export interface Port {
  post(message: unknown): void;
  /** Listens to messages, and to the end of the worker. */
  listen(message: (data: unknown) => void, ended: (why: Error) => void): void;
  /** Sets whether the worker keeps the program running. */
  hold(held: boolean): void;
  end(): void;
}

/** The functions that differ between platforms. */
export interface Platform {
  /** Returns the compiled component of this package. */
  component(): Promise<Component>;
  /** Returns the native addon for this machine, or the reason why there is none. */
  addon(): Addon | LoadError;
  /** Warns the user that a gate runs without the addon. */
  warn(why: LoadError): void;
  /** Starts a worker with this data. */
  worker(start: unknown): Port;
  /** Returns the number of workers that can run in parallel. */
  processors(): number;
  /** The digests and signatures that receipts need. */
  readonly cryptography: Cryptography;
}

let current: Platform | undefined;

/** The components of this package, which gates share. */
const owned = new WeakSet<Component>();

/** Sets the platform. Called once, by its entry point. */
export function use(platform: Platform): void {
  current = platform;
}

export function platform(): Platform {
  if (current === undefined) {
    throw new Error("import 'seamgate', not one of its files: that says which platform this is");
  }
  return current;
}

/** Returns the native addon. @throws {LoadError} There is none. */
export function addon(what: string): Addon {
  const addon = platform().addon();
  if (addon instanceof LoadError) {
    throw new LoadError(`${what} needs the native addon of seamgate: ${addon.message}`, { cause: addon });
  }
  return addon;
}

/** Returns the native addon for a gate with the built-in component. If there is none, the platform warns. */
export function builtIn(): Addon | undefined {
  const addon = platform().addon();
  if (!(addon instanceof LoadError)) return addon;
  platform().warn(addon);
  return undefined;
}

/** Creates the engine of a gate. */
export async function engine(
  options: { readonly component?: Component | Uint8Array; readonly deadlineMs?: number },
  limits: Required<Limits>,
): Promise<Engine> {
  const { component, deadlineMs: deadline } = options;
  checkDeadline(deadline);
  if (component instanceof Uint8Array) {
    if (component.length === 0) {
      throw new LoadError("not a WebAssembly component: it has no bytes");
    }
    return NativeEngine.of(addon("a baked component"), ofComponentBytes(component), limits, deadline);
  }
  if (component !== undefined && isNative(component)) {
    return NativeEngine.of(addon("a baked component"), component, limits, deadline);
  }
  if (component === undefined) {
    const found = builtIn();
    if (found !== undefined) return NativeEngine.builtIn(found, limits, deadline);
  }
  if (deadline !== undefined) {
    addon("`deadlineMs`, which without it only a WorkerGate has,");
  }
  if (component !== undefined) return new WebAssemblyEngine(component, limits, owned.has(component));
  const own = await platform().component();
  owned.add(own);
  return new WebAssemblyEngine(own, limits, true);
}

/** @throws {TypeError} It is not a valid time for a timer. */
export function checkDeadline(deadline: number | undefined, argument = "deadlineMs"): void {
  if (deadline !== undefined && !(typeof deadline === "number" && deadline > 0 && deadline < 2 ** 31)) {
    throw new TypeError(
      `\`${argument}\` must be milliseconds, more than 0 and less than 2^31, not ${String(deadline)}`,
    );
  }
}
