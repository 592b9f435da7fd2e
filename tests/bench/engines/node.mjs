// The engines in JavaScript. `node.mjs ENGINE plan FILE` uses the protocol that `../protocol` describes. `node.mjs
// ENGINE first SCHEMA DOCUMENT` returns one verdict, also as its exit status. The packages are in the folder `node`.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(process.cwd() + "/node/");

const dialects = {
  "http://json-schema.org/draft-04/schema": () => require("ajv-draft-04"),
  "http://json-schema.org/draft-07/schema": () => require("ajv"),
  "https://json-schema.org/draft/2019-09/schema": () => require("ajv/dist/2019"),
  "https://json-schema.org/draft/2020-12/schema": () => require("ajv/dist/2020"),
};

function ajv(schema) {
  const dialect = schema.$schema.replace(/#$/, "").replace("https://json-schema.org/draft-0", "http://json-schema.org/draft-0");
  const { default: Ajv } = dialects[dialect]();
  const settings = { strict: false, validateFormats: false, logger: false };
  try {
    return new Ajv(settings).compile(schema);
  } catch {
    // Some patterns are invalid with the flag "u".
    return new Ajv({ ...settings, unicodeRegExp: false }).compile(schema);
  }
}

function ata(schema) {
  const { Validator } = require("ata-validator");
  const validator = new Validator(schema, { assertFormat: false, abortEarly: true });
  // It compiles during the first call.
  validator.isValidObject(null);
  return (value) => validator.isValidObject(value);
}

const engines = { ajv, "ata-validator": ata };

function isValid(validate, bytes) {
  let value;
  try {
    value = JSON.parse(bytes.toString());
  } catch {
    return false;
  }
  return validate(value);
}

const now = () => Number(process.hrtime.bigint());

function nanos(call) {
  let start = now();
  let warmUp = 0;
  while (warmUp === 0 || now() - start < 3e6) {
    call();
    warmUp += 1;
  }
  const batch = Math.ceil(20_000 / ((now() - start) / warmUp));
  const samples = [];
  const enough = (elapsed) => samples.length >= 3 && elapsed > (samples.length < 11 ? 100e6 : 8e6);
  start = now();
  while (!enough(now() - start)) {
    const sample = now();
    for (let index = 0; index < batch; index += 1) call();
    samples.push((now() - sample) / batch);
  }
  samples.sort((one, other) => one - other);
  return samples[samples.length >> 1];
}

function attempt(action) {
  try {
    return action();
  } catch (error) {
    return { error: String(error.message) };
  }
}

function judge(validate, bytes) {
  if (validate.error) return validate;
  return attempt(() => {
    const valid = isValid(validate, bytes);
    return { valid, nanos: nanos(() => isValid(validate, bytes)) };
  });
}

function peak() {
  return { peak_kb: Number(/VmHWM:\s*(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]) };
}

const say = (answer) => process.stdout.write(JSON.stringify(answer) + "\n");

const [engine, command, first, second] = process.argv.slice(2);
const compile = (path) => engines[engine](JSON.parse(readFileSync(path, "utf8")));
if (command === "first") {
  const valid = isValid(compile(first), readFileSync(second));
  console.log(valid);
  process.exitCode = valid ? 0 : 1;
} else {
  const plan = JSON.parse(readFileSync(first, "utf8"));
  const compiled = plan.sets.map((set) => attempt(() => compile(set.schema)));
  say({ documents: plan.documents.length });
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === "peak") {
      say(peak());
    } else {
      const document = plan.documents[Number(line)];
      say(judge(compiled[document.set], readFileSync(document.path)));
    }
  }
}
