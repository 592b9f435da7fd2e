import { asPlainJson, type JsonSchema } from "./contract.js";
import { feedback } from "./feedback.js";
import type { Gate, OutputOptions } from "./gate.js";
import { inJson } from "./plain.js";
import type { Judged, Usage } from "./report.js";
import { compiled, contractOf } from "./schemas.js";
import { isStandard, read, type StandardSchema } from "./standard.js";
import type { Violation } from "./types.js";

interface Parsed {
  /** The output as it was judged. */
  readonly raw: string;
  /** What is wrong with the document. */
  readonly validationErrors: readonly Violation[];
  /** Why no document could be found or read; null where one was. */
  readonly extractionError: string | null;
  /** The report as JSON text, which says nothing of a schema's own checks. */
  readonly json: string;
  /** The verdict. */
  readonly report: Judged;
  /** What it took. */
  readonly usage: Usage;
  /** What to tell the agent, also of what the schema's own checks rejected. Empty where the output was accepted. */
  readonly feedback: string;
}

/**
 * What was made of one output. It is a success where the output was accepted, and passed the schema's own checks where it
 * has some. `data` is the document, as the schema gives it; of a partial verdict it is there, too.
 */
export type ParseResult<T> = Parsed &
  ({ readonly success: true; readonly data: T } | { readonly success: false; readonly data: T | null });

/** Reads outputs: by the contract of an agent, or by nothing but a schema. */
export class ResultParser {
  readonly #gate: Gate;

  constructor(gate: Gate) {
    this.#gate = gate;
  }

  /**
   * Read one output by the contract that is registered for its agent.
   *
   * @throws {SeamgateFault} `unknown_agent`; or as {@link Gate.validate} does.
   */
  parse<T = unknown>(agent: string, output: string | Uint8Array, options?: OutputOptions): ParseResult<T> {
    const { report, usage } = this.#gate.validate<T>(agent, output, options);
    return of(report, usage);
  }

  /**
   * Read one output by a schema, with a contract that has the defaults otherwise: a block marked `json`, or the whole
   * output. A schema is compiled once.
   *
   * @throws {SeamgateFault} `bad_contract`: the schema cannot be used; or as {@link Gate.validate} does.
   * @throws {TypeError} The schema is not JSON, and does not say what it is in JSON.
   */
  parseWithSchema<T>(output: string | Uint8Array, schema: StandardSchema<T>): ParseResult<T>;
  parseWithSchema<T = unknown>(output: string | Uint8Array, schema: JsonSchema): ParseResult<T>;
  parseWithSchema<T>(output: string | Uint8Array, schema: StandardSchema<T> | JsonSchema): ParseResult<T> {
    const { gate, info } = compiled(contractFor(schema), this.#gate);
    const { report, usage } = gate.validate<T>(info.agent, output);
    const result = of(report, usage);
    if (!isStandard<T>(schema) || report.outputJson === null) {
      return result;
    }
    const checked = read(schema, report.output);
    if (checked instanceof Promise) {
      // Nobody waits for it: that it fails is not an error of its own.
      checked.catch(() => {});
      throw new TypeError("the schema has checks that are asynchronous: use ask, or run them on what was accepted");
    }
    return checked.wrong === undefined
      ? { ...result, data: checked.value }
      : { ...result, success: false, data: null, validationErrors: checked.wrong, feedback: feedback(checked.wrong) };
  }

  /**
   * Text for an agent's prompt: what its output must be for {@link ResultParser.parseWithSchema}.
   *
   * @throws {SeamgateFault} `bad_contract`: the schema cannot be used.
   * @throws {TypeError} The schema is not JSON, and does not say what it is in JSON.
   */
  describeSchema(schema: StandardSchema | JsonSchema): string {
    const { gate, info } = compiled(contractFor(schema), this.#gate);
    return gate.describe(info.agent);
  }
}

function of<T>(report: Judged<T>, usage: Usage): ParseResult<T> {
  const { raw, validationErrors, extractionError, json, feedback } = report;
  const rest = { raw, validationErrors, extractionError, json, report, usage, feedback };
  return report.success
    ? { ...rest, success: true, data: report.data }
    : { ...rest, success: false, data: report.data };
}

function contractFor(schema: StandardSchema | JsonSchema): string {
  if (isStandard(schema)) {
    // What libraries write of themselves may look around in patterns: those have a step limit.
    return contractOf(inJson(schema), '"patterns":"backtracking",');
  }
  // An object may be changed between calls.
  return contractOf(asPlainJson("schema", schema, "bad_contract", true));
}
