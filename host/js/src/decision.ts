import { memberText } from "./text.js";
import type { Action, RunRecord, Stored } from "./words.js";

/** A registered profile. */
export interface ProfileInfo {
  /** The agent that it is for. */
  readonly agent: string;
  readonly version: string;
  /** The profile's digest: `sha256:` and 64 hexadecimal digits. */
  readonly profile: string;
  /** The full names of its tools, in the profile's order. */
  readonly tools: readonly string[];
  /** The lists that its scopes name, in ascending order. */
  readonly lists: readonly string[];
  /** The tools that are disabled because their pinned definition is invalid, with what is wrong and where. */
  readonly disabled: readonly { readonly tool: string; readonly message: string }[];
}

/** A call that the model asks for (`schemas/call.schema.json`). The profile decides whether it may run. */
export interface Call {
  /** The caller's own name for this call, unique for each call. Ids that models choose may repeat. */
  readonly key: string;
  /** The server that runs the tool. May be omitted if only one tool has this name. */
  readonly server?: string;
  readonly tool: string;
  /** An object, which is sent as JSON text without optional white space; or text, which is sent unchanged. */
  readonly arguments: string | Readonly<Record<string, unknown>>;
}

/**
 * A tool's result (`schemas/result.schema.json`). `status` is `error` if the tool reports a failure. `head` and `tail`
 * are the beginning and the end of a text that is too large to pass in whole; `length` is its length in bytes.
 * `returned` is a whole result of the Model Context Protocol, which itself says whether the tool failed.
 */
export type ToolResult = { readonly status?: "ok" | "error" } & (
  | { readonly result: unknown }
  | { readonly text: string }
  | { readonly returned: Readonly<Record<string, unknown>> }
  | { readonly head: string; readonly tail: string; readonly length: number; readonly digest: string }
);

/** The facts that a decision about one call depends on (`schemas/facts.schema.json`). A {@link Loop} keeps them. */
export interface Facts {
  /** The run's id. */
  readonly run: string;
  /** The person or system that the agent works for. */
  readonly principal: string;
  /** The current time, in milliseconds since 1970. */
  readonly at: number;
  /** A random secret of the run, of at least 16 characters. The markers around untrusted data are derived from it. */
  readonly nonce?: string;
  /** One of the profile's modes. A profile with modes needs it. */
  readonly mode?: string;
  /** The task, which must match the profile's schema for tasks. */
  readonly task?: unknown;
  /** Values for the names in the profile's `context`. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** The lists that `scope` names. */
  readonly lists?: Readonly<Record<string, readonly string[]>>;
  /** The tools that exist and are unchanged, as NAME or SERVER/NAME. Default: all tools of the profile. */
  readonly surface?: readonly string[];
  /**
   * The programs that run tools: the key SERVER/ covers all tools of a server, and SERVER/TOOL one tool. A person reads
   * the program before approving a call, and the approval is valid for this program only.
   */
  readonly programs?: Readonly<Record<string, string>>;
  /** The bounds of a child run, from the parent's action `delegate`. */
  readonly parent?: object;
  /** The labels of the data that the model has read. */
  readonly labels?: readonly string[];
  /** The usage of each budget. */
  readonly used?: Used;
  /** The questions that people were asked. */
  readonly asks?: readonly Asked[];
  /** The decisions of people. The host writes them, never the model. */
  readonly approvals?: readonly Decided[];
  /** Approvals that people gave for further calls of the run. */
  readonly remembered?: readonly Remembered[];
  /** The words of people in this run, which prove `origins`. The host writes them, never the model. */
  readonly said?: readonly string[];
  /** The values that results had at the paths that `origins` names. */
  readonly observed?: readonly Observed[];
  /** The labels of data in the stores that the profile's tools name. Keep them for the next run. */
  readonly stores?: readonly Stored[];
}

/** Values of one result in the facts, by path: strings, or the texts of numbers, by JSON Pointer. */
export interface Observed {
  readonly tool: string;
  readonly call: string;
  readonly values: Readonly<
    Record<string, readonly { readonly at: string; readonly text?: string; readonly number?: string }[]>
  >;
}

/** An approval for further calls of a run, namely those that differ only in the arguments named in `any`. */
export interface Remembered {
  readonly digest: string;
  readonly any: readonly string[];
  readonly principal: string;
  readonly at: number;
  readonly expires: number;
  /** The number of calls that it still covers. */
  readonly left: number;
  /** Why the call needed approval when it was given. */
  readonly why: readonly string[];
}

/** The usage of each budget. `calls` counts how often each call was permitted, by a digest of the call. */
export interface Used {
  readonly tool_calls?: number;
  readonly tokens?: number;
  readonly ms?: number;
  readonly calls?: Readonly<Record<string, number>>;
}

/** A question to a person, in the facts. */
export interface Asked {
  readonly key: string;
  readonly digest: string;
  readonly at: number;
  readonly expires: number;
}

/** A decision of a person, in the facts. */
export interface Decided {
  readonly key: string;
  readonly digest: string;
  readonly decision: "approved" | "rejected";
  readonly principal: string;
  readonly at: number;
  readonly spent?: boolean;
}

/** A tool that the model may see. */
export interface SurfaceTool {
  /** The server that runs the tool. Undefined for the host's own tools. */
  readonly server?: string;
  readonly tool: string;
  readonly effect: "read" | "idempotent" | "effectful";
  /** `approval` if a person decides about each call. */
  readonly permit: "allow" | "approval";
  /** The part of the definition that the model may read, with each text sanitized. */
  readonly definition?: Readonly<Record<string, unknown>>;
}

/** A tool that the model may not see. Its `code` is one of `schemas/surface.schema.json`. */
export interface HiddenTool {
  readonly server?: string;
  readonly tool: string;
  readonly code: "absent" | "changed" | "unknown" | "mode" | "permit" | "deny" | "parent" | "invalid_definition";
  /** What is wrong with the tool's definition, and where. */
  readonly message?: string;
}

/** The tools that the model may see now, and the hidden ones. */
export interface Surface {
  readonly tools: readonly SurfaceTool[];
  readonly hidden: readonly HiddenTool[];
  /** The members of the facts that changed: `surface`. A {@link Loop} applies the change itself. */
  readonly facts: Partial<Facts>;
  /** The surface as JSON text, the same bytes as in every other runtime. Not enumerable. */
  readonly json: string;
}

/** @internal Reads a decision, an observation or a surface from its JSON text. */
export function ofText<T>(json: string): T {
  const made = JSON.parse(json);
  if (typeof made.permit === "string") {
    Object.defineProperty(made, "allows", { value: made.permit === "allow" });
  }
  return Object.defineProperty(made, "json", { value: json });
}

/** The audience that a line of a journal is shown to. */
export type Audience = "model" | "ui" | "user" | "audit" | "eval";

/** The result of applying one event to a run (`schemas/step.schema.json`). */
export interface Step {
  /** The number of events that the run has had. */
  readonly step?: number;
  /** The new state as JSON text. Pass it to the next `advance`, unchanged. */
  readonly state?: string;
  /** The decisions of this step. */
  readonly records: readonly RunRecord[];
  /** The actions that the host must take next. */
  readonly actions: readonly Action[];
  /** The time of the next timeout, in milliseconds since 1970. Send a `tick` then. */
  readonly wakeAt?: number;
  /**
   * Digests of artifacts that the step needs. If there are any, all other members are empty: send the same event again,
   * with `artifacts`.
   */
  readonly need?: readonly string[];
  /** The step as JSON text, the same bytes as in every other runtime. */
  readonly json: string;
}

/** @internal Reads a step from its JSON text. The state stays text, so its numbers keep their digits. */
export function stepOfText(json: string): Step {
  const { state: _, wake_at: wakeAt, ...step } = JSON.parse(json);
  const whole = { records: [], actions: [], ...step, ...(wakeAt !== undefined && { wakeAt }) };
  const state = memberText(json, "state");
  if (state !== undefined) {
    whole.state = state;
  }
  return Object.defineProperty(whole, "json", { value: json });
}
