import type { Component } from "./component.js";
import type { Subject } from "./contract.js";
import type { ProfileInfo } from "./decision.js";
import type { OutputOptions } from "./options.js";
import type { Contracts, Profiles } from "./registered.js";
import type { Answer, Usage } from "./report.js";
import type { ContractInfo, Progress, Warning } from "./types.js";

/**
 * What runs the sandbox: the addon of this package in Node (`native`), which is the Rust library with Wasmtime; or the engine of
 * JavaScript (`webassembly`). Both give the same reports.
 */
export type Backend = "native" | "webassembly";

/** A report as JSON text, with the output that was judged. */
export interface Judged {
  readonly json: string;
  /** How long the document is in it, where there is one and that is known. */
  readonly outputLength?: number | undefined;
  readonly raw: string;
  readonly usage: Usage;
}

/** What the kernel is asked by a profile. */
export type Operation = "surface" | "permit" | "observe" | "advance" | "project";

/** An instance: a fresh one for each call, or one that is used again. */
export interface Judge {
  validate(subject: Subject, output: string | Uint8Array, options: OutputOptions): Judged;
  call(request: string): Answer;
  /** What the kernel makes of documents that are JSON text, in `bytes` bytes together: JSON text. */
  decide(operation: Operation, agent: string, documents: Readonly<Record<string, string>>, bytes: number): string;
}

/** An output that is still coming. */
export interface Coming {
  push(chunk: Uint8Array): Progress;
  /** The report and what it took. */
  finish(finish: string | undefined): Omit<Judged, "raw">;
  close(): void;
}

/** What a gate has below it: each call in a fresh instance. Contracts and profiles are texts that can stand in a request. */
export interface Engine extends Judge {
  readonly backend: Backend;
  readonly component: Component;
  /**
   * The digest of the component, `sha256:` and 64 hexadecimal digits. For the one in this package, that of the built-in component of the
   * native packages and the command line, also where it runs in another form. Undefined for modules of the caller.
   */
  readonly digest: string | undefined;
  readonly contracts: Contracts;
  readonly profiles: Profiles;
  register(contract: string): ContractInfo;
  /** Check a contract that is not kept. */
  compiled(contract: string): ContractInfo;
  registerProfile(profile: string): ProfileInfo;
  describe(agent: string): string;
  describeProfile(agent: string): string;
  lint(contract: string): Warning[];
  lintProfile(profile: string): Warning[];
  merge(reports: readonly string[], options: OutputOptions): Omit<Judged, "raw">;
  session(agent: string, options: OutputOptions): Coming;
  instance(): Judge;
  /** Another one like it, in which nothing is registered. */
  sibling(): Engine;
  /** Another one with the same component, in which only what is baked is registered. */
  again(): Promise<Engine>;
}
