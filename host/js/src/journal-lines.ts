// The lines of a journal (docs/runs.md). Each has its number and the digest of the previous line. A step ends with its
// `state`.

import type { Part } from "./receipt-file.js";
import { integerOf, isJson, membersOf, namedMembers, stringOf } from "./slices.js";

/** Returns the digest of bytes in the form that journals use: `sha256:` and 64 hexadecimal digits. */
export type Digest = (bytes: Uint8Array) => string;

/** A text's digest, and its length in UTF-8. */
export interface Measured {
  readonly digest: string;
  readonly bytes: number;
}

const encoder = new TextEncoder();

/** Returns the digest of a text. */
export function measured(digest: Digest, text: string): Measured {
  const bytes = encoder.encode(text);
  return { digest: digest(bytes), bytes: bytes.length };
}

/** Returns a SHA-256 digest in the form that journals use. */
export function written(bytes: Uint8Array): string {
  let text = "sha256:";
  for (const byte of bytes) text += (byte < 16 ? "0" : "") + byte.toString(16);
  return text;
}

/** A step of a journal, or only its first line. */
export interface StepLines {
  /** From 1; 0 for the first line. */
  readonly number: number;
  /** The number of its first line. */
  readonly line: number;
  readonly parts: readonly Part[];
}

/** A line that does not follow the previous line, and the step that it belongs to. */
export interface Broken {
  readonly step: number;
  readonly line: number;
}

/**
 * Returns the steps of a journal, the first line before them, and the digest of the last line; or the line that breaks
 * the chain.
 */
export function stepsOf(
  parts: readonly Part[],
  digest: Digest,
): { readonly steps: readonly StepLines[]; readonly head: string } | Broken {
  const steps: StepLines[] = [];
  let [before, from] = ["", 0];
  for (const [n, part] of parts.entries()) {
    if (typeof part !== "string") {
      before = written(part);
      continue;
    }
    const begin = beginOf(n, before);
    if (!part.startsWith(begin)) return { step: steps.length, line: n };
    before = measured(digest, part).digest;
    if (n === 0 || part.startsWith('"state":', begin.length)) {
      steps.push({ number: steps.length, line: from, parts: parts.slice(from, n + 1) });
      from = n + 1;
    }
  }
  const isWhole = from === parts.length && parts.length > 0;
  return isWhole ? { steps, head: before } : { step: steps.length, line: from };
}

/** Returns the lines of a step. Undefined if one is withheld. */
export function textsOf(step: StepLines): readonly string[] | undefined {
  const isWhole = step.parts.every((part) => typeof part === "string");
  return isWhole ? (step.parts as readonly string[]) : undefined;
}

function beginOf(n: number, before: string): string {
  return `{"n":${n},"before":"${before}",`;
}

/** The kinds of content of a line. */
export type Kind = "run" | "event" | "record" | "action" | "state" | "component";

const KINDS: readonly Kind[] = ["run", "event", "record", "action", "state", "component"];

/** Returns the content of a line, as JSON text. Undefined if the line is not JSON, or has a duplicate member. */
export function contentOf(line: string): Partial<Record<Kind, string>> | undefined {
  return isJson(line) ? namedMembers(line, KINDS) : undefined;
}

/** The beginning of the next line of a journal. */
export class Chain {
  readonly #digest: Digest;
  /** The number of the next line. */
  n: number;
  /** The digest of the previous line; empty for the first line. */
  #before: string;

  constructor(digest: Digest, n = 0, before = "") {
    this.#digest = digest;
    this.n = n;
    this.#before = before;
  }

  copy(): Chain {
    return new Chain(this.#digest, this.n, this.#before);
  }

  /** Returns the next line, with this JSON text. */
  write(kind: Kind, value: string): string {
    const line = `${beginOf(this.n, this.#before)}"${kind}":${value}}`;
    this.#follow(line);
    return line;
  }

  /** Reads the next line. Undefined if it does not follow the previous line. */
  read(line: string): { readonly kind: Kind; readonly value: string } | undefined {
    const members = isJson(line) ? membersOf(line) : undefined;
    const names: readonly string[] = members?.map(([name]) => name) ?? [];
    const isKnown = names.every((name, at) => [...KINDS, "n", "before"].includes(name) && names.indexOf(name) === at);
    const { n, before } = namedMembers(line, ["n", "before"]) ?? {};
    // A member that is null counts as missing.
    const held = members?.filter(([name, value]) => KINDS.includes(name as Kind) && value !== "null") ?? [];
    const [one] = held;
    const isNext = integerOf(n) === BigInt(this.n) && before === `"${this.#before}"`;
    if (!isKnown || !isNext || one === undefined || held.length !== 1 || (one[0] === "run") !== (this.n === 0)) {
      return undefined;
    }
    this.#follow(line);
    return { kind: one[0] as Kind, value: one[1] };
  }

  #follow(line: string): void {
    this.n += 1;
    this.#before = measured(this.#digest, line).digest;
  }
}

/** Checks the order of a journal's lines: a run, then steps. A change of the component comes before a step. */
export class Order {
  readonly chain: Chain;
  #place: "between" | "changed" | "in step" = "between";

  constructor(chain: Chain) {
    this.chain = chain;
  }

  /** Takes the next line. Undefined if it cannot follow. */
  take(line: string): { readonly kind: Kind; readonly value: string } | undefined {
    const read = this.chain.read(line);
    if (read === undefined) return undefined;
    const { kind } = read;
    const isBetween = this.#place === "between";
    if (kind === "run" || kind === "component") {
      if (!isBetween) return undefined;
      this.#place = kind === "run" ? "between" : "changed";
    } else {
      if ((kind === "event") === (this.#place === "in step")) return undefined;
      this.#place = kind === "state" ? "between" : "in step";
    }
    return read;
  }
}

/** The content of a line that records that a run continues under another component. */
export interface ComponentChange {
  /** The digest of the component that the run had. */
  readonly from: string;
  /** The digest of the component that the run has from then on. */
  readonly to: string;
  /** The version of the kernel that the following states name. */
  readonly version: string | undefined;
}

/** Reads a change of the component. Undefined if it is not one. */
export function changeOf(value: string): ComponentChange | undefined {
  const members = membersOf(value) ?? [];
  const names: readonly string[] = members.map(([name]) => name);
  const isKnown = names.every((name, at) => ["from", "to", "version"].includes(name) && names.indexOf(name) === at);
  const get = (wanted: string) => members.find(([name]) => name === wanted)?.[1];
  const [from, to] = [stringOf(get("from")), stringOf(get("to"))];
  const written = get("version") ?? "null";
  const version = stringOf(written);
  const isWhole = isKnown && (version !== undefined || written === "null");
  return isWhole && from !== undefined && to !== undefined ? { from, to, version } : undefined;
}

/** A step before which a run continued under another component. */
export interface ChangedStep {
  readonly step: number;
  /** The number of its line. */
  readonly line: number;
  /** The digest of the component before it. */
  readonly from: string;
}

/**
 * Returns the changes of a run's component, and the component after the last one; or the line of a change that does not
 * begin a step, or does not name the component before it.
 */
export function changesOf(
  steps: readonly StepLines[],
  first: string,
): { readonly changes: readonly ChangedStep[]; readonly component: string } | Broken {
  const changes: ChangedStep[] = [];
  let component = first;
  for (const { number, line, parts } of steps) {
    for (const [index, part] of parts.entries()) {
      const value = typeof part === "string" ? contentOf(part)?.component : undefined;
      if (value === undefined || value === "null") continue;
      const change = changeOf(value);
      if (change === undefined || index > 0 || change.from !== component || change.to === component) {
        return { step: number, line: line + index };
      }
      changes.push({ step: number, line, from: change.from });
      component = change.to;
    }
  }
  return { changes, component };
}
