import { existsSync, readdirSync, readFileSync } from "node:fs";

// The tests run in target/js/clean/test, beside nothing but the package: these are the project's own files.
export const root = new URL("../../../../", import.meta.url);

/** A file of the project, as text unless no encoding is asked for. */
export function read(path, encoding = "utf8") {
  return readFileSync(new URL(path, root), encoding);
}

/** A contract of schemas/examples with its schema inside, as the host's loader reads it. */
export function example(name) {
  const contract = JSON.parse(read(`schemas/examples/${name}.contract.json`));
  return { ...contract, schema: JSON.parse(read(`schemas/examples/${contract.schema}`)) };
}

/** An output of schemas/examples. */
export function output(name) {
  return read(`schemas/examples/outputs/${name}.txt`);
}

/** A schema that takes 2^40 steps to judge an object by. */
export const doubling = read("schemas/examples/hostile/doubling.contract.json");

/** No bound that is ever reached. */
export const endless = { fuel: Number.MAX_SAFE_INTEGER };

/** Returns the text that a hostile case describes in pieces (tests/hostile/README.md). */
export function text(pieces) {
  if (typeof pieces === "string") {
    return pieces;
  }
  if (Array.isArray(pieces)) {
    return pieces.map(text).join("");
  }
  const repeated = text(pieces.repeat);
  const times = [];
  for (let n = 0; n < pieces.times; n++) {
    times.push(repeated.replaceAll("{n}", n).replaceAll("{n+1}", n + 1));
  }
  return times.join("");
}

/** Requests, one line each: all cases, where `cargo xtask runtimes` wrote them down, or else the examples. */
export function requests() {
  const cases = new URL("target/runtimes/requests.ndjson", root);
  if (existsSync(cases)) {
    return readFileSync(cases, "utf8")
      .split("\n")
      .filter((line) => line !== "");
  }
  return readdirSync(new URL("schemas/examples/outputs", root)).map((name) =>
    JSON.stringify({ contract: example(name.split(".")[0]), output: read(`schemas/examples/outputs/${name}`) }),
  );
}
