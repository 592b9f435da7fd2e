import { withChecksNow } from "./checks.js";
import { asAgent } from "./contract.js";
import { asGate, type Gate, type OutputOptions } from "./gate.js";
import { OUTPUT_OPTIONS, only } from "./options.js";
import type { JsonSchema } from "./policy.js";
import type { Judged, LocatedViolation, Usage } from "./report.js";
import { compiled, SCHEMA_OPTIONS, type SchemaOptions, takeSchema } from "./schemas.js";
import type { StandardSchema } from "./standard.js";

/** What comes with an output and a schema. */
export interface ParseOptions extends OutputOptions, SchemaOptions {}

interface Parsed<T> {
  /** The output as it was judged. */
  readonly raw: string;
  /** What is wrong, as {@link Report.violations}. */
  readonly violations: readonly LocatedViolation[];
  /** Why no document could be found or read; null where one was. */
  readonly extractionError: string | null;
  /** The report as JSON text. */
  readonly json: string;
  /** The verdict. */
  readonly report: Judged<T>;
  /** What it took. */
  readonly usage: Usage;
  /** What to tell the agent. Empty where the output was accepted. */
  readonly feedback: string;
}

/**
 * What was made of one output. It is a success where the output was accepted, and passed the schema's own checks where it
 * has some. `data` is the document, as the schema gives it; of a partial verdict it is there, too.
 */
export type ParseResult<T> = Parsed<T> &
  ({ readonly success: true; readonly data: T } | { readonly success: false; readonly data: T | null });

/** Reads outputs: by the contract of an agent, or by nothing but a schema. */
export class ResultParser {
  readonly #gate: Gate;

  constructor(gate: Gate) {
    this.#gate = asGate(gate);
  }

  /**
   * Read one output by the contract that is registered for its agent.
   *
   * @throws {SeamgateFault} `unknown_agent`; or as {@link Gate.validate} does.
   */
  parse<T = unknown>(agent: string, output: string | Uint8Array, options?: OutputOptions): ParseResult<T> {
    const { report, usage } = this.#gate.validate<T>(asAgent(agent), output, options);
    return of(report, usage);
  }

  /**
   * Read one output by a schema, with a contract that has the defaults otherwise: a block marked `json`, or the whole
   * output. A schema is compiled once.
   *
   * @throws {SeamgateFault} `bad_contract`: the schema cannot be used; or as {@link Gate.validate} does.
   * @throws {TypeError} It is no schema, or does not say what it is in JSON; or it has asynchronous checks.
   */
  parseWithSchema<T>(schema: StandardSchema<T>, output: string | Uint8Array, options?: ParseOptions): ParseResult<T>;
  parseWithSchema<T = unknown>(schema: JsonSchema, output: string | Uint8Array, options?: ParseOptions): ParseResult<T>;
  parseWithSchema<T>(
    schema: StandardSchema<T> | JsonSchema,
    output: string | Uint8Array,
    options: ParseOptions = {},
  ): ParseResult<T> {
    only("options", options, { ...OUTPUT_OPTIONS, ...SCHEMA_OPTIONS });
    const { contract: _, preprocess: __, ...given } = options;
    const { text, checks } = takeSchema(schema, options);
    const { gate, info } = compiled(text, this.#gate);
    const { report, usage } = gate.validate<T>(info.agent, output, given);
    return of(checks === undefined ? report : (withChecksNow(report as Judged, checks) as Judged<T>), usage);
  }

  /**
   * Text for an agent's prompt: what its output must be for {@link ResultParser.parseWithSchema}.
   *
   * @throws {SeamgateFault} `bad_contract`: the schema cannot be used.
   * @throws {TypeError} It is no schema, or does not say what it is in JSON.
   */
  describeSchema(schema: StandardSchema | JsonSchema, options: SchemaOptions = {}): string {
    only("options", options, SCHEMA_OPTIONS);
    const { gate, info } = compiled(takeSchema(schema, options).described, this.#gate);
    return gate.describe(info.agent);
  }
}

function of<T>(report: Judged<T>, usage: Usage): ParseResult<T> {
  const { raw, violations, extractionError, json, feedback } = report;
  const rest = { raw, violations, extractionError, json, report, usage, feedback };
  return report.success
    ? { ...rest, success: true, data: report.data }
    : { ...rest, success: false, data: report.data };
}
