import { feedback, itemsFeedback } from "./feedback.js";
import type { ContractPolicy } from "./policy.js";
import { type Judged, Report } from "./report.js";
import { type Found, placeOf, type Read, read, type StandardSchema } from "./standard.js";
import { cutAt, memberOf, valueEnd } from "./text.js";
import type { Quarantined, ReportDocument, Violation } from "./types.js";

/** The checks that a library's schema runs itself, in addition to its JSON Schema. */
export interface Checks<T = unknown> {
  readonly schema: StandardSchema<T>;
  /** The contract's `items`. */
  readonly items: ContractPolicy["items"];
}

/** The most bytes that are shown of an item or of a rejected output: the same limit as in the gate. */
const MAX_SNIPPET = 220;
const MAX_RAW = 4096;

/** The most violations that a report lists for one item. */
const MAX_ITEM_VIOLATIONS = 10;

/**
 * Runs a schema's own checks on the document that the gate accepted, and returns a report that includes their findings:
 * an item that fails goes into quarantine, like one that fails the JSON Schema; any other failure rejects the document.
 * `data` is then the schema's output value. A report without a document is returned unchanged.
 *
 * An error that a check throws propagates, because it is a bug in the check, not a fault of the document.
 */
export function withChecks<T>(report: Judged, checks: Checks<T>): Judged<T> | Promise<Judged<T>> {
  const json = report.outputJson;
  return json === null ? (report as Judged<T>) : new Checking(report, json, checks).next();
}

/** The same, synchronously. @throws {TypeError} A check is asynchronous. */
export function withChecksNow<T>(report: Judged, checks: Checks<T>): Judged<T> {
  const checked = withChecks(report, checks);
  if (checked instanceof Promise) {
    // The promise is dropped, so its rejection must not be reported as unhandled.
    checked.catch(() => {});
    // Zod returns a promise even if a check throws. Its own method throws the error instead.
    const { safeParse } = checks.schema as { safeParse?: (document: unknown) => unknown };
    try {
      safeParse?.call(checks.schema, report.output);
    } catch (error) {
      if (!/Async/.test((error as Error)?.constructor?.name ?? "")) throw error;
    }
    throw new TypeError("`schema` has asynchronous checks: use ask or a WorkerGate, which wait for them");
  }
  return checked;
}

/** Runs checks on one document, and removes the items that fail. */
class Checking<T> {
  readonly #report: Judged;
  readonly #checks: Checks<T>;
  readonly #steps: readonly (string | number)[] | undefined;
  /** The text of the document before and after its items, and the items with their indices. */
  readonly #text: { readonly before: string; readonly after: string } | undefined;
  #items: { readonly number: number; readonly text: string }[] = [];
  readonly #quarantined: Quarantined[] = [];
  #document: unknown;

  constructor(report: Judged, json: string, checks: Checks<T>) {
    this.#report = report;
    this.#checks = checks;
    this.#document = report.output;
    this.#steps = checks.items === undefined ? undefined : stepsOf(checks.items.path);
    const array = this.#steps && spanOf(json, this.#steps);
    if (array === undefined) {
      return;
    }
    this.#text = { before: json.slice(0, array.start + 1), after: json.slice(array.end - 1) };
    const out = new Set(report.quarantined.map(({ index }) => index));
    let number = 0;
    for (const text of elements(json, array.start)) {
      // The remaining items have the indices that are not in quarantine.
      while (out.has(number)) number += 1;
      this.#items.push({ number, text });
      number += 1;
    }
  }

  next(): Judged<T> | Promise<Judged<T>> {
    const checked = read<T>(this.#checks.schema, this.#document);
    return checked instanceof Promise ? checked.then((read) => this.#take(read)) : this.#take(checked);
  }

  #take(checked: Read<T>): Judged<T> | Promise<Judged<T>> {
    if (checked.wrong === undefined) {
      return this.#accepted(checked.value);
    }
    const bad = new Map<number, Violation[]>();
    for (const found of checked.wrong) {
      const at = this.#itemOf(found.steps);
      if (at === undefined) {
        return this.#rejected(checked.wrong.map((found) => this.#renumbered(found)));
      }
      bad.set(at, [...(bad.get(at) ?? []), this.#renumbered(found)]);
    }
    for (const [at, violations] of bad) {
      this.#quarantined.push(this.#quarantine(at, violations));
    }
    this.#items = this.#items.filter((_, at) => !bad.has(at));
    if (this.#items.length === 0) {
      return this.#rejected([this.#nothingLeft()]);
    }
    this.#document = JSON.parse(this.#json());
    return this.next();
  }

  /** Returns the position, among the remaining items, of the item that a path leads into. */
  #itemOf(path: readonly PropertyKey[]): number | undefined {
    const steps = this.#steps;
    if (
      steps === undefined ||
      this.#text === undefined ||
      !steps.every((step, at) => String(path[at]) === String(step))
    ) {
      return undefined;
    }
    const at = Number(String(path[steps.length]));
    return Number.isInteger(at) && at >= 0 && at < this.#items.length ? at : undefined;
  }

  /** Returns a violation with the index that its item has in the output. */
  #renumbered({ violation, steps }: Found): Violation {
    const at = this.#itemOf(steps);
    const item = at === undefined ? undefined : this.#items[at];
    if (item === undefined || item.number === at) {
      return violation;
    }
    const rest = steps.slice((this.#steps ?? []).length + 1);
    return { ...violation, ...this.#place(item.number, rest) };
  }

  #place(number: number, rest: readonly PropertyKey[] = []): { path: string; pointer: string } {
    return placeOf([...(this.#steps ?? []), number, ...rest]);
  }

  #quarantine(at: number, violations: readonly Violation[]): Quarantined {
    const { number, text } = this.#items[at] as { number: number; text: string };
    return {
      index: number,
      ...this.#place(number),
      reason: "schema",
      span: null,
      snippet: cutAt(text, MAX_SNIPPET),
      violations: violations.slice(0, MAX_ITEM_VIOLATIONS),
    };
  }

  /** Returns all items in quarantine, in order. */
  #all(): Quarantined[] {
    return [...this.#report.quarantined, ...this.#quarantined].sort((a, b) => a.index - b.index);
  }

  #json(): string {
    const { before, after } = this.#text as { before: string; after: string };
    return before + this.#items.map(({ text }) => text).join() + after;
  }

  #nothingLeft(): Violation {
    const count = this.#all().length;
    const are = count === 1 ? "the only one is" : `all ${count} are`;
    return {
      path: this.#checks.items?.path ?? "$",
      keyword: "items",
      expected: "an item that is valid",
      received: count === 1 ? "1 item" : `${count} items`,
      message: `must lead to an item that is valid: ${are} in quarantine`,
      pointer: "",
      schema_path: "",
      span: null,
    };
  }

  #accepted(value: T): Judged<T> {
    const report = this.#report;
    const { items } = this.#checks;
    if (items === undefined || this.#quarantined.length === 0) {
      return Report.with(report.json, report.raw, value);
    }
    const quarantined = this.#all();
    const { wanted, feedback } = itemsFeedback(quarantined, items, this.#items.length);
    const changed = { disposition: "partial", quarantined, review_required: true, feedback, wanted } as const;
    return Report.with(written(report, changed, this.#json()), report.raw, value);
  }

  #rejected(violations: readonly Violation[]): Judged<T> {
    const report = this.#report;
    const quarantined = this.#all();
    const { schema_id, agent } = report.toJSON();
    const raw_output = cutAt(report.raw, MAX_RAW);
    const error = {
      error: "output_validation_failed",
      schema_id,
      agent_id: agent,
      violations,
      raw_output,
      retryable: true,
    } as const;
    const told = feedback([...violations, ...quarantined.flatMap(({ violations }) => violations)]);
    const changed = { disposition: "rejected", error, quarantined, review_required: false, wanted: "whole" } as const;
    return Report.with(written(report, { ...changed, feedback: told }, "null"), report.raw, null) as Judged<T>;
  }
}

/** Returns the JSON text of a report with changed members and another document, whose numbers keep their digits. */
function written(report: Judged, changed: Partial<ReportDocument>, output: string): string {
  const members = Object.entries({ ...report.toJSON(), ...changed });
  const texts = members.map(([name, value]) => `"${name}":${name === "output" ? output : JSON.stringify(value)}`);
  return `{${texts.join()}}`;
}

/** Returns the names and indices in a path that ends in `[*]`. The gate has validated the path. */
function stepsOf(path: string): (string | number)[] {
  const selector = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/gy;
  selector.lastIndex = 1;
  return Array.from(path.slice(0, -"[*]".length).matchAll(selector), ([, name, index, single, double]) =>
    index !== undefined ? Number(index) : (name ?? unescaped(single ?? double ?? "")),
  );
}

/** Decodes the escapes in a name of such a path: those of JSON, and the escaped quote. */
function unescaped(name: string): string {
  const json = name.replace(/\\(.)|"/gs, (all, escaped) => (escaped === "'" ? "'" : all === '"' ? '\\"' : all));
  return JSON.parse(`"${json}"`);
}

/** Returns the position of the array that the steps lead to. */
function spanOf(json: string, steps: readonly (string | number)[]): { start: number; end: number } | undefined {
  let start = 0;
  for (const step of steps) {
    const at = memberOf(json, start, step);
    if (at === undefined) {
      return undefined;
    }
    start = at;
  }
  return json[start] === "[" ? { start, end: valueEnd(json, start) } : undefined;
}

/** Yields the texts of the items of an array. */
function* elements(json: string, start: number): Iterable<string> {
  for (let at = start + 1; json[at] !== "]"; ) {
    const end = valueEnd(json, at);
    yield json.slice(at, end);
    at = json[end] === "," ? end + 1 : end;
  }
}
