// The npm package in Node: `node.mjs PACKAGE BACKEND` answers each line of standard input, a request, with one line, through the
// gate of the package that is installed there, and after a tab the fuel it took. Each request has an instance of its own.

import path from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

process.env.SEAMGATE_BACKEND = process.argv[3];
const { Gate } = await import(pathToFileURL(path.resolve(process.argv[2], "dist/node.js")));
const gate = await Gate.load();
// A line ends where "\n" is, and nowhere else: JSON text may hold what others take for the end of one.
for (const request of (await text(process.stdin)).split("\n").filter((line) => line)) {
  const { json, usage } = gate.call(request);
  process.stdout.write(`${json}\t${usage.fuel}\n`);
}
