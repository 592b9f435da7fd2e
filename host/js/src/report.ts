import { valueEnd } from "./text.js";
import type { ReportDocument, Violation } from "./types.js";

/** The members of a report. */
export interface Report<T = unknown> extends ReportDocument<T> {}

/**
 * The verdict on one output. Data, never an exception.
 *
 * Members in `snake_case` are the report as every host gives it; those in `camelCase` read it. JavaScript's numbers do
 * not hold all digits that JSON's have: where integers over 2⁵³ or exact decimals matter, take {@link
 * Report.outputJson}.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the constructor assigns the members of the interface.
export class Report<T = unknown> {
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

/** The verdict on one output: `success` and `disposition` say whether there is a document. */
export type Judged<T = unknown> = Report<T> &
  (
    | { readonly success: true; readonly disposition: "accepted"; readonly output: T; readonly data: T }
    | { readonly success: false; readonly disposition: "partial"; readonly output: T; readonly data: T }
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
  readonly report: Judged<T>;
  readonly usage: Usage;
}
