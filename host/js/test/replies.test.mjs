// Responses and streams of clients: what is the answer in each, text or the call of a tool, and that a stream says the same as the
// whole response. The clients themselves are in docs/recipes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, askStream, Gate } from "seamgate";
import { said } from "../node_modules/seamgate/dist/replies.js";
import { pieces } from "../node_modules/seamgate/dist/streams.js";

const FIRST = '{"count":';
const SECOND = "2}";

/** A text in two pieces. */
const cut = (text) => [text.slice(0, 9), text.slice(9)].filter((piece) => piece !== "");
const parsed = (call) => JSON.parse(call);

/**
 * How each client writes an answer: the whole response and the events of its stream, for a text, the arguments of calls as JSON text, and
 * the words for why the model stopped: by itself, to call a tool, at a limit.
 */
const clients = {
  "OpenAI, chat completions": {
    finishes: ["stop", "tool_calls", "length"],
    whole: (text, calls, finish_reason) => ({
      choices: [
        {
          message: {
            content: text || null,
            ...(calls.length > 0 && {
              tool_calls: calls.map((given, index) => ({
                id: `c${index}`,
                type: "function",
                function: { name: "t", arguments: given },
              })),
            }),
          },
          finish_reason,
        },
      ],
    }),
    stream: (text, calls, finish_reason) => [
      { choices: [{ delta: { role: "assistant", content: "" } }] },
      ...cut(text).map((content) => ({ choices: [{ delta: { content } }] })),
      ...calls.flatMap((given, index) => [
        { choices: [{ delta: { tool_calls: [{ index, id: `c${index}`, function: { name: "t", arguments: "" } }] } }] },
        ...cut(given).map((piece) => ({
          choices: [{ delta: { tool_calls: [{ index, function: { arguments: piece } }] } }],
        })),
      ]),
      { choices: [{ delta: {}, finish_reason }] },
      { choices: [], usage: {} },
    ],
  },
  "OpenAI, responses": {
    finishes: ["completed", "completed", "max_output_tokens"],
    whole: (text, calls, finish) => ({
      status: finish === "completed" ? "completed" : "incomplete",
      incomplete_details: finish === "completed" ? null : { reason: finish },
      output: [
        { type: "reasoning", summary: [] },
        ...(text ? [{ type: "message", content: [{ type: "output_text", text }] }] : []),
        ...calls.map((given, at) => ({ type: "function_call", id: `c${at}`, name: "t", arguments: given })),
      ],
    }),
    stream: (text, calls, finish) => [
      { type: "response.created", response: {} },
      ...cut(text).map((delta) => ({ type: "response.output_text.delta", delta })),
      ...calls.flatMap((given, at) => [
        { type: "response.output_item.added", item: { type: "function_call", id: `c${at}`, arguments: "" } },
        ...cut(given).map((delta) => ({ type: "response.function_call_arguments.delta", item_id: `c${at}`, delta })),
        { type: "response.function_call_arguments.done", item_id: `c${at}`, arguments: given },
      ]),
      finish === "completed"
        ? { type: "response.completed", response: { status: "completed" } }
        : { type: "response.incomplete", response: { status: "incomplete", incomplete_details: { reason: finish } } },
    ],
  },
  "Anthropic, messages": {
    finishes: ["end_turn", "tool_use", "max_tokens"],
    whole: (text, calls, stop_reason) => ({
      role: "assistant",
      content: [
        ...(text ? [{ type: "text", text }] : []),
        { type: "server_tool_use", id: "s", input: { query: "x" } },
        ...calls.map((given, at) => ({ type: "tool_use", id: `c${at}`, name: "t", input: parsed(given) })),
      ],
      stop_reason,
    }),
    stream: (text, calls, stop_reason) => [
      { type: "message_start", message: {} },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      ...cut(text).map((piece) => ({
        type: "content_block_delta",
        index: 0,
        delta: { type: "text_delta", text: piece },
      })),
      { type: "content_block_start", index: 1, content_block: { type: "server_tool_use", id: "s" } },
      { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: '{"query":"x"}' } },
      ...calls.flatMap((given, at) => [
        { type: "content_block_start", index: at + 2, content_block: { type: "tool_use", id: `c${at}`, input: {} } },
        { type: "content_block_delta", index: at + 2, delta: { type: "input_json_delta", partial_json: "" } },
        ...cut(given).map((partial_json) => ({
          type: "content_block_delta",
          index: at + 2,
          delta: { type: "input_json_delta", partial_json },
        })),
        { type: "content_block_stop", index: at + 2 },
      ]),
      { type: "message_delta", delta: { stop_reason } },
      { type: "message_stop" },
    ],
  },
  Gemini: {
    finishes: ["STOP", "STOP", "MAX_TOKENS"],
    whole: (text, calls, finishReason) => ({
      candidates: [
        {
          content: {
            role: "model",
            parts: [
              { text: "Let me think.", thought: true },
              ...(text ? [{ text }] : []),
              ...calls.map((given) => ({ functionCall: { name: "t", args: parsed(given) } })),
            ],
          },
          finishReason,
        },
      ],
      // As the client's class has it, which warns.
      get text() {
        throw new Error("the parts say more");
      },
    }),
    stream: (text, calls, finishReason) => [
      { candidates: [{ content: { parts: [{ text: "Let me think.", thought: true }] } }] },
      ...cut(text).map((piece) => ({ candidates: [{ content: { parts: [{ text: piece }] } }] })),
      ...calls.map((given) => ({
        candidates: [{ content: { parts: [{ functionCall: { name: "t", args: parsed(given) } }] } }],
      })),
      { candidates: [{ content: { parts: [] }, finishReason }] },
      { usageMetadata: { totalTokenCount: 2 } },
    ],
  },
  "Ollama, chat": {
    finishes: ["stop", "stop", "length"],
    whole: (content, calls, done_reason) => ({
      message: {
        role: "assistant",
        content,
        ...(calls.length > 0 && {
          tool_calls: calls.map((given) => ({ function: { name: "t", arguments: parsed(given) } })),
        }),
      },
      done: true,
      done_reason,
    }),
    stream: (text, calls, done_reason) => [
      ...cut(text).map((content) => ({ message: { role: "assistant", content }, done: false })),
      ...calls.map((given) => ({
        message: {
          role: "assistant",
          content: "",
          tool_calls: [{ function: { name: "t", arguments: parsed(given) } }],
        },
        done: false,
      })),
      { message: { role: "assistant", content: "" }, done: true, done_reason },
    ],
  },
  "Ollama, generate": {
    finishes: ["stop", undefined, "length"],
    whole: (response, _, done_reason) => ({ response, done: true, done_reason }),
    stream: (text, _, done_reason) => [
      ...cut(text).map((response) => ({ response, done: false })),
      { response: "", done: true, done_reason },
    ],
  },
  "AI SDK": {
    finishes: ["stop", "tool-calls", "length"],
    whole: (text, calls, finishReason) => ({
      text,
      toolCalls: calls.map((given, at) => ({ type: "tool-call", toolCallId: `c${at}`, input: parsed(given) })),
      finishReason,
      // As the SDK has it after the call of a tool.
      get output() {
        throw new Error("No output generated.");
      },
    }),
    stream: (text, calls, finishReason) => ({
      fullStream: later([
        { type: "start" },
        ...cut(text).map((piece) => ({ type: "text-delta", id: "1", text: piece })),
        ...calls.flatMap((given, at) => [
          { type: "tool-input-start", id: `c${at}`, toolName: "t" },
          ...cut(given).map((delta) => ({ type: "tool-input-delta", id: `c${at}`, delta })),
          { type: "tool-input-end", id: `c${at}` },
          { type: "tool-call", toolCallId: `c${at}`, input: parsed(given) },
        ]),
        { type: "finish", finishReason },
      ]),
      // It has no calls, and no errors.
      textStream: later([]),
    }),
  },
  "LangChain, with the words of OpenAI": langchain("finish_reason", ["stop", "tool_calls", "length"]),
  "LangChain, with the words of Anthropic": langchain("stop_reason", ["end_turn", "tool_use", "max_tokens"]),
  LlamaIndex: {
    finishes: ["stop", undefined, "length"],
    whole: (content, _, finish_reason) => ({
      message: { role: "assistant", content, options: {} },
      raw: { choices: [{ message: { content }, finish_reason }] },
    }),
    stream: (text, _, finish_reason) => [
      ...cut(text).map((delta) => ({ delta, raw: { choices: [{ delta: {} }] } })),
      { delta: "", raw: { choices: [{ finish_reason }] } },
    ],
  },
};

function langchain(name, finishes) {
  return {
    finishes,
    whole: (text, calls, finish) => ({
      type: "ai",
      content: name === "stop_reason" ? [{ type: "text", text }] : text,
      tool_calls: calls.map((given, at) => ({ name: "t", args: parsed(given), id: `c${at}` })),
      response_metadata: { [name]: finish },
    }),
    stream: (text, calls, finish) => [
      ...cut(text).map((content) => ({ type: "ai", content, response_metadata: {} })),
      ...calls.flatMap((given, index) =>
        cut(given).map((args) => ({
          type: "ai",
          content: "",
          tool_call_chunks: [{ index, args }],
          response_metadata: {},
        })),
      ),
      { type: "ai", content: "", response_metadata: { [name]: finish } },
    ],
  };
}

async function* later(events) {
  for (const event of events) {
    await null;
    yield event;
  }
}

/** What a stream says in all. */
async function assembled(stream) {
  let [text, finish] = ["", "unknown"];
  for await (const piece of pieces(stream)) {
    if (piece.anew) text = "";
    text += piece.text ?? "";
    finish = piece.finish ?? finish;
  }
  return { text, finish };
}

const ANSWER = FIRST + SECOND;
const TEXTS = ["", "I will call the tool now.", ANSWER];

for (const [name, { finishes, whole, stream }] of Object.entries(clients)) {
  const [ended, called, cutOff] = finishes;
  const counts = called === undefined ? [0] : [0, 1, 2, 3];
  test(`one call is the answer, and else the text is, of a stream as of the whole: ${name}`, async () => {
    for (const text of TEXTS) {
      for (const count of counts) {
        for (const finish of [ended, called ?? ended, cutOff]) {
          const calls = Array.from({ length: count }, (_, at) => `{"count":${at + 2}}`);
          const expected = {
            text: count === 1 ? calls[0] : text,
            finish: count === 1 && finish === called && called !== ended ? "stop" : finish,
          };
          const given = `${count} calls beside ${JSON.stringify(text)}, ${finish}`;
          assert.deepEqual(said(whole(text, calls, finish)), expected, given);
          const made = stream(text, calls, finish);
          assert.deepEqual(await assembled(Array.isArray(made) ? later(made) : made), expected, given);
        }
      }
    }
  });

  test(`questions take it: ${name}`, async () => {
    const contract = { agent: "a", schema: { type: "object", properties: { count: { type: "integer" } } } };
    const given = called === undefined ? [ANSWER, [], ended] : ["Here is it.", [ANSWER], called];
    const result = await ask(contract, () => whole(...given));
    assert.deepEqual([result.success, result.data], [true, { count: 2 }]);
    const streamed = askStream(contract, () => {
      const made = stream(...given);
      return Array.isArray(made) ? later(made) : made;
    });
    let last;
    for await (const event of streamed) {
      if (event.type === "progress") last = structuredClone(event.partial);
    }
    assert.deepEqual(last, { count: 2 });
    assert.equal((await streamed.result()).report.json, result.report.json);
    // A session begins again with the call.
    const gate = await Gate.load();
    gate.register(contract);
    const session = gate.session("a");
    const again = stream(...given);
    for await (const { partial } of session.read(Array.isArray(again) ? later(again) : again)) last = partial;
    assert.deepEqual(last, { count: 2 });
    assert.equal(session.finish().report.json, result.report.json);
  });
}

test("what Gemini blocks is withheld, and not an error", async () => {
  const blocked = { promptFeedback: { blockReason: "JAILBREAK" } };
  const expected = { text: "", finish: "content_filter" };
  assert.deepEqual(said(blocked), expected);
  assert.deepEqual(await assembled(later([blocked])), expected);
  assert.equal((await ask({ agent: "a", schema: true }, () => blocked)).success, false);
});

test("a refusal of LangChain is one", () => {
  const reply = { type: "ai", content: "", additional_kwargs: { refusal: "No." }, response_metadata: {} };
  assert.deepEqual(said(reply), { text: "No.", finish: "refusal" });
});

test("what nobody knows is refused, with the names of those that are known", async () => {
  for (const reply of [null, undefined, 1, {}, { text: 1 }, { candidates: [] }, { message: "hi" }, { choices: [] }]) {
    assert.throws(() => said(reply), /^TypeError: callLlm must return .*OpenAI, Anthropic, Gemini, Ollama/);
  }
  await assert.rejects(assembled(later([{}])), /^TypeError: a chunk of the stream must be .*Gemini/);
});
