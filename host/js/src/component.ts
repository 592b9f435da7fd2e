import { instantiate } from "./component/validator.js";
import { MEMORY } from "./defaults.js";
import { LoadError, SeamgateFault } from "./fault.js";

/**
 * The component as its compiled core modules, each a `WebAssembly.Module`, by the names of their files. It can be
 * shared with workers: a module is compiled once.
 */
// Not every program has types for WebAssembly: those of Node alone have none.
export type Component = Readonly<Record<string, object>>;

/** An instance that has not trapped. */
export class Live {
  readonly #wire: { call(request: string): string };
  readonly #fuel: WebAssembly.Global<"i64">;
  readonly #refused: WebAssembly.Global<"i32">;
  readonly #memory: WebAssembly.Memory;
  /** The contracts and profiles that it was given, by their keys. */
  readonly given = new Set<string>();
  /** Its memory with those in it, before any output, and what it took to give it those. */
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
        // The guest's own module counts what it does; the others only lead to it.
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

  /** Fill up. */
  set fuel(fuel: bigint) {
    this.#fuel.value = fuel;
    this.#refused.value = 0;
  }

  /** What is left. */
  get fuel(): bigint {
    return this.#fuel.value;
  }

  /** Memory only grows: what there is now is the most there was. */
  get memory(): number {
    return this.#memory.buffer.byteLength;
  }

  /** Keep its memory as it is now, for {@link Live.renew}, and that it took so much fuel to get there; once. */
  keep(spent: bigint): void {
    if (this.#before === undefined) {
      this.#before = new Uint8Array(this.#memory.buffer).slice();
      this.#spent = spent;
    }
  }

  /** The fuel it took to give it its contracts and profiles. */
  get spent(): bigint {
    return this.#spent;
  }

  /**
   * Make it what it was when {@link Live.keep} was called, every byte of it; whether that could be done.
   *
   * All that a call changes is the memory: `xtask/component/src/meter.rs` sees to it that there is nothing else that could outlast
   * one. Where the memory has grown it cannot be made smaller, so such an instance is not used again.
   */
  renew(): boolean {
    const memory = new Uint8Array(this.#memory.buffer);
    if (this.#before?.length !== memory.length) {
      return false;
    }
    memory.set(this.#before);
    return true;
  }

  /** Answer one request that is JSON text. Whatever this throws ends the instance: {@link Live.fault} says why. */
  call(request: string): string {
    return this.#wire.call(request);
  }

  /** Why a call ended without an answer. `usedBy` says what the call was doing. */
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
    // The engine has no memory for another one.
    throw error instanceof RangeError ? outOfMemory(error) : error;
  }
}

/** V8 and JavaScriptCore throw a RangeError, SpiderMonkey an InternalError. */
function isStackOverflow(error: unknown): boolean {
  return error instanceof Error && /call stack size exceeded|too much recursion/i.test(error.message);
}

/** Whether something is a compiled module, also of another realm, as servers give it that run code in contexts of its own. */
function isModule(value: unknown): value is WebAssembly.Module {
  return Object.prototype.toString.call(value) === "[object WebAssembly.Module]";
}
