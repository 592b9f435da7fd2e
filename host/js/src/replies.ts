/** What a function that calls a model returns. */
export type Reply = string | Uint8Array | object;

/** What a model said, and why it stopped. */
export interface Said {
  readonly text: string | Uint8Array;
  readonly finish: string;
}

/**
 * Read what a function that calls a model returned.
 *
 * @throws {TypeError} It is nothing that is known.
 */
export function said(reply: unknown): Said {
  if (typeof reply === "string" || reply instanceof Uint8Array) {
    return { text: reply, finish: "unknown" };
  }
  const known = chat(reply) ?? response(reply) ?? message(reply) ?? plain(reply);
  if (known === undefined) {
    throw new TypeError(
      "callLlm must return the model's text, { text, finish }, or the response of OpenAI, Anthropic or the AI SDK, not " +
        `${reply === null ? "null" : typeof reply}`,
    );
  }
  return known;
}

/** Chat completions, of OpenAI and all who speak as it does. */
function chat(reply: unknown): Said | undefined {
  const choices = member(reply, "choices");
  if (!Array.isArray(choices) || choices.length === 0) {
    return undefined;
  }
  const told = member(choices[0], "message");
  const refusal = member(told, "refusal");
  return typeof refusal === "string" && refusal !== ""
    ? { text: refusal, finish: "refusal" }
    : of(member(told, "content"), member(choices[0], "finish_reason"));
}

/** OpenAI's Responses. */
function response(reply: unknown): Said | undefined {
  const [output, status] = [member(reply, "output"), member(reply, "status")];
  if (!Array.isArray(output) || typeof status !== "string") {
    return undefined;
  }
  const messages = output.filter((item) => member(item, "type") === "message");
  const parts = messages.flatMap((item) => member(item, "content") ?? []);
  const refusal = textOf(parts, "refusal", "refusal");
  return refusal === ""
    ? of(textOf(parts, "output_text", "text"), member(member(reply, "incomplete_details"), "reason") ?? status)
    : { text: refusal, finish: "refusal" };
}

/** Anthropic's Messages. */
function message(reply: unknown): Said | undefined {
  const content = member(reply, "content");
  return Array.isArray(content) && member(reply, "role") === "assistant"
    ? of(textOf(content, "text", "text"), member(reply, "stop_reason"))
    : undefined;
}

/** One's own; and what the AI SDK's `generateText` returns. */
function plain(reply: unknown): Said | undefined {
  const text = member(reply, "text");
  return typeof text === "string" || text instanceof Uint8Array
    ? of(text, member(reply, "finish") ?? member(reply, "finishReason"))
    : undefined;
}

/** A producer that says nothing says an empty text. */
function of(text: unknown, finish: unknown): Said | undefined {
  const given = text ?? "";
  return typeof given === "string" || given instanceof Uint8Array
    ? { text: given, finish: typeof finish === "string" ? finish : "unknown" }
    : undefined;
}

function textOf(parts: readonly unknown[], type: string, name: string): string {
  const texts = parts.filter((part) => member(part, "type") === type).map((part) => member(part, name));
  return texts.filter((text) => typeof text === "string").join("");
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
