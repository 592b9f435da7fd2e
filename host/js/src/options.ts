import { kindOf } from "./plain.js";
import type { Confidence, Finish } from "./types.js";

/** What an agent saw of one result, for claims to cite; an `Observation` is one. What is left out allows least. */
export interface Seen {
  /** What claims cite it by: 1 to 256 bytes, and no other has it. */
  readonly id: string;
  /** What the agent saw of it, character for character: at most 1 MiB. */
  readonly text: string;
  /** The kinds of evidence that it is. */
  readonly kinds?: readonly string[];
  /** What is known of it: `stale`, `sampled`, `partial`, `truncated` and `empty` have a meaning. */
  readonly labels?: readonly string[];
  /** The most that its source allows a claim to state. Default: `low`. */
  readonly confidence?: Confidence;
  /** Whether all of the result was seen, so that what is not in it is not there. Default: false. */
  readonly complete?: boolean;
  /** Codes of what limits it. Each claim that cites it must repeat them. */
  readonly limitations?: readonly string[];
}

/** What comes with an output. */
export interface OutputOptions {
  /**
   * Why the producer stopped, in our words or as its API said (`end_turn`, `MAX_TOKENS`, `tool-calls` …;
   * `schemas/request.schema.json` has them all). Any other word is the fault `bad_request`. Default: `unknown`.
   */
  readonly finish?: Finish | (string & Record<never, never>);
  /** The lists that the contract's `allow` names: all but those of optional rules. Default: none. */
  readonly lists?: Readonly<Record<string, readonly string[]>>;
  /**
   * What the agent saw: at most 1,000 observations of 4 MiB in all. Where the contract has `evidence`, none is the fault
   * `bad_request`, and an empty list is not. Default: none.
   */
  readonly evidence?: readonly Seen[];
}

/** Where the attempts of a run are written down, as `seamgate run --journal` does it (`schemas/journal.schema.json`). */
export interface RunJournal {
  /** The file. A line is appended and synced for each attempt and each decision. */
  readonly path: string;
  /** Go on with the last run of the file, if it has one, without repeating its attempts. Default: false. */
  readonly resume?: boolean;
  /** Keep each output in a file beside the journal. Default: false. */
  readonly keepOutputs?: boolean;
  /** What the producer is, say the name of the model: a run is resumed with the same alone. Default: empty. */
  readonly producer?: string;
  /** What the producer is asked: only its digest is kept, and a run is resumed with the same alone. Default: empty. */
  readonly prompt?: string;
}

/** How a harness step is taken. */
export interface RunOptions extends Omit<OutputOptions, "finish"> {
  /** Give a partial document at the end. Default: false. */
  readonly allowPartial?: boolean;
  /** Where the attempts are written down: a file, or that with how. Default: nowhere. */
  readonly journal?: string | RunJournal;
}

/** The names of all options of a type. */
export type Names<Options> = Readonly<Record<keyof Options, true>>;

/**
 * Refuses what is no option, such as a misspelt one.
 *
 * @param argument - How the caller knows it.
 */
export function only<Options>(argument: string, options: Options, names: Names<Options>): void {
  if (Object(options) !== options) {
    throw new TypeError(`\`${argument}\` must be an object, not ${kindOf(options)}`);
  }
  for (const name of Object.keys(options as object)) {
    if (!Object.hasOwn(names, name)) {
      throw new TypeError(
        `\`${argument}\` has no member \`${name}\`: its members are ${Object.keys(names).join(", ")}`,
      );
    }
  }
}

/** @throws {TypeError} It is no function. */
export function asHook<Hook>(name: string, hook: Hook): Hook {
  if (hook !== undefined && typeof hook !== "function") {
    throw new TypeError(`\`${name}\` must be a function, not ${kindOf(hook)}`);
  }
  return hook;
}

/** The options of an output. */
export const OUTPUT_OPTIONS: Names<OutputOptions> = { finish: true, lists: true, evidence: true };
