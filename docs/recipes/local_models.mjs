// A server on this machine that speaks as OpenAI and Anthropic do, for the tests of the recipes. It says what a script has.

import { createServer } from "node:http";

const tokens = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, input_tokens: 1, output_tokens: 1 };
const details = { input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } };

function chat(model, text, finish, refusal) {
  const message = { role: "assistant", content: text, refusal };
  const choices = [{ index: 0, message, finish_reason: finish, logprobs: null }];
  return { id: "c1", object: "chat.completion", created: 1, model, choices, usage: tokens };
}

function response(model, text, finish, refusal) {
  const part = refusal ? { type: "refusal", refusal } : { type: "output_text", text, annotations: [] };
  const output = [{ type: "message", id: "m1", status: "completed", role: "assistant", content: [part] }];
  const whole = finish === "stop";
  const status = whole ? "completed" : "incomplete";
  const incomplete_details = whole ? null : { reason: "max_output_tokens" };
  const told = { id: "r1", object: "response", created_at: 1, model, output, tools: [], status, incomplete_details };
  return { ...told, usage: { ...tokens, ...details }, error: null, metadata: {}, instructions: null };
}

function message(model, text, finish, refusal) {
  const stop_reason = refusal ? "refusal" : { stop: "end_turn", length: "max_tokens" }[finish];
  const content = [{ type: "text", text: refusal ?? text }];
  return {
    id: "m1",
    type: "message",
    role: "assistant",
    model,
    content,
    stop_reason,
    stop_sequence: null,
    usage: tokens,
  };
}

// Of each interface: where the conversation is in a request, and what makes the response.
const INTERFACES = {
  "/v1/chat/completions": ["messages", chat],
  "/v1/responses": ["input", response],
  "/v1/messages": ["messages", message],
};

/** Start it, call `use` with its address and with the requests as they come, and stop it. */
export async function localModels(script, use) {
  const left = [...script];
  const requests = [];
  const server = createServer(async (request, reply) => {
    const chunks = [];
    for await (const chunk of request) {
      chunks.push(chunk);
    }
    const asked = JSON.parse(Buffer.concat(chunks).toString());
    const [told, make] = INTERFACES[request.url];
    const key = request.headers.authorization ?? request.headers["x-api-key"];
    const next = key?.endsWith("test-key") ? left.shift() : undefined;
    requests.push(asked[told]);
    const [text, finish, refusal] = Array.isArray(next) ? next : [next, "stop", null];
    reply.writeHead(next === undefined ? 500 : 200, { "content-type": "application/json" });
    reply.end(JSON.stringify(next === undefined ? {} : make(asked.model, text, finish, refusal)));
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  try {
    return await use(`http://127.0.0.1:${server.address().port}`, requests);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
