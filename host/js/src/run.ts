import type { Gate } from "./gate.js";
import { native } from "./harness.js";
import type { AddonJournal, NativeRun } from "./native.js";
import type { Action, RunEvent, RunRecord, StartedEvent } from "./words.js";

/**
 * Where the lines of one run are kept, such as in a database. Run makes and checks the lines: a journal only keeps texts. Its methods answer
 * at once, and what they throw is thrown by the method of the run that called them.
 */
export interface Journal {
  /** How many lines there are, as far as this writer knows. */
  count(): number;
  /** The lines from one on; the first has the number 0. */
  lines(from: number): Iterable<string>;
  /** Add all these lines if there are so many now, and keep them safe from a crash. Whether that was so: if not, another writer was there. */
  append(expected: number, lines: readonly string[]): boolean;
  /** Keep a text under its digest. To keep the same text again is no error. */
  put(kind: "artifact" | "checkpoint", digest: string, text: string): void;
  /** The text under a digest; null where there is none. */
  get(kind: "artifact" | "checkpoint", digest: string): string | null;
}

/** A journal as the addon calls it. */
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

  /** Call the addon. What the journal threw meanwhile is thrown as it was. */
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
 * A run of the kernel: its events go into its journal, which is a folder or an object, and its state is what follows from them. Such a
 * folder is what `seamgate trace`, `why` and `approve` read. It needs the native addon.
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
   * @param journal - A folder that is not there yet, or an object without lines.
   * @param started - The first event, `started`, as an object or as JSON text.
   * @returns The run, and what to do first.
   * @throws {SeamgateFault} There is no such profile, or the event is invalid.
   * @throws {JournalError} The journal has a run, or cannot be written.
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
   * Go on with the run of a journal: its events are applied again, and must lead to the same.
   *
   * If the gate has another component than the run, all events are applied again, and the run goes on if each step comes out the same. The
   * next step writes the change into the journal.
   *
   * @throws {JournalError} The journal has no run; a line is changed; or the gate has another profile, or another component that decides a
   * step differently.
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
   * Go on from a snapshot, without reading the journal: for an engine that keeps both in one transaction. No line is compared with it, as
   * `open` does. `get` and `lines` are called only where a step needs a text again.
   *
   * @param snapshot - `snapshot` of the run after the last line that the journal has.
   * @throws {JournalError} It is no snapshot; or the gate has another component or profile.
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
   * Apply an event, and write it down with what it leads to. Gives what to do.
   *
   * @throws {SeamgateFault} The event is invalid, and no part of the run.
   * @throws {JournalError} It could not be written, and has not happened.
   */
  send(event: RunEvent | string): Action[] {
    return this.#keeper.during(() => this.#run.send(text(event))).map((action) => JSON.parse(action));
  }

  /** Keep a text beside the journal. Gives its digest. */
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

  /** How many steps it has. */
  get step(): number {
    return this.#run.step();
  }

  /** The state after the last step, as JSON text. */
  get state(): string {
    return this.#run.state();
  }

  /** What `restore` goes on from, as text to keep beside the lines. */
  get snapshot(): string {
    return this.#run.snapshot();
  }

  /** What the last step decided. */
  get records(): RunRecord[] {
    return this.#run.records().map((record) => JSON.parse(record));
  }

  /** When to send `tick`, in milliseconds since 1970; null where nothing waits for a time. */
  get wakeAt(): number | null {
    return this.#run.wakeAt() ?? null;
  }
}

function text(event: object | string): string {
  return typeof event === "string" ? event : JSON.stringify(event);
}
