import { valueEnd } from "./text.js";

/** What became of an output. */
export type Disposition = "accepted" | "partial" | "rejected" | "refused";

/** Why the producer stopped. */
export type Finish = "stop" | "length" | "refusal" | "content_filter" | "tool_call" | "unknown";

/** Byte offsets into the output as it was given, the end exclusive; null where no piece of it is concerned. */
export type Span = readonly [start: number, end: number] | null;

/** One thing that is wrong. */
export interface Violation {
  /** Where in the document, as a JSONPath: `$.citations[0].url`. */
  readonly path: string;
  /** The keyword of the schema that is not met, or the check of the gate that is not (`json`, `caps.depth` …). */
  readonly keyword: string;
  /** What would be right, short. */
  readonly expected: string;
  /** What was there instead, cut to 256 bytes. */
  readonly received: string;
  /** One sentence for a person. */
  readonly message: string;
  /** The same place as a JSON Pointer. */
  readonly pointer: string;
  /** The keyword's place in the schema; empty where no keyword is concerned. */
  readonly schema_path: string;
  readonly span: Span;
}

/** Why an output was rejected. */
export interface OutputError {
  readonly error: "output_validation_failed" | "extraction_failed" | "malformed_json";
  readonly schema_id: string | null;
  readonly agent_id: string;
  /** At most 100; `notes` says where there were more. */
  readonly violations: readonly Violation[];
  /** The output, cut to 4,096 bytes; the cut says how much is left out. */
  readonly raw_output: string;
  /** Whether another attempt by the same producer can help. */
  readonly retryable: boolean;
}

/** One item that is valid, of a document that is not. */
export interface Item {
  readonly index: number;
  readonly path: string;
  readonly span: Span;
  readonly value: unknown;
}

/** One item that was kept out of `output`. */
export interface Quarantined {
  /** Its place among the items as the producer wrote them, from 0. */
  readonly index: number;
  readonly path: string;
  /** The first check that it failed. */
  readonly reason: "malformed" | "schema" | "guardrail" | "allow_list" | "over_limit";
  readonly span: Span;
  /** Its text, cut to 256 bytes. */
  readonly snippet: string;
  /** At most 10. */
  readonly violations: readonly Violation[];
}

/** One change that was made to the text before it was validated. */
export interface Change {
  readonly kind:
    | "closed"
    | "closed_string"
    | "dropped"
    | "comma_added"
    | "comma_removed"
    | "colon_added"
    | "comment"
    | "space"
    | "quotes"
    | "quoted"
    | "escaped"
    | "literal"
    | "wrapped"
    | "stray"
    | "around"
    | "item_removed"
    | "member_removed"
    | "stripped";
  readonly path: string;
  readonly span: Span;
  /** What stood there, cut to 256 bytes. */
  readonly before: string;
  /** What stands there instead, whole. */
  readonly after: string;
}

/** A piece of the output that could be the JSON asked for. */
export interface Candidate {
  readonly source: "block" | "raw" | "embedded";
  readonly marker: string | null;
  readonly span: Span;
  /** Whether this one was judged. */
  readonly chosen: boolean;
}

/** What `schemas/report.schema.json` describes, with the names it has there. */
export interface ReportDocument<T = unknown> {
  readonly disposition: Disposition;
  readonly agent: string;
  readonly schema_id: string | null;
  /** The digest of the contract. */
  readonly contract: string;
  /** The validated document; null unless something was accepted. */
  readonly output: T | null;
  /** Null unless violations rejected the output. */
  readonly error: OutputError | null;
  /** The items that are valid, where the output is rejected. */
  readonly items: readonly Item[];
  readonly quarantined: readonly Quarantined[];
  readonly changes: readonly Change[];
  readonly candidates: readonly Candidate[];
  readonly notes: readonly string[];
  /** Whether a person should look before the output is used: it is partial. */
  readonly review_required: boolean;
  /** At most 2,048 bytes, ready to be sent back to the producer. Empty when accepted. */
  readonly feedback: string;
}

/**
 * The verdict on one output. Data, never an exception.
 *
 * Members in `snake_case` are the report as every host gives it; those in `camelCase` read it. JavaScript's numbers do
 * not hold all digits that JSON's have: where integers over 2⁵³ or exact decimals matter, take {@link
 * Report.outputJson}.
 */
export class Report<T = unknown> implements ReportDocument<T> {
  declare readonly disposition: Disposition;
  declare readonly agent: string;
  declare readonly schema_id: string | null;
  declare readonly contract: string;
  declare readonly output: T | null;
  declare readonly error: OutputError | null;
  declare readonly items: readonly Item[];
  declare readonly quarantined: readonly Quarantined[];
  declare readonly changes: readonly Change[];
  declare readonly candidates: readonly Candidate[];
  declare readonly notes: readonly string[];
  declare readonly review_required: boolean;
  declare readonly feedback: string;

  readonly #json: string;
  readonly #raw: string;

  /** @internal */
  constructor(json: string, raw: string) {
    Object.assign(this, JSON.parse(json));
    this.#json = json;
    this.#raw = raw;
  }

  /** Whether the output was accepted. A partial one was not: look at `quarantined` and `changes` before you use it. */
  get success(): boolean {
    return this.disposition === "accepted";
  }

  /** The validated document, as `output`: also of a partial verdict, and null where there is none. */
  get data(): T | null {
    return this.output;
  }

  /** The output that was judged. What was not Unicode in it is U+FFFD here. */
  get raw(): string {
    return this.#raw;
  }

  /** What is wrong with the document. Empty where none was found or read: then see {@link Report.extractionError}. */
  get validationErrors(): readonly Violation[] {
    return this.error?.error === "output_validation_failed" ? this.error.violations : [];
  }

  /** Why no document could be found or read, in one sentence; null where one was. */
  get extractionError(): string | null {
    if (this.error === null || this.error.error === "output_validation_failed") {
      return null;
    }
    const first = this.error.violations[0];
    return first === undefined ? this.error.error : `${first.path} ${first.message}`;
  }

  /** The report as JSON text: the same bytes in every runtime. */
  get json(): string {
    return this.#json;
  }

  /** The validated document as JSON text, numbers with the digits they were written with; null where there is none. */
  get outputJson(): string | null {
    // A document may be `null` itself.
    if (this.disposition !== "accepted" && this.disposition !== "partial") {
      return null;
    }
    // Members have one order, and texts before this one are escaped: its first place is its place.
    const name = '"output":';
    const start = this.#json.indexOf(name) + name.length;
    return this.#json.slice(start, valueEnd(this.#json, start));
  }
}

/** Which contract is registered for an agent. */
export interface ContractInfo {
  readonly agent: string;
  readonly version: string;
  /** The schema's `$id`, where it has one. */
  readonly schema_id: string | null;
  /** The digest of the contract, as in `report.contract`. */
  readonly contract: string;
  /** How often the producer may be asked again. */
  readonly retry_limit: number;
  /** The lists that its `allow` names, in ascending order. */
  readonly lists: readonly string[];
}

/** Something in a contract that works and is likely a mistake. */
export interface Warning {
  readonly path: string;
  /** Which kind: a word that a program can compare. */
  readonly code: string;
  /** What to do about it. */
  readonly message: string;
  readonly pointer: string;
}

/** What one call used. Beside the report, never inside it. */
export interface Usage {
  /** Units of fuel, about one for each WebAssembly instruction. The same request takes the same on every machine. */
  readonly fuel: number;
  /** The most memory that the instance had, in bytes. */
  readonly memory: number;
  /** Wall clock, in milliseconds. */
  readonly elapsed: number;
  /** Which component used it: `sha256:` and the digest of the one in this package. Fuel is comparable only under the same. */
  readonly component: string;
}

/** The answer to one request that is JSON text, and what it took. */
export interface Answer {
  /** One line of JSON text: `{"id":…,"report":{…}}`, `{"id":…,"result":…}` or `{"id":…,"fault":{…}}`. */
  readonly json: string;
  readonly usage: Usage;
}

/** The verdict on one output, and what it took. */
export interface Verdict<T = unknown> {
  readonly report: Report<T>;
  readonly usage: Usage;
}
