import type { Gate } from "./gate.js";
import { native } from "./harness.js";
import type { AddonJournal, NativeRun } from "./native.js";
import type { Action, RunEvent, RunRecord, StartedEvent } from "./words.js";

/**
 * Stores the lines of one run, for example in a database. The run writes and checks the lines; a journal only stores
 * texts. Its methods are synchronous. An error that they throw propagates through the method of the run that called
 * them.
 */
export interface Journal {
  /** Returns the number of lines, as far as this writer knows. */
  count(): number;
  /** Returns the lines from number `from` on. The first line has the number 0. */
  lines(from: number): Iterable<string>;
  /**
   * Appends these lines if the journal has exactly `expected` lines, and makes them durable. Returns false, and appends
   * nothing, if another writer has added lines.
   */
  append(expected: number, lines: readonly string[]): boolean;
  /** Stores a text under its digest. Storing the same text again is not an error. */
  put(kind: "artifact" | "checkpoint", digest: string, text: string): void;
  /** Returns the text with a digest, or null if there is none. */
  get(kind: "artifact" | "checkpoint", digest: string): string | null;
}

/** Adapts a journal for the addon. */
class Keeper {
  readonly journal: AddonJournal;
  #thrown: { readonly error: unknown } | undefined;

  constructor(journal: Journal | string) {
    this.journal =
      typeof journal === "string"
        ? journal
        : (method, texts) => {
            try {
              return answer(journal, method, texts);
            } catch (error) {
              this.#thrown = { error };
              throw new Error("the journal has thrown an error");
            }
          };
  }

  /** Calls the addon. An error that the journal threw meanwhile is rethrown unchanged. */
  during<T>(call: () => T): T {
    this.#thrown = undefined;
    try {
      return call();
    } catch (error) {
      throw this.#thrown === undefined ? error : (this.#thrown as { error: unknown }).error;
    }
  }
}

function answer(journal: Journal, method: string, texts: readonly string[]): string[] {
  const [first = "", second = "", third = ""] = texts;
  switch (method) {
    case "count":
      return [String(journal.count())];
    case "lines":
      return [...journal.lines(Number(first))];
    case "append":
      return journal.append(Number(first), texts.slice(1)) ? [""] : [];
    case "put":
      journal.put(first as "artifact", second, third);
      return [];
    default: {
      const text = journal.get(first as "artifact", second);
      return text === null ? [] : [text];
    }
  }
}

/**
 * A run of the kernel. Its events are written to its journal, which is a folder or an object, and its state follows
 * from them. The commands `seamgate trace`, `why` and `approve` read such a folder. Requires the native addon.
 */
export class Run {
  readonly #run: NativeRun;
  readonly #keeper: Keeper;

  private constructor(run: NativeRun, keeper: Keeper) {
    this.#run = run;
    this.#keeper = keeper;
  }

  /**
   * Start a run.
   *
   * @param journal - The path of a folder that does not exist yet, or an object without lines.
   * @param started - The first event, `started`, as an object or as JSON text.
   * @returns The run, and the actions that the host must take first.
   * @throws {SeamgateFault} The agent has no profile, or the event is invalid.
   * @throws {JournalError} The journal already has a run, or cannot be written.
   */
  static start(
    gate: Gate,
    journal: string | Journal,
    agent: string,
    started: StartedEvent | string,
  ): { run: Run; actions: Action[] } {
    const engine = native(gate.engine, "Run.start");
    const keeper = new Keeper(journal);
    const { run, actions } = keeper.during(() => engine.startRun(keeper.journal, agent, text(started)));
    return { run: new Run(run, keeper), actions: actions.map((action) => JSON.parse(action)) };
  }

  /**
   * Resume the run of a journal. Its events are applied again, and must have the same results.
   *
   * If the gate's component differs from the run's, all events are applied again, and the run resumes only if every
   * step has the same result. The next step records the change of component in the journal.
   *
   * @throws {JournalError} The journal has no run; a line was changed; or the gate has another profile, or another
   *   component that decides a step differently.
   */
  static open(gate: Gate, journal: string | Journal): Run {
    const engine = native(gate.engine, "Run.open");
    const keeper = new Keeper(journal);
    return new Run(
      keeper.during(() => engine.openRun(keeper.journal)),
      keeper,
    );
  }

  /**
   * Resume a run from a snapshot, without reading the journal, for an engine that stores both in one transaction.
   * Unlike `open`, this compares no line with the snapshot. `get` and `lines` are called only if a step needs a stored
   * text.
   *
   * @param snapshot - `snapshot` of the run after the last line that the journal has.
   * @throws {JournalError} The snapshot is invalid, or belongs to another profile or component than the gate's.
   */
  static restore(gate: Gate, journal: string | Journal, snapshot: string): Run {
    const engine = native(gate.engine, "Run.restore");
    const keeper = new Keeper(journal);
    return new Run(
      keeper.during(() => engine.restoreRun(keeper.journal, snapshot)),
      keeper,
    );
  }

  /**
   * Apply an event, and record it with its consequences. Returns the actions that the host must take.
   *
   * @throws {SeamgateFault} The event is invalid. The run is unchanged.
   * @throws {JournalError} The event could not be written. The run is unchanged.
   */
  send(event: RunEvent | string): Action[] {
    return this.#keeper.during(() => this.#run.send(text(event))).map((action) => JSON.parse(action));
  }

  /** Store a text beside the journal. Returns its digest. */
  keep(artifact: string): string {
    return this.#keeper.during(() => this.#run.keep(artifact));
  }

  /** The run's id. */
  get id(): string {
    return this.#run.id();
  }

  get agent(): string {
    return this.#run.agent();
  }

  /** The number of steps. */
  get step(): number {
    return this.#run.step();
  }

  /** The state after the last step, as JSON text. */
  get state(): string {
    return this.#run.state();
  }

  /** The snapshot for `restore`, as text to store beside the lines. */
  get snapshot(): string {
    return this.#run.snapshot();
  }

  /** The decisions of the last step. */
  get records(): RunRecord[] {
    return this.#run.records().map((record) => JSON.parse(record));
  }

  /** The time at which to send `tick`, in milliseconds since 1970, or null. */
  get wakeAt(): number | null {
    return this.#run.wakeAt() ?? null;
  }
}

function text(event: object | string): string {
  return typeof event === "string" ? event : JSON.stringify(event);
}
