// A server of npm's `@modelcontextprotocol/server`, with the parts of the protocol of 2026-07-28 that `stateless.py` has.

import {
  acceptedContent,
  fromJsonSchema,
  inputRequired,
  McpServer,
  ResourceNotFoundError,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const who = {
  type: "object",
  properties: { name: { type: "string" } },
  required: ["name"],
};

/** The schema of an object with members of these types, all of them required. */
function object(types) {
  const properties = Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type }]));
  return fromJsonSchema({
    type: "object",
    properties,
    required: Object.keys(types),
  });
}

const text = (text) => ({ content: [{ type: "text", text }] });

function make() {
  const options = {
    instructions: "Ask before you book.",
    capabilities: { tools: { listChanged: true } },
  };
  const server = new McpServer({ name: "stateless.mjs", version: "1.0.0" }, options);

  const sum = {
    description: "Add two numbers.",
    inputSchema: object({ a: "number", b: "number" }),
  };
  server.registerTool("add", { ...sum, outputSchema: object({ sum: "number" }) }, ({ a, b }) => ({
    ...text(`${a + b}`),
    structuredContent: { sum: a + b },
  }));

  const journey = {
    description: "Book a journey for two: the user is asked twice.",
    inputSchema: object({ place: "string" }),
  };
  server.registerTool("book", journey, ({ place }, { mcpReq }) => {
    const ask = (name, message, requestState) =>
      inputRequired({
        inputRequests: {
          [name]: inputRequired.elicit({ message, requestedSchema: who }),
        },
        requestState,
      });
    const first = mcpReq.requestState() ?? acceptedContent(mcpReq.inputResponses, "first")?.name;
    if (first === undefined) return ask("first", "Who travels?");
    const second = acceptedContent(mcpReq.inputResponses, "second")?.name;
    if (second === undefined) return ask("second", `Who travels with ${first}?`, first);
    return text(`${place} for ${first} and ${second}`);
  });

  const to = {
    description: "Count, and say how far it is.",
    inputSchema: object({ to: "integer" }),
  };
  server.registerTool("count", to, async ({ to }, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (let progress = 1; progress <= to && progressToken !== undefined; progress++) {
      const params = {
        progressToken,
        progress,
        total: to,
        message: `${progress} of ${to}`,
      };
      await mcpReq.notify({ method: "notifications/progress", params });
    }
    return text(`${to}`);
  });

  server.registerTool("grow", { description: "Get one more tool.", inputSchema: object({}) }, () => {
    server.registerTool("grown", { description: "A tool that came later." }, () => text("new"));
    return text("grown");
  });

  server.registerTool("fail", { description: "Fail.", inputSchema: object({}) }, () => {
    throw new Error("no such journey");
  });

  server.registerResource("places", "stateless://places", { description: "Where one can go." }, ({ href }) => {
    if (href !== "stateless://places") throw new ResourceNotFoundError(href);
    return { contents: [{ uri: href, text: "Oslo\nBergen" }] };
  });

  const plan = {
    description: "Plan a journey.",
    argsSchema: object({ place: "string" }),
  };
  server.registerPrompt("plan", plan, ({ place }) => ({
    messages: [
      {
        role: "user",
        content: { type: "text", text: `Plan a journey to ${place}.` },
      },
    ],
  }));
  return server;
}

serveStdio(make);
