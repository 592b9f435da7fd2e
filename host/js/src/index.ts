export type { Component } from "./component.js";
export type { Contract } from "./contract.js";
export { type FaultCode, type FaultDetail, LoadError, SeamgateFault } from "./fault.js";
export { Gate, type GateOptions, type Instance, type OutputOptions } from "./gate.js";
export type { Limits } from "./limits.js";
export { type JsonSchema, type ParseResult, ResultParser, type StandardSchema } from "./parser.js";
export { ContractRegistry } from "./registry.js";
export type {
  Answer,
  Candidate,
  Change,
  ContractInfo,
  Disposition,
  Finish,
  Item,
  OutputError,
  Quarantined,
  Report,
  ReportDocument,
  Span,
  Usage,
  Verdict,
  Violation,
  Warning,
} from "./report.js";
export { type WorkerAnswer, WorkerGate, type WorkerOptions, type WorkerRequest } from "./worker-gate.js";
