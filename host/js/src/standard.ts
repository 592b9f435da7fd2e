import type { Violation } from "./types.js";

/**
 * A library's schema: an object with the member `~standard`, as defined by Standard Schema and Standard JSON Schema.
 * Zod (4.2 or later), ArkType, and Valibot with `toStandardJsonSchema` of @valibot/to-json-schema create such schemas.
 * {@link withJsonSchema} converts a schema that lacks `jsonSchema`, such as those of zod/mini. `Input` is the type of
 * the document that the model writes, and `T` is the type of the schema's output value.
 */
export interface StandardSchema<T = unknown, Input = unknown> {
  readonly "~standard": Validating<T, Input> & {
    readonly jsonSchema: { readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown> };
  };
}

/** A library's schema that validates, but has no JSON Schema. */
export interface ValidatingSchema<T = unknown, Input = unknown> {
  readonly "~standard": Validating<T, Input>;
}

interface Validating<T, Input> {
  readonly version: 1;
  readonly vendor: string;
  readonly validate: (value: unknown) => StandardResult<T> | Promise<StandardResult<T>>;
  readonly types?: { readonly input: Input; readonly output: T } | undefined;
}

type StandardResult<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

interface StandardIssue {
  readonly message: string;
  readonly code?: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * Combines a library's schema with the JSON Schema of its input, for libraries whose schemas do not provide one, such
 * as zod/mini.
 *
 * @param jsonSchema - For zod/mini, `z.toJSONSchema(schema, { io: "input" })`.
 */
export function withJsonSchema<T, Input>(
  schema: ValidatingSchema<T, Input>,
  jsonSchema: Readonly<Record<string, unknown>>,
): StandardSchema<T, Input> {
  if (!isStandard(schema)) {
    throw new TypeError("`schema` of withJsonSchema must be a schema of a library, with the member `~standard`");
  }
  // The members are listed because spreading an instance of a class would not copy them.
  const { version, vendor, types } = schema["~standard"];
  const validate = (value: unknown) => schema["~standard"].validate(value) as StandardResult<T>;
  const input = () => ({ ...jsonSchema });
  return {
    "~standard": { version, vendor, validate, types: types as { input: Input; output: T }, jsonSchema: { input } },
  };
}

/** One finding of a schema's own checks, with the names and indices in its path. */
export interface Found {
  readonly violation: Violation;
  readonly steps: readonly PropertyKey[];
}

/** The result of applying a schema to a document: the output value, or the findings. */
export type Read<T> = { readonly value: T; readonly wrong?: undefined } | { readonly wrong: readonly Found[] };

/** The most findings that a report lists. */
const MAX_ERRORS = 100;

/** The most characters of a library's message or of a received value. */
const MAX_TEXT = 512;
const MAX_RECEIVED = 256;

/** Returns whether a value is a library's schema, with or without a JSON Schema. */
export function isStandard<T>(schema: unknown): schema is StandardSchema<T> {
  // In some libraries, schemas are functions.
  const isObject = (typeof schema === "object" && schema !== null) || typeof schema === "function";
  if (!isObject || !("~standard" in schema)) {
    return false;
  }
  // The results of `z.toJSONSchema` have a member `~standard` that is not enumerable. They are JSON, and may have been
  // edited.
  return Object.getOwnPropertyDescriptor(schema, "~standard")?.enumerable !== false || !isPlainObject(schema);
}

/** Returns whether an object is a plain object, of this realm or another one. */
export function isPlainObject(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * Applies a schema to a document that is valid by the JSON Schema of `inJson`. Returns a promise if the checks are
 * asynchronous.
 */
export function read<T>(schema: StandardSchema<T>, document: unknown): Read<T> | Promise<Read<T>> {
  const checked = schema["~standard"].validate(document);
  return checked instanceof Promise ? checked.then((result) => readOf(result, document)) : readOf(checked, document);
}

function readOf<T>(result: StandardResult<T>, document: unknown): Read<T> {
  return result.issues === undefined
    ? { value: result.value }
    : { wrong: result.issues.slice(0, MAX_ERRORS).map((issue) => found(issue, document)) };
}

/** Converts a finding of a schema's own checks to the form of a report. */
function found(issue: StandardIssue, document: unknown): Found {
  const steps = (issue.path ?? []).map((step) => (typeof step === "object" ? step.key : step));
  let received = document;
  for (const step of steps) {
    const isThere = typeof received === "object" && received !== null && Object.hasOwn(received, step);
    received = isThere ? (received as Record<PropertyKey, unknown>)[step] : undefined;
  }
  const violation = {
    ...placeOf(steps),
    keyword: issue.code ?? "schema",
    expected: "",
    received: received === undefined ? "" : visible(JSON.stringify(received).slice(0, MAX_RECEIVED)),
    message: readable(issue.message),
    schema_path: "",
    span: null,
  };
  return { violation, steps };
}

/** Returns a path as a JSONPath and as a JSON Pointer. */
export function placeOf(steps: readonly PropertyKey[]): { path: string; pointer: string } {
  const pointer = steps.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  return { path: `$${steps.map(shown).join("")}`, pointer };
}

function shown(step: PropertyKey): string {
  if (typeof step === "number") {
    return `[${step}]`;
  }
  const name = String(step);
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    return `.${name}`;
  }
  // The producer chooses names, so invisible characters are escaped.
  const quoted = JSON.stringify(name).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `['${readable(quoted)}']`;
}

/** Truncates a text that may contain the producer's words, and escapes invisible characters. */
function readable(text: string): string {
  const seen = visible(text.slice(0, MAX_TEXT));
  return text.length > MAX_TEXT ? `${seen}… (${text.length - MAX_TEXT} characters more)` : seen;
}

/** Returns a text in one line, with invisible characters escaped. */
export function visible(text: string): string {
  return text.replace(/[\p{C}\p{Z}]/gu, (unseen) => (unseen === " " ? unseen : escaped(unseen)));
}

function escaped(text: string): string {
  let escapes = "";
  for (let at = 0; at < text.length; at++) {
    escapes += `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`;
  }
  return escapes;
}
