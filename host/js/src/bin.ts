#!/usr/bin/env node
import "./node.js";
import { LoadError } from "./fault.js";
import { addon } from "./platform.js";

// Node puts the terminal in order before these signals end it. The command line catches them and passes each on to the handler
// before it, and Node's sends the signal again, without end. To listen and to stop brings back the default.
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  const nothing = () => {};
  process.on(signal, nothing).off(signal, nothing);
}

try {
  process.exitCode = addon("the command line").main(["seamgate", ...process.argv.slice(2)]);
} catch (error) {
  if (!(error instanceof LoadError)) throw error;
  console.error(`seamgate: ${error.message}`);
  // As for any other mistake in how it is called.
  process.exitCode = 2;
}
