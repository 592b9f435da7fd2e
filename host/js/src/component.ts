import { instantiate } from "./component/validator.js";
import { MEMORY } from "./defaults.js";
import { LoadError, SeamgateFault } from "./fault.js";

/**
 * The component as its compiled core modules, each a `WebAssembly.Module`, by file name. It can be shared with workers,
 * so that each module is compiled only once.
 */
// Typed as `object`, because some programs have no types for WebAssembly, such as those with only the types of Node.
export type Component = Readonly<Record<string, object>>;

/** An instance that has not trapped. */
export class Live {
  readonly #wire: { call(request: string): string };
  readonly #fuel: WebAssembly.Global<"i64">;
  readonly #refused: WebAssembly.Global<"i32">;
  readonly #memory: WebAssembly.Memory;
  /** The keys of the contracts and profiles that are registered in it. */
  readonly given = new Set<string>();
  /** A snapshot of its memory with those registered, before any output, and the fuel that registering them used. */
  #before: Uint8Array | undefined;
  #spent = 0n;

  constructor(component: Component) {
    let metered: WebAssembly.Exports | undefined;
    const { wire } = instantiate(
      (name) => {
        const module = component[name];
        if (!isModule(module)) {
          throw new LoadError(`the component lacks its core module '${name}', compiled`);
        }
        return module;
      },
      {},
      (module, imports) => {
        const instance = started(module, imports);
        // Only the guest's own module counts fuel. The others only forward calls to it.
        if ("fuel" in instance.exports) {
          metered = instance.exports;
        }
        return instance;
      },
    );
    if (!(metered?.memory_refused instanceof WebAssembly.Global)) {
      throw new LoadError(
        "the component does not count its fuel, so nothing would bound what a call may take: " +
          "its core module must export the globals 'fuel' and 'memory_refused', as the one in this package does",
      );
    }
    this.#wire = wire;
    this.#fuel = metered.fuel as WebAssembly.Global<"i64">;
    this.#refused = metered.memory_refused as WebAssembly.Global<"i32">;
    this.#memory = metered.memory as WebAssembly.Memory;
  }

  /** Sets the fuel. */
  set fuel(fuel: bigint) {
    this.#fuel.value = fuel;
    this.#refused.value = 0;
  }

  /** The remaining fuel. */
  get fuel(): bigint {
    return this.#fuel.value;
  }

  /** The peak memory, which equals the current memory because memory never shrinks. */
  get memory(): number {
    return this.#memory.buffer.byteLength;
  }

  /** Takes a snapshot of the memory for {@link Live.renew}, with the fuel that was used to get there. Called once. */
  keep(spent: bigint): void {
    if (this.#before === undefined) {
      this.#before = new Uint8Array(this.#memory.buffer).slice();
      this.#spent = spent;
    }
  }

  /** The fuel that registering its contracts and profiles used. */
  get spent(): bigint {
    return this.#spent;
  }

  /**
   * Restores every byte to the snapshot of {@link Live.keep}. Returns whether that was possible.
   *
   * A call changes nothing but the memory: `xtask/component/src/meter.rs` ensures that no other state outlives a call.
   * If the memory has grown, it cannot shrink, so the instance is not used again.
   */
  renew(): boolean {
    const memory = new Uint8Array(this.#memory.buffer);
    if (this.#before?.length !== memory.length) {
      return false;
    }
    memory.set(this.#before);
    return true;
  }

  /** Answers one request that is JSON text. Any error ends the instance; {@link Live.fault} converts it. */
  call(request: string): string {
    return this.#wire.call(request);
  }

  /** Returns the fault for a call that ended without an answer. `usedBy` says what the call was doing. */
  fault(error: unknown, limit: bigint, usedBy: "compiling" | "the verdict"): SeamgateFault {
    const message = error instanceof Error ? error.message : String(error);
    if (isStackOverflow(error)) {
      return new SeamgateFault(
        "stack_overflow",
        "the verdict took more stack than this JavaScript engine gives",
        {},
        {
          cause: error,
        },
      );
    }
    if (this.#fuel.value <= 0n) {
      const detail = { limit: Number(limit) };
      return new SeamgateFault("out_of_fuel", `${usedBy} took more than ${limit} units of fuel`, detail, {
        cause: error,
      });
    }
    if (this.#refused.value !== 0) {
      return outOfMemory(error);
    }
    return new SeamgateFault("trap", `the component failed: ${message}`, {}, { cause: error });
  }
}

function outOfMemory(cause: unknown): SeamgateFault {
  const message = `the verdict took more than ${MEMORY} bytes of memory`;
  return new SeamgateFault("out_of_memory", message, { limit: MEMORY }, { cause });
}

function started(module: WebAssembly.Module, imports?: WebAssembly.Imports): WebAssembly.Instance {
  try {
    return new WebAssembly.Instance(module, imports);
  } catch (error) {
    // The engine has no memory for another instance.
    throw error instanceof RangeError ? outOfMemory(error) : error;
  }
}

/** V8 and JavaScriptCore throw a RangeError, SpiderMonkey an InternalError. */
function isStackOverflow(error: unknown): boolean {
  return error instanceof Error && /call stack size exceeded|too much recursion/i.test(error.message);
}

/**
 * Returns whether a value is a compiled module, even of another realm, as on servers that run code in separate
 * contexts.
 */
function isModule(value: unknown): value is WebAssembly.Module {
  return Object.prototype.toString.call(value) === "[object WebAssembly.Module]";
}
