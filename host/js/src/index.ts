import type { Backend } from "./engine.js";

export { AnswerStream, type AskEvent, ask, askStream, type Reply } from "./ask.js";
export type {
  AskOptions,
  AskResult,
  AskStreamOptions,
  Attempt,
  CallContext,
  Message,
  Prompt,
  Stop,
} from "./asking.js";
export type { Component } from "./component.js";
export type { Contract, ContractDocument, Profile, TypedContract } from "./contract.js";
export type {
  Asked,
  Audience,
  Call,
  Decided,
  Facts,
  HiddenTool,
  ProfileInfo,
  Observed,
  Remembered,
  Step,
  Surface,
  SurfaceTool,
  ToolResult,
  Used,
} from "./decision.js";
export type { Backend } from "./engine.js";
export { type FaultDetail, FileError, JournalError, LoadError, SeamgateFault } from "./fault.js";
export { type BakeOptions, bake, readContracts, readProfiles } from "./files.js";
export { Gate, type GateOptions, type Instance, type OutputOptions, type Seen } from "./gate.js";
export type { Outcome, Produced, RunStop } from "./harness.js";
export type { Limits } from "./limits.js";
export type { Begin, Loop, LoopOptions } from "./loop.js";
export type { RunJournal, RunOptions } from "./options.js";
export { type ParseOptions, type ParseResult, ResultParser } from "./parser.js";
export type { CompletedItem, DeepPartial } from "./partial.js";
export type { ContractPolicy, JsonSchema } from "./policy.js";
export { ContractRegistry } from "./registry.js";
export {
  type Answer,
  type Judged as Report,
  type LocatedViolation,
  NotAcceptedError,
  type Usage,
  type Verdict,
} from "./report.js";
export { type Journal, Run } from "./run.js";
export type { SchemaOptions } from "./schemas.js";
export { Session, type SessionProgress, type Snapshot } from "./session.js";
export { type StandardSchema, type ValidatingSchema, withJsonSchema } from "./standard.js";
export type { ReplyStream } from "./streams.js";
export type {
  Candidate,
  Change,
  ChangeKind,
  Completed,
  Completeness,
  Confidence,
  ContractInfo,
  DeadEnd,
  Disposition,
  ErrorKind,
  FaultCode,
  Finish,
  Item,
  MergeOutcome,
  MergeStep,
  OutputError,
  Progress,
  Quarantined,
  QuarantineReason,
  ReportDocument,
  Source,
  Span,
  Violation,
  Wanted,
  Warning,
} from "./types.js";
export type {
  Action,
  AllowedDecision,
  Approval,
  ApprovalAnswer,
  ApprovalDecision,
  ApprovalEvent,
  Ask,
  AskApprovalAction,
  AskInputAction,
  AskModelAction,
  Bounds,
  BudgetUse,
  CallCancelledEvent,
  CallEvent,
  CancelAction,
  CancelledEvent,
  ChildBudget,
  ChildResultEvent,
  ChildUse,
  ContextEvent,
  ContextRequest,
  ContextRequestRecord,
  CutFrom,
  CutRecord,
  Decision,
  DecisionRecord,
  DelegateAction,
  DeniedDecision,
  Effect,
  ExecuteAction,
  FinishAction,
  Found,
  Freshness,
  HiddenName,
  HiddenToolCode,
  IgnoredCode,
  IgnoredRecord,
  InputEvent,
  Instruction,
  JobEvent,
  LeftOutCode,
  LeftOutRecord,
  LeftOutWhat,
  Limitation,
  MessageEvent,
  MessageRecord,
  ModeEvent,
  ModelCall,
  ModelFailedEvent,
  ModelOutputEvent,
  ModelPrompt,
  Observation,
  ObservationRecord,
  ObservationStatus,
  OutputKind,
  OutputRecord,
  ParentRules,
  Party,
  Permit,
  PossibleEffect,
  PromptMessage,
  Provenance,
  Purpose,
  Reason,
  ReasonCode,
  RequestedCall,
  ResolutionEvent,
  ResolutionOutcome,
  ResultStatus,
  ResumedEvent,
  Role,
  RunEvent,
  RunRecord,
  RunStatus,
  RunUse,
  SettledCode,
  SettledRecord,
  Shown,
  ShownUnit,
  StartedEvent,
  StopCode,
  StopReason,
  StopRecord,
  SurfaceRecord,
  TickEvent,
  TokenUsage,
  ToolFailedEvent,
  ToolResultEvent,
  ToolStartedEvent,
  ToolsListedEvent,
  UncertainCall,
  UsedRecord,
  UserMessageEvent,
  VisibleTool,
} from "./words.js";
export { type WorkerAnswer, WorkerGate, type WorkerOptions, type WorkerRequest } from "./worker-gate.js";

/** What runs the sandbox of gates that are given no component. Each platform's entry point has it. */
export declare const backend: Backend;
