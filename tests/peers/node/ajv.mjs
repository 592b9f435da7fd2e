// Verdicts of Ajv: a line of JSON for each line of standard input.
import { createInterface } from "node:readline";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const formats = require("ajv-formats");
const draft6 = require("ajv/dist/refs/json-schema-draft-06.json");
const options = { strict: false, logger: false, unicodeRegExp: true, validateFormats: true };
const drafts = {
  "http://json-schema.org/draft-04/schema#": require("ajv-draft-04"),
  "http://json-schema.org/draft-06/schema#": require("ajv"),
  "http://json-schema.org/draft-07/schema#": require("ajv"),
  "https://json-schema.org/draft/2019-09/schema": require("ajv/dist/2019"),
  "https://json-schema.org/draft/2020-12/schema": require("ajv/dist/2020"),
};

const NAMES = ["date", "email", "ipv4", "uri", "json-pointer", "uuid"];
const LATER = {
  "http://json-schema.org/draft-04/schema#": ["const", "contains", "if", "then", "else", "propertyNames"],
  "http://json-schema.org/draft-06/schema#": ["if", "then", "else"],
};

for await (const line of createInterface({ input: process.stdin })) {
  const { seed, dialect, schema, resources, documents } = JSON.parse(line);
  let answer;
  try {
    const draft = drafts[dialect];
    const ajv = new (draft.default ?? draft)(options);
    // Formats are asserted in every draft.
    formats(ajv, NAMES);
    // Keywords of later drafts are annotations.
    for (const keyword of LATER[dialect] ?? []) {
      ajv.removeKeyword(keyword);
    }
    if (dialect.includes("draft-06")) {
      ajv.addMetaSchema(draft6);
    }
    for (const [uri, resource] of Object.entries(resources)) {
      ajv.addSchema(resource, uri);
    }
    const judge = ajv.compile(schema);
    answer = { seed, verdicts: documents.map((document) => judge(document)) };
  } catch (error) {
    answer = { seed, error: `${error.name}: ${error.message}` };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
