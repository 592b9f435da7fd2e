import type { Violation } from "./types.js";

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

/** What a schema makes of a document: its own value, or what is wrong. */
export type Read<T> = { readonly value: T; readonly wrong?: undefined } | { readonly wrong: readonly Violation[] };

/** As many as a report lists. */
const MAX_ERRORS = 100;

/** So many characters are shown of a text that is not the gate's own, and of what was received. */
const MAX_TEXT = 512;
const MAX_RECEIVED = 256;

/** Whether this is a schema of a library. */
export function isStandard<T>(schema: unknown): schema is StandardSchema<T> {
  // Schemas of some libraries are functions.
  return ((typeof schema === "object" && schema !== null) || typeof schema === "function") && "~standard" in schema;
}

/** Read a document that is valid by the schema that `inJson` gives. A schema with asynchronous checks gives a promise. */
export function read<T>(schema: StandardSchema<T>, document: unknown): Read<T> | Promise<Read<T>> {
  const checked = schema["~standard"].validate(document);
  return checked instanceof Promise ? checked.then((result) => readOf(result, document)) : readOf(checked, document);
}

function readOf<T>(result: StandardResult<T>, document: unknown): Read<T> {
  return result.issues === undefined
    ? { value: result.value }
    : { wrong: result.issues.slice(0, MAX_ERRORS).map((issue) => violation(issue, document)) };
}

/** What a schema's own check says, in the words of a report. */
function violation(issue: StandardIssue, document: unknown): Violation {
  const steps = (issue.path ?? []).map((step) => (typeof step === "object" ? step.key : step));
  const pointer = steps.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  let received = document;
  for (const step of steps) {
    const isThere = typeof received === "object" && received !== null && Object.hasOwn(received, step);
    received = isThere ? (received as Record<PropertyKey, unknown>)[step] : undefined;
  }
  return {
    path: `$${steps.map(shown).join("")}`,
    keyword: issue.code ?? "schema",
    expected: "",
    received: received === undefined ? "" : visible(JSON.stringify(received).slice(0, MAX_RECEIVED)),
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
