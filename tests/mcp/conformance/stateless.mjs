// A server of 2026-07-28 over standard input and output, with a tool whose arguments are mirrored in headers: for what the suite asks of HTTP.

import { createInterface } from "node:readline";

const properties = {
  region: { type: "string", "x-mcp-header": "Region" },
  count: { type: "integer", "x-mcp-header": "Count" },
};
const tools = [
  { name: "test_simple_text", description: "A text", inputSchema: { type: "object", properties: {} } },
  { name: "mirror", description: "Mirrors its arguments", inputSchema: { type: "object", properties } },
];
const serverInfo = { name: "conformance", version: "1.0.0" };
const complete = {
  resultType: "complete",
  ttlMs: 0,
  cacheScope: "private",
  _meta: { "io.modelcontextprotocol/serverInfo": serverInfo },
};
const ANSWERS = {
  "server/discover": () => ({ ...complete, supportedVersions: ["2026-07-28"], capabilities: { tools: {} } }),
  "tools/list": () => ({ ...complete, tools }),
  "tools/call": ({ arguments: given }) => ({
    resultType: "complete",
    content: [{ type: "text", text: JSON.stringify(given ?? {}) }],
  }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = ANSWERS[method];
  const end = answer ? { result: answer(params) } : { error: { code: -32601, message: "Method not found" } };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...end }));
});
