// Serves the page on this machine alone: `node serve.mjs FOLDER`, or as a handler of requests.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import { pathToFileURL } from "node:url";

/** Where the page is served, unless that is taken. */
const PORT = 8080;

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };

/** Answers with the files of a folder. */
export function files(folder) {
  return async (request, response) => {
    try {
      const { pathname } = new URL(request.url, "http://localhost");
      const name = pathname.endsWith("/") ? `${pathname}index.html` : pathname;
      // `normalize` leaves nothing that leads out of it.
      const content = await readFile(path.join(folder, path.normalize(decodeURIComponent(name))));
      const type = TYPES[path.extname(name)] ?? "application/octet-stream";
      response.writeHead(200, { "content-type": type, "cache-control": "no-store" }).end(content);
    } catch {
      response.writeHead(404).end();
    }
  };
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) {
    console.error("usage: node serve.mjs FOLDER");
    process.exit(2);
  }
  const server = createServer(files(folder));
  server.on("error", (error) => {
    if (error.code !== "EADDRINUSE") {
      throw error;
    }
    console.log(`Port ${PORT} is taken. Taking another one.`);
    server.listen(0, "127.0.0.1");
  });
  server.on("listening", () => {
    console.log(`The page is at http://127.0.0.1:${server.address().port}/ (Ctrl-C ends this)`);
  });
  server.listen(PORT, "127.0.0.1");
}
