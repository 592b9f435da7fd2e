import { memberText } from "./text.js";
import type { Action, RunRecord, Stored } from "./words.js";

/** A registered profile. */
export interface ProfileInfo {
  /** The agent that it is for. */
  readonly agent: string;
  readonly version: string;
  /** Its digest: `sha256:` and 64 hexadecimal digits. */
  readonly profile: string;
  /** The full names of its tools, in its order. */
  readonly tools: readonly string[];
  /** The lists that its scopes name, in ascending order. */
  readonly lists: readonly string[];
  /** The tools that are disabled because their pinned definition is invalid: what is wrong with it, and where. */
  readonly disabled: readonly { readonly tool: string; readonly message: string }[];
}

/** What the model asked for (`schemas/call.schema.json`). It is a wish: `permit` decides. */
export interface Call {
  /** The caller's own name for this call, another one for each call. The ids of models may repeat. */
  readonly key: string;
  /** Where the tool runs. May be missing where one tool has this name. */
  readonly server?: string;
  readonly tool: string;
  /** An object, of which the text without optional white space is sent; or text, which is sent as it is. */
  readonly arguments: string | Readonly<Record<string, unknown>>;
}

/**
 * What a tool returned (`schemas/result.schema.json`). `status` is `error` where the tool says that it failed. `head` and
 * `tail` stand for a text that is too large to be handed on; `length` is in bytes. `returned` is a whole result of the Model
 * Context Protocol, which says itself whether the tool failed.
 */
export type ToolResult = { readonly status?: "ok" | "error" } & (
  | { readonly result: unknown }
  | { readonly text: string }
  | { readonly returned: Readonly<Record<string, unknown>> }
  | { readonly head: string; readonly tail: string; readonly length: number; readonly digest: string }
);

/** What a decision about one call depends on (`schemas/facts.schema.json`). A {@link Loop} keeps them. */
export interface Facts {
  /** The run's id. */
  readonly run: string;
  /** For whom the agent works. */
  readonly principal: string;
  /** Now, in milliseconds since 1970. */
  readonly at: number;
  /** A secret of the run, random, of at least 16 characters. The marks around data from outside are made from it. */
  readonly nonce?: string;
  /** One of the profile's modes. A profile with modes needs it. */
  readonly mode?: string;
  /** The task, as the profile's schema has it. */
  readonly task?: unknown;
  /** Values by the names that the profile's `context` has. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** Lists that `scope` names. */
  readonly lists?: Readonly<Record<string, readonly string[]>>;
  /** The tools that are there and unchanged, as NAME or SERVER/NAME. Default: all of the profile's. */
  readonly surface?: readonly string[];
  /**
   * How tools are run: by SERVER/ for all tools of a server, and by SERVER/TOOL for one. A person reads it before
   * approving, and an approval is for this program only.
   */
  readonly programs?: Readonly<Record<string, string>>;
  /** The bounds of a child, as the parent's action `delegate` has them. */
  readonly parent?: object;
  /** What is known of the data that the model has read. */
  readonly labels?: readonly string[];
  /** The use of budgets. */
  readonly used?: Used;
  /** What a person was asked. */
  readonly asks?: readonly Asked[];
  /** What persons decided. The host writes them, never the model. */
  readonly approvals?: readonly Decided[];
  /** Approvals that persons gave for further calls of the run. */
  readonly remembered?: readonly Remembered[];
  /** What people said in this run, by which `origins` are proven. The host writes it, never the model. */
  readonly said?: readonly string[];
  /** Values that results had at the paths that `origins` name. */
  readonly observed?: readonly Observed[];
  /** The labels of data in stores that the profile's tools name. Keep them for the next run. */
  readonly stores?: readonly Stored[];
}

/** Values of one result, as the facts have them: by their paths, a string or the text of a number at a JSON Pointer. */
export interface Observed {
  readonly tool: string;
  readonly call: string;
  readonly values: Readonly<
    Record<string, readonly { readonly at: string; readonly text?: string; readonly number?: string }[]>
  >;
}

/** An approval for further calls of a run: those whose action is the same but for the arguments named in `any`. */
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

/** The use of budgets; `calls` says how often each call was permitted, by a digest of the call. */
export interface Used {
  readonly tool_calls?: number;
  readonly tokens?: number;
  readonly ms?: number;
  readonly calls?: Readonly<Record<string, number>>;
}

/** An ask, as the facts have it. */
export interface Asked {
  readonly key: string;
  readonly digest: string;
  readonly at: number;
  readonly expires: number;
}

/** What a person decided, as the facts have it. */
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
  /** Where the tool runs. None for the host's own. */
  readonly server?: string;
  readonly tool: string;
  readonly effect: "read" | "idempotent" | "effectful";
  /** `approval`: a person decides about each call. */
  readonly permit: "allow" | "approval";
  /** What the model may read of the definition: each text is cleaned. */
  readonly definition?: Readonly<Record<string, unknown>>;
}

/** A tool that the model may not see, and by what code of `schemas/surface.schema.json`. */
export interface HiddenTool {
  readonly server?: string;
  readonly tool: string;
  readonly code: "absent" | "changed" | "unknown" | "mode" | "permit" | "deny" | "parent" | "invalid_definition";
  /** What is wrong with its definition, and where. */
  readonly message?: string;
}

/** The tools that the model may see now, and those that it may not. */
export interface Surface {
  readonly tools: readonly SurfaceTool[];
  readonly hidden: readonly HiddenTool[];
  /** The members of the facts that changed: `surface`. A {@link Loop} puts it in its place. */
  readonly facts: Partial<Facts>;
  /** The surface as JSON text, the same bytes as in every other runtime. Not enumerable. */
  readonly json: string;
}

/** @internal A decision, an observation or a surface of its JSON text. */
export function ofText<T>(json: string): T {
  const made = JSON.parse(json);
  if (typeof made.permit === "string") {
    Object.defineProperty(made, "allows", { value: made.permit === "allow" });
  }
  return Object.defineProperty(made, "json", { value: json });
}

/** Who is shown a line of a journal. */
export type Audience = "model" | "ui" | "user" | "audit" | "eval";

/** What one event of a run led to (`schemas/step.schema.json`). */
export interface Step {
  /** How many events the run has had. */
  readonly step?: number;
  /** The new state as JSON text: give it to the next `advance`, unchanged. */
  readonly state?: string;
  /** What was decided. */
  readonly records: readonly RunRecord[];
  /** What the host must do next. */
  readonly actions: readonly Action[];
  /** When something lapses, in milliseconds since 1970: send a `tick` then. */
  readonly wakeAt?: number;
  /**
   * Digests of artifacts without which the step cannot be made. Nothing else is there then: send the same event again, with
   * `artifacts`.
   */
  readonly need?: readonly string[];
  /** The step as JSON text, the same bytes as in every other runtime. */
  readonly json: string;
}

/** @internal A step of its JSON text. Numbers in the state keep their digits: it stays text. */
export function stepOfText(json: string): Step {
  const { state: _, wake_at: wakeAt, ...step } = JSON.parse(json);
  const whole = { records: [], actions: [], ...step, ...(wakeAt !== undefined && { wakeAt }) };
  const state = memberText(json, "state");
  if (state !== undefined) {
    whole.state = state;
  }
  return Object.defineProperty(whole, "json", { value: json });
}
