import { list, member, ofType } from "./members.js";
import { kindOf } from "./plain.js";
import {
  argumentsText,
  contentText,
  finishOfCall,
  geminiCalls,
  geminiText,
  KNOWN,
  langchainFinish,
  said,
} from "./replies.js";

/** A model's answer as a stream. */
export type ReplyStream =
  | AsyncIterable<unknown>
  | Iterable<unknown>
  | { readonly textStream: AsyncIterable<string>; readonly finishReason?: unknown }
  | { getReader(): unknown };

/** A piece of an answer: text, or the reason why the model stopped. */
export interface Piece {
  readonly text?: string | Uint8Array;
  readonly finish?: string;
  /** The answer restarts with this piece. Earlier pieces are not part of it. */
  readonly anew?: true;
}

/**
 * Reads the stream that a client returns: text or bytes, chat completions or Responses of OpenAI, Messages of
 * Anthropic, `generateContentStream` of Gemini, `chat` and `generate` of Ollama, `streamText` or `fullStream` of the AI
 * SDK, or chunks of LangChain and LlamaIndex. A complete reply is one piece. A single tool call is the answer, as in
 * {@link said}.
 *
 * @throws {TypeError} The stream is of an unknown type.
 */
export async function* pieces(stream: unknown): AsyncGenerator<Piece, void, undefined> {
  let isRefusal = false;
  for await (const piece of all(stream)) {
    isRefusal ||= piece.finish === "refusal";
    // Some APIs report `stop` after a refusal.
    if (!isRefusal || piece.text !== undefined) yield piece;
  }
}

async function* all(stream: unknown): AsyncGenerator<Piece, void, undefined> {
  const answer = new Assembled();
  // The full stream also has tool calls and errors, which the text stream omits.
  const whole = member(stream, "fullStream");
  if (isIterable(whole)) {
    for await (const part of whole) yield* pieceOf(part, answer);
    return;
  }
  const inner = member(stream, "textStream");
  if (isIterable(inner)) {
    for await (const text of inner) yield { text: text as string };
    const finish = await member(stream, "finishReason");
    if (typeof finish === "string") yield { finish };
    return;
  }
  if (typeof stream === "string" || stream instanceof Uint8Array || !isIterable(stream)) {
    if (typeof member(stream, "getReader") === "function") {
      yield* readable(stream as ReadableStream, answer);
    } else {
      yield said(stream);
    }
    return;
  }
  for await (const chunk of stream) yield* pieceOf(chunk, answer);
}

/** Iterates over a stream of the platform, which not every engine supports. */
async function* readable(stream: ReadableStream, answer: Assembled): AsyncGenerator<Piece, void, undefined> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* pieceOf(value, answer);
    }
  } finally {
    await reader.cancel();
  }
}

/** Tracks an answer, to decide whether it is text or a tool call. */
class Assembled {
  #text = "";
  /** The identifiers of tool calls. */
  readonly #calls = new Set<unknown>();

  /** Returns whether a call has begun. */
  knows(call: unknown): boolean {
    return this.#calls.has(call);
  }

  *text(text: unknown, finish?: string): Iterable<Piece> {
    if (typeof text !== "string" || text === "") return;
    this.#text += text;
    if (this.#calls.size !== 1) yield finish === undefined ? { text } : { text, finish };
  }

  /** Adds a piece of the arguments of a call with this identifier. */
  *call(call: unknown, given: unknown): Iterable<Piece> {
    if (!this.#calls.has(call)) {
      this.#calls.add(call);
      // If there are several calls, none of them is the answer.
      if (this.#calls.size <= 2 && (this.#text !== "" || this.#calls.size === 2)) yield { anew: true };
      if (this.#calls.size === 2 && this.#text !== "") yield { text: this.#text };
    }
    const text = given === undefined ? "" : argumentsText(given);
    if (this.#calls.size === 1 && text !== "") yield { text };
  }

  /** Adds complete calls. */
  *calls(all: readonly unknown[]): Iterable<Piece> {
    for (const given of all) yield* this.call({}, given ?? "");
  }

  *finish(finish: unknown): Iterable<Piece> {
    const told = this.#calls.size === 1 ? finishOfCall(finish) : finish;
    if (typeof told === "string") yield { finish: told };
  }
}

function* pieceOf(chunk: unknown, answer: Assembled): Iterable<Piece> {
  if (typeof chunk === "string" || chunk instanceof Uint8Array) {
    yield { text: chunk };
    return;
  }
  const read = member(chunk, "type") === "ai" ? ofLangchain : READERS.find(({ has }) => has(chunk))?.read;
  if (read !== undefined) {
    yield* read(chunk, answer);
  } else if (typeof member(chunk, "type") === "string") {
    yield* ofEvent(chunk, answer);
  } else {
    throw new TypeError(`a chunk of the stream must be text, bytes, or an event of ${KNOWN}, not ${kindOf(chunk)}`);
  }
}

interface Reader {
  has(chunk: unknown): boolean;
  read(chunk: unknown, answer: Assembled): Iterable<Piece>;
}

/** Readers of chunks without a type, by a characteristic member. */
const READERS: readonly Reader[] = [
  { has: (chunk) => Array.isArray(member(chunk, "choices")), read: ofChat },
  {
    has: (chunk) => ["candidates", "promptFeedback", "usageMetadata"].some((name) => member(chunk, name) !== undefined),
    read: ofGemini,
  },
  { has: (chunk) => typeof member(chunk, "done") === "boolean", read: ofOllama },
  { has: (chunk) => typeof member(chunk, "delta") === "string" && "raw" in (chunk as object), read: ofLlamaIndex },
];

function* ofChat(chunk: unknown, answer: Assembled): Iterable<Piece> {
  // The last chunk, with the token usage, has no choice.
  const [choice] = list(chunk, "choices");
  const delta = member(choice, "delta");
  const refusal = member(delta, "refusal");
  yield* answer.text(refusal, "refusal");
  yield* answer.text(member(delta, "content"));
  for (const call of list(delta, "tool_calls")) {
    const given = member(member(call, "function"), "arguments") ?? member(member(call, "custom"), "input");
    yield* answer.call(member(call, "index") ?? member(call, "id"), given);
  }
  if (typeof refusal !== "string") yield* answer.finish(member(choice, "finish_reason"));
}

function* ofGemini(chunk: unknown, answer: Assembled): Iterable<Piece> {
  const [candidate] = list(chunk, "candidates");
  const parts = list(member(candidate, "content"), "parts");
  yield* answer.text(geminiText(parts));
  yield* answer.calls(geminiCalls(parts));
  const isBlocked = typeof member(member(chunk, "promptFeedback"), "blockReason") === "string";
  yield* answer.finish(isBlocked ? "content_filter" : member(candidate, "finishReason"));
}

function* ofOllama(chunk: unknown, answer: Assembled): Iterable<Piece> {
  const told = member(chunk, "message");
  yield* answer.text(member(told, "content") ?? member(chunk, "response"));
  yield* answer.calls(list(told, "tool_calls").map((call) => member(member(call, "function"), "arguments")));
  if (member(chunk, "done") === true) yield* answer.finish(member(chunk, "done_reason"));
}

function* ofLangchain(chunk: unknown, answer: Assembled): Iterable<Piece> {
  yield* answer.text(contentText(member(chunk, "content")));
  for (const call of list(chunk, "tool_call_chunks")) {
    yield* answer.call(member(call, "index") ?? member(call, "id"), member(call, "args"));
  }
  yield* answer.finish(langchainFinish(member(chunk, "response_metadata")));
}

function* ofLlamaIndex(chunk: unknown, answer: Assembled): Iterable<Piece> {
  yield* answer.text(member(chunk, "delta"));
  const [choice] = list(member(chunk, "raw"), "choices");
  yield* answer.finish(member(choice, "finish_reason"));
}

/** Reads an event with a type: of OpenAI's Responses, of Anthropic's Messages, or of the AI SDK. */
function* ofEvent(chunk: unknown, answer: Assembled): Iterable<Piece> {
  const [delta, response, item] = ["delta", "response", "item"].map((name) => member(chunk, name));
  switch (member(chunk, "type")) {
    case "response.output_text.delta":
      yield* answer.text(delta);
      return;
    case "response.refusal.delta":
      yield* answer.text(delta, "refusal");
      return;
    case "response.output_item.added":
      if (ofType([item], "function_call").length > 0) yield* answer.call(member(item, "id"), "");
      return;
    case "response.function_call_arguments.delta":
    case "response.custom_tool_call_input.delta":
      yield* answer.call(member(chunk, "item_id"), delta);
      return;
    case "response.completed":
    case "response.incomplete":
      yield* answer.finish(member(member(response, "incomplete_details"), "reason") ?? member(response, "status"));
      return;
    case "content_block_start":
      if (ofType([member(chunk, "content_block")], "tool_use").length > 0)
        yield* answer.call(member(chunk, "index"), "");
      return;
    case "content_block_delta":
      yield* answer.text(member(delta, "text"));
      if (answer.knows(member(chunk, "index")))
        yield* answer.call(member(chunk, "index"), member(delta, "partial_json"));
      return;
    case "message_delta":
      yield* answer.finish(member(delta, "stop_reason"));
      return;
    case "text-delta":
      yield* answer.text(member(chunk, "text") ?? member(chunk, "textDelta") ?? delta);
      return;
    case "tool-input-start":
      yield* answer.call(member(chunk, "id"), "");
      return;
    case "tool-input-delta":
      yield* answer.call(member(chunk, "id"), delta ?? member(chunk, "inputTextDelta"));
      return;
    case "tool-call":
      // Its input may have arrived in earlier pieces.
      if (!answer.knows(member(chunk, "toolCallId"))) {
        yield* answer.call(member(chunk, "toolCallId"), member(chunk, "input"));
      }
      return;
    case "finish":
      yield* answer.finish(member(chunk, "finishReason"));
      return;
    case "error":
    case "response.failed":
      throw member(chunk, "error") ?? member(response, "error") ?? new Error("the model's stream failed");
    default:
    // The many other events of these APIs.
  }
}

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && (Symbol.asyncIterator in value || Symbol.iterator in value);
}
