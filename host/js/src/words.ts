// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

import type { Confidence, Finish, Span, Violation } from "./types.js";

/**
 * A fact from outside that `advance` applies. The host sets its time. An event that does not fit the run is recorded,
 * and changes nothing.
 */
export type RunEvent =
  | StartedEvent
  | ToolsListedEvent
  | ModelOutputEvent
  | ModelFailedEvent
  | CallEvent
  | ToolStartedEvent
  | ToolResultEvent
  | ToolFailedEvent
  | JobEvent
  | ApprovalEvent
  | InputEvent
  | UserMessageEvent
  | SaidEvent
  | StoresEvent
  | ContextEvent
  | ResolutionEvent
  | ModeEvent
  | ProfileEvent
  | ChildResultEvent
  | CallCancelledEvent
  | CancelledEvent
  | MessageEvent
  | TickEvent
  | ResumedEvent;

/** A run starts. This is the first event, and the only one of its kind. */
export interface StartedEvent {
  readonly type: "started";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** The run's id. */
  readonly run: string;
  /** The person or system that the agent works for. */
  readonly principal: string;
  /** A random secret of the run, from which the marks around data from outside are derived. */
  readonly nonce: string;
  readonly session?: string;
  readonly turn?: string;
  /** One of the profile's modes. Default: the first mode. */
  readonly mode?: string;
  /** The task. Free text if the profile has `frame`. */
  readonly task?: unknown;
  /** Values, by the names in the profile's `context`. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** The lists that `scope` names. */
  readonly lists?: Readonly<Record<string, readonly string[]>>;
  /**
   * The tools that servers list now, as in `tools_listed`. Without this member, all tools of the profile are available.
   */
  readonly listed?: Readonly<Record<string, unknown>>;
  /** The labels of data that the client has read in earlier runs. */
  readonly labels?: readonly string[];
  /** The limits that a parent sets, as in its action `delegate`. */
  readonly parent?: Bounds;
}

/** The tools that servers list now. */
export interface ToolsListedEvent {
  readonly type: "tools_listed";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** The list, in the format of lock files: see lock.schema.json. */
  readonly listed: Readonly<Record<string, unknown>>;
}

/** The output of the model. */
export interface ModelOutputEvent {
  readonly type: "model_output";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** The key of the action `ask_model` that this event answers. */
  readonly key: string;
  readonly text?: string;
  /** The calls that the model requests, in its order. */
  readonly calls?: readonly ModelCall[];
  /** The provider's message. Later prompts contain it unchanged. */
  readonly message?: Readonly<Record<string, unknown>>;
  /** The reason for which the model stopped. */
  readonly finish?: Finish;
  /** The number of tokens. If it is missing, it is estimated from bytes. */
  readonly usage?: TokenUsage;
  /** The artifacts that the step requested under `need`: texts by their digests. */
  readonly artifacts?: Readonly<Record<string, string>>;
}

/** The model returned no output. */
export interface ModelFailedEvent {
  readonly type: "model_failed";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** The key of a call, as in its action. */
  readonly key: string;
  readonly message: string;
  /** Whether another attempt may help. Default: false, a permanent failure. */
  readonly retry?: boolean;
}

/** One call from outside a loop, for profiles without a loop. */
export interface CallEvent {
  readonly type: "call";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  readonly id?: string;
  readonly server?: string;
  readonly tool: string;
  readonly arguments: unknown;
  /**
   * The digests of calls that an equal call may join, as in `same` of their decisions. A call that joins another is not
   * decided.
   */
  readonly joinable?: readonly string[];
}

/** The host is about to send a call. It writes this event to the journal first. */
export interface ToolStartedEvent {
  readonly type: "tool_started";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** The key of a call, as in its action. */
  readonly call: string;
}

/** The result of a tool: see result.schema.json. */
export interface ToolResultEvent {
  readonly type: "tool_result";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** The key of a call, as in its action. */
  readonly call: string;
  readonly duration_ms?: number;
  /** `error`: the tool reports a failure. The result is then sanitized, and not validated against the schema. */
  readonly status?: ResultStatus;
  /** Any JSON. */
  readonly result?: unknown;
  /**
   * A whole result of the Model Context Protocol, which itself says whether the tool failed. Its `structuredContent` is
   * validated against the schema. Without that, its only text is validated.
   */
  readonly returned?: Readonly<Record<string, unknown>>;
  /** Text. If the profile has a schema or items for the result, it is parsed as JSON. */
  readonly text?: string;
  /** The beginning of a text that is too large. */
  readonly head?: string;
  /** The end of the text. */
  readonly tail?: string;
  /** The length of the whole text in bytes. */
  readonly length?: number;
  /** The digest of the whole result, under which the host keeps it. Beside `returned`, the host states it. */
  readonly digest?: string;
}

/** A call ended without a result. */
export interface ToolFailedEvent {
  readonly type: "tool_failed";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** The key of a call, as in its action. */
  readonly call: string;
  readonly message: string;
  /** Whether the call may have had an effect. Default: unknown, if it was started. */
  readonly effect?: PossibleEffect;
}

/** A call continues elsewhere. Its result comes later. */
export interface JobEvent {
  readonly type: "job";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** The key of a call, as in its action. */
  readonly call: string;
  /** The maximum time until then, in seconds from now. */
  readonly ttl_s?: number;
}

/**
 * A person's decision about one ask. `edited` replaces the call's arguments with `arguments`. The call is then judged
 * again, and needs a new ask if it requires approval.
 */
export interface ApprovalEvent {
  readonly type: "approval";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** The key of a call, as in its action. */
  readonly key: string;
  readonly digest: string;
  readonly decision: ApprovalAnswer;
  readonly principal: string;
  /** The new arguments as they would be sent: the text of a JSON object. Only with `edited`, and only in a loop. */
  readonly arguments?: string;
  /**
   * The approval also covers further calls of this run: those of the same tool with the same arguments except some, as
   * long as they need approval for no other reason. Not allowed with a token.
   */
  readonly remember?: ApprovalRemember;
  /** The reason, in the person's words. The model reads it if the call is rejected or edited. */
  readonly reason?: string;
  /** The facts that the host verified before it appended this event. */
  readonly token?: string;
}

/** A person's answer to a question. */
export interface InputEvent {
  readonly type: "input";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** The key of the action `ask_input`. */
  readonly key: string;
  readonly text: string;
  readonly principal?: string;
}

/** A message that a person sent unasked. */
export interface UserMessageEvent {
  readonly type: "user_message";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  readonly text: string;
  readonly principal?: string;
  readonly turn?: string;
}

/** A text that a person said elsewhere, which can prove `origins`. The model does not receive it. */
export interface SaidEvent {
  readonly type: "said";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  readonly text: string;
  readonly principal?: string;
}

/** Labels that other runs gave to data in stores, in addition to those that the run knows. */
export interface StoresEvent {
  readonly type: "stores";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  readonly stores: readonly Stored[];
}

/** A declared context value changed. */
export interface ContextEvent {
  readonly type: "context";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  readonly name: string;
  readonly value: unknown;
}

/** A person states the outcome of an uncertain call. */
export interface ResolutionEvent {
  readonly type: "resolution";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** The key of a call, as in its action. */
  readonly call: string;
  readonly outcome: ResolutionOutcome;
  readonly principal: string;
  readonly text?: string;
}

/** A person changes the mode. */
export interface ModeEvent {
  readonly type: "mode";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  readonly mode: string;
  readonly principal: string;
}

/**
 * The profile was edited. Until the run ends, a call must satisfy both the edited profile and the one with which the
 * run started. A later event of this kind replaces the edited profile.
 */
export interface ProfileEvent {
  readonly type: "profile";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** The edited profile: see profile.schema.json. */
  readonly profile: Readonly<Record<string, unknown>>;
}

/** The end of a child, as in its action `finish`. */
export interface ChildResultEvent {
  readonly type: "child_result";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** The key of a call, as in its action. */
  readonly call: string;
  readonly status: RunStatus;
  readonly document?: unknown;
  readonly kinds?: readonly string[];
  readonly labels?: readonly string[];
  readonly confidence?: Confidence;
  /**
   * The budget that the child used. A missing member counts as zero. Without this object, the child counts as having
   * used its whole budget.
   */
  readonly used?: ChildUse;
  /** The parts of the parent's context that the child requested and was denied. */
  readonly requests?: readonly Readonly<Record<string, unknown>>[];
  /** Calls whose effect is unknown. */
  readonly uncertain?: readonly UncertainCall[];
}

/** The host cancelled a call. */
export interface CallCancelledEvent {
  readonly type: "call_cancelled";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** The key of a call, as in its action. */
  readonly call: string;
  /** Whether the call may have had an effect. Default: unknown, if it was started. */
  readonly effect?: PossibleEffect;
}

/** A person ends the run. */
export interface CancelledEvent {
  readonly type: "cancelled";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  readonly principal?: string;
  readonly reason?: string;
}

/** A message between a client and a tool server that is not a tool call. */
export interface MessageEvent {
  readonly type: "message";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** An id that distinguishes equal messages. */
  readonly id?: string;
  readonly server?: string;
  /** The method of the message, or of the request that it answers. */
  readonly method: string;
  readonly from: Party;
  /** The content of the message. Without it, only the method is checked. */
  readonly document?: unknown;
}

/** Time has passed. */
export interface TickEvent {
  readonly type: "tick";
  /** When, in milliseconds since 1970. */
  readonly at: number;
}

/** The host restarts after an interruption. */
export interface ResumedEvent {
  readonly type: "resumed";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** The tools that servers list now, as in `tools_listed`. */
  readonly listed?: Readonly<Record<string, unknown>>;
}

/** The next action of the host. `advance` decides it, and the host performs it. Each action has its own key. */
export type Action =
  | AskModelAction
  | ExecuteAction
  | AskApprovalAction
  | AskInputAction
  | DelegateAction
  | CancelAction
  | FinishAction;

/** Call the model, and send its output as `model_output`. */
export interface AskModelAction {
  readonly type: "ask_model";
  /** RUN/STEP/N: the N-th action of a step. */
  readonly key: string;
  /**
   * The purpose of the request. `frame`: turn free text into a task. `step`: continue. `final`: answer without tools.
   */
  readonly purpose: Purpose;
  /** The request to the model. */
  readonly prompt: ModelPrompt;
  /** Later answers are ignored. */
  readonly expires: number;
}

/** Send a call. Append `tool_started` before sending it. If that event is ignored, do not send the call. */
export interface ExecuteAction {
  readonly type: "execute";
  /** RUN/STEP/N: the N-th action of a step. */
  readonly key: string;
  /** The run's own key for a call: c1, c2, …. */
  readonly call: string;
  /** The server of the tool. Missing if the host itself offers the tool. */
  readonly server?: string;
  /** The name of the tool in the child. */
  readonly tool: string;
  readonly effect: Effect;
  /** The exact text to send. */
  readonly arguments: string;
  /** The digest of the action. */
  readonly digest?: string;
  /** The idempotency key, which stays the same however often the call is sent. */
  readonly idempotency_key: string;
  /** Later results of a read are ignored. An effect is then uncertain. */
  readonly expires: number;
  /** The approval that the call uses. */
  readonly approval?: Approval;
  /**
   * The secrets whose values the host inserts into the arguments, in the order of the arguments. A host without secrets
   * must not send the call.
   */
  readonly secrets?: readonly Secret[];
}

/** Ask a person, and send the decision as `approval`. */
export interface AskApprovalAction {
  readonly type: "ask_approval";
  /** RUN/STEP/N: the N-th action of a step. */
  readonly key: string;
  /** The run's own key for a call: c1, c2, …. */
  readonly call: string;
  /** The request for approval that a person sees. */
  readonly ask: Ask;
}

/** Ask a person a question, and send the answer as `input`. For an uncertain call, send it as `resolution`. */
export interface AskInputAction {
  readonly type: "ask_input";
  /** RUN/STEP/N: the N-th action of a step. */
  readonly key: string;
  /** The question, without invisible characters. */
  readonly question: string;
  /** The uncertain call whose outcome somebody must state. */
  readonly call?: string;
  /** In milliseconds since 1970. */
  readonly expires: number;
}

/** Start or continue the run of another agent. The run's name is fixed. Append `tool_started` first. */
export interface DelegateAction {
  readonly type: "delegate";
  /** RUN/STEP/N: the N-th action of a step. */
  readonly key: string;
  /** The run's own key for a call: c1, c2, …. */
  readonly call: string;
  /** The id of the child's run. */
  readonly run: string;
  /** The child's agent. */
  readonly agent: string;
  /** The digest of the child's profile. */
  readonly profile: string;
  /** The model's reason for the delegation. */
  readonly reason: string;
  /** The task of the child: everything that it receives. */
  readonly task: Readonly<Record<string, unknown>>;
  /** The digest of this task. */
  readonly digest: string;
  /**
   * The limits that the parent sets. They go unchanged into the child's event `started` as `parent`: see
   * event.schema.json.
   */
  readonly parent: Bounds;
}

/** Cancel a call that was sent or is about to be sent. */
export interface CancelAction {
  readonly type: "cancel";
  /** RUN/STEP/N: the N-th action of a step. */
  readonly key: string;
  /** The run's own key for a call: c1, c2, …. */
  readonly call: string;
}

/** The run has ended. */
export interface FinishAction {
  readonly type: "finish";
  /** RUN/STEP/N: the N-th action of a step. */
  readonly key: string;
  readonly status: RunStatus;
  /** The final answer. For a partial one, its parts: `asked`, `found`, `missing`, `why`, `plan`. */
  readonly document?: unknown;
  /** The reason for which the run had to end. Empty if the answer is final. */
  readonly reasons: readonly StopReason[];
  /** The kinds of evidence that are missing. */
  readonly missing: readonly string[];
  /** Effects whose outcome is unknown. */
  readonly uncertain: readonly UncertainCall[];
  /** The kinds of evidence that were found. */
  readonly kinds: readonly string[];
  /** The labels of everything that the model has read. */
  readonly labels: readonly string[];
  /** The lowest confidence of all observations. */
  readonly confidence?: Confidence;
  /** The used budget. */
  readonly used: RunUse;
  readonly requests: readonly ContextRequest[];
}

/** A decision of a step. It is in the journal beside the event. */
export type RunRecord =
  | IgnoredRecord
  | LeftOutRecord
  | SurfaceRecord
  | OutputRecord
  | DecisionRecord
  | JoinedRecord
  | ObservationRecord
  | SettledRecord
  | CutRecord
  | StopRecord
  | ContextRequestRecord
  | UsedRecord
  | MessageRecord;

/** An event that does not fit the run. It changed nothing. */
export interface IgnoredRecord {
  readonly type: "ignored";
  readonly code: IgnoredCode;
  /** The text for people. */
  readonly message: string;
}

/** Data from outside that the model does not get, or only in part. */
export interface LeftOutRecord {
  readonly type: "left_out";
  readonly what: LeftOutWhat;
  /** The digest of the value. */
  readonly name: string;
  readonly code: LeftOutCode;
  /** The text for people. */
  readonly message: string;
}

/** The tools that servers list now. */
export interface SurfaceRecord {
  readonly type: "surface";
  /** The tools that the model may see. */
  readonly tools: readonly string[];
  readonly hidden: readonly HiddenName[];
}

/** The kind of the model's output. An output with calls has a decision for each call instead. */
export interface OutputRecord {
  readonly type: "output";
  readonly kind: OutputKind;
  /** The text for the model, or the model's question. */
  readonly message: string;
}

/** The decision whether a call may run. See decision.schema.json. */
export interface DecisionRecord {
  readonly type: "decision";
  /** The run's own key for a call: c1, c2, …. */
  readonly call: string;
  readonly permit: Permit;
  /** The server of the tool. */
  readonly server?: string;
  /** The arguments as the model gave them, truncated. */
  readonly tool: string;
  readonly effect?: Effect;
  /** The digest of the action. */
  readonly digest?: string;
  /** The arguments as the model wrote them, truncated to 4 KiB. */
  readonly arguments: string;
  /** The digest of the whole. */
  readonly arguments_digest: string;
  /** The digest that equal calls share: calls of the same tool with equal arguments, however these are written. */
  readonly same: string;
  /** The text for the model. */
  readonly message: string;
  readonly reasons: readonly Reason[];
  /** The approval that the call uses. */
  readonly approval?: Approval;
  /** The origins of values of the arguments. See decision.schema.json. */
  readonly origins?: readonly Proof[];
  /** The secrets that the call takes. See decision.schema.json. */
  readonly secrets?: readonly Secret[];
}

/**
 * A call that equals a call of the event's `joinable`. It was not decided. The host answers it with the result of the
 * other call.
 */
export interface JoinedRecord {
  readonly type: "joined";
  /** The digest that equal calls share: calls of the same tool with equal arguments, however these are written. */
  readonly same: string;
}

/** The part of a result that the model may read. See observation.schema.json. */
export interface ObservationRecord {
  readonly type: "observation";
  /** The run's own key for a call: c1, c2, …. */
  readonly call: string;
  /** The server of the tool. */
  readonly server?: string;
  /** The name of the tool in the child. */
  readonly tool: string;
  readonly status: ObservationStatus;
  /** The id that claims cite. */
  readonly id: string;
  /** The text for the prompt. */
  readonly message: string;
  /** The kinds of evidence that it provides. */
  readonly kinds: readonly string[];
  /** The labels of the data from its source. */
  readonly labels: readonly string[];
  readonly confidence: Confidence;
  /** True if it contains the complete result. */
  readonly complete: boolean;
  readonly limitations: readonly Limitation[];
  /**
   * The result that replaces a result of the Model Context Protocol. If it is missing, that result is passed on
   * unchanged.
   */
  readonly returned?: Readonly<Record<string, unknown>>;
  /** The digest of the whole result. */
  readonly artifact: string;
  /** The length of the whole result. */
  readonly bytes: number;
  /** The findings in the whole result, and their treatment. */
  readonly found: Found;
  /** The value that the host states. */
  readonly duration_ms?: number;
  readonly arguments_digest: string;
  /** The text for the audience `ui`. */
  readonly ui?: string;
  /** The text for the audience `user`. */
  readonly user?: string;
}

/** A call that ended without a result. */
export interface SettledRecord {
  readonly type: "settled";
  /** The run's own key for a call: c1, c2, …. */
  readonly call: string;
  /** The name of the tool, truncated. */
  readonly tool: string;
  readonly code: SettledCode;
  /** The text for people. */
  readonly message: string;
}

/** The content that was removed from the prompt or the state to make it fit. */
export interface CutRecord {
  readonly type: "cut";
  readonly from: CutFrom;
  /** Calls whose observations lost their text. */
  readonly calls: readonly string[];
  /** The number of oldest messages that were left out. */
  readonly entries: number;
}

/** The reason for which the run ended. */
export interface StopRecord {
  readonly type: "stop";
  readonly code: StopCode;
  /** The text for people. */
  readonly message: string;
}

/** A child requested part of its parent's context and was denied. Recorded in its own run, and in its parent's run. */
export interface ContextRequestRecord {
  readonly type: "context_request";
  /** The run's own key for a call: c1, c2, …. */
  readonly call: string;
  /** In the parent's run: as in the child's end. */
  readonly request: Readonly<Record<string, unknown>>;
}

/** The used budget when the run ended. */
export interface UsedRecord {
  readonly type: "used";
  /** The number of calls of the model. */
  readonly steps: number;
  /** The used budget: see facts.schema.json. */
  readonly budgets: BudgetUse;
}

/** The decision whether a message between a client and a server may pass, and in which form. */
export interface MessageRecord {
  readonly type: "message";
  readonly server: string;
  readonly method: string;
  readonly from: Party;
  readonly permit: Permit;
  /** The sanitized message. If it is missing, the message passes unchanged. */
  readonly document?: unknown;
  /** The findings in the message, and their treatment. */
  readonly found: Found;
}

/** The decision whether a call may run. */
export type Decision = AllowedDecision | DeniedDecision | ApprovalDecision;

/** The call may run. */
export interface AllowedDecision {
  readonly permit: "allow";
  /** Whether the call may run now. Not enumerable. */
  readonly allows: true;
  /** The document as JSON text, the same bytes as in every other runtime. Not enumerable. */
  readonly json: string;
  readonly key: string;
  readonly server?: string;
  readonly tool: string;
  readonly effect: Effect;
  /** The exact text to send. Missing if the call is denied. */
  readonly arguments: string;
  /** The digest of the action. The approval covers this action, and no other. */
  readonly digest: string;
  /** The text that the model may read. Empty if the call may run. */
  readonly message: string;
  /** The reasons for which the call may not run, or needs approval. */
  readonly reasons: readonly Reason[];
  /** The approval that the call uses. */
  readonly approval?: Approval;
  /**
   * The origins of the values that the tool's `origins` rules cover. Values without an origin come first. At most 64
   * values are listed.
   */
  readonly origins?: readonly Proof[];
  /** The secrets that the call takes, in the order of its arguments. A host without secrets must not send the call. */
  readonly secrets?: readonly Secret[];
  /** The members of the facts that changed. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** The call must not run. */
export interface DeniedDecision {
  readonly permit: "deny";
  /** Whether the call may run now. Not enumerable. */
  readonly allows: false;
  /** The document as JSON text, the same bytes as in every other runtime. Not enumerable. */
  readonly json: string;
  readonly key: string;
  readonly server?: string;
  readonly tool: string;
  readonly effect?: Effect;
  /** The digest of the action. The approval covers this action, and no other. */
  readonly digest?: string;
  /** The text that the model may read. Empty if the call may run. */
  readonly message: string;
  /** The reasons for which the call may not run, or needs approval. */
  readonly reasons: readonly Reason[];
  /** If the call is denied, the tools that are allowed. */
  readonly allowed: readonly string[];
  /**
   * The origins of the values that the tool's `origins` rules cover. Values without an origin come first. At most 64
   * values are listed.
   */
  readonly origins?: readonly Proof[];
  /** The members of the facts that changed. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** A person must decide first. The caller then asks again, with the approval in the facts. */
export interface ApprovalDecision {
  readonly permit: "approval";
  /** Whether the call may run now. Not enumerable. */
  readonly allows: false;
  /** The document as JSON text, the same bytes as in every other runtime. Not enumerable. */
  readonly json: string;
  readonly key: string;
  readonly server?: string;
  readonly tool: string;
  readonly effect: Effect;
  /** The exact text to send. Missing if the call is denied. */
  readonly arguments: string;
  /** The digest of the action. The approval covers this action, and no other. */
  readonly digest: string;
  /** The text that the model may read. Empty if the call may run. */
  readonly message: string;
  /** The reasons for which the call may not run, or needs approval. */
  readonly reasons: readonly Reason[];
  /** The request for approval that a person sees. */
  readonly ask: Ask;
  /**
   * The origins of the values that the tool's `origins` rules cover. Values without an origin come first. At most 64
   * values are listed.
   */
  readonly origins?: readonly Proof[];
  /** The secrets that the call takes, in the order of its arguments. A host without secrets must not send the call. */
  readonly secrets?: readonly Secret[];
  /** The members of the facts that changed. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** The rules of one agent above a child. */
export interface ParentRules {
  /** The part of the agent's profile that judges calls of the tools that were handed on: see profile.schema.json. */
  readonly profile: Readonly<Record<string, unknown>>;
  /** The agent's task, if a scope or an origin names it. The child's model does not see it. */
  readonly task?: unknown;
  /** The values of the agent's context that a scope or an origin names. The child's model does not see them. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** The lists that a scope or an origin names. */
  readonly lists?: Readonly<Record<string, readonly string[]>>;
  /** The texts that people said to the agent, if an origin needs them. The child's model does not see them. */
  readonly said?: readonly string[];
  /** Values of the agent's results that an origin names: see facts.schema.json. The child's model does not see them. */
  readonly observed?: readonly Readonly<Record<string, unknown>>[];
  /**
   * The number of times that each call was permitted in the agent's run and below it before the child started, if the
   * agent's budget has `same_call`. A call that waits for approval counts.
   */
  readonly calls?: Readonly<Record<string, number>>;
  /**
   * The times of the last permitted calls of each tool with a `rate`, in the agent's run and below it, before the child
   * started.
   */
  readonly recent?: Readonly<Record<string, readonly number[]>>;
  /**
   * The number of times that other children, which run at the same time, may make each call that is not only a read.
   */
  readonly reserved?: number;
}

/** The budget of the child. */
export interface ChildBudget {
  readonly steps?: number;
  readonly tool_calls?: number;
  readonly tokens?: number;
  readonly ms?: number;
  readonly same_call?: number;
  readonly state_bytes?: number;
}

/** The bounds of a child. */
export interface Bounds {
  readonly run: string;
  /** The key of a call, as in its action. */
  readonly call: string;
  /** The tools that were handed on. */
  readonly tools: readonly string[];
  /**
   * The rules of the agents above, beginning with the parent. Each of them judges each call of the child, in addition
   * to the child's own profile.
   */
  readonly rules: readonly ParentRules[];
  /** The labels of the data that the parent has read. */
  readonly labels?: readonly string[];
  /** The budget of the child. */
  readonly budget: ChildBudget;
  /** The time of the event, in milliseconds since 1970. The time of the run is the greatest time so far. */
  readonly deadline?: number;
  /**
   * True if the last of the rules is the run's own profile after an edit. In a run without a parent, it is the only
   * one.
   */
  readonly edited?: boolean;
}

export interface ModelCall {
  /** The model's own id. It may repeat. */
  readonly id?: string;
  readonly server?: string;
  readonly tool: string;
  /** An object, or the text as the model wrote it. */
  readonly arguments: unknown;
}

/** The number of tokens. If it is missing, it is estimated from bytes. */
export interface TokenUsage {
  readonly input?: number;
  readonly output?: number;
}

/**
 * The approval also covers further calls of this run: those of the same tool with the same arguments except some, as
 * long as they need approval for no other reason. Not allowed with a token.
 */
export interface ApprovalRemember {
  /** The names of the arguments that may differ or be missing. */
  readonly any?: readonly string[];
  /** The number of further calls that it covers. */
  readonly times?: number;
  /** The time for which it is valid, in seconds from now. */
  readonly ttl_s?: number;
}

/** The labels of the data below one key of a store. */
export interface Stored {
  /** The name of the store. */
  readonly store: string;
  /** The key. If it is missing, the whole store. */
  readonly key?: string;
  readonly labels: readonly string[];
}

/**
 * The budget that the child used. A missing member counts as zero. Without this object, the child counts as having used
 * its whole budget.
 */
export interface ChildUse {
  readonly steps?: number;
  readonly tool_calls?: number;
  readonly tokens?: number;
  readonly ms?: number;
  /** The number of times that each call was permitted. The parent counts them as its own. */
  readonly calls?: Readonly<Record<string, number>>;
  /** The times of the last permitted calls of each tool with a `rate`. The parent counts them as its own. */
  readonly recent?: Readonly<Record<string, readonly number[]>>;
}

export interface UncertainCall {
  /** The child that made the call. Missing if the run itself made it. */
  readonly run?: string;
  /** The key of a call, as in its action. */
  readonly call: string;
  /** The server of the tool. */
  readonly server?: string;
  /** The name of the tool in the child. */
  readonly tool: string;
  /** The arguments that were sent. Those of a child are truncated to 1 KiB. */
  readonly arguments: string;
}

/** A call that the model requested. */
export interface RequestedCall {
  /** The run's own key for a call: c1, c2, …. */
  readonly call: string;
  /** The model's own id. */
  readonly id?: string;
  /** The server of the tool. */
  readonly server?: string;
  /** The arguments as the model gave them. */
  readonly tool: string;
  /** The arguments as the model wrote them. */
  readonly arguments: string;
}

/** One message. The messages have a fixed order: role, rules, task, context, history, and last what to answer. */
export interface PromptMessage {
  readonly role: Role;
  /** The text of the message. Data from outside is between marks that the data cannot know. */
  readonly text: string;
  /** The calls of an assistant's message. */
  readonly calls?: readonly RequestedCall[];
  /** The call that a tool's message answers. */
  readonly call?: string;
  /** The model's own id for the call. */
  readonly id?: string;
  /** The provider's message, unchanged. */
  readonly message?: Readonly<Record<string, unknown>>;
}

/** A tool that the model sees. */
export interface VisibleTool {
  /** The server of the tool. */
  readonly server?: string;
  /** The name of the tool. */
  readonly tool: string;
  readonly effect: Effect;
  readonly permit: Permit;
  /** The definition as the server lists it, sanitized. */
  readonly definition?: Readonly<Record<string, unknown>>;
}

/** The request to the model. */
export interface ModelPrompt {
  readonly messages: readonly PromptMessage[];
  /** The surface: the tools that the model may call now. */
  readonly tools: readonly VisibleTool[];
}

/** The approval that the call uses. */
export interface Approval {
  /** The principal who approved. */
  readonly principal: string;
  /** In milliseconds since 1970. */
  readonly at: number;
  /** True if a person gave the approval for another call of the run and it also covers this one. */
  readonly remembered?: boolean;
}

/** A secret. The host replaces a reference with its value when it sends the call. */
export interface Secret {
  /** A JSON Pointer into the arguments. The value there is the text `secret:NAME`. */
  readonly at: string;
  /** The name of the tool. */
  readonly name: string;
}

/** The request for approval that a person sees. */
export interface Ask {
  /** The run's own key for a call: c1, c2, …. */
  readonly key: string;
  /** The digest of the action. The approval covers this action, and no other. */
  readonly digest: string;
  /** The principals who may decide. One of them is enough. */
  readonly by: readonly string[];
  /**
   * The public keys of the principals that have keys. Such a principal's decision counts only with a token that one of
   * these keys signed, whichever profile lists the key. If the profiles of a child and of the agents above it list
   * different keys for one principal, the list is empty, and the principal cannot decide.
   */
  readonly keys?: Readonly<Record<string, readonly string[]>>;
  /** The time at which the ask and any approval of it expire. */
  readonly expires: number;
  /** The whole call as it would be sent, with invisible characters escaped, and the equal calls that ran before. */
  readonly view: string;
}

/** The reason for which the run must end. */
export interface StopReason {
  readonly code: StopCode;
  /** The text for people. */
  readonly message: string;
}

/** The used budget. */
export interface RunUse {
  readonly steps: number;
  readonly tool_calls: number;
  readonly tokens: number;
  /** The number of times that each call was permitted, by a digest of the call. For the parent of a child. */
  readonly calls?: Readonly<Record<string, number>>;
  /** The times of the last permitted calls of each tool with a `rate`. For the parent of a child. */
  readonly recent?: Readonly<Record<string, readonly number[]>>;
}

/** The part of its parent's context that a child requested and was denied. */
export interface ContextRequest {
  /** The child's reason for the request. */
  readonly reason: string;
  /** The digest of the task that it received. */
  readonly packet: string;
  /** The tools that its profile names. */
  readonly tools: readonly string[];
}

/** A tool that the model does not see. */
export interface HiddenName {
  /** NAME or SERVER/NAME. */
  readonly tool: string;
  readonly code: HiddenToolCode;
  /** The error in the tool's definition, and its place. */
  readonly message?: string;
}

/** The reasons for which the call may not run, or needs approval. */
export interface Reason {
  readonly code: ReasonCode;
  /** The text for people. */
  readonly message: string;
  readonly violations: readonly Violation[];
}

/** The place of the name of the value's item. */
export interface NamePlace {
  /** `user` or `task`. */
  readonly origin: string;
  /** The number of the text among the texts that people said, counted from 1. */
  readonly message?: number;
  /** A JSON Pointer into the task. */
  readonly at?: string;
  /** A range of bytes in the text there: the first byte, and the one after the last. */
  readonly span?: Span;
}

/** The origin of a value of a call, or the places where it was sought. */
export interface Proof {
  /** A JSON Pointer into the arguments. */
  readonly pointer: string;
  /** `user`, `task`, `context.NAME`, `list NAME`, `TOOL at PATH`, `secret NAME` and others, as in the rule. */
  readonly origin?: string;
  /** The number of the text among the texts that people said, counted from 1. */
  readonly message?: number;
  /** The call whose result contains it. */
  readonly call?: string;
  /** A JSON Pointer into the task, the value of the context, the list or the result. */
  readonly at?: string;
  /** A range of bytes in the text there: the first byte, and the one after the last. */
  readonly span?: Span;
  /** The place of the name of the value's item. */
  readonly named?: NamePlace;
  /** The places where a value without an origin was sought. */
  readonly sought?: readonly string[];
}

export interface Instruction {
  readonly kind: string;
  /** The place in the result. */
  readonly path: string;
  /** The range of bytes in the text there: the first byte, and the one after the last. */
  readonly span: Span;
}

/** The findings in the whole result, and their treatment. */
export interface Found {
  /** The number of links and images that were defanged. */
  readonly defanged: number;
  /** The number of hidden characters of each kind that were escaped. */
  readonly escaped: Readonly<Record<string, number>>;
  /** Passages that read like an instruction. They are kept. */
  readonly instructions: readonly Instruction[];
  /** The number of further ones. */
  readonly instructions_left_out: number;
  /** The number of secrets of each kind that were left out. */
  readonly redacted: Readonly<Record<string, number>>;
}

/** The used budget: see facts.schema.json. */
export interface BudgetUse {
  readonly tool_calls: number;
  readonly tokens: number;
  readonly ms: number;
  /** The number of times that each call was permitted, by a digest of the call. */
  readonly calls: Readonly<Record<string, number>>;
  /** The times of the last permitted calls of each tool with a `rate`. */
  readonly recent?: Readonly<Record<string, readonly number[]>>;
}

/** The truncation: the number of items or lines that are shown, and the total number. */
export interface Shown {
  readonly unit: ShownUnit;
  readonly head: number;
  readonly tail: number;
  readonly of: number;
}

export interface Provenance {
  readonly source?: string;
  readonly query?: string;
  readonly time_range?: string;
  readonly cached?: boolean;
}

export interface Freshness {
  /** The time up to which the data extends, in milliseconds since 1970. */
  readonly until?: number;
  readonly lag_s: number;
  readonly stale: boolean;
}

/** The part of a result that the model may read. */
export interface Observation {
  /** The document as JSON text, the same bytes as in every other runtime. Not enumerable. */
  readonly json: string;
  /** The id that claims cite: the tool's name, `#`, and the key of the call. */
  readonly id: string;
  readonly server?: string;
  readonly tool: string;
  /** `error`: the tool reports a failure. `invalid`: the result does not match its schema, and none of it is shown. */
  readonly status: ObservationStatus;
  /** The text for the prompt: the source of the data, its problems, and the data between marks. */
  readonly message: string;
  /** The data: truncated to the profile's `max_bytes`, and sanitized. */
  readonly text: string;
  /** The kinds of evidence that it provides. */
  readonly kinds: readonly string[];
  readonly labels: readonly string[];
  readonly confidence: Confidence;
  /** True if it contains the complete result. */
  readonly complete: boolean;
  readonly limitations: readonly Limitation[];
  /**
   * The result that replaces a result of the Model Context Protocol. If it is missing, that result is passed on
   * unchanged.
   */
  readonly returned?: Readonly<Record<string, unknown>>;
  /** The digest of the whole result, under which the host keeps it. */
  readonly artifact: string;
  /** The length of the whole result. */
  readonly bytes: number;
  /** The truncation: the number of items or lines that are shown, and the total number. */
  readonly shown?: Shown;
  readonly provenance: Provenance;
  readonly freshness?: Freshness;
  /** The findings in the whole result, and their treatment. */
  readonly found: Found;
  /** The places at which it does not match its schema. */
  readonly violations: readonly Violation[];
  /** The members of the facts that changed. */
  readonly facts: Readonly<Record<string, unknown>>;
}

export type ResultStatus = "ok" | "error";

export type PossibleEffect = "none" | "unknown";

export type ApprovalAnswer = "approved" | "rejected" | "edited";

export type ResolutionOutcome = "done" | "not_done";

export type RunStatus = "final" | "final_partial" | "failed" | "cancelled";

export type Party = "client" | "server";

export type Purpose = "frame" | "step" | "final";

export type Role = "system" | "user" | "assistant" | "tool";

export type Effect = "read" | "idempotent" | "effectful";

export type Permit = "allow" | "deny" | "approval";

export type StopCode =
  | "budget"
  | "same_call"
  | "same_denial"
  | "rejected"
  | "surface"
  | "unresolved"
  | "no_answer"
  | "prompt"
  | "state_bytes"
  | "cancelled"
  | "task"
  | "context"
  | "model";

export type IgnoredCode =
  | "finished"
  | "repeated"
  | "started"
  | "loop"
  | "no_loop"
  | "late"
  | "not_dispatched"
  | "not_under_way"
  | "not_uncertain"
  | "no_ask"
  | "before_ask"
  | "digest"
  | "approver"
  | "arguments"
  | "token"
  | "not_asked"
  | "mode";

export type LeftOutWhat = "context" | "output";

export type LeftOutCode = "undeclared" | "invalid" | "too_large";

export type HiddenToolCode =
  | "absent"
  | "changed"
  | "unknown"
  | "permit"
  | "deny"
  | "mode"
  | "parent"
  | "invalid_definition";

export type OutputKind =
  | "answer"
  | "no_answer"
  | "question"
  | "plan"
  | "refusal"
  | "task"
  | "no_task"
  | "calls"
  | "failure";

export type ReasonCode =
  | "unknown_tool"
  | "ambiguous_tool"
  | "mode"
  | "parent"
  | "surface"
  | "malformed"
  | "too_large"
  | "definition"
  | "arguments"
  | "deny"
  | "mark"
  | "secret"
  | "scope"
  | "origin"
  | "flow"
  | "budget"
  | "same_call"
  | "rate"
  | "state_bytes"
  | "permit"
  | "rejected"
  | "expired"
  | "approver"
  | "digest"
  | "before_ask"
  | "invalid_definition";

export type ObservationStatus = "ok" | "error" | "invalid";

export type Limitation =
  | "contradictory"
  | "error"
  | "format"
  | "invalid"
  | "invalid_items"
  | "partial"
  | "sampled"
  | "stale"
  | "truncated"
  | "undated"
  | "unchecked";

export type SettledCode = "expired" | "not_sent" | "rejected" | "cancelled" | "uncertain";

export type CutFrom = "prompt" | "state";

export type ShownUnit = "items" | "lines" | "members" | "bytes" | "parts";
