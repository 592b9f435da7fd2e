// A server of npm's `@modelcontextprotocol/sdk` with one tool, which writes its name and its arguments to the file that is named.

import { appendFileSync } from "node:fs";

import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

import { noted } from "./canonical.mjs";

const file = process.argv[2];
const note = { name: "note", description: "Note the arguments.", inputSchema: { type: "object" } };
const server = new Server({ name: "decoders", version: "1.0.0" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [note] }));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
  const call = { name: params.name, arguments: noted(params.arguments ?? {}) };
  appendFileSync(file, `${JSON.stringify(call)}\n`);
  return { content: [{ type: "text", text: "noted" }] };
});
await server.connect(new StdioServerTransport());
