import { existsSync, readFileSync, realpathSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { version } from "./component/about.js";
import { LoadError } from "./fault.js";

/** This module, or its bundle. In CommonJS, `import.meta.url` is missing, or is the original path of the module. */
export const here: string =
  typeof __filename === "string" && existsSync(__filename) ? pathToFileURL(__filename).href : import.meta.url;

/**
 * Returns a file of this package: at the place where the bundler put it, beside the bundle, or in the installed
 * package.
 *
 * @throws {LoadError} It is in none of these places.
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

/** Returns a file of the installed package, for a bundle that does not include it. */
export function installed(name: string): URL | undefined {
  const manifest = found(manifestAbove);
  const file = manifest && new URL(`dist/${name}`, manifest);
  return file && existsSync(file) ? file : undefined;
}

/** Returns the possible places of a file of a package that `seamgate` depends on. */
export function placesOf(name: string, file: string, main: () => string): string[] {
  const searches: (() => string | URL | undefined)[] = [
    () => path.join(path.dirname(main()), file),
    () => fileURLToPath(new URL(file, here)),
    () => above(here, `${name}/${file}`),
    // A package manager may link to the real folder of `seamgate`, and its dependencies are found only from there.
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

/** Returns the manifest of the nearest installed `seamgate` in a parent folder, if it has this version. */
function manifestAbove(): URL | undefined {
  const manifest = above(here, "seamgate/package.json");
  return manifest && JSON.parse(readFileSync(manifest, "utf8")).version === version ? manifest : undefined;
}

/** Returns a file of the nearest installed package in a parent folder. */
function above(from: string | undefined, name: string): URL | undefined {
  if (from === undefined) return undefined;
  for (let at = new URL(".", from), last = ""; at.href !== last; last = at.href, at = new URL("..", at)) {
    const file = new URL(`node_modules/${name}`, at);
    if (existsSync(file)) return file;
  }
  return undefined;
}

/**
 * Returns the result of a search, or undefined if it throws: no `import.meta`, no such package, or no valid manifest.
 */
function found<T>(search: () => T): T | undefined {
  try {
    return search();
  } catch {
    return undefined;
  }
}
