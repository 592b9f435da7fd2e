import type { AskOptions, AskResult, AskStreamOptions, Attempt, CallContext, Message, Prompt } from "./asking.js";
import { Clock } from "./clock.js";
import type { Contract, TypedContract } from "./contract.js";
import { asGate, Gate } from "./gate.js";
import { asHook, type Names, only } from "./options.js";
import type { CompletedItem, DeepPartial } from "./partial.js";
import { kindOf } from "./plain.js";
import { Question } from "./question.js";
import type { Reply, Said } from "./replies.js";
import { SCHEMA_OPTIONS } from "./schemas.js";
import type { StandardSchema } from "./standard.js";
import { pieces, type ReplyStream } from "./streams.js";
import type { Completeness, DeadEnd } from "./types.js";
import { type Asking, asking } from "./watch.js";

export type { Reply } from "./replies.js";

const ASK_OPTIONS: Names<AskOptions> = {
  ...SCHEMA_OPTIONS,
  gate: true,
  lists: true,
  evidence: true,
  signal: true,
  timeoutMs: true,
  onAttempt: true,
};
const STREAM_OPTIONS: Names<AskStreamOptions> = { ...ASK_OPTIONS, stopEarly: true };

/** Calls a model with a conversation. */
type CallLlm<M> = (messages: (M | Message)[], context: CallContext) => Reply | PromiseLike<Reply>;

let shared: Promise<Gate> | undefined;

/**
 * Ask a model until its answer is valid, or there is a reason to stop.
 *
 * @param of - A schema of Zod or another library, whose output value becomes `data`; or a contract, as an object or as
 *   JSON text; or the name of an agent whose contract is registered in `options.gate`.
 * @param callLlm - A function that calls a model. It receives the conversation. It returns the unchanged response of
 *   OpenAI, Anthropic or the AI SDK; or the text; or `{ text, finish }`, where `finish` is the reason why the model
 *   stopped. Its errors propagate.
 * @param prompt - The question. A description of the expected answer is added to it.
 * @throws {SeamgateFault} No verdict is possible: the contract is invalid (`bad_contract`), a limit was exceeded, or
 *   `timeoutMs` has passed (`timeout`). If `signal` is aborted, its reason is thrown.
 * @throws {TypeError} `callLlm` returned a value of an unknown type; the schema has no JSON Schema; or a contract holds
 *   a value that is not JSON.
 */
export async function ask<T, M extends object = never>(
  of: StandardSchema<T>,
  callLlm: CallLlm<M>,
  prompt?: Prompt<M>,
  options?: AskOptions,
): Promise<AskResult<T, M>>;
export async function ask<T, M extends object = never>(
  of: TypedContract<T>,
  callLlm: CallLlm<M>,
  prompt?: Prompt<M>,
  options?: AskOptions,
): Promise<AskResult<T, M>>;
export async function ask<T = unknown, M extends object = never>(
  of: Contract,
  callLlm: CallLlm<M>,
  prompt?: Prompt<M>,
  options?: AskOptions,
): Promise<AskResult<T, M>>;
export async function ask<T, M extends object>(
  of: StandardSchema<T> | Contract,
  callLlm: CallLlm<M>,
  prompt: Prompt<M> = "",
  options: AskOptions = {},
): Promise<AskResult<T, M>> {
  const beside = await begun(callLlm, prompt, options, ASK_OPTIONS);
  const clock = new Clock("ask", options);
  let watched: Asking | undefined;
  try {
    const question = new Question<T, M>(of, prompt, options, beside);
    const observed = asking(question.agent);
    watched = observed;
    for (let attempt = 1; ; attempt += 1) {
      const context = { signal: clock.signal, attempt };
      const reply = await clock.during(() => observed.during(() => callLlm(question.messages(), context)));
      const result = await clock.during(() => observed.during(() => question.take(reply)));
      if (result !== undefined) {
        observed.end({ result });
        return result;
      }
    }
  } catch (error) {
    watched?.end({ error });
    throw error;
  } finally {
    clock.end();
  }
}

/** Checks the options of a question, and returns the gate that it uses. */
async function begun<Options extends AskOptions>(
  callLlm: unknown,
  prompt: unknown,
  options: Options,
  names: Names<Options>,
): Promise<Gate> {
  only("options", options, names);
  if (typeof callLlm !== "function") {
    throw new TypeError(`\`callLlm\` must be a function that calls the model, not ${kindOf(callLlm)}`);
  }
  if (typeof prompt !== "string" && !Array.isArray(prompt)) {
    throw new TypeError(`\`prompt\` must be a text or a list of messages, not ${kindOf(prompt)}`);
  }
  asHook("onAttempt", options.onAttempt);
  return options.gate === undefined ? await common() : asGate(options.gate);
}

/** An event while an answer is streamed. */
export type AskEvent<T, Input = T, M = never> =
  | {
      readonly type: "progress";
      /** The number of the attempt, from 1. */
      readonly attempt: number;
      /** The completeness of the document so far. */
      readonly completeness: Completeness;
      /** The items that this chunk completed, with their values. They are not judged yet. */
      readonly items: readonly CompletedItem[];
      /** The document so far: see {@link Session.partial}. */
      readonly partial: DeepPartial<Input> | undefined;
      /** If the answer can no longer become valid, the reason. */
      readonly deadEnd: DeadEnd | null;
    }
  | { readonly type: "attempt"; readonly attempt: number; readonly outcome: Attempt }
  | { readonly type: "result"; readonly result: AskResult<T, M> };

/** Calls a model, and returns its answer as a stream. */
type StreamLlm<M> = (
  messages: (M | Message)[],
  context: CallContext,
) => ReplyStream | Reply | PromiseLike<ReplyStream | Reply>;

/**
 * A question whose answers are streamed. Iterate over its events, the last of which holds the result; or await
 * `result()`. The model is not called before you do either. Leaving the loop early aborts the request.
 */
export class AnswerStream<T, Input = T, M = never> implements AsyncIterable<AskEvent<T, Input, M>> {
  readonly #events: AsyncGenerator<AskEvent<T, Input, M>, void, undefined>;
  #result: AskResult<T, M> | undefined;

  /** @internal Use `askStream`. */
  constructor(events: AsyncGenerator<AskEvent<T, Input, M>, void, undefined>) {
    this.#events = events;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<AskEvent<T, Input, M>, void, undefined> {
    for await (const event of this.#events) {
      if (event.type === "result") this.#result = event.result;
      yield event;
    }
  }

  /**
   * Reads the rest of the stream, and returns the result of the question.
   *
   * @throws The errors of `ask`; and a `TypeError` if the loop over the events was left early.
   */
  async result(): Promise<AskResult<T, M>> {
    for await (const _ of this) {
      // Nobody receives these events.
    }
    if (this.#result === undefined) {
      throw new TypeError("the stream has no result: it was left before its end");
    }
    return this.#result;
  }
}

/**
 * Ask a model as {@link ask} does, and report the state of each answer while it is streamed. The result is the same.
 *
 * @param callLlm - As for {@link ask}, but it may also return a stream: of text, of bytes, or of a client of OpenAI,
 *   Anthropic or the AI SDK.
 */
export function askStream<T, Input, M extends object = never>(
  of: StandardSchema<T, Input> | TypedContract<T, Input>,
  callLlm: StreamLlm<M>,
  prompt?: Prompt<M>,
  options?: AskStreamOptions,
): AnswerStream<T, Input, M>;
export function askStream<T = unknown, M extends object = never>(
  of: Contract,
  callLlm: StreamLlm<M>,
  prompt?: Prompt<M>,
  options?: AskStreamOptions,
): AnswerStream<T, T, M>;
export function askStream<T, Input, M extends object>(
  of: StandardSchema<T> | Contract,
  callLlm: StreamLlm<M>,
  prompt: Prompt<M> = "",
  options: AskStreamOptions = {},
): AnswerStream<T, Input, M> {
  return new AnswerStream(asked<T, Input, M>(of, callLlm, prompt, options));
}

async function* asked<T, Input, M extends object>(
  of: StandardSchema<T> | Contract,
  callLlm: StreamLlm<M>,
  prompt: Prompt<M>,
  options: AskStreamOptions,
): AsyncGenerator<AskEvent<T, Input, M>, void, undefined> {
  const beside = await begun(callLlm, prompt, options, STREAM_OPTIONS);
  const clock = new Clock("askStream", options);
  let watched: Asking | undefined;
  try {
    const question = new Question<T, M>(of, prompt, options, beside);
    const observed = asking(question.agent);
    watched = observed;
    for (let attempt = 1; ; attempt += 1) {
      let answer = new Streamed();
      const call = new Clock("a call", { signal: clock.signal });
      const context = { signal: call.signal, attempt };
      const reply = await clock.during(() => observed.during(() => callLlm(question.messages(), context)));
      let session = question.session<Input>();
      const stream = pieces(reply);
      let isDone = false;
      let left: DeadEnd | undefined;
      try {
        while (!isDone) {
          const { done = false, value: piece } = await clock.during(() => observed.during(() => stream.next()));
          isDone = done;
          if (piece === undefined) break;
          if (piece.anew) {
            session.close();
            [session, answer] = [question.session<Input>(), new Streamed()];
          }
          answer.take(piece);
          if (piece.text === undefined) continue;
          const current = session;
          const { completeness, items, deadEnd } = current.push(piece.text);
          const event = { type: "progress", attempt, completeness, items, deadEnd } as const;
          yield Object.defineProperty(event, "partial", {
            enumerable: true,
            get: () => current.partial,
          }) as typeof event & {
            partial: DeepPartial<Input> | undefined;
          };
          if (options.stopEarly && deadEnd !== null) {
            left = deadEnd;
            break;
          }
        }
      } finally {
        session.close();
        call.end();
        if (!isDone) {
          call.abort();
          // Not awaited, because the client may hang.
          stream.return().catch(() => {});
        }
      }
      const result = await clock.during(() => observed.during(() => question.take(reply, answer.said(), left)));
      yield { type: "attempt", attempt, outcome: question.attempts.at(-1) as Attempt };
      if (result !== undefined) {
        observed.end({ result });
        yield { type: "result", result };
        return;
      }
    }
  } catch (error) {
    watched?.end({ error });
    throw error;
  } finally {
    // The loop was left, so there is no result.
    watched?.end({});
    clock.end();
  }
}

/** The answer in a stream. */
class Streamed {
  readonly #pieces: (string | Uint8Array)[] = [];
  #finish = "unknown";

  take({ text, finish }: { readonly text?: string | Uint8Array; readonly finish?: string }): void {
    if (text !== undefined) this.#pieces.push(text);
    if (finish !== undefined) this.#finish = finish;
  }

  said(): Said {
    const finish = this.#finish;
    if (this.#pieces.every((piece) => typeof piece === "string")) {
      return { text: this.#pieces.join(""), finish };
    }
    const encoder = new TextEncoder();
    const all = this.#pieces.map((piece) => (typeof piece === "string" ? encoder.encode(piece) : piece));
    const text = new Uint8Array(all.reduce((length, { byteLength }) => length + byteLength, 0));
    let at = 0;
    for (const piece of all) {
      text.set(piece, at);
      at += piece.byteLength;
    }
    return { text, finish };
  }
}

/** The gate of calls without the option `gate`. If loading it fails, the next call tries again. */
function common(): Promise<Gate> {
  shared ??= Gate.load().catch((error: unknown) => {
    shared = undefined;
    throw error;
  });
  return shared;
}
