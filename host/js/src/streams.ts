import { kindOf } from "./plain.js";
import { said } from "./replies.js";

/** A model's answer that is still coming. */
export type ReplyStream =
  | AsyncIterable<unknown>
  | Iterable<unknown>
  | { readonly textStream: AsyncIterable<string>; readonly finishReason?: unknown }
  | { getReader(): unknown };

/** A piece of an answer: text, or why the model stopped. */
export interface Piece {
  readonly text?: string | Uint8Array;
  readonly finish?: string;
}

/**
 * Read the stream that a client gives: text or bytes, chat completions or Responses of OpenAI, Messages of Anthropic, `streamText` or
 * `fullStream` of the AI SDK. A reply that is whole is one piece.
 *
 * @throws {TypeError} It is nothing that is known.
 */
export async function* pieces(stream: unknown): AsyncGenerator<Piece, void, undefined> {
  let isRefusal = false;
  for await (const piece of all(stream)) {
    isRefusal ||= piece.finish === "refusal";
    // Interfaces say `stop` after a refusal.
    if (!isRefusal || piece.text !== undefined) yield piece;
  }
}

async function* all(stream: unknown): AsyncGenerator<Piece, void, undefined> {
  const inner = member(stream, "textStream");
  if (isIterable(inner)) {
    for await (const text of inner) yield { text: text as string };
    const finish = await member(stream, "finishReason");
    if (typeof finish === "string") yield { finish };
    return;
  }
  if (typeof stream === "string" || stream instanceof Uint8Array || !isIterable(stream)) {
    if (typeof member(stream, "getReader") === "function") {
      yield* readable(stream as ReadableStream);
    } else {
      yield said(stream);
    }
    return;
  }
  for await (const chunk of stream) yield* pieceOf(chunk);
}

/** Not every engine iterates over a stream of the platform. */
async function* readable(stream: ReadableStream): AsyncGenerator<Piece, void, undefined> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* pieceOf(value);
    }
  } finally {
    await reader.cancel();
  }
}

function* pieceOf(chunk: unknown): Iterable<Piece> {
  if (typeof chunk === "string" || chunk instanceof Uint8Array) {
    yield { text: chunk };
    return;
  }
  const [type, choices] = [member(chunk, "type"), member(chunk, "choices")];
  if (Array.isArray(choices)) {
    // The last chunk, with the count of tokens, has none.
    const delta = member(choices[0], "delta");
    const refusal = member(delta, "refusal");
    yield* texts(refusal, "refusal");
    yield* texts(member(delta, "content"));
    yield* finishes(typeof refusal === "string" ? undefined : member(choices[0], "finish_reason"));
    return;
  }
  const [delta, response] = [member(chunk, "delta"), member(chunk, "response")];
  switch (type) {
    case "response.output_text.delta":
      yield* texts(delta);
      return;
    case "response.refusal.delta":
      yield* texts(delta, "refusal");
      return;
    case "response.completed":
    case "response.incomplete":
      yield* finishes(member(member(response, "incomplete_details"), "reason") ?? member(response, "status"));
      return;
    case "content_block_delta":
      yield* texts(member(delta, "text"));
      return;
    case "message_delta":
      yield* finishes(member(delta, "stop_reason"));
      return;
    case "text-delta":
      yield* texts(member(chunk, "text") ?? member(chunk, "textDelta") ?? delta);
      return;
    case "finish":
      yield* finishes(member(chunk, "finishReason"));
      return;
    case "error":
    case "response.failed":
      throw member(chunk, "error") ?? member(response, "error") ?? new Error("the model's stream failed");
    default:
      // Other events of these interfaces, of which there are many.
      if (typeof type === "string") return;
      throw new TypeError(
        `a chunk of the stream must be text, bytes, or an event of OpenAI, Anthropic or the AI SDK, not ${kindOf(chunk)}`,
      );
  }
}

function* texts(text: unknown, finish?: string): Iterable<Piece> {
  if (typeof text === "string" && text !== "") yield finish === undefined ? { text } : { text, finish };
}

function* finishes(finish: unknown): Iterable<Piece> {
  if (typeof finish === "string") yield { finish };
}

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && (Symbol.asyncIterator in value || Symbol.iterator in value);
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
