import type { Coming } from "./engine.js";
import type { OutputOptions } from "./options.js";
import { type CompletedItem, type DeepPartial, PartialDocument } from "./partial.js";
import { type Judged, Report, type Usage, type Verdict } from "./report.js";
import { pieces, type ReplyStream } from "./streams.js";
import { lengthOf } from "./text.js";
import type { Progress } from "./types.js";

declare global {
  /** The declaration of `lib.esnext.disposable.d.ts`, for programs that are compiled without it. */
  interface SymbolConstructor {
    readonly dispose: unique symbol;
    readonly asyncDispose: unique symbol;
  }
}

/** The state of an output after a chunk. The items have their values. */
export interface SessionProgress extends Progress {
  readonly items: readonly CompletedItem[];
}

/** The state of an output after a chunk of a stream. */
export interface Snapshot<T = unknown> extends SessionProgress {
  /** The document so far. The same object grows with each chunk: clone it to keep its current state. */
  readonly partial: DeepPartial<T> | undefined;
}

/**
 * Follows an output while it is streamed, in chunks of any size. Before the end, only failures that no further text can
 * fix are reported. See `Gate.session`.
 */
export class Session<T = unknown> {
  readonly #begin: () => Coming;
  #coming: Coming;
  /** Judges the whole output. */
  readonly #whole: (output: string, finish: OutputOptions["finish"]) => Verdict<T>;
  /** Applies a schema's own checks. */
  readonly #checked: (finish: () => { report: Judged<T>; usage: Usage }) => Verdict<T>;
  readonly #encoder = new TextEncoder();
  #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #raw = "";
  /** The first half of a surrogate pair, if a chunk ended within the pair. */
  #half = "";
  /** True if there was a lone surrogate. The right positions are then found only in the whole text. */
  #lone = false;
  #over = false;
  /** The reason why the producer stopped, if the stream gave one. */
  #finish: OutputOptions["finish"];
  #document = new PartialDocument();

  /** @internal Use `Gate.session`. */
  constructor(
    begin: () => Coming,
    whole: (output: string, finish: OutputOptions["finish"]) => Verdict<T>,
    checked: (finish: () => { report: Judged<T>; usage: Usage }) => Verdict<T>,
  ) {
    this.#begin = begin;
    this.#coming = begin();
    this.#whole = whole;
    this.#checked = checked;
  }

  /**
   * Add the next chunk. Returns the state of the output.
   *
   * @throws {SeamgateFault} A limit was exceeded, which ends the session.
   */
  push(chunk: string | Uint8Array): SessionProgress {
    lengthOf(chunk, "chunk");
    this.#goesOn();
    if (typeof chunk !== "string") {
      return this.#take(this.#decoder.decode(chunk, { stream: true }), chunk);
    }
    let text = this.#half + chunk;
    this.#half = "";
    if (/[\ud800-\udbff]$/.test(text)) {
      this.#half = text.slice(-1);
      text = text.slice(0, -1);
    }
    return this.#pass(text);
  }

  /**
   * The document so far, for display. Nothing in it is judged. Undefined before the document begins. The same object
   * grows with each chunk.
   */
  get partial(): DeepPartial<T> | undefined {
    return this.#document.value as DeepPartial<T> | undefined;
  }

  /**
   * Read a whole stream, and yield the state after each chunk. Then call `finish` for the verdict.
   *
   * @param stream - A stream of text or bytes, or the stream of a client that `askStream` supports, which also says why
   *   the producer stopped. If a tool call follows text, the session restarts with the call.
   */
  async *read(stream: ReplyStream): AsyncGenerator<Snapshot<T>, void, undefined> {
    for await (const { text, finish, anew } of pieces(stream)) {
      if (anew) this.#beginAgain();
      if (finish !== undefined) this.#finish = finish;
      if (text !== undefined) {
        const progress = this.push(text);
        const partial = { enumerable: true, get: () => this.partial };
        yield Object.defineProperty({ ...progress }, "partial", partial) as Snapshot<T>;
      }
    }
  }

  /**
   * Returns the verdict, byte for byte the same as that of `Gate.validate` on the whole output, and ends the session.
   *
   * @param finish - Why the producer stopped, as in {@link OutputOptions.finish}. Default: the reason in the stream
   *   that {@link Session.read} read.
   * @throws {SeamgateFault} No verdict is possible.
   */
  finish(finish: OutputOptions["finish"] = this.#finish): Verdict<T> {
    this.#goesOn();
    if (this.#half !== "") {
      this.#pass(this.#half);
      this.#half = "";
    }
    this.#over = true;
    const raw = this.#raw + this.#decoder.decode();
    if (this.#lone) {
      this.#coming.close();
      return this.#whole(raw, finish);
    }
    return this.#checked(() => {
      const { json, usage } = this.#coming.finish(finish);
      return { report: new Report<T>(json, raw) as Judged<T>, usage };
    });
  }

  /**
   * End the session without a verdict, if it has not ended, and free its instance at once. A session that is neither
   * finished nor closed holds an instance until it is garbage-collected. `using session = gate.session(…)` closes it.
   */
  close(): void {
    this.#over = true;
    this.#coming.close();
  }

  /** The same as {@link Session.close}. */
  [Symbol.dispose](): void {
    this.close();
  }

  #beginAgain(): void {
    this.#goesOn();
    this.#coming.close();
    this.#coming = this.#begin();
    this.#decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    this.#document = new PartialDocument();
    [this.#raw, this.#half, this.#lone] = ["", "", false];
  }

  #goesOn(): void {
    if (this.#over) {
      throw new TypeError("the session is over: it was finished or closed");
    }
  }

  #pass(text: string): SessionProgress {
    this.#lone ||= /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(text);
    return this.#take(text, this.#encoder.encode(text));
  }

  #take(text: string, bytes: Uint8Array): SessionProgress {
    this.#raw += text;
    const { items, ...progress } = this.#coming.push(bytes);
    this.#document.push(text);
    return { ...progress, items: this.#document.items(items) };
  }
}
