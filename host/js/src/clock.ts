import { SeamgateFault } from "./fault.js";
import { kindOf } from "./plain.js";
import { checkDeadline } from "./platform.js";

/** Options that can end a call early. */
export interface ClockOptions {
  /** Ends the call, which then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Ends the call after this many milliseconds with the fault `timeout`. Default: no limit. */
  readonly timeoutMs?: number | undefined;
}

/** The time limit of a whole call, and an abort signal for the functions that it calls. */
export class Clock {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #abort = () => this.#controller.abort(this.#outer?.reason);

  constructor(what: string, { signal, timeoutMs }: ClockOptions) {
    if (signal !== undefined && !(signal instanceof AbortSignal)) {
      throw new TypeError(`\`signal\` must be an AbortSignal, not ${kindOf(signal)}`);
    }
    checkDeadline(timeoutMs, "timeoutMs");
    this.#outer = signal;
    if (signal?.aborted) {
      this.#abort();
    }
    signal?.addEventListener("abort", this.#abort);
    if (timeoutMs !== undefined) {
      const fault = new SeamgateFault("timeout", `${what} took longer than ${timeoutMs} ms`, { limit: timeoutMs });
      this.#timer = setTimeout(() => this.#controller.abort(fault), timeoutMs);
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Waits for a result until the time limit expires. A later result is ignored. */
  during<T>(work: () => T | PromiseLike<T>): Promise<T> {
    const { signal } = this;
    return new Promise<T>((resolve, reject) => {
      const over = () => reject(signal.reason);
      if (signal.aborted) {
        over();
        return;
      }
      signal.addEventListener("abort", over);
      const done = () => signal.removeEventListener("abort", over);
      // Converts an error that `work` throws synchronously to a rejection.
      (async () => work())().then(resolve, reject).finally(done);
    });
  }

  /** Aborts the signal, because the result is no longer needed. */
  abort(): void {
    this.#controller.abort();
  }

  /** Clears the timer, and detaches from the outer signal. */
  end(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener("abort", this.#abort);
  }
}
