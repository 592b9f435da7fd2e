import { Places, valueEnd } from "./text.js";
import type { ReportDocument, Span, Violation } from "./types.js";

/** A violation with the part of the output that it concerns. */
export interface LocatedViolation extends Violation {
  /** `span` in UTF-16 code units, as in JavaScript strings: `raw.slice(...textSpan)`. Not enumerable. */
  readonly textSpan: Span | null;
  /** The part of the output that the violation concerns, or null. Not enumerable. */
  readonly text: string | null;
}

/** The members of a report, with their names in this class. Each is read on first access. */
const MEMBERS: Readonly<Record<keyof ReportDocument, keyof Report>> = {
  disposition: "disposition",
  agent: "agent",
  schema_id: "schemaId",
  contract: "contract",
  output: "output",
  error: "error",
  items: "items",
  quarantined: "quarantined",
  changes: "changes",
  candidates: "candidates",
  notes: "notes",
  review_required: "reviewRequired",
  feedback: "feedback",
  wanted: "wanted",
  merged: "merged",
};

/** The beginning of every report. */
const HEAD = '{"disposition":"';
const ACCEPTED = `${HEAD}accepted"`;
const OUTPUT = '"output":';

/** The members of a report. */
export interface Report<T = unknown, Output = T> extends Omit<ReportDocument<Output>, "schema_id" | "review_required"> {
  /** The schema's `$id`, or null. */
  readonly schemaId: string | null;
  /** True if a person should check the output before its use, because it is partial. */
  readonly reviewRequired: boolean;
}

/**
 * The verdict on one output. It is data, never an exception.
 *
 * Members are read from {@link Report.json} on first access. Two reports are equal if their texts are equal.
 * `JSON.stringify` and `report.toJSON()` return the report in the form of all hosts, with members in `snake_case`. To
 * spread or clone a report, use that.
 *
 * JavaScript numbers cannot hold all digits of JSON numbers. If integers above 2⁵³ or exact decimals matter, use
 * {@link Report.outputJson}.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the class has a property for each member of the interface.
export class Report<T = unknown, Output = T> {
  /** The report as JSON text: the same bytes in every runtime. */
  readonly json: string;
  /** The output that was judged, with U+FFFD for ill-formed Unicode. */
  readonly raw: string;
  readonly #outputLength: number | undefined;
  #document: ReportDocument<Output> | undefined;
  #output: { readonly value: unknown } | undefined;
  #violations: readonly LocatedViolation[] | undefined;
  /** The output value of the schema's own checks. */
  #value: { readonly value: T } | undefined;

  /** @internal Returns a report with the output value of the schema's own checks. */
  static with<T, Output>(json: string, raw: string, value: T): Judged<T, Output> {
    const report = new Report<T, Output>(json, raw);
    report.#value = { value };
    return report as Judged<T, Output>;
  }

  /**
   * @internal
   * @param outputLength - The length of the document in the text, if there is one and its length is known.
   */
  constructor(json: string, raw: string, outputLength?: number) {
    this.json = json;
    this.raw = raw;
    this.#outputLength = outputLength;
  }

  static {
    const members = Object.entries(MEMBERS) as [keyof ReportDocument, keyof Report][];
    const property = <V>(get: (report: Report) => V) => ({
      enumerable: true,
      configurable: true,
      get(this: Report): V {
        return get(this);
      },
    });
    for (const [name, called] of members) {
      Object.defineProperty(
        Report.prototype,
        called,
        property((report) => report.#read()[name]),
      );
    }
    // The two most used members are read without parsing the others.
    const disposition = (report: Report) => report.json.slice(HEAD.length, report.json.indexOf('"', HEAD.length));
    Object.defineProperty(Report.prototype, "disposition", property(disposition));
    Object.defineProperty(
      Report.prototype,
      "output",
      property((report) => report.#parsed()),
    );
  }

  #read(): ReportDocument<Output> {
    this.#document ??= JSON.parse(this.json) as ReportDocument<Output>;
    return this.#document;
  }

  /**
   * True if the output is accepted. False for a partial output: check `quarantined` and `changes` before you use it.
   */
  get success(): boolean {
    return this.json.startsWith(ACCEPTED);
  }

  /**
   * The validated document, or null if there is none. A partial verdict has one as well. If the contract has a
   * library's schema, this is the schema's output value, and `output` is the document.
   */
  get data(): T | null {
    return this.#value === undefined ? (this.#parsed() as T | null) : this.#value.value;
  }

  #parsed(): unknown {
    if (this.#output === undefined) {
      const alone = this.#document === undefined && this.#outputLength !== undefined ? this.outputJson : null;
      this.#output = { value: alone === null ? this.#read().output : JSON.parse(alone) };
    }
    return this.#output.value;
  }

  /**
   * The violations of the output, followed by those of each item in quarantine. Each has the part of the output that it
   * concerns. Empty if the output is accepted or refused.
   */
  get violations(): readonly LocatedViolation[] {
    this.#violations ??= this.success ? [] : this.#located();
    return this.#violations;
  }

  #located(): LocatedViolation[] {
    const all = [...(this.error?.violations ?? []), ...this.quarantined.flatMap(({ violations }) => violations)];
    const places = new Places(this.raw);
    return all.map((violation) => {
      const textSpan = violation.span && places.of(violation.span);
      const text = textSpan && this.raw.slice(...textSpan);
      return Object.defineProperties({ ...violation }, { textSpan: { value: textSpan }, text: { value: text } });
    }) as LocatedViolation[];
  }

  /** Converts a span of the report from UTF-8 bytes to UTF-16 code units: `raw.slice(...report.textSpan(span))`. */
  textSpan(span: Span): Span {
    return new Places(this.raw).of(span);
  }

  /**
   * Returns the validated document of an accepted output.
   *
   * @throws {NotAcceptedError} The output is not accepted. This includes partial outputs.
   */
  unwrap(): T {
    if (!this.success) {
      throw new NotAcceptedError(this as Judged);
    }
    return this.data as T;
  }

  /** The reason why no document could be found or read, in one sentence, or null. */
  get extractionError(): string | null {
    if (this.success || this.error === null || this.error.error === "output_validation_failed") {
      return null;
    }
    const first = this.error.violations[0];
    return first === undefined ? this.error.error : `${first.path} ${first.message}`;
  }

  /** The validated document as JSON text, with the digits of numbers as written, or null if there is none. */
  get outputJson(): string | null {
    // The document itself may be `null`.
    if (this.disposition !== "accepted" && this.disposition !== "partial") {
      return null;
    }
    // Members have a fixed order, and quotes in earlier texts are escaped, so the first match is the member.
    const start = this.json.indexOf(OUTPUT) + OUTPUT.length;
    const end = this.#outputLength === undefined ? valueEnd(this.json, start) : start + this.#outputLength;
    return this.json.slice(start, end);
  }

  /** Returns the report as a new object in the form of all hosts, for `JSON.stringify`. */
  toJSON(): ReportDocument<Output> {
    return JSON.parse(this.json);
  }

  /** @internal Returns the object that `console.log` shows in Node. */
  [Symbol.for("nodejs.util.inspect.custom")](): ReportDocument<Output> {
    return this.toJSON();
  }
}

/**
 * The error that {@link Report.unwrap} throws for an output that is not accepted. Programs read `report`; the message
 * is for people.
 */
export class NotAcceptedError extends Error {
  override readonly name = "NotAcceptedError";
  readonly report: Judged;

  /** @internal */
  constructor(report: Judged) {
    const [first] = report.violations;
    const why = first === undefined ? "" : `: ${first.path} ${first.message}`;
    super(`the output of ${JSON.stringify(report.agent)} is ${report.disposition}${why}`);
    this.report = report;
  }
}

/** A report whose type narrows by `success` and `disposition`, which say whether there is a document. */
export type Judged<T = unknown, Output = T> = Report<T, Output> &
  (
    | { readonly success: true; readonly disposition: "accepted"; readonly output: Output; readonly data: T }
    | { readonly success: false; readonly disposition: "partial"; readonly output: Output; readonly data: T }
    | {
        readonly success: false;
        readonly disposition: "rejected" | "refused";
        readonly output: null;
        readonly data: null;
      }
  );

/** The resource usage of one call. It is kept beside the report, never inside it. */
export interface Usage {
  /** The units of fuel, about one per WebAssembly instruction. The same request uses the same fuel on every machine. */
  readonly fuel: number;
  /** The peak memory of the instance, in bytes. */
  readonly memory: number;
  /** The wall-clock time, in milliseconds. */
  readonly elapsedMs: number;
  /** The component that ran: `sha256:` and its digest. Only the fuel of calls of the same component can be compared. */
  readonly component: string;
}

/** The answer to one request that is JSON text, and its resource usage. */
export interface Answer {
  /** One line of JSON text: `{"id":…,"report":{…}}`, `{"id":…,"result":…}` or `{"id":…,"fault":{…}}`. */
  readonly json: string;
  readonly usage: Usage;
}

/** The verdict on one output, and its resource usage. */
export interface Verdict<T = unknown, Output = T> {
  readonly report: Judged<T, Output>;
  readonly usage: Usage;
}
