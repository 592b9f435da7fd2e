// Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

/** A piece of the output, as byte offsets into the text as it was given, in UTF-8. In JSON it is `[start,end]`. */
export type Span = readonly [start: number, end: number];

/** What became of an output. */
export type Disposition = "accepted" | "partial" | "rejected" | "refused";

/**
 * Why the producer stopped, as its API said. On the wire and in the hosts' libraries, the words of the common APIs
 * stand for these: `schemas/request.schema.json` has the table.
 */
export type Finish = "stop" | "length" | "refusal" | "content_filter" | "tool_call" | "unknown";

/** How sure one may be of what was seen. */
export type Confidence = "low" | "medium" | "high";

/** One thing that is wrong. */
export interface Violation {
  /** Where in the document, as a JSONPath (RFC 9535) of names and indices: `$.citations[0].url`. */
  readonly path: string;
  /**
   * The keyword of the schema that is not met (`type`, `required`, …), or the check of the gate that is not: `json`,
   * `utf8`, `extract`, `duplicate_member`, `lone_surrogate`, `number_range`, `caps.depth`, `caps.bytes`,
   * `caps.string_bytes`, `caps.array_items`, `caps.object_members`, `allow`, `items` (none of them is valid),
   * `items.max`; or `evidence.claim` (a claim has no text or cites nothing), `evidence.id`, `evidence.quote`,
   * `evidence.value` (what stands at a pointer), `evidence.compute` (a figure that follows from others),
   * `evidence.number` (a figure of the claim), `evidence.confidence`, `evidence.limitations`, `evidence.absence`,
   * `evidence.kind`.
   */
  readonly keyword: string;
  /** What would be right, short. */
  readonly expected: string;
  /** What was there instead, cut to 256 bytes; what cannot be seen is escaped as JSON strings escape it. */
  readonly received: string;
  /** One sentence for a person. */
  readonly message: string;
  /** The same place as a JSON Pointer (RFC 6901); empty for the whole document. */
  readonly pointer: string;
  /**
   * The keyword's place in the schema as a JSON Pointer; as a URI with a pointer for its fragment where the keyword
   * stands in one of `resources`. Empty where no keyword is concerned.
   */
  readonly schema_path: string;
  /** The piece of the output concerned, where there is one. */
  readonly span: Span | null;
}

/** Which of the three stages rejected the output. */
export type ErrorKind = "output_validation_failed" | "extraction_failed" | "malformed_json";

/** The canonical error of a rejected output. */
export interface OutputError {
  /** Which stage rejected it. */
  readonly error: ErrorKind;
  /** The schema's `$id`, where it has one. */
  readonly schema_id: string | null;
  /** The agent whose output it is. */
  readonly agent_id: string;
  /** At most 100, in document order, then in the order of the schema; `notes` says where there were more. */
  readonly violations: readonly Violation[];
  /** The output, cut to 4,096 bytes at a character boundary; the cut says how much is left out. */
  readonly raw_output: string;
  /** Whether another attempt by the same producer can help. */
  readonly retryable: boolean;
}

/** Why an item is in quarantine: the first check that it failed, in this order. */
export type QuarantineReason = "malformed" | "schema" | "guardrail" | "allow_list" | "evidence" | "over_limit";

/** One item that was kept out of `output`. */
export interface Quarantined {
  /** Its place among the items as the producer wrote them, from 0. */
  readonly index: number;
  /** Where it stood in the document, as a JSONPath. */
  readonly path: string;
  /** The same place as a JSON Pointer (RFC 6901). */
  readonly pointer: string;
  /** The first check that it failed. */
  readonly reason: QuarantineReason;
  /** The piece of the output, where it stood in this one. */
  readonly span: Span | null;
  /** Its text, cut to 256 bytes. */
  readonly snippet: string;
  /**
   * What is wrong by the check that it failed: at most 10, and 1,000 for all items together; `notes` says where there
   * were more.
   */
  readonly violations: readonly Violation[];
}

/** One item that is valid, of a document that is not. */
export interface Item {
  /** Its place among the items as the producer wrote them, from 0. */
  readonly index: number;
  /** Where it stood in the document, as a JSONPath. */
  readonly path: string;
  /** The piece of the output. */
  readonly span: Span | null;
  /** The item. JSON text without optional white space. */
  readonly value: unknown;
}

/**
 * What a change did: first what puts right what is only syntax, then what leaves out what could not be put right, then
 * what the contract asks for.
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
 * One change that was made to the text before it was validated. Applied in order to the candidate that was chosen, the
 * changes give exactly the text that was validated; they do not overlap, and several may insert at one place.
 */
export interface Change {
  /** What it did. */
  readonly kind: ChangeKind;
  /** The innermost value concerned, as far as it is there. */
  readonly path: string;
  /** The piece of the output concerned. */
  readonly span: Span | null;
  /** What stood there, cut to 256 bytes. */
  readonly before: string;
  /** What stands there instead, whole. */
  readonly after: string;
}

/** How a candidate was found. */
export type Source = "block" | "raw" | "embedded";

/** A piece of the output that could be the JSON asked for. */
export interface Candidate {
  /** How it was found. */
  readonly source: Source;
  /** The contract's marker that the block bears; none for a block without an info string, and for other sources. */
  readonly marker: string | null;
  /** The piece of the output. */
  readonly span: Span;
  /** Whether this one was judged. */
  readonly chosen: boolean;
}

/** What the feedback asks the producer for. */
export type Wanted = "nothing" | "items" | "whole";

/** What `merge` did with a report. */
export type MergeOutcome = "replaced" | "gave_items" | "gave_none" | "unused" | "invalid";

/** What became of one report that was put together with those before it. */
export interface MergeStep {
  /** Its place in the list that `merge` was given, from 0. */
  readonly report: number;
  /** What was done with it. */
  readonly outcome: MergeOutcome;
  /** The numbers of the items that it gave. */
  readonly items: readonly number[];
  /** The numbers of its own items that match no item that was asked for: they are not used. */
  readonly unknown: readonly number[];
}

/** The verdict on one output. Data, never an exception. */
export interface ReportDocument<T = unknown> {
  /** What became of the output. */
  readonly disposition: Disposition;
  /** The agent whose output it is. */
  readonly agent: string;
  /** The schema's `$id`, where it has one. */
  readonly schema_id: string | null;
  /** The digest of the contract, `sha256:` and 64 hexadecimal digits. */
  readonly contract: string;
  /**
   * The validated document as JSON text without optional white space, numbers with the digits they were written with.
   * None unless something was accepted.
   */
  readonly output: T | null;
  /** None unless violations rejected the output. */
  readonly error: OutputError | null;
  /** The items that are valid, where the output is rejected: nothing of worth is lost with it. Empty otherwise. */
  readonly items: readonly Item[];
  /** At most 1,000, in the order of the items; `notes` says where there were more. */
  readonly quarantined: readonly Quarantined[];
  /** What was changed in the text before it was validated. */
  readonly changes: readonly Change[];
  /** Those found, chosen or not: the first 64 and the chosen one; `notes` says where there were more. */
  readonly candidates: readonly Candidate[];
  /**
   * What else a caller should know: limits that were reached, checks that were inert, the span of each piece of the
   * output that was left out as reasoning or as prose, and whether JSON was taken from prose.
   */
  readonly notes: readonly string[];
  /** Whether a person should look before the output is used: it is partial. */
  readonly review_required: boolean;
  /**
   * At most 2,048 bytes to send back to the producer: what was wrong and where. Empty when accepted. Where some items
   * were kept and others are still wanted, it asks for those alone: `merge` puts the answers together.
   */
  readonly feedback: string;
  /** What `feedback` asks for. */
  readonly wanted: Wanted;
  /** Where `merge` made this report: what it did with each report after the one that it built on. Empty otherwise. */
  readonly merged: readonly MergeStep[];
}

/** A registered contract. */
export interface ContractInfo {
  /** The agent whose outputs it judges. */
  readonly agent: string;
  /** Its version. */
  readonly version: string;
  /** The schema's `$id`, where it has one. */
  readonly schemaId: string | null;
  /** As in `report.contract`. */
  readonly contract: string;
  /** How often the producer may be asked again. */
  readonly retryLimit: number;
  /** The lists that its `allow` names, in ascending order of their bytes. */
  readonly lists: readonly string[];
}

/** How bad it is what `lint` found. */
export type Level = "error" | "warning" | "hint";

/** Something in a contract that can be used and is likely a mistake. */
export interface Warning {
  /** Where in the contract, as a JSONPath. */
  readonly path: string;
  /** Which kind: a word that a program can compare. */
  readonly code: string;
  /** What to do about it. */
  readonly message: string;
  /** The same place as a JSON Pointer (RFC 6901). */
  readonly pointer: string;
  /** How bad it is. The same for all of a code. */
  readonly level: Level;
  /** The piece of the contract concerned, where there is one: of a keyword that is not known, its name. */
  readonly span: Span | null;
}

/** How far a document has come. */
export type Completeness = "in_flight" | "soft_complete" | "hard_complete";

/** An item that is complete, as the text stands. It is not judged: that is for `finish`. */
export interface Completed {
  /** Where the candidate begins that it is in. An output may hold several; the contract chooses at the end. */
  readonly candidate: number;
  /** Its place among the items of that candidate, from 0. */
  readonly index: number;
  /** Its text in the output. */
  readonly span: Span;
}

/**
 * Why the candidate that is being read can no longer become right, whatever comes. It is told only where nothing can be
 * taken instead but what is still to come (a later block, where the contract takes the last), as far as the text up to
 * here tells where candidates are: the verdict is `finish`'s.
 */
export interface DeadEnd {
  /**
   * The check that it fails: `json`, `extract`, `caps.bytes`, `caps.depth`, `caps.string_bytes`, `caps.array_items` or
   * `caps.object_members`.
   */
  readonly keyword: string;
  /** One sentence for a person. */
  readonly message: string;
  /** Where in the output that came to light. */
  readonly at: number;
}

/** What is known after a chunk. */
export interface Progress {
  /** How far the document has come. */
  readonly completeness: Completeness;
  /** Those that were completed by this chunk, in order. */
  readonly items: readonly Completed[];
  /** Why it can no longer become right, where it cannot. */
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
