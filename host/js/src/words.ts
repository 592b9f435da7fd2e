// Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.

import type { Confidence, Finish, Span, Violation } from "./types.js";

/**
 * A fact from outside that `advance` takes. Its time is the host's. An event that does not fit the run is recorded, and
 * changes nothing.
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

/** A run starts. It is the first event, and the only one of its kind. */
export interface StartedEvent {
  readonly type: "started";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** The run's id. */
  readonly run: string;
  /** For whom the agent works. */
  readonly principal: string;
  /** A secret of the run, random. The marks around data from outside are made from it. */
  readonly nonce: string;
  readonly session?: string;
  readonly turn?: string;
  /** One of the profile's modes. Default: its first. */
  readonly mode?: string;
  /** The task. Free text where the profile says `frame`. */
  readonly task?: unknown;
  /** Values by the names that the profile's `context` has. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** Lists that `scope` names. */
  readonly lists?: Readonly<Record<string, readonly string[]>>;
  /** What servers list now, as `tools_listed` has it. Without it, all tools of the profile are there. */
  readonly listed?: Readonly<Record<string, unknown>>;
  /** Labels of data that the client has read before, in other runs. */
  readonly labels?: readonly string[];
  /** What a parent allows, as its action `delegate` has it. */
  readonly parent?: Bounds;
}

/** What servers list now. */
export interface ToolsListedEvent {
  readonly type: "tools_listed";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** In the format of lock files, see lock.schema.json. */
  readonly listed: Readonly<Record<string, unknown>>;
}

/** What the model wrote. */
export interface ModelOutputEvent {
  readonly type: "model_output";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** The key of the action `ask_model` that it answers. */
  readonly key: string;
  readonly text?: string;
  /** The calls that the model asks for, in its order. */
  readonly calls?: readonly ModelCall[];
  /** The provider's message. It comes back unchanged in later prompts. */
  readonly message?: Readonly<Record<string, unknown>>;
  /** Why the model stopped. */
  readonly finish?: Finish;
  /** Tokens. Without it they are estimated from bytes. */
  readonly usage?: TokenUsage;
  /** The artifacts that the step asked for under `need`: texts by their digests. */
  readonly artifacts?: Readonly<Record<string, string>>;
}

/** The model gave no output. */
export interface ModelFailedEvent {
  readonly type: "model_failed";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** The key of a call, as its action has it. */
  readonly key: string;
  readonly message: string;
  /** Whether another attempt may help. Default: no, it failed for good. */
  readonly retry?: boolean;
}

/** One call from outside of a loop, for profiles that have none. */
export interface CallEvent {
  readonly type: "call";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  readonly id?: string;
  readonly server?: string;
  readonly tool: string;
  readonly arguments: unknown;
  /**
   * Digests of calls that an equal call may join, as `same` of their decisions has them. A call that joins one is not
   * decided.
   */
  readonly joinable?: readonly string[];
}

/** The host is about to send a call. It journals this before it sends. */
export interface ToolStartedEvent {
  readonly type: "tool_started";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** The key of a call, as its action has it. */
  readonly call: string;
}

/** What a tool returned: see result.schema.json. */
export interface ToolResultEvent {
  readonly type: "tool_result";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** The key of a call, as its action has it. */
  readonly call: string;
  readonly duration_ms?: number;
  /** `error`: the tool says that it failed. Then the result is cleaned, and not held to the schema. */
  readonly status?: ResultStatus;
  /** Any JSON. */
  readonly result?: unknown;
  /**
   * A result of the Model Context Protocol, whole. It says itself whether the tool failed. Its `structuredContent` is
   * held to the schema, or without one its only text.
   */
  readonly returned?: Readonly<Record<string, unknown>>;
  /** Text. Where the profile has a schema or items for the result, it is read as JSON. */
  readonly text?: string;
  /** The beginning of a text that is too large. */
  readonly head?: string;
  /** Its end. */
  readonly tail?: string;
  /** Its length in bytes. */
  readonly length?: number;
  /** The digest of the whole, under which the host keeps it. Beside `returned` it is the host's word. */
  readonly digest?: string;
}

/** A call came to no result. */
export interface ToolFailedEvent {
  readonly type: "tool_failed";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** The key of a call, as its action has it. */
  readonly call: string;
  readonly message: string;
  /** Whether the call may have had an effect. Default: unknown, where it was started. */
  readonly effect?: PossibleEffect;
}

/** A call goes on elsewhere. Its result comes later. */
export interface JobEvent {
  readonly type: "job";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** The key of a call, as its action has it. */
  readonly call: string;
  /** Until then, at most, in seconds from now. */
  readonly ttl_s?: number;
}

/**
 * What a person decided about one ask. `edited` puts `arguments` in place of those of the call, which is then judged
 * again: if it needs approval, that is a new ask.
 */
export interface ApprovalEvent {
  readonly type: "approval";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** The key of a call, as its action has it. */
  readonly key: string;
  readonly digest: string;
  readonly decision: ApprovalAnswer;
  readonly principal: string;
  /** The new arguments as they would be sent: the text of a JSON object. Only with `edited`, and only in a loop. */
  readonly arguments?: string;
  /**
   * The approval covers further calls of this run, too: those of the same tool with the same arguments but for some, as
   * long as they need approval for no other reason. Not with a token.
   */
  readonly remember?: ApprovalRemember;
  /** Why, in the person's words. The model reads it if the call is rejected or edited. */
  readonly reason?: string;
  /** What the host verified before it appended this. */
  readonly token?: string;
}

/** What a person answered. */
export interface InputEvent {
  readonly type: "input";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** The key of the action `ask_input`. */
  readonly key: string;
  readonly text: string;
  readonly principal?: string;
}

/** What a person says by themselves. */
export interface UserMessageEvent {
  readonly type: "user_message";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  readonly text: string;
  readonly principal?: string;
  readonly turn?: string;
}

/** What a person said elsewhere, by which `origins` are proven. The model is not told it. */
export interface SaidEvent {
  readonly type: "said";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  readonly text: string;
  readonly principal?: string;
}

/** Labels that other runs gave to data in stores. They add to those that the run knows. */
export interface StoresEvent {
  readonly type: "stores";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  readonly stores: readonly Stored[];
}

/** A declared value changed. */
export interface ContextEvent {
  readonly type: "context";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  readonly name: string;
  readonly value: unknown;
}

/** A person says what became of an uncertain call. */
export interface ResolutionEvent {
  readonly type: "resolution";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** The key of a call, as its action has it. */
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
 * The profile was edited. Until the run ends, a call must pass the edited profile as well as the one with which the run
 * started; a later event of this kind replaces the edited one.
 */
export interface ProfileEvent {
  readonly type: "profile";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** The edited profile: see profile.schema.json. */
  readonly profile: Readonly<Record<string, unknown>>;
}

/** How a child ended, as its action `finish` has it. */
export interface ChildResultEvent {
  readonly type: "child_result";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** The key of a call, as its action has it. */
  readonly call: string;
  readonly status: RunStatus;
  readonly document?: unknown;
  readonly kinds?: readonly string[];
  readonly labels?: readonly string[];
  readonly confidence?: Confidence;
  /** What it used. A member that is missing is nothing; without this, it used all that it had. */
  readonly used?: ChildUse;
  /** What it asked of the parent's context, and was denied. */
  readonly requests?: readonly Readonly<Record<string, unknown>>[];
  /** Calls of which nobody knows whether they had their effect. */
  readonly uncertain?: readonly UncertainCall[];
}

/** The host cancelled a call. */
export interface CallCancelledEvent {
  readonly type: "call_cancelled";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** The key of a call, as its action has it. */
  readonly call: string;
  /** Whether the call may have had an effect. Default: unknown, where it was started. */
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

/** A message between a client and a server of tools that is no call of a tool. */
export interface MessageEvent {
  readonly type: "message";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** Tells equal messages apart. */
  readonly id?: string;
  readonly server?: string;
  /** Its method, or that of the request that it answers. */
  readonly method: string;
  readonly from: Party;
  /** What it says. Without it, only whether the method exists is decided. */
  readonly document?: unknown;
}

/** Time has passed. */
export interface TickEvent {
  readonly type: "tick";
  /** When, in milliseconds since 1970. */
  readonly at: number;
}

/** The host starts again after it was interrupted. */
export interface ResumedEvent {
  readonly type: "resumed";
  /** When, in milliseconds since 1970. */
  readonly at: number;
  /** What servers list now, as `tools_listed` has it. */
  readonly listed?: Readonly<Record<string, unknown>>;
}

/** What the host must do next: decided by `advance`, done by the host. Each has a key of its own. */
export type Action =
  | AskModelAction
  | ExecuteAction
  | AskApprovalAction
  | AskInputAction
  | DelegateAction
  | CancelAction
  | FinishAction;

/** Ask the model, and send what it writes as `model_output`. */
export interface AskModelAction {
  readonly type: "ask_model";
  /** RUN/STEP/N: the N-th action of a step. */
  readonly key: string;
  /** `frame`: make a task of free text. `step`: go on. `final`: answer, without tools. */
  readonly purpose: Purpose;
  /** What the model is asked. */
  readonly prompt: ModelPrompt;
  /** Later answers do not count. */
  readonly expires: number;
}

/** Send a call. Append `tool_started` before it is sent; if that event is ignored, do not send it. */
export interface ExecuteAction {
  readonly type: "execute";
  /** RUN/STEP/N: the N-th action of a step. */
  readonly key: string;
  /** The run's own key of a call: c1, c2, …. */
  readonly call: string;
  /** Where it runs. None: the host itself. */
  readonly server?: string;
  /** Its name there. */
  readonly tool: string;
  readonly effect: Effect;
  /** Exactly the text to be sent. */
  readonly arguments: string;
  /** Of the action. */
  readonly digest?: string;
  /** The same one however often the call is sent. */
  readonly idempotency_key: string;
  /** Later results of a read do not count; an effect is then uncertain. */
  readonly expires: number;
  /** The approval that it uses. */
  readonly approval?: Approval;
  /**
   * The secrets whose values the host puts into the arguments, in the order of the arguments. A host that has no
   * secrets must not send the call.
   */
  readonly secrets?: readonly Secret[];
}

/** Ask a person, and send the decision as `approval`. */
export interface AskApprovalAction {
  readonly type: "ask_approval";
  /** RUN/STEP/N: the N-th action of a step. */
  readonly key: string;
  /** The run's own key of a call: c1, c2, …. */
  readonly call: string;
  /** What a person is asked. */
  readonly ask: Ask;
}

/** Ask a person, and send the answer as `input`; about an uncertain call, as `resolution`. */
export interface AskInputAction {
  readonly type: "ask_input";
  /** RUN/STEP/N: the N-th action of a step. */
  readonly key: string;
  /** Without what cannot be seen. */
  readonly question: string;
  /** The uncertain call of which somebody must say what became. */
  readonly call?: string;
  /** In milliseconds since 1970. */
  readonly expires: number;
}

/** Start the run of another agent, or go on with it: its run has one name. Append `tool_started` before. */
export interface DelegateAction {
  readonly type: "delegate";
  /** RUN/STEP/N: the N-th action of a step. */
  readonly key: string;
  /** The run's own key of a call: c1, c2, …. */
  readonly call: string;
  /** The child's run. */
  readonly run: string;
  /** Its agent. */
  readonly agent: string;
  /** Of its profile. */
  readonly profile: string;
  /** Why, as the model says. */
  readonly reason: string;
  /** All that it is given. */
  readonly task: Readonly<Record<string, unknown>>;
  /** Of the task as it stands here. */
  readonly digest: string;
  /** What the parent allows. It goes into the child's event `started` as `parent`, as it is: see event.schema.json. */
  readonly parent: Bounds;
}

/** Cancel a call that was sent or is about to be. */
export interface CancelAction {
  readonly type: "cancel";
  /** RUN/STEP/N: the N-th action of a step. */
  readonly key: string;
  /** The run's own key of a call: c1, c2, …. */
  readonly call: string;
}

/** The run has ended. */
export interface FinishAction {
  readonly type: "finish";
  /** RUN/STEP/N: the N-th action of a step. */
  readonly key: string;
  readonly status: RunStatus;
  /** The final answer, or what a partial one is made of: `asked`, `found`, `missing`, `why`, `plan`. */
  readonly document?: unknown;
  /** Why it had to end. Empty where the answer is final. */
  readonly reasons: readonly StopReason[];
  /** The kinds of evidence that are missing. */
  readonly missing: readonly string[];
  /** Effects of which nobody knows. */
  readonly uncertain: readonly UncertainCall[];
  /** The kinds of evidence that were found. */
  readonly kinds: readonly string[];
  /** Of all that the model has read. */
  readonly labels: readonly string[];
  /** The weakest of all observations. */
  readonly confidence?: Confidence;
  /** How much was used. */
  readonly used: RunUse;
  readonly requests: readonly ContextRequest[];
}

/** What a step decided. It goes into the journal beside the event. */
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
  /** For people. */
  readonly message: string;
}

/** Something from outside that the model does not get, or not whole. */
export interface LeftOutRecord {
  readonly type: "left_out";
  readonly what: LeftOutWhat;
  /** Of the value. */
  readonly name: string;
  readonly code: LeftOutCode;
  /** For people. */
  readonly message: string;
}

/** What servers list now. */
export interface SurfaceRecord {
  readonly type: "surface";
  /** Those that the model may see. */
  readonly tools: readonly string[];
  readonly hidden: readonly HiddenName[];
}

/** What the model's output was. An output with calls has a decision for each instead. */
export interface OutputRecord {
  readonly type: "output";
  readonly kind: OutputKind;
  /** What the model is told, or what it asked. */
  readonly message: string;
}

/** Whether a call may run. See decision.schema.json. */
export interface DecisionRecord {
  readonly type: "decision";
  /** The run's own key of a call: c1, c2, …. */
  readonly call: string;
  readonly permit: Permit;
  /** Where it runs. */
  readonly server?: string;
  /** As the model gave it, cut. */
  readonly tool: string;
  readonly effect?: Effect;
  /** Of the action. */
  readonly digest?: string;
  /** As the model wrote them, cut to 4 KiB. */
  readonly arguments: string;
  /** Of the whole. */
  readonly arguments_digest: string;
  /** The digest that equal calls share: calls of the same tool with equal arguments, however these are written. */
  readonly same: string;
  /** What the model is told. */
  readonly message: string;
  readonly reasons: readonly Reason[];
  /** The approval that it uses. */
  readonly approval?: Approval;
  /** Where values of the arguments come from. See decision.schema.json. */
  readonly origins?: readonly Proof[];
  /** The secrets that the call takes. See decision.schema.json. */
  readonly secrets?: readonly Secret[];
}

/**
 * A call that equals a call of the event's `joinable`. It was not decided: the host answers it by the other one's
 * result.
 */
export interface JoinedRecord {
  readonly type: "joined";
  /** The digest that equal calls share: calls of the same tool with equal arguments, however these are written. */
  readonly same: string;
}

/** What the model may read of a result. See observation.schema.json. */
export interface ObservationRecord {
  readonly type: "observation";
  /** The run's own key of a call: c1, c2, …. */
  readonly call: string;
  /** Where it ran. */
  readonly server?: string;
  /** Its name there. */
  readonly tool: string;
  readonly status: ObservationStatus;
  /** What claims cite. */
  readonly id: string;
  /** What goes into the prompt. */
  readonly message: string;
  /** The kinds of evidence that it is. */
  readonly kinds: readonly string[];
  /** What is known of the data by where it came from. */
  readonly labels: readonly string[];
  readonly confidence: Confidence;
  /** Whether it is everything that there is. */
  readonly complete: boolean;
  readonly limitations: readonly Limitation[];
  /** The result to hand on in place of one of the Model Context Protocol. Without it, that is handed on as it is. */
  readonly returned?: Readonly<Record<string, unknown>>;
  /** Of the whole result. */
  readonly artifact: string;
  /** Its length. */
  readonly bytes: number;
  /** What was found in the whole result, and what was done about it. */
  readonly found: Found;
  /** As the host says. */
  readonly duration_ms?: number;
  readonly arguments_digest: string;
  /** What `ui` is shown. */
  readonly ui?: string;
  /** What `user` is shown. */
  readonly user?: string;
}

/** A call that came to no result. */
export interface SettledRecord {
  readonly type: "settled";
  /** The run's own key of a call: c1, c2, …. */
  readonly call: string;
  /** Its name, cut. */
  readonly tool: string;
  readonly code: SettledCode;
  /** For people. */
  readonly message: string;
}

/** What left the prompt or the state, so that it fits. */
export interface CutRecord {
  readonly type: "cut";
  readonly from: CutFrom;
  /** Calls whose observations lost their text. */
  readonly calls: readonly string[];
  /** How many of the oldest messages were left out. */
  readonly entries: number;
}

/** Why the run ended. */
export interface StopRecord {
  readonly type: "stop";
  readonly code: StopCode;
  /** For people. */
  readonly message: string;
}

/** A child asked for its parent's context, and was denied: in its own run, and in its parent's. */
export interface ContextRequestRecord {
  readonly type: "context_request";
  /** The run's own key of a call: c1, c2, …. */
  readonly call: string;
  /** In the run of the parent: as the child's end has it. */
  readonly request: Readonly<Record<string, unknown>>;
}

/** How much was used when the run ended. */
export interface UsedRecord {
  readonly type: "used";
  /** How often the model was asked. */
  readonly steps: number;
  /** The use of budgets: see facts.schema.json. */
  readonly budgets: BudgetUse;
}

/** Whether a message between a client and a server may pass, and as what. */
export interface MessageRecord {
  readonly type: "message";
  readonly server: string;
  readonly method: string;
  readonly from: Party;
  readonly permit: Permit;
  /** What it says, cleaned. Without it, it passes as it is. */
  readonly document?: unknown;
  /** What was found in it, and what was done about it. */
  readonly found: Found;
}

/** Whether a call may run. */
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
  /** The text to send, byte for byte. None where the call is denied. */
  readonly arguments: string;
  /** The digest of the action: what is approved is this, and nothing else. */
  readonly digest: string;
  /** What the model may be told. Empty where the call may run. */
  readonly message: string;
  /** Why it may not run, or needs approval. */
  readonly reasons: readonly Reason[];
  /** The approval that the call uses. */
  readonly approval?: Approval;
  /**
   * Where the values come from that the `origins` of the tool hold: those without an origin first. At most 64 of them
   * are listed.
   */
  readonly origins?: readonly Proof[];
  /**
   * The secrets that the call takes, in the order of its arguments. A host that has no secrets must not send such a
   * call.
   */
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
  /** The digest of the action: what is approved is this, and nothing else. */
  readonly digest?: string;
  /** What the model may be told. Empty where the call may run. */
  readonly message: string;
  /** Why it may not run, or needs approval. */
  readonly reasons: readonly Reason[];
  /** Where it is denied: the tools that are not. */
  readonly allowed: readonly string[];
  /**
   * Where the values come from that the `origins` of the tool hold: those without an origin first. At most 64 of them
   * are listed.
   */
  readonly origins?: readonly Proof[];
  /** The members of the facts that changed. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** A person must decide first. Then ask again, with the approval in the facts. */
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
  /** The text to send, byte for byte. None where the call is denied. */
  readonly arguments: string;
  /** The digest of the action: what is approved is this, and nothing else. */
  readonly digest: string;
  /** What the model may be told. Empty where the call may run. */
  readonly message: string;
  /** Why it may not run, or needs approval. */
  readonly reasons: readonly Reason[];
  /** What a person is asked. */
  readonly ask: Ask;
  /**
   * Where the values come from that the `origins` of the tool hold: those without an origin first. At most 64 of them
   * are listed.
   */
  readonly origins?: readonly Proof[];
  /**
   * The secrets that the call takes, in the order of its arguments. A host that has no secrets must not send such a
   * call.
   */
  readonly secrets?: readonly Secret[];
  /** The members of the facts that changed. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** The rules of one agent above a child. */
export interface ParentRules {
  /** The part of its profile that judges calls of the tools that were handed on: see profile.schema.json. */
  readonly profile: Readonly<Record<string, unknown>>;
  /** Its task, if a scope or an origin names it. The child's model does not see it. */
  readonly task?: unknown;
  /** The values of its context that a scope or an origin names. The child's model does not see them. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** The lists that a scope or an origin names. */
  readonly lists?: Readonly<Record<string, readonly string[]>>;
  /** What people said to it, if an origin needs it. The child's model does not see it. */
  readonly said?: readonly string[];
  /** Values of its results that an origin names: see facts.schema.json. The child's model does not see them. */
  readonly observed?: readonly Readonly<Record<string, unknown>>[];
  /**
   * How often each call was permitted in its run and below it before the child started, where its budget has
   * `same_call`. A call that waits for approval counts.
   */
  readonly calls?: Readonly<Record<string, number>>;
  /** When the last calls of each tool with a `rate` were permitted in its run and below it before the child started. */
  readonly recent?: Readonly<Record<string, readonly number[]>>;
  /** How often other children, which run at the same time, may make each call that does more than read. */
  readonly reserved?: number;
}

/** What the child may use. */
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
  /** The key of a call, as its action has it. */
  readonly call: string;
  /** The tools that were handed on. */
  readonly tools: readonly string[];
  /**
   * The rules of the agents above, the parent's first. Each call of the child is judged by all of them, and by its own
   * profile.
   */
  readonly rules: readonly ParentRules[];
  /** What the parent has read. */
  readonly labels?: readonly string[];
  /** What the child may use. */
  readonly budget: ChildBudget;
  /** When, in milliseconds since 1970. The run's time is the greatest one seen. */
  readonly deadline?: number;
  /** Whether the last of the rules is the run's own profile after an edit. Without a parent it is the only one. */
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

/** Tokens. Without it they are estimated from bytes. */
export interface TokenUsage {
  readonly input?: number;
  readonly output?: number;
}

/**
 * The approval covers further calls of this run, too: those of the same tool with the same arguments but for some, as
 * long as they need approval for no other reason. Not with a token.
 */
export interface ApprovalRemember {
  /** The names of the arguments that may differ or be missing. */
  readonly any?: readonly string[];
  /** How many further calls it covers. */
  readonly times?: number;
  /** How long it holds, in seconds from now. */
  readonly ttl_s?: number;
}

/** The labels of the data below one key of a store. */
export interface Stored {
  /** The name of the store. */
  readonly store: string;
  /** The key. Without it: the whole store. */
  readonly key?: string;
  readonly labels: readonly string[];
}

/** What it used. A member that is missing is nothing; without this, it used all that it had. */
export interface ChildUse {
  readonly steps?: number;
  readonly tool_calls?: number;
  readonly tokens?: number;
  readonly ms?: number;
  /** How often each call was permitted. The parent counts them as its own. */
  readonly calls?: Readonly<Record<string, number>>;
  /** When the last calls of each tool with a `rate` were permitted. The parent counts them as its own. */
  readonly recent?: Readonly<Record<string, readonly number[]>>;
}

export interface UncertainCall {
  /** The child's, where a child made it. */
  readonly run?: string;
  /** The key of a call, as its action has it. */
  readonly call: string;
  /** Where it runs. */
  readonly server?: string;
  /** Its name there. */
  readonly tool: string;
  /** What was sent; of a child's, cut to 1 KiB. */
  readonly arguments: string;
}

/** A call that the model asked for. */
export interface RequestedCall {
  /** The run's own key of a call: c1, c2, …. */
  readonly call: string;
  /** The model's own id. */
  readonly id?: string;
  /** Where it runs. */
  readonly server?: string;
  /** As the model gave it. */
  readonly tool: string;
  /** The text as the model wrote it. */
  readonly arguments: string;
}

/**
 * One message. Messages stand in a fixed order: role, rules, task, context, what was said and what came of it, and last
 * what to answer.
 */
export interface PromptMessage {
  readonly role: Role;
  /** What it says. Data from outside stands between marks that it cannot know. */
  readonly text: string;
  /** The calls of an assistant's message. */
  readonly calls?: readonly RequestedCall[];
  /** The call that a tool's message answers. */
  readonly call?: string;
  /** The model's own id of it. */
  readonly id?: string;
  /** The provider's message, unchanged. */
  readonly message?: Readonly<Record<string, unknown>>;
}

/** A tool that the model sees. */
export interface VisibleTool {
  /** Where it runs. */
  readonly server?: string;
  /** Its name. */
  readonly tool: string;
  readonly effect: Effect;
  readonly permit: Permit;
  /** As its server lists it, cleaned. */
  readonly definition?: Readonly<Record<string, unknown>>;
}

/** What the model is asked. */
export interface ModelPrompt {
  readonly messages: readonly PromptMessage[];
  /** The surface: the tools that it may call now. */
  readonly tools: readonly VisibleTool[];
}

/** The approval that it uses. */
export interface Approval {
  /** Who approved. */
  readonly principal: string;
  /** In milliseconds since 1970. */
  readonly at: number;
  /** True if a person gave it for another call of the run, and it covers this one, too. */
  readonly remembered?: boolean;
}

/** A secret whose value the host puts in place of a reference when it sends the call. */
export interface Secret {
  /** A JSON Pointer into the arguments. The value there is the text `secret:NAME`. */
  readonly at: string;
  /** Its name. */
  readonly name: string;
}

/** What a person is asked. */
export interface Ask {
  /** The run's own key of a call: c1, c2, …. */
  readonly key: string;
  /** Of the action: what is approved is this, and nothing else. */
  readonly digest: string;
  /** The principals who may decide: one of them is enough. */
  readonly by: readonly string[];
  /**
   * The public keys of those who have one: their decision counts only with a token that one of these keys signed,
   * whoever's profile has it. Where the profiles of a child and of the agents above it have different keys for one
   * principal, the list is empty, and the principal cannot decide.
   */
  readonly keys?: Readonly<Record<string, readonly string[]>>;
  /** From then on, neither the ask nor an approval holds. */
  readonly expires: number;
  /** What would be sent, whole, with what cannot be seen escaped, and equal calls that ran before. */
  readonly view: string;
}

/** Why the run has to end. */
export interface StopReason {
  readonly code: StopCode;
  /** For people. */
  readonly message: string;
}

/** How much was used. */
export interface RunUse {
  readonly steps: number;
  readonly tool_calls: number;
  readonly tokens: number;
  /** How often each call was permitted, by a digest of the call: for the parent of a child. */
  readonly calls?: Readonly<Record<string, number>>;
  /** When the last calls of each tool with a `rate` were permitted: for the parent of a child. */
  readonly recent?: Readonly<Record<string, readonly number[]>>;
}

/** What a child asked of its parent's context, and was denied. */
export interface ContextRequest {
  /** Why it asked, as it says. */
  readonly reason: string;
  /** Of the task that it was given. */
  readonly packet: string;
  /** The tools that its profile names. */
  readonly tools: readonly string[];
}

/** A tool that it does not see. */
export interface HiddenName {
  /** NAME or SERVER/NAME. */
  readonly tool: string;
  readonly code: HiddenToolCode;
  /** What is wrong with its definition, and where. */
  readonly message?: string;
}

/** Why it may not run, or needs approval. */
export interface Reason {
  readonly code: ReasonCode;
  /** For people. */
  readonly message: string;
  readonly violations: readonly Violation[];
}

/** Where the name of its item stands. */
export interface NamePlace {
  /** `user` or `task`. */
  readonly origin: string;
  /** The number of the text among those that people said, from 1. */
  readonly message?: number;
  /** A JSON Pointer into the task. */
  readonly at?: string;
  /** A part of the text there, in bytes: the first byte, and the one after the last. */
  readonly span?: Span;
}

/** Where a value of a call comes from, or where it was looked for. */
export interface Proof {
  /** A JSON Pointer into the arguments. */
  readonly pointer: string;
  /** `user`, `task`, `context.NAME`, `list NAME`, `TOOL at PATH`, `secret NAME` and others, as the rule has it. */
  readonly origin?: string;
  /** The number of the text among those that people said, from 1. */
  readonly message?: number;
  /** The call whose result has it. */
  readonly call?: string;
  /** A JSON Pointer into the task, the value of the context, the list or the result. */
  readonly at?: string;
  /** A part of the text there, in bytes: the first byte, and the one after the last. */
  readonly span?: Span;
  /** Where the name of its item stands. */
  readonly named?: NamePlace;
  /** Where a value without an origin was looked for. */
  readonly sought?: readonly string[];
}

export interface Instruction {
  readonly kind: string;
  /** Its place in the result. */
  readonly path: string;
  /** Where it is in the text there: the first byte, and the one after the last. */
  readonly span: Span;
}

/** What was found in the whole result, and what was done about it. */
export interface Found {
  /** How many links and images are defanged. */
  readonly defanged: number;
  /** How many hidden characters of each kind are escaped. */
  readonly escaped: Readonly<Record<string, number>>;
  /** Passages that read like an instruction. They stay. */
  readonly instructions: readonly Instruction[];
  /** How many more there are. */
  readonly instructions_left_out: number;
  /** How many secrets of each kind are left out. */
  readonly redacted: Readonly<Record<string, number>>;
}

/** The use of budgets: see facts.schema.json. */
export interface BudgetUse {
  readonly tool_calls: number;
  readonly tokens: number;
  readonly ms: number;
  /** How often each call was permitted, by a digest of the call. */
  readonly calls: Readonly<Record<string, number>>;
  /** When the last calls of each tool with a `rate` were permitted. */
  readonly recent?: Readonly<Record<string, readonly number[]>>;
}

/** Where it was cut: how many items or lines of how many are shown. */
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
  /** Until when the data goes, in milliseconds since 1970. */
  readonly until?: number;
  readonly lag_s: number;
  readonly stale: boolean;
}

/** What the model may read of a result. */
export interface Observation {
  /** The document as JSON text, the same bytes as in every other runtime. Not enumerable. */
  readonly json: string;
  /** What claims cite: the tool's name, `#`, and the key of the call. */
  readonly id: string;
  readonly server?: string;
  readonly tool: string;
  /**
   * `error`: the tool says that it failed. `invalid`: the result is not what its schema asks for, and none of it is
   * shown.
   */
  readonly status: ObservationStatus;
  /** What goes into the prompt: where the data comes from, what is wrong with it, and the text between marks. */
  readonly message: string;
  /** The data: cut, cleaned, at most `max_bytes` of the profile. */
  readonly text: string;
  /** The kinds of evidence that it is. */
  readonly kinds: readonly string[];
  readonly labels: readonly string[];
  readonly confidence: Confidence;
  /** Whether it is everything that there is. */
  readonly complete: boolean;
  readonly limitations: readonly Limitation[];
  /** The result to hand on in place of one of the Model Context Protocol. Without it, that is handed on as it is. */
  readonly returned?: Readonly<Record<string, unknown>>;
  /** The digest of the whole result, under which the host keeps it. */
  readonly artifact: string;
  /** The length of the whole result. */
  readonly bytes: number;
  /** Where it was cut: how many items or lines of how many are shown. */
  readonly shown?: Shown;
  readonly provenance: Provenance;
  readonly freshness?: Freshness;
  /** What was found in the whole result, and what was done about it. */
  readonly found: Found;
  /** Where it does not match its schema. */
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
