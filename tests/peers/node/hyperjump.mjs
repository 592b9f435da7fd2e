// Verdicts of Hyperjump's @hyperjump/json-schema: a line of JSON for each line of standard input.
import { createInterface } from "node:readline";
import { removeUriSchemePlugin } from "@hyperjump/browser";
import { registerSchema, setShouldValidateFormat, unregisterSchema, validate } from "@hyperjump/json-schema/draft-2020-12";
import "@hyperjump/json-schema/draft-2019-09";
import "@hyperjump/json-schema/draft-07";
import "@hyperjump/json-schema/draft-06";
import "@hyperjump/json-schema/draft-04";

setShouldValidateFormat(false);
// What it does not know it would fetch.
for (const scheme of ["http", "https", "file"]) {
  removeUriSchemePlugin(scheme);
}

const ROOT = "https://example.com/dir/root";

// Registers each resource inside a schema by its URI, because the library finds embedded resources only from inside the
// schema.
function embedded(schema, base, keyword, found) {
  if (typeof schema !== "object" || schema === null) {
    return;
  }
  let inner = base;
  if (!Array.isArray(schema) && typeof schema[keyword] === "string" && !schema[keyword].startsWith("#")) {
    inner = new URL(schema[keyword], base).href;
    if (inner !== base) {
      found.push([inner, { ...schema, [keyword]: inner }]);
    }
  }
  for (const value of Object.values(schema)) {
    embedded(value, inner, keyword, found);
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { seed, dialect, schema, resources, documents } = JSON.parse(line);
  const keyword = dialect.includes("draft-04") ? "id" : "$id";
  const all = [[ROOT, schema], ...Object.entries(resources)];
  for (const [uri, resource] of [...all]) {
    embedded(resource, uri, keyword, all);
  }
  const added = [];
  let answer;
  try {
    for (const [uri, resource] of all) {
      registerSchema(resource, uri, dialect);
      added.push(uri);
    }
    const judge = await validate(ROOT);
    answer = { seed, verdicts: documents.map((document) => judge(document).valid) };
  } catch (error) {
    answer = { seed, error: `${error.name}: ${error.message}` };
  }
  for (const uri of added) {
    unregisterSchema(uri);
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
