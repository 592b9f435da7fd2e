import { existsSync, readFileSync, realpathSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { version } from "./component/about.js";
import { LoadError } from "./fault.js";

/** This module, or the bundle that it is in. In CommonJS, `import.meta.url` is not there, or is where the module was before. */
export const here: string =
  typeof __filename === "string" && existsSync(__filename) ? pathToFileURL(__filename).href : import.meta.url;

/**
 * Returns a file of this package: where its bundler put it, beside the bundle, or in the package that is installed.
 *
 * @throws {LoadError} It is nowhere.
 */
export function located(place: () => URL, name: string): URL {
  const beside = path.posix.basename(name);
  for (const candidate of [place, () => new URL(beside, here), () => installed(name)]) {
    const url = found(candidate);
    if (url !== undefined && existsSync(url)) return url;
  }
  throw new LoadError(
    `${beside} is neither beside ${fileURLToPath(here)} nor in an installed seamgate ${version}: ` +
      `have the bundler keep 'seamgate' external, or copy node_modules/seamgate/dist/${name} beside the bundle`,
  );
}

/** Returns a file of the package where it is installed, for a bundle that left its files behind. */
export function installed(name: string): URL | undefined {
  const manifest = found(manifestAbove);
  const file = manifest && new URL(`dist/${name}`, manifest);
  return file && existsSync(file) ? file : undefined;
}

/** Returns the places where a package that `seamgate` depends on has a file. */
export function placesOf(name: string, file: string, main: () => string): string[] {
  const searches: (() => string | URL | undefined)[] = [
    () => path.join(path.dirname(main()), file),
    () => fileURLToPath(new URL(file, here)),
    () => above(here, `${name}/${file}`),
    // A package manager may link to where `seamgate` really lies, and only that folder leads to what it depends on.
    () => above(realOf(manifestAbove()), `${name}/${file}`),
  ];
  const paths = searches.map((search) => {
    const place = found(search);
    return place instanceof URL ? fileURLToPath(place) : place;
  });
  return [...new Set(paths)].filter((path) => path !== undefined && existsSync(path)) as string[];
}

function realOf(url: URL | undefined): string | undefined {
  return url && pathToFileURL(realpathSync(fileURLToPath(url))).href;
}

/** Returns the manifest of the package of this version that is installed nearest above; none if that is of another version. */
function manifestAbove(): URL | undefined {
  const manifest = above(here, "seamgate/package.json");
  return manifest && JSON.parse(readFileSync(manifest, "utf8")).version === version ? manifest : undefined;
}

/** Returns a file of an installed package: the nearest above. */
function above(from: string | undefined, name: string): URL | undefined {
  if (from === undefined) return undefined;
  for (let at = new URL(".", from), last = ""; at.href !== last; last = at.href, at = new URL("..", at)) {
    const file = new URL(`node_modules/${name}`, at);
    if (existsSync(file)) return file;
  }
  return undefined;
}

/** Returns what a search finds. It finds nothing if it throws: there is no `import.meta`, no such package, or no valid manifest. */
function found<T>(search: () => T): T | undefined {
  try {
    return search();
  } catch {
    return undefined;
  }
}
