export {
  type AskOptions,
  type AskResult,
  type Attempt,
  ask,
  type Message,
  type Prompt,
  type Reply,
  type Stop,
} from "./ask.js";
export type { Component } from "./component.js";
export type { Contract, ContractDocument, JsonSchema, Profile } from "./contract.js";
export type {
  Ask,
  Asked,
  Audience,
  Call,
  Decided,
  Decision,
  Facts,
  Found,
  HiddenTool,
  Observation,
  ProfileInfo,
  Reason,
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
export { type ParseResult, ResultParser } from "./parser.js";
export { ContractRegistry } from "./registry.js";
export type { Answer, Judged as Report, Usage, Verdict } from "./report.js";
export { type Action, type Journal, Run } from "./run.js";
export { Session } from "./session.js";
export type { StandardSchema } from "./standard.js";
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
export { type WorkerAnswer, WorkerGate, type WorkerOptions, type WorkerRequest } from "./worker-gate.js";
