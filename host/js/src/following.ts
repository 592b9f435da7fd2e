import type { Subject } from "./contract.js";
import type { Coming, Engine, Judged } from "./engine.js";
import { type Limits, smallEnough } from "./limits.js";
import type { OutputOptions } from "./options.js";
import type { Progress } from "./types.js";
import { answered, progressOf } from "./wire.js";

/**
 * An output that is still being streamed. Its state between chunks is a text, and the verdict is computed from the
 * whole output.
 */
export class Following implements Coming {
  readonly #engine: Engine;
  readonly #subject: Subject;
  readonly #options: OutputOptions;
  readonly #limits: Required<Limits>;
  /** Chunks may end within a character. */
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #chunks: Uint8Array[] = [];
  #bytes = 0;
  #state: string | undefined;

  constructor(engine: Engine, limits: Required<Limits>, agent: string, options: OutputOptions) {
    this.#engine = engine;
    this.#subject = { agent, contract: undefined, checks: undefined };
    this.#options = options;
    this.#limits = limits;
    engine.contracts.of(agent);
    // Reports a missing list or missing evidence now, not at the end.
    engine.validate(this.#subject, "", options);
  }

  push(chunk: Uint8Array): Progress {
    this.#bytes += chunk.length;
    smallEnough(this.#limits, this.#bytes);
    this.#chunks.push(chunk.slice());
    const text = this.#decoder.decode(chunk, { stream: true });
    const request = JSON.stringify({ op: "push", agent: this.#subject.agent, chunk: text, state: this.#state });
    // Each chunk runs in a fresh instance, like verdicts, so an abandoned session holds no instance.
    const { state, progress } = JSON.parse(answered(this.#engine.call(request).json, "result"));
    this.#state = state;
    return progressOf(JSON.stringify(progress));
  }

  finish(finish: string | undefined): Omit<Judged, "raw"> {
    const whole = new Uint8Array(this.#bytes);
    let at = 0;
    for (const chunk of this.#chunks) {
      whole.set(chunk, at);
      at += chunk.length;
    }
    this.close();
    const options = finish === undefined ? this.#options : { ...this.#options, finish };
    return this.#engine.validate(this.#subject, whole, options);
  }

  close(): void {
    this.#chunks.length = 0;
  }
}
