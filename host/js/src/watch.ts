import { SeamgateFault } from "./fault.js";
import type { Usage } from "./report.js";

/** The members of a verdict that observers read. */
interface Seen {
  readonly report: {
    readonly agent: string;
    readonly disposition: string;
    readonly violations: readonly { readonly keyword: string }[];
  };
  readonly usage: Usage;
}

/** The members of a result that observers read. */
interface Ended {
  readonly disposition: string;
  readonly stop: string;
  readonly attempts: readonly unknown[];
}

/** Observes one question. */
export interface Asking {
  /** Calls a function as part of the question. */
  during<T>(call: () => T): T;
  /** Reports the end of the question: with a result, with an error, or with neither if it was abandoned. */
  end(outcome: { readonly result?: Ended; readonly error?: unknown }): void;
}

/** Observes all gates of this process. */
export interface Observer {
  verdict(verdict: Seen): void;
  fault(fault: SeamgateFault): void;
  asking(agent: string): Asking;
}

/** The process-wide name of the set. Its number changes with {@link Observer}. */
const SHARED = Symbol.for("seamgate.observers.1");

const shared = globalThis as { [SHARED]?: Set<Observer> };

/**
 * The current observers. All copies of this module in a process share them, because a bundler can put a copy into each
 * bundle, as Next.js does for `instrumentation.ts` and for routes.
 */
export const observers: Set<Observer> = shared[SHARED] ?? new Set();
shared[SHARED] = observers;

/** Reports a verdict to the observers. */
export function seen(verdict: Seen): void {
  for (const observer of observers) observer.verdict(verdict);
}

/** Reports an error to the observers if it is a fault, and returns the error. */
export function failed(error: unknown): unknown {
  if (error instanceof SeamgateFault) {
    for (const observer of observers) observer.fault(error);
  }
  return error;
}

/** Begins to observe a question. */
export function asking(agent: string): Asking {
  const all = [...observers].map((observer) => observer.asking(agent));
  return {
    during: (call) => all.reduceRight((call, asking) => () => asking.during(call), call)(),
    end(outcome) {
      for (const asking of all.splice(0)) asking.end(outcome);
    },
  };
}
