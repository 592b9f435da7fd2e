import type { Gate } from "./gate.js";
import { native } from "./harness.js";
import type { NativeRun } from "./native.js";

/** What the host must do next (`schemas/action.schema.json`). */
export interface Action {
  /** `ask_model`, `execute`, `ask_approval`, `ask_input`, `delegate`, `cancel` or `finish`. */
  readonly type: string;
  /** No other action of the run has the same. */
  readonly key: string;
  readonly [member: string]: unknown;
}

/**
 * A run of the kernel: its events go into its journal, which is a folder, and its state is what follows from them. The same folder is
 * what `seamgate trace`, `why` and `approve` read. It needs the native addon.
 */
export class Run {
  readonly #run: NativeRun;

  private constructor(run: NativeRun) {
    this.#run = run;
  }

  /**
   * Start a run in a folder that has none.
   *
   * @param started - The first event, `started`, as an object or as JSON text.
   * @returns The run, and what to do first.
   * @throws {SeamgateFault} There is no such profile, or the event is invalid.
   * @throws {JournalError} The folder has a run, or cannot be written.
   */
  static start(gate: Gate, folder: string, agent: string, started: object | string): { run: Run; actions: Action[] } {
    const { run, actions } = native(gate.engine, "Run.start").startRun(folder, agent, text(started));
    return { run: new Run(run), actions: actions.map((action) => JSON.parse(action)) };
  }

  /**
   * Go on with the run in a folder: its events are applied again, and must lead to the same.
   *
   * @throws {JournalError} The folder has no run; a line is changed; or the gate has another component or profile.
   */
  static open(gate: Gate, folder: string): Run {
    return new Run(native(gate.engine, "Run.open").openRun(folder));
  }

  /**
   * Apply an event, and write it down with what it leads to. Gives what to do.
   *
   * @throws {SeamgateFault} The event is invalid, and no part of the run.
   * @throws {JournalError} It could not be written, and has not happened.
   */
  send(event: object | string): Action[] {
    return this.#run.send(text(event)).map((action) => JSON.parse(action));
  }

  /** Keep a text beside the journal. Gives its digest. */
  keep(artifact: string): string {
    return this.#run.keep(artifact);
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

  /** What the last step decided. */
  get records(): Record<string, unknown>[] {
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
