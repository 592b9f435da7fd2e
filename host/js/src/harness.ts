import type { Engine } from "./engine.js";
import { LoadError } from "./fault.js";
import { NativeEngine } from "./native.js";
import type { OutputOptions, RunOptions } from "./options.js";
import { type Judged, Report } from "./report.js";

/** The output of a producer, or an object with the output and the reason why the producer stopped. */
export type Produced =
  | string
  | Uint8Array
  | { readonly output: string | Uint8Array; readonly finish?: OutputOptions["finish"] };

/** The reason why a run ended. */
export type RunStop = "accepted" | "partial" | "refused" | "not_retryable" | "repeated" | "limit";

/** The result of `Gate.run`. */
export interface Outcome<T = unknown> {
  /** The report on all attempts together. */
  readonly report: Judged<T>;
  /** The document, if it may be used: it is `accepted`, or `partial` and that is allowed. */
  readonly data: T | null;
  /** The number of times that the producer was asked. */
  readonly attempts: number;
  readonly stop: RunStop;
}

/** @internal See `Gate.run`. */
export async function run<T>(
  engine: Engine,
  agent: string,
  produce: (feedback: string | null, attempt: number) => Produced | PromiseLike<Produced>,
  options: RunOptions,
): Promise<Outcome<T>> {
  const attempts = native(engine, "gate.run").attempts(agent, options);
  let raw = "";
  for (;;) {
    const { stop, feedback, attempt } = attempts.next();
    if (stop !== undefined) {
      const report = new Report<T>(attempts.report(), raw) as Judged<T>;
      const data = stop === "accepted" || stop === "partial" ? report.data : null;
      return { report, data, attempts: attempts.count(), stop: stop as RunStop };
    }
    let produced: Produced;
    try {
      produced = await produce(feedback ?? null, attempt);
    } catch (error) {
      attempts.failed(error instanceof Error ? error.message : String(error));
      throw error;
    }
    const { output, finish } =
      typeof produced === "string" || produced instanceof Uint8Array
        ? { output: produced, finish: undefined }
        : produced;
    raw = attempts.judge(output, finish).raw;
  }
}

/** @internal Returns the native engine, which `what` requires. */
export function native(engine: Engine, what: string): NativeEngine {
  if (engine instanceof NativeEngine) {
    return engine;
  }
  throw new LoadError(
    `${what} needs the native addon of seamgate, and this gate runs on WebAssembly: run it in Node on a platform that has ` +
      "the addon, without SEAMGATE_BACKEND=webassembly, or call the command line, which has the same",
  );
}
