import type { FaultCode, Violation } from "./types.js";

/** What a fault says to programs. */
export interface FaultDetail {
  /** For `bad_request` and `bad_contract`: what is wrong, with places in that document. */
  readonly violations?: readonly Violation[];
  /** For `unknown_agent`: the agents that have a contract. */
  readonly agents?: readonly string[];
  /** For `input_too_large`: how many bytes there were. */
  readonly bytes?: number;
  /** For a limit that was passed: the limit, in units of fuel, bytes or milliseconds. */
  readonly limit?: number;
}

/**
 * No verdict could be given: a mistake of the caller, or a limit that was passed. Never a rejected output, which is a
 * report. Everything fails closed: no part of the output was accepted.
 */
export class SeamgateFault extends Error {
  override readonly name = "SeamgateFault";
  /** Which kind of fault. */
  readonly code: FaultCode;
  /** What it says to programs. */
  readonly detail: FaultDetail;

  constructor(code: FaultCode, message: string, detail: FaultDetail = {}, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.detail = detail;
  }

  /** The fault as it stands in answers: `{"fault":…,"message":…,"detail":{…}}`. */
  toJSON(): { fault: FaultCode; message: string; detail: FaultDetail } {
    return { fault: this.code, message: this.message, detail: this.detail };
  }

  /** The fault that an answer tells. */
  static of(answer: { fault: FaultCode; message: string; detail: FaultDetail }): SeamgateFault {
    return new SeamgateFault(answer.fault, answer.message, answer.detail);
  }
}

/** A gate could not be made: the component is not there, or not one that can be run within limits. */
export class LoadError extends Error {
  override readonly name = "LoadError";
}

/** A file or folder cannot be read, or is not what it should be. */
export class FileError extends Error {
  override readonly name = "FileError";
}

/** A journal cannot be read or written, or is of something else. Nothing that it had is lost. */
export class JournalError extends Error {
  override readonly name = "JournalError";
}
