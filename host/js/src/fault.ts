import type { FaultCode, Violation } from "./types.js";

/** The machine-readable details of a fault. */
export interface FaultDetail {
  /** For `bad_request` and `bad_contract`: the violations, with paths in that document. */
  readonly violations?: readonly Violation[];
  /** For `unknown_agent`: the agents that have a contract. */
  readonly agents?: readonly string[];
  /** For `input_too_large`: the size of the output in bytes. */
  readonly bytes?: number;
  /** For an exceeded limit: the limit, in units of fuel, bytes or milliseconds. */
  readonly limit?: number;
}

/**
 * No verdict was possible, because of a mistake by the caller or an exceeded limit. Never a rejected output, which is a
 * report. Faults fail closed: no part of the output was accepted.
 */
export class SeamgateFault extends Error {
  override readonly name = "SeamgateFault";
  /** The kind of fault. */
  readonly code: FaultCode;
  /** The machine-readable details. */
  readonly detail: FaultDetail;

  constructor(code: FaultCode, message: string, detail: FaultDetail = {}, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.detail = detail;
  }

  /** The fault in the form of an answer: `{"fault":…,"message":…,"detail":{…}}`. */
  toJSON(): { fault: FaultCode; message: string; detail: FaultDetail } {
    return { fault: this.code, message: this.message, detail: this.detail };
  }

  /** Returns the fault in an answer. */
  static of(answer: { fault: FaultCode; message: string; detail: FaultDetail }): SeamgateFault {
    return new SeamgateFault(answer.fault, answer.message, answer.detail);
  }
}

/** A gate could not be created: the component is missing, or cannot be run within limits. */
export class LoadError extends Error {
  override readonly name = "LoadError";
}

/** A file or folder cannot be read, or is of the wrong kind. */
export class FileError extends Error {
  override readonly name = "FileError";
}

/** A journal cannot be read or written, or belongs to another run or profile. No recorded line is lost. */
export class JournalError extends Error {
  override readonly name = "JournalError";
}
