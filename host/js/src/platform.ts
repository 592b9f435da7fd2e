import type { Component } from "./component.js";

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
  /** Start a worker that is given this first. */
  worker(start: unknown): Port;
  /** How many workers run at the same time. */
  processors(): number;
}

let current: Platform | undefined;

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
