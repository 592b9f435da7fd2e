import { kindOf } from "./plain.js";
import type { Confidence, Finish } from "./types.js";

/**
 * A result as an agent saw it, which claims can cite, such as an `Observation`. The defaults are the strictest values.
 */
export interface Seen {
  /** The unique id by which claims cite it: 1 to 256 bytes. */
  readonly id: string;
  /** What the agent saw of it, character for character: at most 1 MiB. */
  readonly text: string;
  /** The kinds of evidence that it is. */
  readonly kinds?: readonly string[];
  /** What is known of it: `stale`, `sampled`, `partial`, `truncated` and `empty` have a meaning. */
  readonly labels?: readonly string[];
  /** The highest confidence that a claim citing it may state. Default: `low`. */
  readonly confidence?: Confidence;
  /** True if the agent saw the whole result, so that absence from it proves absence. Default: false. */
  readonly complete?: boolean;
  /** Codes of its limitations. Each claim that cites it must repeat them. */
  readonly limitations?: readonly string[];
}

/** Options of an output. */
export interface OutputOptions {
  /**
   * Why the producer stopped: one of the component's words, or its API's own word (`end_turn`, `MAX_TOKENS`,
   * `tool-calls` …; `schemas/request.schema.json` lists all of them). Any other word is the fault `bad_request`.
   * Default: `unknown`.
   */
  readonly finish?: Finish | (string & Record<never, never>);
  /** The lists that the contract's `allow` names. Only those of optional rules may be missing. Default: none. */
  readonly lists?: Readonly<Record<string, readonly string[]>>;
  /**
   * The results that the agent saw: at most 1,000, with 4 MiB in all. If the contract has `evidence`, leaving this out
   * is the fault `bad_request`; passing an empty list is not. Default: none.
   */
  readonly evidence?: readonly Seen[];
}

/** A file that records the attempts of a run, as `seamgate run --journal` does (`schemas/journal.schema.json`). */
export interface RunJournal {
  /** The file. A line is appended and synced for each attempt and each decision. */
  readonly path: string;
  /** If true, the last run of the file is resumed, if there is one, without repeating its attempts. Default: false. */
  readonly resume?: boolean;
  /** If true, each output is kept in a file beside the journal. Default: false. */
  readonly keepOutputs?: boolean;
  /**
   * Identifies the producer, for example by the name of the model. A run resumes only with the same producer. Default:
   * empty.
   */
  readonly producer?: string;
  /** The prompt. Only its digest is stored. A run resumes only with the same prompt. Default: empty. */
  readonly prompt?: string;
}

/** Options of `Gate.run`. */
export interface RunOptions extends Omit<OutputOptions, "finish"> {
  /** If true, the run may end with a partial document. Default: false. */
  readonly allowPartial?: boolean;
  /** The journal that records the attempts: the path of a file, or an object with options. Default: none. */
  readonly journal?: string | RunJournal;
}

/** The names of all options of a type. */
export type Names<Options> = Readonly<Record<keyof Options, true>>;

/**
 * Rejects unknown options, such as misspelt ones.
 *
 * @param argument - The caller's name for the argument.
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

/** @throws {TypeError} It is not a function. */
export function asHook<Hook>(name: string, hook: Hook): Hook {
  if (hook !== undefined && typeof hook !== "function") {
    throw new TypeError(`\`${name}\` must be a function, not ${kindOf(hook)}`);
  }
  return hook;
}

/** The options of an output. */
export const OUTPUT_OPTIONS: Names<OutputOptions> = { finish: true, lists: true, evidence: true };
