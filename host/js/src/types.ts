// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

/** A piece of the output, as byte offsets into the given UTF-8 text. In JSON, it is `[start,end]`. */
export type Span = readonly [start: number, end: number];

/** The outcome for an output. */
export type Disposition = "accepted" | "partial" | "rejected" | "refused";

/**
 * The reason for which the producer stopped, as its API reports it. In JSON and in the host libraries, the words of the
 * common APIs are also accepted: `schemas/request.schema.json` has the table.
 */
export type Finish = "stop" | "length" | "refusal" | "content_filter" | "tool_call" | "unknown";

/** The confidence in an observation. */
export type Confidence = "low" | "medium" | "high";

/** A requirement that is not met. */
export interface Violation {
  /** The location in the document as a JSONPath (RFC 9535) of names and indices: `$.citations[0].url`. */
  readonly path: string;
  /**
   * The violated keyword of the schema (`type`, `required`, …), or the failed check of the gate: `json`, `utf8`,
   * `extract`, `duplicate_member`, `lone_surrogate`, `number_range`, `caps.depth`, `caps.bytes`, `caps.string_bytes`,
   * `caps.array_items`, `caps.object_members`, `allow`, `items` (no item is valid), `items.max`; or `evidence.claim` (a
   * claim has no text or cites nothing), `evidence.id`, `evidence.quote`, `evidence.value` (the value at a pointer),
   * `evidence.compute` (a figure computed from others), `evidence.number` (a figure of the claim),
   * `evidence.confidence`, `evidence.limitations`, `evidence.absence`, `evidence.kind`.
   */
  readonly keyword: string;
  /** A short description of what would be right. */
  readonly expected: string;
  /** The received value, truncated to 256 bytes. Invisible characters are escaped as in JSON strings. */
  readonly received: string;
  /** One sentence for people. */
  readonly message: string;
  /** The same location as a JSON Pointer (RFC 6901). Empty for the whole document. */
  readonly pointer: string;
  /**
   * The location of the keyword in the schema as a JSON Pointer. If the keyword is in one of `resources`, a URI with a
   * pointer as its fragment. Empty if no keyword is involved.
   */
  readonly schema_path: string;
  /** The affected piece of the output, if there is one. */
  readonly span: Span | null;
}

/** The stage that rejected the output. */
export type ErrorKind = "output_validation_failed" | "extraction_failed" | "malformed_json";

/** The error of a rejected output. */
export interface OutputError {
  /** The stage that rejected it. */
  readonly error: ErrorKind;
  /** The schema's `$id`, if it has one. */
  readonly schema_id: string | null;
  /** The agent that produced the output. */
  readonly agent_id: string;
  /** At most 100 violations, in document order and then in schema order. `notes` says if there were more. */
  readonly violations: readonly Violation[];
  /** The output, truncated to 4,096 bytes at a character boundary. The end says how much was left out. */
  readonly raw_output: string;
  /** True if another attempt by the same producer can help. */
  readonly retryable: boolean;
}

/** The reason for which an item is in quarantine: the first check that it failed, in this order. */
export type QuarantineReason = "malformed" | "schema" | "guardrail" | "allow_list" | "evidence" | "over_limit";

/** An item that was left out of `output`. */
export interface Quarantined {
  /** The index among the items as the producer wrote them, from 0. */
  readonly index: number;
  /** The item's location in the document, as a JSONPath. */
  readonly path: string;
  /** The same location as a JSON Pointer (RFC 6901). */
  readonly pointer: string;
  /** The first check that it failed. */
  readonly reason: QuarantineReason;
  /** The piece of the output, if the item is in this output. */
  readonly span: Span | null;
  /** The item's text, truncated to 256 bytes. */
  readonly snippet: string;
  /**
   * The violations of the failed check: at most 10, and 1,000 for all items together. `notes` says if there were more.
   */
  readonly violations: readonly Violation[];
}

/** A valid item of an invalid document. */
export interface Item {
  /** The index among the items as the producer wrote them, from 0. */
  readonly index: number;
  /** The item's location in the document, as a JSONPath. */
  readonly path: string;
  /** The piece of the output. */
  readonly span: Span | null;
  /** The item as JSON text without optional white space. */
  readonly value: unknown;
}

/**
 * The kind of a change. Kinds that repair syntax come first, then kinds that remove what could not be repaired, then
 * kinds that the contract asks for.
 */
export type ChangeKind =
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
  | "punctuation"
  | "unescaped"
  | "wrapped"
  | "stray"
  | "around"
  | "item_removed"
  | "member_removed"
  | "stripped"
  | "coerced"
  | "unwrapped";

/**
 * One change that was made to the text before validation. Applied in order to the chosen candidate, the changes produce
 * exactly the text that was validated. They do not overlap, and several may insert text at the same position.
 */
export interface Change {
  /** The kind of the change. */
  readonly kind: ChangeKind;
  /** The path of the innermost affected value, as far as it exists. */
  readonly path: string;
  /** The affected piece of the output. */
  readonly span: Span | null;
  /** The replaced text, truncated to 256 bytes. */
  readonly before: string;
  /** The complete replacement. */
  readonly after: string;
}

/** The way in which a candidate was found. */
export type Source = "block" | "raw" | "embedded";

/** A piece of the output that could be the requested JSON. */
export interface Candidate {
  /** The way in which it was found. */
  readonly source: Source;
  /** The contract's marker on the block. None for a block without an info string, and for other sources. */
  readonly marker: string | null;
  /** The piece of the output. */
  readonly span: Span;
  /** True if this candidate was judged. */
  readonly chosen: boolean;
}

/** The content that the feedback requests from the producer. */
export type Wanted = "nothing" | "items" | "whole";

/** The use that `merge` made of a report. */
export type MergeOutcome = "replaced" | "gave_items" | "gave_none" | "unused" | "invalid";

/** The outcome for one merged report. */
export interface MergeStep {
  /** The index in the list that `merge` received, from 0. */
  readonly report: number;
  /** The use that `merge` made of the report. */
  readonly outcome: MergeOutcome;
  /** The numbers of the items that it provided. */
  readonly items: readonly number[];
  /** The numbers of its items that match no requested item. They are not used. */
  readonly unknown: readonly number[];
}

/** The verdict on one output. It is data, never an exception. */
export interface ReportDocument<T = unknown> {
  /** The outcome for the output. */
  readonly disposition: Disposition;
  /** The agent that produced the output. */
  readonly agent: string;
  /** The schema's `$id`, if it has one. */
  readonly schema_id: string | null;
  /** The digest of the contract: `sha256:` and 64 hexadecimal digits. */
  readonly contract: string;
  /**
   * The validated document as JSON text without optional white space. Numbers keep their digits. None if nothing was
   * accepted.
   */
  readonly output: T | null;
  /** The error. None unless violations rejected the output. */
  readonly error: OutputError | null;
  /** The valid items, if the output is rejected, so that they are not lost. Empty otherwise. */
  readonly items: readonly Item[];
  /** At most 1,000 quarantined items, in the order of the items. `notes` says if there were more. */
  readonly quarantined: readonly Quarantined[];
  /** The changes that were made to the text before validation. */
  readonly changes: readonly Change[];
  /** The candidates that were found: the first 64 and the chosen one. `notes` says if there were more. */
  readonly candidates: readonly Candidate[];
  /**
   * Further information for the caller: limits that were reached, checks that never applied, the span of each piece of
   * the output that was left out as reasoning or as prose, and whether JSON was taken from prose.
   */
  readonly notes: readonly string[];
  /** True if a person should review the output before it is used, because it is partial. */
  readonly review_required: boolean;
  /**
   * At most 2,048 bytes to send back to the producer: what was wrong and where. Empty if the output is accepted. If
   * some items were kept and others are still wanted, it requests only those, and `merge` combines the answers.
   */
  readonly feedback: string;
  /** The content that `feedback` requests. */
  readonly wanted: Wanted;
  /** If `merge` made this report, the use that it made of each report after the base. Empty otherwise. */
  readonly merged: readonly MergeStep[];
}

/** A registered contract. */
export interface ContractInfo {
  /** The agent whose outputs it judges. */
  readonly agent: string;
  /** The version of the contract. */
  readonly version: string;
  /** The schema's `$id`, if it has one. */
  readonly schemaId: string | null;
  /** See `report.contract`. */
  readonly contract: string;
  /** The number of times that the producer may be asked again. */
  readonly retryLimit: number;
  /** The lists that its `allow` names, in ascending order of their bytes. */
  readonly lists: readonly string[];
}

/** The severity of a warning. */
export type Level = "error" | "warning" | "hint";

/** A likely mistake in a valid contract. */
export interface Warning {
  /** The location in the contract, as a JSONPath. */
  readonly path: string;
  /** The kind of warning, as a word that programs can compare. */
  readonly code: string;
  /** The likely mistake, and how to correct it. */
  readonly message: string;
  /** The same location as a JSON Pointer (RFC 6901). */
  readonly pointer: string;
  /** The severity, which is the same for all warnings with this code. */
  readonly level: Level;
  /** The affected piece of the contract, if there is one. For an unknown keyword, its name. */
  readonly span: Span | null;
}

/** The progress of a document. */
export type Completeness = "in_flight" | "soft_complete" | "hard_complete";

/** An item that is complete in the text so far. It is not judged before `finish`. */
export interface Completed {
  /**
   * The offset at which the item's candidate begins. An output may have several candidates, and the contract selects
   * one at the end.
   */
  readonly candidate: number;
  /** The index among the items of that candidate, from 0. */
  readonly index: number;
  /** The item's text in the output. */
  readonly span: Span;
}

/**
 * The reason for which the current candidate can no longer become valid, whatever follows. Reported only if nothing but
 * later text could be taken instead, such as a later block if the contract takes the last one. This is judged by the
 * candidates in the text so far. The verdict is that of `finish`.
 */
export interface DeadEnd {
  /**
   * The check that the candidate fails: `json`, `extract`, `caps.bytes`, `caps.depth`, `caps.string_bytes`,
   * `caps.array_items` or `caps.object_members`.
   */
  readonly keyword: string;
  /** One sentence for people. */
  readonly message: string;
  /** The offset in the output at which the failure was detected. */
  readonly at: number;
}

/** The state after a chunk. */
export interface Progress {
  /** The progress of the document. */
  readonly completeness: Completeness;
  /** The items that this chunk completed, in order. */
  readonly items: readonly Completed[];
  /** The reason for which the candidate can no longer become valid, if so. */
  readonly deadEnd: DeadEnd | null;
}

/** The word for a fault, the same in every language. */
export type FaultCode =
  | "bad_request"
  | "bad_contract"
  | "bad_profile"
  | "unknown_agent"
  | "sealed"
  | "out_of_fuel"
  | "out_of_memory"
  | "stack_overflow"
  | "timeout"
  | "busy"
  | "input_too_large"
  | "trap";
