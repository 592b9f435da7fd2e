import type { Component } from "./component.js";
import type { Subject } from "./contract.js";
import type { ProfileInfo } from "./decision.js";
import type { OutputOptions } from "./options.js";
import type { Contracts, Profiles } from "./registered.js";
import type { Answer, Usage } from "./report.js";
import type { ContractInfo, Progress, Warning } from "./types.js";

/**
 * The engine that runs the sandbox: this package's addon for Node (`native`), which is the Rust library with Wasmtime;
 * or the JavaScript engine (`webassembly`). Both return the same reports.
 */
export type Backend = "native" | "webassembly";

/** A report as JSON text, with the output that was judged. */
export interface Judged {
  readonly json: string;
  /** The length of the document in the report, if there is one and its length is known. */
  readonly outputLength?: number | undefined;
  readonly raw: string;
  readonly usage: Usage;
}

/** An operation of the kernel that needs a profile. */
export type Operation = "surface" | "permit" | "observe" | "advance" | "project";

/** Answers calls, each in a fresh instance or all in one. */
export interface Judge {
  validate(subject: Subject, output: string | Uint8Array, options: OutputOptions): Judged;
  call(request: string): Answer;
  /** Runs an operation of the kernel on documents that are JSON text, with `bytes` bytes in all. Returns JSON text. */
  decide(operation: Operation, agent: string, documents: Readonly<Record<string, string>>, bytes: number): string;
}

/** An output that is still being streamed. */
export interface Coming {
  push(chunk: Uint8Array): Progress;
  /** Returns the report and the resource usage. */
  finish(finish: string | undefined): Omit<Judged, "raw">;
  close(): void;
}

/**
 * The engine of a gate. Each call runs in a fresh instance. Contracts and profiles are texts that can be embedded in a
 * request.
 */
export interface Engine extends Judge {
  readonly backend: Backend;
  readonly component: Component;
  /**
   * The digest of the component, `sha256:` and 64 hexadecimal digits. For the component in this package, it is the
   * digest of the built-in component of the native packages and the command line, even if it runs in another form.
   * Undefined for the caller's own modules.
   */
  readonly digest: string | undefined;
  readonly contracts: Contracts;
  readonly profiles: Profiles;
  register(contract: string): ContractInfo;
  /** Checks a contract without registering it. */
  compiled(contract: string): ContractInfo;
  registerProfile(profile: string): ProfileInfo;
  describe(agent: string): string;
  describeProfile(agent: string): string;
  lint(contract: string): Warning[];
  lintProfile(profile: string): Warning[];
  merge(reports: readonly string[], options: OutputOptions): Omit<Judged, "raw">;
  session(agent: string, options: OutputOptions): Coming;
  instance(): Judge;
  /** Returns another engine like this one, in which nothing is registered. */
  sibling(): Engine;
  /** Returns another engine with the same component, in which only baked contracts and profiles are registered. */
  again(): Promise<Engine>;
}
