import type { ClockOptions } from "./clock.js";
import type { Gate, Seen } from "./gate.js";
import type { Judged, LocatedViolation, Usage } from "./report.js";
import type { SchemaOptions } from "./schemas.js";

/** One message of a conversation, as the clients of models take it. */
export interface Message {
  readonly role: "user" | "assistant";
  readonly content: string;
}

/** What is asked for: a text; or a conversation, which ends with the user. */
export type Prompt<M = never> = string | readonly M[];

/**
 * Why a model is asked no more: `accepted`; `refused`, it declined; `not_retryable`, another attempt cannot help;
 * `repeated`, the same was wrong twice in a row; `limit`, there were as many attempts as the contract allows, or so long
 * ones that the next would pass the limit on outputs.
 */
export type Stop = "accepted" | "refused" | "not_retryable" | "repeated" | "limit";

/** What comes with a question. */
export interface AskOptions extends SchemaOptions, ClockOptions {
  /** Where agents are registered, and whose limits apply. Default: one that all calls share. */
  readonly gate?: Gate;
  /** Lists that the contract's `allow` names. */
  readonly lists?: Readonly<Record<string, readonly string[]>>;
  /** What the model saw, where the contract has `evidence`. */
  readonly evidence?: readonly Seen[];
  /** Told of each attempt once it is judged, for logs and metrics. What it throws ends the call. */
  readonly onAttempt?: ((attempt: Attempt) => void) | undefined;
}

/** What comes with a question whose answers are streamed. */
export interface AskStreamOptions extends AskOptions {
  /**
   * Stop reading an answer that can no longer become right, whatever comes (`deadEnd`), and abort its request: the model is asked again
   * at once. Default: false.
   */
  readonly stopEarly?: boolean | undefined;
}

/** One answer of the model, and what was made of it. */
export interface Attempt {
  /** What `callLlm` returned, with what else its client says: for one, how many tokens were used. */
  readonly reply: unknown;
  /** The gate's report on this answer alone, without the schema's own checks. */
  readonly report: Judged;
  /** What is wrong with this answer, as the gate says, and what the schema's own checks found with it. */
  readonly violations: readonly LocatedViolation[];
  /** What the model was told; empty where it is asked no more. */
  readonly feedback: string;
  /** What it took to judge it. */
  readonly usage: Usage;
}

interface Result<M> {
  /** What is wrong: as the gate says, and as the schema's own checks do. */
  readonly violations: readonly LocatedViolation[];
  /** What to tell the model. Empty where it is accepted. */
  readonly feedback: string;
  /** Why it was asked no more. */
  readonly stop: Stop;
  /** Every attempt, in order. */
  readonly attempts: readonly Attempt[];
  /** What it took to judge them, in all. */
  readonly usage: Usage;
  /** The conversation, with the last answer, to go on with. */
  readonly messages: readonly (M | Message)[];
}

/**
 * What became of a question; `success` and `disposition` say which of four it is. A partial answer is no success: `data` is
 * there, and `report` says what is in quarantine and what changed. That the model declined is no failure.
 */
export type AskResult<T, M = never> = Result<M> & {
  /** The report on all attempts together, with the verdict of the schema's own checks. */
  readonly report: Judged<T>;
} & (
    | { readonly success: true; readonly disposition: "accepted"; readonly data: T }
    | { readonly success: false; readonly disposition: "partial"; readonly data: T }
    | { readonly success: false; readonly disposition: "rejected"; readonly data: null }
    | {
        readonly success: false;
        readonly disposition: "refused";
        readonly data: null;
        /** The model's words. */
        readonly refusal: string;
      }
  );

/** What a function that calls a model gets beside the conversation. */
export interface CallContext {
  /** Aborted when `signal` of the options is, or `timeoutMs` is over: hand it on to the client. */
  readonly signal: AbortSignal;
  /** Which attempt this is, from 1. */
  readonly attempt: number;
}
