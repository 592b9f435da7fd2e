import { Places, valueEnd } from "./text.js";
import type { ReportDocument, Span, Violation } from "./types.js";

/** A violation with its piece of the output. */
export interface LocatedViolation extends Violation {
  /** `span` in units of UTF-16, as strings of JavaScript have them: `raw.slice(...textSpan)`. Not enumerable. */
  readonly textSpan: Span | null;
  /** The piece of the output concerned, where there is one. Not enumerable. */
  readonly text: string | null;
}

/** The members of a report, each of which is read when somebody asks for it, and what they are called here. */
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

/** What every report begins with. */
const HEAD = '{"disposition":"';
const ACCEPTED = `${HEAD}accepted"`;
const OUTPUT = '"output":';

/** The members of a report. */
export interface Report<T = unknown, Output = T> extends Omit<ReportDocument<Output>, "schema_id" | "review_required"> {
  /** The schema's `$id`, where it has one. */
  readonly schemaId: string | null;
  /** Whether a person should look before the output is used: it is partial. */
  readonly reviewRequired: boolean;
}

/**
 * The verdict on one output. Data, never an exception.
 *
 * Members are read from {@link Report.json} when somebody asks for them: two reports are equal where their texts are. `JSON.stringify`
 * and `report.toJSON()` give the report as every host has it, whose members are in `snake_case`: that is what is to be spread or cloned.
 *
 * JavaScript's numbers do not hold all digits that JSON's have: where integers over 2⁵³ or exact decimals matter, take {@link
 * Report.outputJson}.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the class has a property for each member of the interface.
export class Report<T = unknown, Output = T> {
  /** The report as JSON text: the same bytes in every runtime. */
  readonly json: string;
  /** The output that was judged. What was not Unicode in it is U+FFFD here. */
  readonly raw: string;
  readonly #outputLength: number | undefined;
  #document: ReportDocument<Output> | undefined;
  #output: { readonly value: unknown } | undefined;
  #violations: readonly LocatedViolation[] | undefined;
  /** What the checks of a schema made of the document. */
  #value: { readonly value: T } | undefined;

  /** @internal A report with what the checks of a schema made of the document. */
  static with<T, Output>(json: string, raw: string, value: T): Judged<T, Output> {
    const report = new Report<T, Output>(json, raw);
    report.#value = { value };
    return report as Judged<T, Output>;
  }

  /**
   * @internal
   * @param outputLength - How long the document is in the text, where there is one and that is known.
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
    // The two that everyone asks for, without the others.
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

  /** Whether the output was accepted. A partial one was not: look at `quarantined` and `changes` before you use it. */
  get success(): boolean {
    return this.json.startsWith(ACCEPTED);
  }

  /**
   * The validated document: also of a partial verdict, and null where there is none. Where the contract has a schema of a library, it is
   * what that schema makes of the document, and `output` is the document.
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
   * The violations of the output, and then those of each item in quarantine. Each has its piece of the output. Empty where it was accepted
   * or refused.
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

  /** A span of the report, which is in bytes of UTF-8, in the units of JavaScript's strings: `raw.slice(...report.textSpan(span))`. */
  textSpan(span: Span): Span {
    return new Places(this.raw).of(span);
  }

  /**
   * The validated document, for callers who take nothing else than an accepted output.
   *
   * @throws {NotAcceptedError} The output was not accepted: a partial one was not, either.
   */
  unwrap(): T {
    if (!this.success) {
      throw new NotAcceptedError(this as Judged);
    }
    return this.data as T;
  }

  /** Why no document could be found or read, in one sentence; null where one was. */
  get extractionError(): string | null {
    if (this.success || this.error === null || this.error.error === "output_validation_failed") {
      return null;
    }
    const first = this.error.violations[0];
    return first === undefined ? this.error.error : `${first.path} ${first.message}`;
  }

  /** The validated document as JSON text, numbers with the digits they were written with; null where there is none. */
  get outputJson(): string | null {
    // A document may be `null` itself.
    if (this.disposition !== "accepted" && this.disposition !== "partial") {
      return null;
    }
    // Members have one order, and texts before this one are escaped: its first place is its place.
    const start = this.json.indexOf(OUTPUT) + OUTPUT.length;
    const end = this.#outputLength === undefined ? valueEnd(this.json, start) : start + this.#outputLength;
    return this.json.slice(start, end);
  }

  /** The report as `JSON.stringify` writes it: an object of its own, with the members that every host gives. */
  toJSON(): ReportDocument<Output> {
    return JSON.parse(this.json);
  }

  /** @internal What `console.log` shows in Node. */
  [Symbol.for("nodejs.util.inspect.custom")](): ReportDocument<Output> {
    return this.toJSON();
  }
}

/** What {@link Report.unwrap} throws: the output was not accepted. Programs read `report`; the message is for persons. */
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

/** The verdict on one output: `success` and `disposition` say whether there is a document. */
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

/** What one call used. Beside the report, never inside it. */
export interface Usage {
  /** Units of fuel, about one for each WebAssembly instruction. The same request takes the same on every machine. */
  readonly fuel: number;
  /** The most memory that the instance had, in bytes. */
  readonly memory: number;
  /** Wall clock, in milliseconds. */
  readonly elapsedMs: number;
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
export interface Verdict<T = unknown, Output = T> {
  readonly report: Judged<T, Output>;
  readonly usage: Usage;
}
