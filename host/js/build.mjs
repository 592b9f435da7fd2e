// Makes the package: `node build.mjs COMPONENT VERSION ADDON`, in a copy of this folder, beneath what package-lock.json pins.
// `cargo xtask js` does that. The package is then the folder `package`.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { transpileBytes } from "@bytecodealliance/jco-transpile";

const [component, version, addon] = process.argv.slice(2);
const NAME = "validator";

// What jco makes of the component: glue, and its core modules.
const bytes = await readFile(component);
const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
const { files } = await transpileBytes(bytes, { name: NAME, instantiation: "sync", minify: false });
const modules = Object.keys(files).filter((name) => name.endsWith(".wasm"));
const made = {
  [`${NAME}.js`]: withoutAsync(new TextDecoder().decode(files[`${NAME}.js`])),
  // Of all that it exports only this is used.
  [`${NAME}.d.ts`]: `export function instantiate(
  getCoreModule: (name: string) => WebAssembly.Module,
  imports: Record<string, never>,
  instantiateCore: (module: WebAssembly.Module, imports?: WebAssembly.Imports) => WebAssembly.Instance,
): { wire: { call(request: string): string } };
`,
  "about.js": `export const version = "${version}";\nexport const digest = "${digest}";\n`,
  "about.d.ts": "export const version: string;\nexport const digest: string;\n",
  // Written out, so that bundlers see that these are files. No place is asked for at once: in CommonJS there is no `import.meta`.
  "files.js": `export const files = {\n${modules.map((name) => file(name)).join("")}};\n`,
  "files.d.ts": "export const files: Readonly<Record<string, () => URL>>;\n",
  "modules.js": [
    ...modules.map((name, at) => `import module${at} from "./${name}";\n`),
    "\nexport default {\n",
    ...modules.map((name, at) => `  ${JSON.stringify(name)}: module${at},\n`),
    "};\n",
  ].join(""),
  "modules.d.ts": "declare const modules: Readonly<Record<string, WebAssembly.Module>>;\nexport default modules;\n",
  ...Object.fromEntries(modules.map((name) => [name, files[name]])),
};
// Of this machine alone. Others run on WebAssembly, until their addon is beside it.
const machine = `${process.platform}-${process.arch}`;
const native = {
  "addons.js": `export const addons = {\n${file(`${machine}.node`, machine)}};\n`,
  "addons.d.ts": "export const addons: Readonly<Record<string, (() => URL) | undefined>>;\n",
  [`${machine}.node`]: await readFile(addon),
};
const folders = { component: made, native };
for (const [folder, contents] of Object.entries(folders)) {
  await mkdir(path.join("src", folder), { recursive: true });
  for (const [name, content] of Object.entries(contents)) {
    await writeFile(path.join("src", folder, name), content);
  }
}

const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
execFileSync(process.execPath, [tsc], { stdio: "inherit" });

await rm("package", { recursive: true, force: true });
await cp("dist", "package/dist", { recursive: true });
for (const [folder, contents] of Object.entries(folders)) {
  for (const name of Object.keys(contents).filter((name) => !name.endsWith(".d.ts"))) {
    await cp(path.join("src", folder, name), path.join("package/dist", folder, name));
  }
}
for (const name of ["README.md", "LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY-NOTICES.txt", "seamgate.cdx.json"]) {
  await cp(name, path.join("package", name));
}
// What is for making it stays here.
const { private: _, devDependencies: __, name, ...rest } = JSON.parse(await readFile("package.json", "utf8"));
const published = ["dist", "THIRD-PARTY-NOTICES.txt", "seamgate.cdx.json"];
const manifest = { name, version, ...rest, files: published };
await writeFile("package/package.json", `${JSON.stringify(manifest, undefined, 2)}\n`);

// A member that says where a file is that lies beside the module.
function file(name, key = name) {
  return `  ${JSON.stringify(key)}: () => new URL("./${name}", import.meta.url),\n`;
}

// Each instance would try to make its exports asynchronous, for callers that there are not. Where the engine cannot,
// that throws; to say what threw, V8 reads the function again, which is most of this file: 3 ms each, ten times.
function withoutAsync(glue) {
  const tried = /try \{\s*(\w+) = WebAssembly\.promising\((.+)\);\s*\} catch\(err\) \{\s*\1 = \2;\s*\}/g;
  const changed = glue.replaceAll(tried, "$1 = $2;");
  if (changed === glue || changed.includes("WebAssembly.promising(export")) {
    throw new Error("what jco writes has changed: an instance would cost 30 ms more than it must");
  }
  return changed;
}
