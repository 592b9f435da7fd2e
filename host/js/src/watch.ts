import { SeamgateFault } from "./fault.js";
import type { Usage } from "./report.js";

/** A verdict, as far as observers look at it. */
interface Seen {
  readonly report: {
    readonly agent: string;
    readonly disposition: string;
    readonly violations: readonly { readonly keyword: string }[];
  };
  readonly usage: Usage;
}

/** How a question ended. */
interface Ended {
  readonly disposition: string;
  readonly stop: string;
  readonly attempts: readonly unknown[];
}

/** Observes one question. */
export interface Asking {
  /** Calls something that belongs to the question. */
  during<T>(call: () => T): T;
  /** Says how the question ended: with a result, with an error, or with neither if nobody waits for it. */
  end(outcome: { readonly result?: Ended; readonly error?: unknown }): void;
}

/** Observes all gates of this process. */
export interface Observer {
  verdict(verdict: Seen): void;
  fault(fault: SeamgateFault): void;
  asking(agent: string): Asking;
}

/** The name of the set in a process. Its number changes with {@link Observer}. */
const SHARED = Symbol.for("seamgate.observers.1");

const shared = globalThis as { [SHARED]?: Set<Observer> };

/**
 * Those that observe now. All copies of this module in a process share them: a bundler can give each of its bundles a copy, as Next.js
 * does for `instrumentation.ts` and for routes.
 */
export const observers: Set<Observer> = shared[SHARED] ?? new Set();
shared[SHARED] = observers;

/** Reports a verdict to the observers. */
export function seen(verdict: Seen): void {
  for (const observer of observers) observer.verdict(verdict);
}

/** Reports what stands in the place of a verdict, if it is a fault, and returns it. */
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
