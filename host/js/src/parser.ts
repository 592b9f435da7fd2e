import type { Gate, OutputOptions } from "./gate.js";
import type { Report, Usage } from "./report.js";
import type { Violation } from "./types.js";

/** What was made of one output. */
export interface ParseResult<T> {
  /** Whether the output was accepted, and passed the schema's own checks where it has some. */
  readonly success: boolean;
  /** The document, as the schema gives it; null where there is none. Of a partial verdict it is there, too. */
  readonly data: T | null;
  /** The output as it was judged. */
  readonly raw: string;
  /** What is wrong with the document. */
  readonly validationErrors: readonly Violation[];
  /** Why no document could be found or read; null where one was. */
  readonly extractionError: string | null;
  /** The report as JSON text, which says nothing of a schema's own checks. */
  readonly json: string;
  /** The verdict. */
  readonly report: Report;
  /** What it took. */
  readonly usage: Usage;
}

/**
 * A schema that says itself what it is in JSON, and checks what JSON Schema cannot say: one of Zod (4.2 or later), or
 * of another library that implements Standard Schema and Standard JSON Schema. Its transforms are applied to what is
 * valid; its refinements can reject it.
 */
export interface StandardSchema<T = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<T> | Promise<StandardResult<T>>;
    readonly types?: { readonly input: unknown; readonly output: T } | undefined;
  };
}

type StandardResult<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

interface StandardIssue {
  readonly message: string;
  readonly code?: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A JSON Schema: draft 4, 6, 7, 2019-09 or, where it does not say, 2020-12. */
export type JsonSchema = boolean | Readonly<Record<string, unknown>>;

/** As many as a report lists. */
const MAX_ERRORS = 100;

/** So many characters are shown of a text that is not the gate's own. */
const MAX_TEXT = 512;

/** Contracts are made of schemas once. */
const contracts = new WeakMap<object, string>();

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
    return result(report, usage);
  }

  /**
   * Read one output by a schema, with a contract that has the defaults otherwise: a block marked `json`, or the whole
   * output.
   *
   * @throws {SeamgateFault} `bad_contract`: the schema cannot be used; or as {@link Gate.validate} does.
   * @throws {TypeError} The schema does not say what it is in JSON.
   */
  parseWithSchema<T>(output: string | Uint8Array, schema: StandardSchema<T>): ParseResult<T>;
  parseWithSchema<T = unknown>(output: string | Uint8Array, schema: JsonSchema): ParseResult<T>;
  parseWithSchema<T>(output: string | Uint8Array, schema: StandardSchema<T> | JsonSchema): ParseResult<T> {
    const { report, usage } = this.#gate.validate<T>(contractOf(schema), output);
    const read = result(report, usage);
    if (!isStandard<T>(schema) || (report.disposition !== "accepted" && report.disposition !== "partial")) {
      return read;
    }
    const checked = schema["~standard"].validate(report.output);
    if (checked instanceof Promise) {
      // Nobody waits for it: that it fails is not an error of its own.
      checked.catch(() => {});
      throw new TypeError("the schema has checks that are asynchronous: run those on what was accepted");
    }
    if (checked.issues === undefined) {
      return { ...read, data: checked.value };
    }
    const validationErrors = checked.issues.slice(0, MAX_ERRORS).map(violation);
    return { ...read, success: false, data: null, validationErrors };
  }
}

function result<T>(report: Report<T>, usage: Usage): ParseResult<T> {
  const { success, data, raw, validationErrors, extractionError, json } = report;
  return { success, data, raw, validationErrors, extractionError, json, report, usage };
}

function isStandard<T>(schema: StandardSchema<T> | JsonSchema): schema is StandardSchema<T> {
  // Schemas of some libraries are functions.
  return typeof schema !== "boolean" && "~standard" in schema;
}

function contractOf(schema: StandardSchema | JsonSchema): string {
  if (typeof schema === "boolean") {
    return JSON.stringify({ agent: "schema", schema });
  }
  if (!isStandard(schema)) {
    // An object may be changed between calls.
    return JSON.stringify({ agent: "schema", schema });
  }
  const known = contracts.get(schema);
  if (known !== undefined) {
    return known;
  }
  // What libraries write of themselves may look around in patterns: those have a step limit.
  const contract = JSON.stringify({ agent: "schema", schema: inJson(schema), patterns: "backtracking" });
  contracts.set(schema, contract);
  return contract;
}

/** What a schema takes, before its transforms, as a JSON Schema. */
function inJson(schema: StandardSchema): unknown {
  const standard = schema["~standard"] as { jsonSchema?: { input?(options: { target: string }): unknown } };
  if (typeof standard.jsonSchema?.input !== "function") {
    throw new TypeError(
      `the schema, of ${schema["~standard"].vendor}, does not say what it is in JSON: Zod's do since 4.2; ` +
        "or pass the JSON Schema that its library makes of it",
    );
  }
  return standard.jsonSchema.input({ target: "draft-2020-12" });
}

/** What a schema's own check says, in the words of a report. */
function violation(issue: StandardIssue): Violation {
  const steps = (issue.path ?? []).map((step) => (typeof step === "object" ? step.key : step));
  const pointer = steps.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  return {
    path: `$${steps.map(shown).join("")}`,
    keyword: issue.code ?? "schema",
    expected: "",
    received: "",
    message: readable(issue.message),
    pointer,
    schema_path: "",
    span: null,
  };
}

function shown(step: PropertyKey): string {
  if (typeof step === "number") {
    return `[${step}]`;
  }
  const name = String(step);
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    return `.${name}`;
  }
  // Names are the producer's: what cannot be seen is escaped.
  const quoted = JSON.stringify(name).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `['${readable(quoted)}']`;
}

/** A text that may be the producer's in part: cut, and what cannot be seen escaped. */
function readable(text: string): string {
  const seen = text
    .slice(0, MAX_TEXT)
    .replace(/[\p{C}\p{Z}]/gu, (unseen) => (unseen === " " ? unseen : escaped(unseen)));
  return text.length > MAX_TEXT ? `${seen}… (${text.length - MAX_TEXT} characters more)` : seen;
}

function escaped(text: string): string {
  let escapes = "";
  for (let at = 0; at < text.length; at++) {
    escapes += `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`;
  }
  return escapes;
}
