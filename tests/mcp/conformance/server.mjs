// The server that `@modelcontextprotocol/conformance` describes, over standard input and output, or with `--http` over that.

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import * as types from "@modelcontextprotocol/sdk/types.js";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==";

const text = (text) => ({ type: "text", text });
const image = { type: "image", data: PNG, mimeType: "image/png" };
const audio = { type: "audio", data: WAV, mimeType: "audio/wav" };
const resource = (uri, mimeType, text) => ({ type: "resource", resource: { uri, mimeType, text } });
const user = (content) => ({ role: "user", content });
const said = (result) => text(`Elicitation completed: action=${result.action}, content=${JSON.stringify(result.content ?? {})}`);

const options = (...names) => names.map((name, at) => ({ const: `value${at + 1}`, title: name }));
const ordinals = ["First", "Second", "Third"];

/** Ask the user, as a tool does. */
function ask(extra, message, properties, required = []) {
  const requestedSchema = { type: "object", properties, required };
  return extra.sendRequest({ method: "elicitation/create", params: { message, requestedSchema } }, types.ElicitResultSchema);
}

/** The tools, each a function that returns the parts of its result. */
const TOOLS = {
  test_simple_text: () => [text("This is a simple text response for testing.")],
  test_image_content: () => [image],
  test_audio_content: () => [audio],
  test_embedded_resource: () => [
    resource("test://embedded-resource", "text/plain", "This is an embedded resource content."),
  ],
  test_multiple_content_types: () => [
    text("Multiple content types test:"),
    image,
    resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
  ],
  test_tool_with_logging: async (_, extra) => {
    for (const data of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      await extra.sendNotification({ method: "notifications/message", params: { level: "info", data } });
      await sleep(50);
    }
    return [text("Tool execution completed.")];
  },
  test_tool_with_progress: async (_, extra) => {
    const progressToken = extra._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) {
        const params = { progressToken, progress, total: 100 };
        await extra.sendNotification({ method: "notifications/progress", params });
      }
      await sleep(50);
    }
    return [text("Progress was told.")];
  },
  test_error_handling: () => {
    throw new Error("This tool intentionally returns an error for testing");
  },
  test_sampling: async ({ prompt }, extra) => {
    const params = { messages: [user(text(prompt))], maxTokens: 100 };
    const result = await extra.sendRequest({ method: "sampling/createMessage", params }, types.CreateMessageResultSchema);
    return [text(`LLM response: ${result.content.text}`)];
  },
  test_elicitation: async ({ message }, extra) => {
    const username = { type: "string", description: "User's response" };
    const email = { type: "string", description: "User's email address" };
    const result = await ask(extra, message, { username, email }, ["username", "email"]);
    return [text(`User response: action: ${result.action}, content: ${JSON.stringify(result.content ?? {})}`)];
  },
  test_elicitation_sep1034_defaults: async (_, extra) => {
    const result = await ask(extra, "Please accept the defaults", {
      name: { type: "string", default: "John Doe" },
      age: { type: "integer", default: 30 },
      score: { type: "number", default: 95.5 },
      status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
      verified: { type: "boolean", default: true },
    });
    return [said(result)];
  },
  test_elicitation_sep1330_enums: async (_, extra) => {
    const plain = ["option1", "option2", "option3"];
    const result = await ask(extra, "Please choose", {
      untitledSingle: { type: "string", enum: plain },
      titledSingle: { type: "string", oneOf: options(...ordinals.map((word) => `${word} Option`)) },
      legacyEnum: {
        type: "string",
        enum: ["opt1", "opt2", "opt3"],
        enumNames: ["Option One", "Option Two", "Option Three"],
      },
      untitledMulti: { type: "array", items: { type: "string", enum: plain } },
      titledMulti: { type: "array", items: { anyOf: options(...ordinals.map((word) => `${word} Choice`)) } },
    });
    return [said(result)];
  },
  json_schema_2020_12_tool: () => [text("ok")],
};

const string = { type: "string" };
const schemas = {
  test_sampling: { type: "object", properties: { prompt: string }, required: ["prompt"] },
  test_elicitation: { type: "object", properties: { message: string }, required: ["message"] },
  json_schema_2020_12_tool: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    $defs: { address: { type: "object", properties: { street: string, city: string } } },
    properties: { name: string, address: { $ref: "#/$defs/address" } },
    additionalProperties: false,
  },
};

const RESOURCES = {
  "test://static-text": { mimeType: "text/plain", text: "This is the content of the static text resource." },
  "test://static-binary": { mimeType: "image/png", blob: PNG },
  "test://watched-resource": { mimeType: "text/plain", text: "This resource may be watched." },
};

const argument = (name) => ({ name, description: `The argument ${name}`, required: true });
const PROMPTS = {
  test_simple_prompt: { arguments: [], messages: () => [user(text("This is a simple prompt for testing."))] },
  test_prompt_with_arguments: {
    arguments: [argument("arg1"), argument("arg2")],
    messages: ({ arg1, arg2 }) => [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
  },
  test_prompt_with_embedded_resource: {
    arguments: [argument("resourceUri")],
    messages: ({ resourceUri }) => [
      user(resource(resourceUri, "text/plain", "Embedded resource content for testing.")),
      user(text("Please process the embedded resource above.")),
    ],
  },
  test_prompt_with_image: {
    arguments: [],
    messages: () => [user(image), user(text("Please analyze the image above."))],
  },
};

const capabilities = { tools: {}, resources: { subscribe: true }, prompts: {}, logging: {}, completions: {} };
/** A server for one client. */
function make() {
  const server = new Server({ name: "conformance", version: "1.0.0" }, { capabilities });

  server.setRequestHandler(types.ListToolsRequestSchema, () => ({
    tools: Object.keys(TOOLS).map((name) => ({
      name,
      description: `The tool ${name} of the conformance suite`,
      inputSchema: schemas[name] ?? { type: "object", properties: {} },
    })),
  }));
  server.setRequestHandler(types.CallToolRequestSchema, async ({ params }, extra) => {
    const tool = TOOLS[params.name];
    if (!tool) throw new types.McpError(types.ErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
    try {
      return { content: await tool(params.arguments ?? {}, extra) };
    } catch (error) {
      return { content: [text(error.message)], isError: true };
    }
  });
  server.setRequestHandler(types.ListResourcesRequestSchema, () => ({
    resources: Object.entries(RESOURCES).map(([uri, { mimeType }]) => ({
      uri,
      name: uri.slice(7),
      description: `The resource ${uri}`,
      mimeType,
    })),
  }));
  server.setRequestHandler(types.ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [{ uriTemplate: "test://template/{id}/data", name: "template", mimeType: "application/json" }],
  }));
  server.setRequestHandler(types.ReadResourceRequestSchema, ({ params: { uri } }) => {
    const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
    const made = { mimeType: "application/json", text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) };
    const found = RESOURCES[uri] ?? (id && made);
    if (!found) throw new types.McpError(-32002, "Resource not found", { uri });
    return { contents: [{ uri, ...found }] };
  });
  server.setRequestHandler(types.SubscribeRequestSchema, () => ({}));
  server.setRequestHandler(types.UnsubscribeRequestSchema, () => ({}));
  server.setRequestHandler(types.ListPromptsRequestSchema, () => ({
    prompts: Object.entries(PROMPTS).map(([name, prompt]) => ({
      name,
      description: `The prompt ${name}`,
      arguments: prompt.arguments,
    })),
  }));
  server.setRequestHandler(types.GetPromptRequestSchema, ({ params }) => ({
    messages: PROMPTS[params.name].messages(params.arguments ?? {}),
  }));
  server.setRequestHandler(types.CompleteRequestSchema, () => ({
    completion: { values: ["paris", "park", "party"], total: 150, hasMore: false },
  }));
  server.setRequestHandler(types.SetLevelRequestSchema, () => ({}));
  return server;
}

/** Serve over HTTP as the SDK does it, and print the port. Each session has a server of its own. */
function serve() {
  const sessions = new Map();
  const app = createMcpExpressApp();
  app.all("/mcp", async (request, response) => {
    let transport = sessions.get(request.headers["mcp-session-id"]);
    if (request.headers["mcp-session-id"] && !transport) return response.status(404).end();
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => sessions.set(id, transport),
        onsessionclosed: (id) => sessions.delete(id),
      });
      await make().connect(transport);
    }
    await transport.handleRequest(request, response, request.body);
  });
  const http = app.listen(0, "127.0.0.1", () => console.log(http.address().port));
}

if (process.argv[2] === "--http") serve();
else await make().connect(new StdioServerTransport());
