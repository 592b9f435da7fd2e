// The client of npm's `@modelcontextprotocol/sdk`: takes the steps of a scenario against a server, and prints each answer.

import { readFileSync } from "node:fs";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";

const [, , , scenario, command, ...args] = process.argv;
const { steps } = JSON.parse(readFileSync(scenario, "utf8"));

const client = new Client(
  { name: "sdk.mjs", version: "1.0.0" },
  { capabilities: { sampling: {}, elicitation: {}, roots: { listChanged: true } } },
);
client.setRequestHandler(CreateMessageRequestSchema, () => ({
  role: "assistant",
  content: { type: "text", text: "a sample" },
  model: "none",
}));
client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { name: "Anna", integer: 7 } }));
client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: "file:///srv/work", name: "work" }] }));

/** Take one step. */
function take(step) {
  const { do: what, name, uri, arguments: given, progress, prompt, argument, level } = step;
  switch (what) {
    case "tools":
      return client.listTools();
    case "call":
      return client.callTool({ name, arguments: given }, undefined, progress ? { onprogress: () => {} } : {});
    case "resources":
      return client.listResources();
    case "templates":
      return client.listResourceTemplates();
    case "read":
      return client.readResource({ uri });
    case "subscribe":
      return client.subscribeResource({ uri });
    case "unsubscribe":
      return client.unsubscribeResource({ uri });
    case "prompts":
      return client.listPrompts();
    case "prompt":
      return client.getPrompt({ name, arguments: given });
    case "complete":
      return client.complete({ ref: { type: "ref/prompt", name: prompt }, argument });
    case "level":
      return client.setLoggingLevel(level);
    case "roots":
      return client.sendRootsListChanged();
    case "ping":
      return client.ping();
    default:
      throw new Error(what);
  }
}

const headers = { Authorization: `Bearer ${process.env.GATE_TOKEN}` };
const transport = command.startsWith("http://")
  ? new StreamableHTTPClientTransport(new URL(command), { requestInit: { headers } })
  : new StdioClientTransport({ command, args });
await client.connect(transport);
const hello = [client.getServerVersion(), client.getServerCapabilities(), client.getInstructions()];
for (const [number, step] of [null, ...steps].entries()) {
  let answer;
  try {
    answer = step === null ? hello : await take(step);
  } catch (error) {
    answer = `${error.name}: ${error.message}`;
  }
  console.log(number, JSON.stringify(answer));
}
await client.close();
