// Makes the packages: `node build.mjs COMPONENT VERSION PLATFORM ADDON BUILT_IN`, in a copy of this folder, beneath what
// package-lock.json pins. COMPONENT is the metered form of BUILT_IN, the component in the addon. `cargo xtask js` does that. `seamgate` is then the folder `package`, and the addon for the platform the folder `addon`.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { transpileBytes } from "@bytecodealliance/jco-transpile";

const [component, version, built, addon, embedded] = process.argv.slice(2);
const NAME = "validator";
// All platforms that have an addon: each is a package of its own, which npm installs where it fits.
const platforms = JSON.parse(await readFile("platforms.json", "utf8"));

// What jco makes of the component: glue, and its core modules.
const bytes = await readFile(component);
const digest = digestOf(bytes);
const builtIn = digestOf(await readFile(embedded));
const { files } = await transpileBytes(bytes, { name: NAME, instantiation: "sync", minify: false });
const MODULES = "declare const modules: Readonly<Record<string, WebAssembly.Module>>;\nexport default modules;\n";
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
  "about.js": `export const version = "${version}";
export const digest = "${digest}";
// Of the component that the metered one was made of: the built-in one of the addon and the command line.
export const builtIn = "${builtIn}";
`,
  "about.d.ts": "export const version: string;\nexport const digest: string;\nexport const builtIn: string;\n",
  // Written out, so that bundlers see that these are files. No place is asked for at once: in CommonJS there is no `import.meta`.
  "files.js": `export const files = {\n${modules.map((name) => located(name)).join("")}};\n`,
  "files.d.ts": "export const files: Readonly<Record<string, () => URL>>;\n",
  "modules.js": imported(""),
  // Next.js gives a module for this alone.
  "modules-edge.js": imported("?module"),
  "modules.d.ts": MODULES,
  "modules-edge.d.ts": MODULES,
  ...Object.fromEntries(modules.map((name) => [name, files[name]])),
};
// The name of the package for Linux is written out, so that tools that collect the files of a server see it. webpack fails if a
// package that it sees is not installed, so it must not see the others: a bundle that is made elsewhere takes WebAssembly.
const SERVERS = "linux";
const native = {
  "addons.js": [
    'import { createRequire } from "node:module";\n\n',
    "const unseen = (create, name) => create(import.meta.url).resolve(name);\n\nexport const addons = [\n",
    ...platforms.map(({ name, os, cpu }) => {
      const text = `"${packageOf(name)}"`;
      const main =
        os === SERVERS ? `createRequire(import.meta.url).resolve(${text})` : `unseen(createRequire, ${text})`;
      return `  { machine: "${os}-${cpu}", name: ${text}, file: "${name}.node", main: () => ${main} },\n`;
    }),
    "];\n",
  ].join(""),
  "addons.d.ts": `export const addons: readonly {
  readonly machine: string;
  readonly name: string;
  readonly file: string;
  readonly main: () => string;
}[];
`,
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
const LICENCES = ["LICENSE-APACHE", "LICENSE-MIT"];
const INSIDE = ["THIRD-PARTY-NOTICES.txt", "seamgate.cdx.json"];
for (const name of ["README.md", ...LICENCES, ...INSIDE]) {
  await cp(name, path.join("package", name));
}
// What is for making it stays here.
const { private: _, devDependencies: __, name, ...rest } = JSON.parse(await readFile("package.json", "utf8"));
const optionalDependencies = Object.fromEntries(platforms.map(({ name }) => [packageOf(name), version]));
await manifest("package", { name, version, ...rest, optionalDependencies, files: ["dist", ...LICENCES, ...INSIDE] });

const platform = platforms.find(({ name }) => name === built);
const { os, cpu, libc } = platform;
const file = `${built}.node`;
await rm("addon", { recursive: true, force: true });
await mkdir("addon");
await cp(addon, path.join("addon", file));
// Tools that collect the files of a server follow this to the addon.
await writeFile("addon/index.js", `module.exports = require("node:path").join(__dirname, "${file}");\n`);
for (const name of LICENCES) await cp(name, path.join("addon", name));
for (const name of INSIDE) await cp(path.join("inside", name), path.join("addon", name));
await writeFile(
  "addon/README.md",
  `# ${packageOf(built)}\n\nThe native addon of \`seamgate\`. Install \`seamgate\`.\n`,
);
await manifest("addon", {
  name: packageOf(built),
  version,
  description: `The native addon of seamgate for ${built}`,
  license: rest.license,
  engines: rest.engines,
  os: [os],
  cpu: [cpu],
  ...(libc && { libc: [libc] }),
  main: "index.js",
  files: ["index.js", file, ...LICENCES, ...INSIDE],
});

function digestOf(bytes) {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

function packageOf(name) {
  return `@seamgate/${name}`;
}

function manifest(folder, members) {
  return writeFile(path.join(folder, "package.json"), `${JSON.stringify(members, undefined, 2)}\n`);
}

// A module that has the core modules, imported as a runtime does that compiles none.
function imported(query) {
  return [
    ...modules.map((name, at) => `import module${at} from "./${name}${query}";\n`),
    "\nexport default {\n",
    ...modules.map((name, at) => `  ${JSON.stringify(name)}: module${at},\n`),
    "};\n",
  ].join("");
}

// A member that says where a file is that lies beside the module.
function located(name) {
  return `  ${JSON.stringify(name)}: () => new URL("./${name}", import.meta.url),\n`;
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
