import type { Violation } from "./types.js";

/**
 * A schema of a library: an object with the member `~standard`, as Standard Schema and Standard JSON Schema define it. Zod (4.2 or
 * later), ArkType, and Valibot through `toStandardJsonSchema` of @valibot/to-json-schema make such schemas; {@link withJsonSchema} makes
 * one of a schema that lacks `jsonSchema`, as those of zod/mini do. `Input` is the document that the model writes, `T` the value that
 * the schema makes of it.
 */
export interface StandardSchema<T = unknown, Input = unknown> {
  readonly "~standard": Validating<T, Input> & {
    readonly jsonSchema: { readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown> };
  };
}

/** A schema of a library that validates, and does not say what it is in JSON. */
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
 * Returns the schema of a library together with the JSON Schema of what it takes: for libraries whose schemas do not say that
 * themselves, such as zod/mini.
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
  // Of a class, members would not be copied.
  const { version, vendor, types } = schema["~standard"];
  const validate = (value: unknown) => schema["~standard"].validate(value) as StandardResult<T>;
  const input = () => ({ ...jsonSchema });
  return {
    "~standard": { version, vendor, validate, types: types as { input: Input; output: T }, jsonSchema: { input } },
  };
}

/** One thing that a schema's own check found, and the names and indices that lead to its place. */
export interface Found {
  readonly violation: Violation;
  readonly steps: readonly PropertyKey[];
}

/** What a schema makes of a document: its own value, or what is wrong. */
export type Read<T> = { readonly value: T; readonly wrong?: undefined } | { readonly wrong: readonly Found[] };

/** As many as a report lists. */
const MAX_ERRORS = 100;

/** So many characters are shown of a text that is not the gate's own, and of what was received. */
const MAX_TEXT = 512;
const MAX_RECEIVED = 256;

/** Returns whether this is a schema of a library; it may not say what it is in JSON. */
export function isStandard<T>(schema: unknown): schema is StandardSchema<T> {
  // Schemas of some libraries are functions.
  const isObject = (typeof schema === "object" && schema !== null) || typeof schema === "function";
  if (!isObject || !("~standard" in schema)) {
    return false;
  }
  // What `z.toJSONSchema` makes has this out of sight: it is JSON all the same, and may have been edited.
  return Object.getOwnPropertyDescriptor(schema, "~standard")?.enumerable !== false || !isPlainObject(schema);
}

/** Returns whether an object is one that is written `{}`, in this realm or another one. */
export function isPlainObject(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Read a document that is valid by the schema that `inJson` gives. A schema with asynchronous checks gives a promise. */
export function read<T>(schema: StandardSchema<T>, document: unknown): Read<T> | Promise<Read<T>> {
  const checked = schema["~standard"].validate(document);
  return checked instanceof Promise ? checked.then((result) => readOf(result, document)) : readOf(checked, document);
}

function readOf<T>(result: StandardResult<T>, document: unknown): Read<T> {
  return result.issues === undefined
    ? { value: result.value }
    : { wrong: result.issues.slice(0, MAX_ERRORS).map((issue) => found(issue, document)) };
}

/** What a schema's own check says, in the words of a report. */
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

/** A place as a JSONPath and as a JSON Pointer. */
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
  // Names are the producer's: what cannot be seen is escaped.
  const quoted = JSON.stringify(name).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `['${readable(quoted)}']`;
}

/** A text that may be the producer's in part: cut, and what cannot be seen escaped. */
function readable(text: string): string {
  const seen = visible(text.slice(0, MAX_TEXT));
  return text.length > MAX_TEXT ? `${seen}… (${text.length - MAX_TEXT} characters more)` : seen;
}

/** A text in one line. What cannot be seen is escaped. */
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
