// jco in Node: `node.mjs COMPONENT` answers each line of standard input, a request, with one line, through the component's
// `wire`. Each request has an instance of its own. What jco makes of the component is written beside what is installed.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

const installed = path.resolve("target/runtimes/node");
const jco = path.join(installed, "node_modules/@bytecodealliance/jco-transpile/dist/index.js");
const { transpileBytes } = await import(pathToFileURL(jco));

const made = path.join(installed, "made");
const { files } = await transpileBytes(await readFile(process.argv[2]), {
  name: "validator",
  instantiation: "sync",
  minify: false,
});
await mkdir(made, { recursive: true });
for (const [name, bytes] of Object.entries(files)) {
  await mkdir(path.dirname(path.join(made, name)), { recursive: true });
  await writeFile(path.join(made, name), bytes);
}

const { instantiate } = await import(pathToFileURL(path.join(made, "validator.js")));
const modules = new Map();
for (const name of Object.keys(files).filter((name) => name.endsWith(".wasm"))) {
  modules.set(name, new WebAssembly.Module(files[name]));
}
// A line ends where "\n" is, and nowhere else: JSON text may hold what others take for the end of one.
for (const request of (await text(process.stdin)).split("\n").filter((line) => line)) {
  const { wire } = instantiate((name) => modules.get(name), {});
  process.stdout.write(`${wire.call(request)}\n`);
}
