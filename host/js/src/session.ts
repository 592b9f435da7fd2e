import type { Coming } from "./engine.js";
import type { OutputOptions } from "./options.js";
import { type CompletedItem, type DeepPartial, PartialDocument } from "./partial.js";
import { type Judged, Report, type Usage, type Verdict } from "./report.js";
import { pieces, type ReplyStream } from "./streams.js";
import { lengthOf } from "./text.js";
import type { Progress } from "./types.js";

declare global {
  /** As in `lib.esnext.disposable.d.ts`, for programs that are compiled without it. */
  interface SymbolConstructor {
    readonly dispose: unique symbol;
    readonly asyncDispose: unique symbol;
  }
}

/** What is known after a piece. Its items have their values. */
export interface SessionProgress extends Progress {
  readonly items: readonly CompletedItem[];
}

/** What is known after a piece of a stream. */
export interface Snapshot<T = unknown> extends SessionProgress {
  /** The document, as far as it has come. The same object grows with each piece: clone it to keep it as it is. */
  readonly partial: DeepPartial<T> | undefined;
}

/**
 * An output that is still coming, in pieces of any size. Nothing is judged before the end but what can no longer become right. See
 * `Gate.session`.
 */
export class Session<T = unknown> {
  readonly #begin: () => Coming;
  #coming: Coming;
  /** Judges the whole text. */
  readonly #whole: (output: string, finish: OutputOptions["finish"]) => Verdict<T>;
  /** Adds the verdict of a schema's own checks. */
  readonly #checked: (finish: () => { report: Judged<T>; usage: Usage }) => Verdict<T>;
  readonly #encoder = new TextEncoder();
  #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #raw = "";
  /** A piece may end between the halves of a surrogate pair: the first half. */
  #half = "";
  /** Whether a half has no other half. Only the whole text then has the right places. */
  #lone = false;
  #over = false;
  /** Why the producer stopped, where a stream said so. */
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
   * Take what came next. Gives what is known now.
   *
   * @throws {SeamgateFault} A limit was passed. The session is over then.
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
   * The document as far as it has come, for a view of it: nothing of it is judged. Undefined before it begins. The same object grows
   * with each piece.
   */
  get partial(): DeepPartial<T> | undefined {
    return this.#document.value as DeepPartial<T> | undefined;
  }

  /**
   * Take a whole stream, and say after each piece what is known. Then `finish` gives the verdict.
   *
   * @param stream - Text or bytes, or the stream of a client that `askStream` knows, which also says why the producer stopped. If a call
   *   of a tool follows text, the session begins again with the call.
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
   * The verdict on all that came, byte for byte as `Gate.validate` gives it for the whole text. The session is over then.
   *
   * @param finish - Why the producer stopped, as in {@link OutputOptions.finish}. Default: as the stream said that {@link Session.read} took.
   * @throws {SeamgateFault} There is no verdict.
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
   * End it without a verdict, if it has not ended: what it holds is free at once. A session that is neither finished nor closed holds
   * an instance until it is collected. `using session = gate.session(…)` closes it.
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
