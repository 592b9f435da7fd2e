#!/usr/bin/env node
import "./node.js";
import { LoadError } from "./fault.js";
import { addon } from "./platform.js";

// Node's own handlers of these signals restore the terminal and raise the signal again. The command line also handles
// them, and calls the previous handler, which would loop forever with Node's. Adding and removing a listener restores
// the default handler.
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  const nothing = () => {};
  process.on(signal, nothing).off(signal, nothing);
}

try {
  process.exitCode = addon("the command line").main(["seamgate", ...process.argv.slice(2)]);
} catch (error) {
  if (!(error instanceof LoadError)) throw error;
  console.error(`seamgate: ${error.message}`);
  // The exit code for usage errors.
  process.exitCode = 2;
}
