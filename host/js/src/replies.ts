import { joined, list, member, ofType } from "./members.js";

/** What a function that calls a model returns. */
export type Reply = string | Uint8Array | object;

/** What a model said, and why it stopped. */
export interface Said {
  readonly text: string | Uint8Array;
  readonly finish: string;
}

/** The clients whose responses are known, for messages. */
export const KNOWN = "OpenAI, Anthropic, Gemini, Ollama, the AI SDK, LangChain or LlamaIndex";

/**
 * Reads what a function that calls a model returned.
 *
 * @throws {TypeError} It is nothing that is known.
 */
export function said(reply: unknown): Said {
  if (typeof reply === "string" || reply instanceof Uint8Array) {
    return { text: reply, finish: "unknown" };
  }
  const known = readBy(READERS, reply);
  if (known === undefined) {
    throw new TypeError(
      `callLlm must return the model's text, { text, finish }, or the response of ${KNOWN}, not ` +
        `${reply === null ? "null" : typeof reply}`,
    );
  }
  return known;
}

/** Returns what the first reader that knows a reply makes of it. No other one looks at it: some members warn. */
function readBy(readers: readonly ((reply: unknown) => Said | undefined)[], reply: unknown): Said | undefined {
  for (const read of readers) {
    const known = read(reply);
    if (known !== undefined) return known;
  }
  return undefined;
}

const READERS = [chat, response, message, gemini, langchain, chatMessage, generated, plain];

/** Chat completions, of OpenAI and all who speak as it does. */
function chat(reply: unknown): Said | undefined {
  const [choice] = list(reply, "choices");
  if (choice === undefined) {
    return undefined;
  }
  const told = member(choice, "message");
  const refusal = member(told, "refusal");
  if (typeof refusal === "string" && refusal !== "") {
    return { text: refusal, finish: "refusal" };
  }
  return answer(member(told, "content"), callsOf(told), member(choice, "finish_reason"));
}

/** OpenAI's Responses. */
function response(reply: unknown): Said | undefined {
  const status = member(reply, "status");
  // Only then: what the AI SDK has under this name throws after the call of a tool.
  const output = typeof status === "string" ? member(reply, "output") : undefined;
  if (!Array.isArray(output)) {
    return undefined;
  }
  const parts = ofType(output, "message").flatMap((item) => list(item, "content"));
  const refusal = joined(ofType(parts, "refusal"), "refusal");
  if (refusal !== "") {
    return { text: refusal, finish: "refusal" };
  }
  const calls = [...ofType(output, "function_call"), ...ofType(output, "custom_tool_call")];
  const given = calls.map((call) => member(call, "arguments") ?? member(call, "input"));
  const finish = member(member(reply, "incomplete_details"), "reason") ?? status;
  return answer(joined(ofType(parts, "output_text"), "text"), given, finish);
}

/** Anthropic's Messages. */
function message(reply: unknown): Said | undefined {
  const content = member(reply, "content");
  if (!Array.isArray(content) || member(reply, "role") !== "assistant") {
    return undefined;
  }
  const calls = ofType(content, "tool_use").map((part) => member(part, "input"));
  return answer(joined(ofType(content, "text"), "text"), calls, member(reply, "stop_reason"));
}

/** Gemini's `generateContent`. */
function gemini(reply: unknown): Said | undefined {
  const [candidate] = list(reply, "candidates");
  const blocked = member(member(reply, "promptFeedback"), "blockReason");
  if (candidate === undefined) {
    return typeof blocked === "string" ? { text: "", finish: "content_filter" } : undefined;
  }
  const parts = list(member(candidate, "content"), "parts");
  return answer(geminiText(parts), geminiCalls(parts), member(candidate, "finishReason"));
}

/** What Gemini's parts say, without its thoughts. */
export function geminiText(parts: readonly unknown[]): string {
  return joined(
    parts.filter((part) => member(part, "thought") !== true),
    "text",
  );
}

/** The arguments of each call in Gemini's parts. */
export function geminiCalls(parts: readonly unknown[]): unknown[] {
  return parts.map((part) => member(part, "functionCall")).flatMap((call) => (call ? [member(call, "args")] : []));
}

/** A message of LangChain. */
function langchain(reply: unknown): Said | undefined {
  const told = member(reply, "response_metadata");
  if (member(reply, "type") !== "ai" || typeof told !== "object") {
    return undefined;
  }
  const refusal = member(member(reply, "additional_kwargs"), "refusal");
  if (typeof refusal === "string" && refusal !== "") {
    return { text: refusal, finish: "refusal" };
  }
  const calls = list(reply, "tool_calls").map((call) => member(call, "args"));
  return answer(contentText(member(reply, "content")), calls, langchainFinish(told));
}

/** Why a model of LangChain stopped, as its provider says. */
export function langchainFinish(told: unknown): unknown {
  const names = ["finish_reason", "stop_reason", "done_reason", "finishReason"];
  return names.map((name) => member(told, name)).find((word) => typeof word === "string");
}

/** Ollama's `chat`, and what `chat` of LlamaIndex gives. */
function chatMessage(reply: unknown): Said | undefined {
  const told = member(reply, "message");
  if (member(told, "role") !== "assistant") {
    return undefined;
  }
  const options = list(member(told, "options"), "toolCall").map((call) => member(call, "input"));
  const raw = member(reply, "raw");
  const finish = member(reply, "done_reason") ?? readBy(READERS, raw)?.finish;
  return answer(contentText(member(told, "content")), [...callsOf(told), ...options], finish);
}

/** Ollama's `generate`. */
function generated(reply: unknown): Said | undefined {
  const text = member(reply, "response");
  return typeof text === "string" && typeof member(reply, "done") === "boolean"
    ? of(text, member(reply, "done_reason"))
    : undefined;
}

/** One's own; and what the AI SDK's `generateText` returns. */
function plain(reply: unknown): Said | undefined {
  const text = member(reply, "text");
  if (typeof text !== "string" && !(text instanceof Uint8Array)) {
    return undefined;
  }
  const calls = list(reply, "toolCalls").map((call) => member(call, "input"));
  return answer(text, calls, member(reply, "finish") ?? member(reply, "finishReason"));
}

/** The arguments of each call of a message, as OpenAI and Ollama write them. */
function callsOf(told: unknown): unknown[] {
  const old = member(told, "function_call");
  const calls = list(told, "tool_calls").map(
    (call) => member(member(call, "function"), "arguments") ?? member(member(call, "custom"), "input"),
  );
  return old ? [...calls, member(old, "arguments")] : calls;
}

/** The text of a content that is a text, or has parts. */
export function contentText(content: unknown): string {
  return typeof content === "string" ? content : Array.isArray(content) ? joined(ofType(content, "text"), "text") : "";
}

/** One call of a tool is the answer: so do models write what has a schema. If there are several, none is. */
function answer(text: unknown, calls: readonly unknown[], finish: unknown): Said | undefined {
  return calls.length === 1 ? of(argumentsText(calls[0]), finishOfCall(finish)) : of(text, finish);
}

/** The arguments of a call as text. */
export function argumentsText(given: unknown): string {
  return typeof given === "string" ? given : (JSON.stringify(given) ?? "");
}

/** Why a model stopped whose call is the answer: what it says about the call says that it is whole. */
export function finishOfCall(finish: unknown): unknown {
  return typeof finish === "string" && /^(tool[-_ ]?(calls?|use)|function[-_ ]call)$/i.test(finish) ? "stop" : finish;
}

/** A producer that says nothing says an empty text. */
function of(text: unknown, finish: unknown): Said | undefined {
  const given = text ?? "";
  return typeof given === "string" || given instanceof Uint8Array
    ? { text: given, finish: typeof finish === "string" ? finish : "unknown" }
    : undefined;
}
