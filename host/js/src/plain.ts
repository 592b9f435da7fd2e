import { SeamgateFault } from "./fault.js";
import { isPlainObject, isStandard, type StandardSchema, visible } from "./standard.js";

/** Members that hold schemas. In a schema, an undefined member is a mistake. */
const SCHEMAS: readonly string[] = ["schema", "jtd", "resources", "inputSchema", "input_schema", "outputSchema"];

/** The most characters of a name in a message. */
const MAX_NAME = 64;

/** The wording of messages about a library's schemas. */
interface Library {
  /** The name of such a schema. */
  readonly named: string;
  /** The function that converts it to a JSON Schema. */
  readonly toJson: string;
  /** The function that adds a JSON Schema to it. */
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
 * Returns a document as JSON text. Values that JSON cannot represent are errors: instances of classes, functions,
 * symbols, bigints, numbers that are not finite, and, in a schema, undefined members. Elsewhere, undefined members are
 * left out.
 *
 * @param what - The kind of document, for the message.
 * @param isSchema - True if the whole document is a schema.
 * @throws {TypeError} It holds a value that is not JSON. The message says what and where.
 * @throws {RangeError} It is nested too deeply.
 */
export function plainJson(what: string, document: unknown, isSchema = false): string {
  return JSON.stringify(copied(document, "$", { what, isSchema, around: new Set() }));
}

interface Place {
  readonly what: string;
  readonly isSchema: boolean;
  /** The objects that contain this one. */
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

/** Returns whether an object is an array or a plain object, and not a library's schema. */
function isPlain(value: object): boolean {
  return Array.isArray(value) || (isPlainObject(value) && !isStandard(value));
}

function refused(path: string, found: string, { what, isSchema }: Place): TypeError {
  const must = isSchema ? "a schema must be JSON" : "it must be JSON";
  return new TypeError(`${what}: ${path} is ${found}; ${must}${advice(found, isSchema)}`);
}

/** Returns advice on how to convert the value to JSON. */
function advice(found: string, isSchema: boolean): string {
  const known = Object.values(LIBRARIES).find(({ named }) => named === found);
  if (known === undefined && !found.startsWith("a schema of ")) {
    return isSchema && found !== "undefined" ? ", as `JSON.parse` gives it" : "";
  }
  const toJson = known?.toJson ?? 'what its library makes of it, say `schema["~standard"].jsonSchema.input(…)`';
  return `. Pass ${toJson}; or give the schema itself as \`schema\` of a contract, or to \`ask\` or \`parseWithSchema\``;
}

/** Names the kind of a value, for the message that it has the wrong kind. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) {
    return String(value);
  }
  return Array.isArray(value) ? "an array" : isPlain(Object(value)) ? "an object" : named(value);
}

/** Names a value that is not JSON. */
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

/** Returns the library of a schema, or undefined if the value is not a schema. */
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

/** The dialect of JSON Schema that is requested from libraries. */
const TARGET = "draft-2020-12";

/**
 * Makes Valibot omit checks that JSON Schema cannot express, instead of failing. The schema runs these checks itself.
 */
const VALIBOT = {
  overrideAction: ({ jsonSchema, errors }: { jsonSchema: unknown; errors: unknown }) =>
    errors === undefined ? undefined : jsonSchema,
};

/** A cache of the JSON Schemas of library schemas. */
const written = new WeakMap<object, string>();

/**
 * Returns the JSON Schema of a schema's input, before its transforms, as JSON text.
 *
 * @throws {TypeError} The schema has no JSON Schema.
 * @throws {SeamgateFault} `bad_contract` if JSON Schema cannot express it.
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
