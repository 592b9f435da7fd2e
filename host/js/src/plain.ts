import { SeamgateFault } from "./fault.js";
import { isPlainObject, isStandard, type StandardSchema, visible } from "./standard.js";

/** Members that hold schemas. In a schema, what is undefined was meant to be something. */
const SCHEMAS: readonly string[] = ["schema", "jtd", "resources", "inputSchema", "input_schema", "outputSchema"];

/** The most characters that are shown of a name. */
const MAX_NAME = 64;

/** What is said of a library's schemas. */
interface Library {
  /** What one is called. */
  readonly named: string;
  /** What makes a JSON Schema of one. */
  readonly toJson: string;
  /** What makes a schema of it that says itself what it is in JSON. */
  readonly standard: string;
}

const LIBRARIES: Readonly<Record<string, Library>> = {
  zod: {
    named: "a Zod schema",
    toJson: '`z.toJSONSchema(schema, { io: "input" })`',
    standard:
      'a schema of zod 4.2 or later; of zod/mini, `withJsonSchema(schema, z.toJSONSchema(schema, { io: "input" }))`',
  },
  valibot: {
    named: "a Valibot schema",
    toJson: "`toJsonSchema(schema)` of @valibot/to-json-schema",
    standard: "`toStandardJsonSchema(schema)` of @valibot/to-json-schema",
  },
  arktype: {
    named: "an ArkType schema",
    toJson: "`schema.toJsonSchema()`",
    standard: "a schema of arktype 2.1.28 or later, or `withJsonSchema(schema, schema.toJsonSchema())`",
  },
  effect: {
    named: "a schema of Effect",
    toJson: "`JSONSchema.make(schema)`",
    standard: "`withJsonSchema(Schema.standardSchemaV1(schema), JSONSchema.make(schema))`",
  },
};

/**
 * A document as JSON text. What JSON text would lose is refused, and not lost: an instance of a class, a function, a symbol, a bigint,
 * a number that is not finite, and in a schema what is undefined. Elsewhere, members that are undefined are left out.
 *
 * @param what - What the document is, for the message.
 * @param isSchema - Whether it is a schema as a whole.
 * @throws {TypeError} It holds something else than JSON. The message says what and where.
 * @throws {RangeError} It has no end.
 */
export function plainJson(what: string, document: unknown, isSchema = false): string {
  return JSON.stringify(copied(document, "$", { what, isSchema, around: new Set() }));
}

interface Place {
  readonly what: string;
  readonly isSchema: boolean;
  /** The objects around this one. */
  readonly around: Set<object>;
}

function copied(value: unknown, path: string, place: Place): unknown {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      if (Number.isFinite(value)) return value;
      throw refused(path, String(value), place);
    case "object":
      break;
    default:
      throw refused(path, named(value), place);
  }
  if (value === null) {
    return value;
  }
  if (!isPlain(value)) {
    throw refused(path, named(value), place);
  }
  if (place.around.has(value)) {
    throw new RangeError(`${place.what}: ${path} must be JSON: it is an object around it again`);
  }
  place.around.add(value);
  const copy = Array.isArray(value)
    ? Array.from(value, (item, at) => copied(item, `${path}[${at}]`, place))
    : members(value, path, place);
  place.around.delete(value);
  return copy;
}

function members(object: object, path: string, place: Place): object {
  // A name may be `__proto__`.
  const copy = Object.create(null);
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined && !place.isSchema && !SCHEMAS.includes(name)) {
      continue;
    }
    const within = place.isSchema || SCHEMAS.includes(name) ? { ...place, isSchema: true } : place;
    copy[name] = copied(value, `${path}${step(name)}`, within);
  }
  return copy;
}

/** Returns whether an object is an array, or one that is written `{}`, and no schema of a library. */
function isPlain(value: object): boolean {
  return Array.isArray(value) || (isPlainObject(value) && !isStandard(value));
}

function refused(path: string, found: string, { what, isSchema }: Place): TypeError {
  const must = isSchema ? "a schema must be JSON" : "it must be JSON";
  return new TypeError(`${what}: ${path} is ${found}; ${must}${advice(found, isSchema)}`);
}

/** What makes JSON of it. */
function advice(found: string, isSchema: boolean): string {
  const known = Object.values(LIBRARIES).find(({ named }) => named === found);
  if (known === undefined && !found.startsWith("a schema of ")) {
    return isSchema && found !== "undefined" ? ", as `JSON.parse` gives it" : "";
  }
  const toJson = known?.toJson ?? 'what its library makes of it, say `schema["~standard"].jsonSchema.input(…)`';
  return `. Pass ${toJson}; or give the schema itself as \`schema\` of a contract, or to \`ask\` or \`parseWithSchema\``;
}

/** What kind of value this is, for the message that it is another than it must be. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) {
    return String(value);
  }
  return Array.isArray(value) ? "an array" : isPlain(Object(value)) ? "an object" : named(value);
}

/** What a value is that is not JSON. */
function named(value: unknown): string {
  const library = libraryOf(value);
  if (library !== undefined) {
    return LIBRARIES[library]?.named ?? `a schema of ${shown(library)}`;
  }
  switch (typeof value) {
    case "function":
      return "a function";
    case "object": {
      const maker = (value as object).constructor;
      const name = typeof maker === "function" ? maker.name : "";
      return name === "" || name === "Object" ? "an object that is not plain" : `an instance of ${shown(name)}`;
    }
    case "undefined":
      return "undefined";
    default:
      return `a ${typeof value}`;
  }
}

/** The library that a schema is of, where it is one. */
function libraryOf(value: unknown): string | undefined {
  if (isStandard(value)) {
    return String(value["~standard"]?.vendor).toLowerCase();
  }
  if (typeof value !== "object" || value === null) {
    return undefined;
  }
  // Zod before 3.24.
  return "_def" in value && "safeParse" in value ? "zod" : undefined;
}

function step(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && name.length <= MAX_NAME ? `.${name}` : `['${shown(name)}']`;
}

function shown(name: string): string {
  return visible(name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name);
}

/** The dialect that schemas are asked for. */
const TARGET = "draft-2020-12";

/** Has Valibot leave out the checks that JSON Schema cannot say, which the schema makes itself. It fails otherwise. */
const VALIBOT = {
  overrideAction: ({ jsonSchema, errors }: { jsonSchema: unknown; errors: unknown }) =>
    errors === undefined ? undefined : jsonSchema,
};

/** What schemas are in JSON, written once. */
const written = new WeakMap<object, string>();

/**
 * Returns what a schema takes, before its transforms, as the JSON text of a JSON Schema.
 *
 * @throws {TypeError} The schema does not say what it is in JSON.
 * @throws {SeamgateFault} `bad_contract`: JSON Schema has no words for it.
 */
export function inJson(schema: StandardSchema): string {
  const known = written.get(schema);
  if (known !== undefined) {
    return known;
  }
  const { vendor, jsonSchema } = schema["~standard"] as { vendor: string; jsonSchema?: { input?: unknown } };
  const what = `\`schema\`, of ${shown(String(vendor))},`;
  if (typeof jsonSchema?.input !== "function") {
    const known = LIBRARIES[String(vendor).toLowerCase()];
    throw new TypeError(
      `${what} does not say what it is in JSON. Pass ${known?.standard ?? "withJsonSchema(schema, its JSON Schema)"}`,
    );
  }
  let document: unknown;
  try {
    const libraryOptions = vendor === "valibot" ? { libraryOptions: VALIBOT } : {};
    document = jsonSchema.input({ target: TARGET, ...libraryOptions });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new SeamgateFault("bad_contract", `${what} cannot be written as JSON Schema: ${why}`, {}, { cause: error });
  }
  const text = plainJson(what, document, true);
  written.set(schema, text);
  return text;
}
