// The client of npm's `@modelcontextprotocol/client`: takes the steps of a scenario against a server, and prints each answer.

import { readFileSync } from "node:fs";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [, , mode, scenario, command, ...args] = process.argv;
const { steps } = JSON.parse(readFileSync(scenario, "utf8"));

/** To find the version out, this client starts the server one time more, but not with a transport of one's own. A recorder takes one connection. */
class Transport extends StdioClientTransport {}

const client = new Client(
  { name: "client.mjs", version: "2.0.0" },
  {
    capabilities: {
      sampling: {},
      elicitation: {},
      roots: { listChanged: true },
    },
    versionNegotiation: { mode },
  },
);
client.setRequestHandler("sampling/createMessage", () => ({
  role: "assistant",
  content: { type: "text", text: "a sample" },
  model: "none",
}));
client.setRequestHandler("elicitation/create", () => ({
  action: "accept",
  content: { name: "Anna", integer: 7 },
}));
client.setRequestHandler("roots/list", () => ({
  roots: [{ uri: "file:///srv/work", name: "work" }],
}));

/** Call a tool that changes the list of tools, and wait until the server says so. */
async function listen(tool) {
  const told = new Promise((resolve) => {
    client.setNotificationHandler("notifications/tools/list_changed", resolve);
  });
  const subscription = await client.listen({ toolsListChanged: true });
  const called = await client.callTool({ name: tool, arguments: {} });
  const { method } = await told;
  await subscription.close();
  return [called, method];
}

/** Take one step. */
function take(step) {
  const { do: what, name, uri, arguments: given, progress, prompt, argument, level } = step;
  switch (what) {
    case "tools":
      return client.listTools();
    case "call":
      return client.callTool({ name, arguments: given }, progress ? { onprogress: () => {} } : {});
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
      return client.complete({
        ref: { type: "ref/prompt", name: prompt },
        argument,
      });
    case "level":
      return client.setLoggingLevel(level);
    case "roots":
      return client.sendRootsListChanged();
    case "listen":
      return listen(step.call);
    case "ping":
      return client.ping();
    default:
      throw new Error(what);
  }
}

const headers = { Authorization: `Bearer ${process.env.GATE_TOKEN}` };
const transport = command.startsWith("http://")
  ? new StreamableHTTPClientTransport(new URL(command), { requestInit: { headers } })
  : new Transport({ command, args });
await client.connect(transport);
const hello = [
  client.getNegotiatedProtocolVersion(),
  client.getServerVersion(),
  client.getServerCapabilities(),
  client.getInstructions(),
];
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
