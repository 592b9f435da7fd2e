// Reads lines as `JSON.parse` and both generations of the SDK do: for each line of standard input, writes what they read.

import { createInterface } from "node:readline";

import { CallToolRequestSchema, JSONRPCMessageSchema } from "@modelcontextprotocol/sdk/types.js";
import { deserializeMessage, specTypeSchemas } from "@modelcontextprotocol/server";

import { noted } from "./canonical.mjs";

const ENVELOPE = ["id", "method", "params", "result", "error"];

/** The parts of a message whose members were read. */
function message(members) {
  const read = {};
  for (const name of ENVELOPE) if (Object.hasOwn(members, name)) read[name] = noted(members[name]);
  if ("method" in read) read.kind = "id" in read ? "request" : "notification";
  else read.kind = "error" in read ? "error" : "result";
  const { params } = members;
  if (members.method === "tools/call" && params !== null && typeof params === "object") {
    read.name = noted(params.name);
    read.arguments = noted(params.arguments ?? null);
  }
  return read;
}

function plain(line) {
  const members = JSON.parse(line);
  if (members === null || typeof members !== "object" || Array.isArray(members)) throw new TypeError("no object");
  return message(members);
}

/** A message as a schema reads it, and the parameters of a call as another does. */
function typed(members, call) {
  if (members.method !== "tools/call" || !("id" in members)) return message(members);
  const { params, ...rest } = call(members);
  return { ...message({ ...members, ...rest, params: undefined }), ...called(params) };
}

const called = (params) => ({ params: undefined, name: noted(params.name), arguments: noted(params.arguments ?? {}) });

const sdk1 = (line) =>
  typed(JSONRPCMessageSchema.parse(JSON.parse(line)), (members) => CallToolRequestSchema.parse(members));

const sdk2 = (line) =>
  typed(deserializeMessage(line), (members) => {
    const read = specTypeSchemas.CallToolRequest["~standard"].validate(members);
    if (read.issues) throw new TypeError("no call");
    return read.value;
  });

const READERS = { plain, sdk1, sdk2 };

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const read = {};
  for (const [name, reader] of Object.entries(READERS)) {
    try {
      read[name] = reader(line);
    } catch (error) {
      read[name] = { refused: error.constructor.name };
    }
  }
  process.stdout.write(`${JSON.stringify(read)}\n`);
}
