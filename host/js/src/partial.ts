import { Places } from "./text.js";
import type { Completed, Span } from "./types.js";

/** A value in which any part may still be missing, at any depth. */
export type DeepPartial<T> = T extends readonly (infer Item)[]
  ? DeepPartial<Item>[]
  : T extends object
    ? { [Name in keyof T]?: DeepPartial<T[Name]> }
    : T;

/** An item whose text has arrived completely, with its value. It is not judged yet. */
export interface CompletedItem extends Completed {
  /** The item's text in the output. Not enumerable. */
  readonly text: string;
  /** `span` in UTF-16 code units, as in JavaScript strings. Not enumerable. */
  readonly textSpan: Span;
  /** The item's value. Undefined if the text is not valid JSON, which `repair` may still fix. Not enumerable. */
  readonly value: unknown;
}

/** Markup of reasoning before an answer. It does not contain the document. */
const REASONING = /^\s*<(think|thinking|thought|reasoning|scratchpad)>/i;

/** A fence that opens a block with an object or an array. */
const FENCE = /(?:^|\n)[ \t]*(?:`{3,}|~{3,})[ \t]*(?:json)?[ \t]*\r?\n\s*(?=[{[])/gi;

/**
 * The partial document of an output that is still being streamed. Once an item is complete, the progress says where its
 * document begins. Until then, the document is searched for in the usual places: the whole output, or a block for JSON.
 */
export class PartialDocument {
  #text = "";
  /** The position at which the answer begins, after reasoning and white space, once it is known. */
  #begin: number | undefined;
  /** The position from which to search for the next block. */
  #from = 0;
  #growing: GrowingValue | undefined;
  /** The positions at which documents began, in UTF-16 code units. */
  readonly #starts = new Set<number>();
  /** The position up to which the text was passed to `#growing`. */
  #fed = 0;

  /** Adds the next chunk. */
  push(text: string): void {
    this.#text += text;
    this.#grow();
  }

  #grow(): void {
    for (;;) {
      if (this.#growing !== undefined && !this.#growing.isOver) {
        this.#growing.feed(this.#text.slice(this.#fed));
        this.#fed = this.#text.length;
        if (!this.#growing.isOver) return;
      }
      const start = this.#start();
      if (start === undefined) return;
      this.#beginAt(start);
    }
  }

  #beginAt(start: number): void {
    this.#growing = new GrowingValue();
    this.#starts.add(start);
    this.#fed = start;
    this.#from = start + 1;
  }

  /** The value so far. The same objects grow with the next chunks. */
  get value(): unknown {
    return this.#growing?.value;
  }

  /**
   * Returns items with their texts and values. The gate says which document they belong to, and that document is
   * followed from now on, even if the contract's `extract` finds it outside of a block.
   */
  items(completed: readonly Completed[]): CompletedItem[] {
    const places = new Places(this.#text);
    const last = completed.at(-1);
    const [start] = last === undefined ? [undefined] : places.of([last.candidate, last.candidate]);
    if (start !== undefined && !this.#starts.has(start)) {
      this.#begin ??= start;
      this.#beginAt(start);
      this.#grow();
    }
    return completed.map((item) => {
      const textSpan = places.of(item.span);
      const text = this.#text.slice(...textSpan);
      const properties = { textSpan: { value: textSpan }, text: { value: text }, value: { get: () => parsed(text) } };
      return Object.defineProperties({ ...item }, properties) as CompletedItem;
    });
  }

  /** Returns the position at which a new document begins: the whole output, or a block. */
  #start(): number | undefined {
    if (this.#begin === undefined) {
      const after = this.#afterReasoning();
      const first = after === undefined ? -1 : this.#text.slice(after).search(/[^\s\ufeff]/);
      if (after === undefined || first < 0) return undefined;
      this.#from = after;
      this.#begin = after + first;
      if (this.#text[this.#begin] === "{" || this.#text[this.#begin] === "[") return this.#begin;
    }
    FENCE.lastIndex = this.#from;
    const found = FENCE.exec(this.#text);
    return found === null ? undefined : found.index + found[0].length;
  }

  /** Returns undefined while it is unknown. */
  #afterReasoning(): number | undefined {
    // The text so far may be the beginning of such a tag.
    if (/^\s*<[a-z]*$/i.test(this.#text)) return undefined;
    const name = REASONING.exec(this.#text)?.[1];
    if (name === undefined) return 0;
    const end = this.#text.toLowerCase().indexOf(`</${name.toLowerCase()}>`);
    return end < 0 ? undefined : end + name.length + 3;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The most levels of nesting that are followed. */
const MOST_DEEP = 256;

/** A JSON value that grows with its text. Values that may still change, such as an unfinished number, are left out. */
class GrowingValue {
  readonly #open: { readonly value: Record<string, unknown> | unknown[]; name: string | undefined }[] = [];
  #root: unknown;
  /** The unfinished string or word, including its opening quote. */
  #token = "";
  #isOver = false;

  /** True if the value is complete or is not JSON. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get value(): unknown {
    const { name, value } = this.#open.at(-1) ?? {};
    // An unfinished string that is not a name.
    if (this.#token.startsWith('"') && value !== undefined && (name !== undefined || Array.isArray(value))) {
      const text = parsed(`${this.#token.replace(/\\(?:u[0-9a-fA-F]{0,3})?$/, "")}"`);
      if (typeof text === "string") this.#put(text.replace(/[\ud800-\udbff]$/, ""), true);
    }
    return this.#root;
  }

  feed(text: string): void {
    for (let at = 0; at < text.length && !this.#isOver; at += 1) {
      at = this.#token.startsWith('"') ? this.#string(text, at) : this.#other(text, at);
    }
  }

  /** Reads the rest of a string. Returns the position of its last character. */
  #string(text: string, start: number): number {
    let at = start;
    // A backslash at the end of the previous chunk escapes the first character of this one.
    let backslashes = 0;
    while (this.#token.at(-1 - backslashes) === "\\") backslashes += 1;
    let escaped = backslashes % 2 === 1;
    while (at < text.length && (escaped || text[at] !== '"')) {
      escaped = !escaped && text[at] === "\\";
      at += 1;
    }
    this.#token += text.slice(start, at);
    if (at < text.length) {
      const value = parsed(`${this.#token}"`);
      this.#token = "";
      if (typeof value === "string") this.#scalar(value);
      else this.#isOver = true;
    }
    return at;
  }

  #other(text: string, at: number): number {
    const character = text[at] as string;
    if (/[-+.\w]/.test(character)) {
      this.#token += character;
      return at;
    }
    if (this.#token !== "") {
      const value = parsed(this.#token);
      this.#token = "";
      if (value === undefined) this.#isOver = true;
      else this.#scalar(value);
    }
    const open = this.#open.at(-1);
    switch (character) {
      case '"':
        this.#token = '"';
        break;
      case "{":
      case "[": {
        const value = character === "{" ? {} : [];
        if (open === undefined) this.#root = value;
        else this.#put(value, false);
        this.#open.push({ value, name: undefined });
        this.#isOver ||= this.#open.length > MOST_DEEP;
        break;
      }
      case "}":
      case "]":
        this.#open.pop();
        this.#isOver ||= this.#open.length === 0;
        break;
      case ",":
      case ":":
        break;
      default:
        this.#isOver ||= character.trim() !== "";
    }
    return at;
  }

  /** Adds a name, or a complete value. */
  #scalar(value: unknown): void {
    const open = this.#open.at(-1);
    if (open === undefined) {
      this.#isOver = true;
    } else if (!Array.isArray(open.value) && open.name === undefined) {
      this.#isOver ||= typeof value !== "string";
      open.name = String(value);
    } else {
      this.#put(value, false);
    }
  }

  /** Puts a value in its place. While it is growing, the next one replaces it. */
  #put(value: unknown, isGrowing: boolean): void {
    const open = this.#open.at(-1);
    if (open === undefined) return;
    if (Array.isArray(open.value)) {
      open.value[this.#place(open.value, isGrowing)] = value;
      return;
    }
    if (open.name === undefined) {
      this.#isOver = true;
      return;
    }
    // The name may be `__proto__`.
    Object.defineProperty(open.value, open.name, { value, writable: true, enumerable: true, configurable: true });
    if (!isGrowing) open.name = undefined;
  }

  /** The last string of an array, if a part of it is already in the array. */
  #growingAt: { readonly array: unknown[]; readonly at: number } | undefined;

  #place(array: unknown[], isGrowing: boolean): number {
    const at = this.#growingAt?.array === array ? this.#growingAt.at : array.length;
    this.#growingAt = isGrowing ? { array, at } : undefined;
    return at;
  }
}
