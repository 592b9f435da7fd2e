import { Places } from "./text.js";
import type { Completed, Span } from "./types.js";

/** A value of which any part may still be missing, at any depth. */
export type DeepPartial<T> = T extends readonly (infer Item)[]
  ? DeepPartial<Item>[]
  : T extends object
    ? { [Name in keyof T]?: DeepPartial<T[Name]> }
    : T;

/** An item that is complete, as the text stands, with its value. It is not judged. */
export interface CompletedItem extends Completed {
  /** Its text in the output. Not enumerable. */
  readonly text: string;
  /** `span` in units of UTF-16, as strings of JavaScript have them. Not enumerable. */
  readonly textSpan: Span;
  /** Its value; undefined where the text is not JSON as it stands, which `repair` may put right. Not enumerable. */
  readonly value: unknown;
}

/** Markup of reasoning before an answer: the document does not stand in it. */
const REASONING = /^\s*<(think|thinking|thought|reasoning|scratchpad)>/i;

/** A fence that opens a block with an object or an array. */
const FENCE = /(?:^|\n)[ \t]*(?:`{3,}|~{3,})[ \t]*(?:json)?[ \t]*\r?\n\s*(?=[{[])/gi;

/**
 * The document of an output that is still coming, as far as it has come. Progress says where a document begins once one of its items is
 * complete. Until then, it is looked for where most models write it: in the whole output, or in a block for JSON.
 */
export class PartialDocument {
  #text = "";
  /** Where the answer begins, after its reasoning and white space, once that is known. */
  #begin: number | undefined;
  /** Where to look for the next block. */
  #from = 0;
  #growing: GrowingValue | undefined;
  /** Where documents began, in units of UTF-16. */
  readonly #starts = new Set<number>();
  /** As far as it was given to that. */
  #fed = 0;

  /** Take what came next. */
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

  /** The value as far as it has come. The same objects grow with the next pieces. */
  get value(): unknown {
    return this.#growing?.value;
  }

  /**
   * Items with their texts and values. The gate says in which document they are: that is the one that grows, also where the contract's
   * `extract` finds it elsewhere than in a block or in the whole output.
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

  /** Where a document begins that was not begun yet: the whole output, or a block. */
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

  /** Undefined while it cannot be told. */
  #afterReasoning(): number | undefined {
    // The beginning of such a tag may be all there is.
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

/** The most levels that are followed. */
const MOST_DEEP = 256;

/** A JSON value that grows with its text. What cannot be told yet, as a number that may go on, is not there yet. */
class GrowingValue {
  readonly #open: { readonly value: Record<string, unknown> | unknown[]; name: string | undefined }[] = [];
  #root: unknown;
  /** A string or a word that has begun, with its quote. */
  #token = "";
  #isOver = false;

  /** Whether the value is complete, or is not JSON. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get value(): unknown {
    const { name, value } = this.#open.at(-1) ?? {};
    // As far as a string has come that is not a name.
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

  /** The rest of a string. Gives the place of its last character. */
  #string(text: string, start: number): number {
    let at = start;
    // A backslash may have come last, and escapes what comes now.
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

  /** A name, or a value that is complete. */
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

  /** Put a value where it stands. The next one takes its place while it is still growing. */
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
    // A name may be `__proto__`.
    Object.defineProperty(open.value, open.name, { value, writable: true, enumerable: true, configurable: true });
    if (!isGrowing) open.name = undefined;
  }

  /** The last string of an array, where a part of it is there already. */
  #growingAt: { readonly array: unknown[]; readonly at: number } | undefined;

  #place(array: unknown[], isGrowing: boolean): number {
    const at = this.#growingAt?.array === array ? this.#growingAt.at : array.length;
    this.#growingAt = isGrowing ? { array, at } : undefined;
    return at;
  }
}
