import { SeamgateFault } from "./fault.js";
import { kindOf } from "./plain.js";
import { checkDeadline } from "./platform.js";

/** What may end a call before it is done. */
export interface ClockOptions {
  /** Ends the call: it then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Ends the call after so many milliseconds, in the fault `timeout`. Default: it may take any time. */
  readonly timeoutMs?: number | undefined;
}

/** The time that a call with everything in it has, and a signal for what it calls. */
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

  /** Wait for something, until the time is over. What it does after that is nobody's. */
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
      // What `work` throws at once rejects, too.
      (async () => work())().then(resolve, reject).finally(done);
    });
  }

  /** Abort its signal: what was begun is no longer needed. */
  abort(): void {
    this.#controller.abort();
  }

  /** Let go of the timer and of the outer signal. */
  end(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener("abort", this.#abort);
  }
}
