import type { ClockOptions } from "./clock.js";
import type { Gate, Seen } from "./gate.js";
import type { Judged, LocatedViolation, Usage } from "./report.js";
import type { SchemaOptions } from "./schemas.js";

/** One message of a conversation, in the form that clients of models take. */
export interface Message {
  readonly role: "user" | "assistant";
  readonly content: string;
}

/** The question: a text, or a conversation whose last message is from the user. */
export type Prompt<M = never> = string | readonly M[];

/**
 * The reason why a model is not asked again: `accepted`; `refused`: the model declined; `not_retryable`: another
 * attempt cannot help; `repeated`: two answers in a row had the same violations; `limit`: the contract allows no more
 * attempts, or another one could exceed the limit on the size of outputs.
 */
export type Stop = "accepted" | "refused" | "not_retryable" | "repeated" | "limit";

/** Options of a question. */
export interface AskOptions extends SchemaOptions, ClockOptions {
  /** The gate in which agents are registered, and whose limits apply. Default: a gate that all calls share. */
  readonly gate?: Gate;
  /** The lists that the contract's `allow` names. */
  readonly lists?: Readonly<Record<string, readonly string[]>>;
  /** The results that the model saw, if the contract has `evidence`. */
  readonly evidence?: readonly Seen[];
  /** Called with each attempt after it is judged, for logs and metrics. An error that it throws ends the call. */
  readonly onAttempt?: ((attempt: Attempt) => void) | undefined;
}

/** Options of a question whose answers are streamed. */
export interface AskStreamOptions extends AskOptions {
  /**
   * If true, the request of an answer that can no longer become valid (`deadEnd`) is aborted, and the model is asked
   * again at once. Default: false.
   */
  readonly stopEarly?: boolean | undefined;
}

/** One answer of the model and its verdict. */
export interface Attempt {
  /** The value that `callLlm` returned, with whatever else the client reports, such as the token usage. */
  readonly reply: unknown;
  /** The gate's report on this answer alone, without the schema's own checks. */
  readonly report: Judged;
  /** The violations in this answer that the gate and the schema's own checks found. */
  readonly violations: readonly LocatedViolation[];
  /** The feedback for the model. Empty if the model is not asked again. */
  readonly feedback: string;
  /** The resources that the verdict used. */
  readonly usage: Usage;
}

interface Result<M> {
  /** The violations that the gate and the schema's own checks found. */
  readonly violations: readonly LocatedViolation[];
  /** The feedback for the model. Empty if the answer is accepted. */
  readonly feedback: string;
  /** The reason why the model was not asked again. */
  readonly stop: Stop;
  /** All attempts, in order. */
  readonly attempts: readonly Attempt[];
  /** The resources that all verdicts used together. */
  readonly usage: Usage;
  /** The conversation including the last answer, to be continued. */
  readonly messages: readonly (M | Message)[];
}

/**
 * The result of a question. `success` and `disposition` say which of the four kinds it is. A partial answer is not a
 * success: it has `data`, and `report` says what is in quarantine and what changed. A refusal by the model is not an
 * error.
 */
export type AskResult<T, M = never> = Result<M> & {
  /** The report on all attempts together, including the schema's own checks. */
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

/** The second argument of a function that calls a model. */
export interface CallContext {
  /** Aborted when `signal` of the options is aborted or `timeoutMs` has passed. Pass it to the client. */
  readonly signal: AbortSignal;
  /** Which attempt this is, from 1. */
  readonly attempt: number;
}
