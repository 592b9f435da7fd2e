import { withChecksNow } from "./checks.js";
import { asAgent } from "./contract.js";
import { asGate, type Gate, type OutputOptions } from "./gate.js";
import { OUTPUT_OPTIONS, only } from "./options.js";
import type { JsonSchema } from "./policy.js";
import type { Judged, LocatedViolation, Usage } from "./report.js";
import { compiled, SCHEMA_OPTIONS, type SchemaOptions, takeSchema } from "./schemas.js";
import type { StandardSchema } from "./standard.js";

/** Options of an output that is parsed by a schema. */
export interface ParseOptions extends OutputOptions, SchemaOptions {}

interface Parsed<T> {
  /** The output that was judged. */
  readonly raw: string;
  /** The violations, as in {@link Report.violations}. */
  readonly violations: readonly LocatedViolation[];
  /** The reason why no document could be found or read, or null. */
  readonly extractionError: string | null;
  /** The report as JSON text. */
  readonly json: string;
  /** The report. */
  readonly report: Judged<T>;
  /** The resource usage. */
  readonly usage: Usage;
  /** The feedback for the agent. Empty if the output is accepted. */
  readonly feedback: string;
}

/**
 * The result of parsing one output. It is a success if the output is accepted and passes the schema's own checks.
 * `data` is the document, as the schema returns it. A partial verdict has it as well.
 */
export type ParseResult<T> = Parsed<T> &
  ({ readonly success: true; readonly data: T } | { readonly success: false; readonly data: T | null });

/** Parses outputs by the contract of an agent, or by a schema. */
export class ResultParser {
  readonly #gate: Gate;

  constructor(gate: Gate) {
    this.#gate = asGate(gate);
  }

  /**
   * Parse one output by the contract that is registered for its agent.
   *
   * @throws {SeamgateFault} `unknown_agent`; or the faults of {@link Gate.validate}.
   */
  parse<T = unknown>(agent: string, output: string | Uint8Array, options?: OutputOptions): ParseResult<T> {
    const { report, usage } = this.#gate.validate<T>(asAgent(agent), output, options);
    return of(report, usage);
  }

  /**
   * Parse one output by a schema, with the defaults of a contract otherwise: the document is a block marked `json`, or
   * the whole output. Each schema is compiled once.
   *
   * @throws {SeamgateFault} `bad_contract` if the schema cannot be used; or the faults of {@link Gate.validate}.
   * @throws {TypeError} It is not a schema, has no JSON Schema, or has asynchronous checks.
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
   * Returns text for an agent's prompt that says what its output must be for {@link ResultParser.parseWithSchema}.
   *
   * @throws {SeamgateFault} `bad_contract` if the schema cannot be used.
   * @throws {TypeError} It is not a schema, or has no JSON Schema.
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
