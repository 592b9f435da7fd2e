#!/usr/bin/env node
import "./node.js";
import { LoadError } from "./fault.js";
import { addon } from "./platform.js";

try {
  process.exitCode = addon("the command line").main(["seamgate", ...process.argv.slice(2)]);
} catch (error) {
  if (!(error instanceof LoadError)) throw error;
  console.error(`seamgate: ${error.message}`);
  // As for any other mistake in how it is called.
  process.exitCode = 2;
}
