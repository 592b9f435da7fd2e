import type { Component } from "./component.js";
import type { Cryptography } from "./crypto.js";
import type { Engine } from "./engine.js";
import { LoadError } from "./fault.js";
import type { Limits } from "./limits.js";
import { type Addon, isNative, NativeEngine, ofComponentBytes } from "./native.js";
import { WebAssemblyEngine } from "./webassembly.js";

/** A worker of this platform, as far as it is used here. */
export interface Port {
  post(message: unknown): void;
  /** Tell what comes, and once why nothing more will. */
  listen(message: (data: unknown) => void, ended: (why: Error) => void): void;
  /** Whether a program that has nothing else to do waits for it. */
  hold(held: boolean): void;
  end(): void;
}

/** What differs between Node and browsers. */
export interface Platform {
  /** The component of this package, compiled. */
  component(): Promise<Component>;
  /** The native addon, where there is one for this machine; or why there is none. */
  addon(): Addon | LoadError;
  /** Says, where a user sees it, that a gate runs without the addon. */
  warn(why: LoadError): void;
  /** Start a worker that is given this first. */
  worker(start: unknown): Port;
  /** How many workers run at the same time. */
  processors(): number;
  /** Digests and signatures, for receipts. */
  readonly cryptography: Cryptography;
}

let current: Platform | undefined;

/** The components of this package, as gates share them. */
const owned = new WeakSet<Component>();

/** Said once, by the entry point of the platform. */
export function use(platform: Platform): void {
  current = platform;
}

export function platform(): Platform {
  if (current === undefined) {
    throw new Error("import 'seamgate', not one of its files: that says which platform this is");
  }
  return current;
}

/** The native addon. @throws {LoadError} There is none here. */
export function addon(what: string): Addon {
  const addon = platform().addon();
  if (addon instanceof LoadError) {
    throw new LoadError(`${what} needs the native addon of seamgate: ${addon.message}`, { cause: addon });
  }
  return addon;
}

/** The native addon, for a gate with the built-in component. If there is none, the platform says so. */
export function builtIn(): Addon | undefined {
  const addon = platform().addon();
  if (!(addon instanceof LoadError)) return addon;
  platform().warn(addon);
  return undefined;
}

/** What a gate has below it. */
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

/** @throws {TypeError} It is no time that a timer holds. */
export function checkDeadline(deadline: number | undefined, argument = "deadlineMs"): void {
  if (deadline !== undefined && !(typeof deadline === "number" && deadline > 0 && deadline < 2 ** 31)) {
    throw new TypeError(
      `\`${argument}\` must be milliseconds, more than 0 and less than 2^31, not ${String(deadline)}`,
    );
  }
}
