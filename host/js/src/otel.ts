import { context, type MeterProvider, metrics, SpanStatusCode, type TracerProvider, trace } from "@opentelemetry/api";
import { version } from "./component/about.js";
import { type Asking, type Observer, observers } from "./watch.js";

// Names from OpenTelemetry's semantic conventions.
const AGENT = "gen_ai.agent.name";
const ERROR = "error.type";

const DISPOSITION = "seamgate.disposition";
const KEYWORD = "seamgate.keyword";
const STOP = "seamgate.stop";

/** The providers for spans and metrics. Default: the registered providers. */
export interface InstrumentOptions {
  readonly tracerProvider?: TracerProvider;
  readonly meterProvider?: MeterProvider;
}

/**
 * Records every verdict of every gate, and every question of `ask` and `askStream`, from now on.
 *
 * Spans are `seamgate.validate` and, around a whole question with the calls of its model, `seamgate.ask`. Metrics are
 * `seamgate.verdicts`, `seamgate.violations`, `seamgate.faults`, `seamgate.ask.attempts`, `seamgate.verdict.duration` and
 * `seamgate.verdict.fuel`. Only agents, dispositions and keywords are recorded: no outputs, no prompts and no messages
 * of violations.
 *
 * @returns A function that stops recording.
 */
export function instrument(options: InstrumentOptions = {}): () => void {
  const { tracerProvider = trace, meterProvider = metrics } = options;
  const tracer = tracerProvider.getTracer("seamgate", version);
  const meter = meterProvider.getMeter("seamgate", version);
  const counter = (name: string, unit: string, description: string) => meter.createCounter(name, { unit, description });
  const histogram = (name: string, unit: string, description: string) =>
    meter.createHistogram(name, { unit, description });
  const verdicts = counter("seamgate.verdicts", "{verdict}", "Verdicts by agent and disposition.");
  const violations = counter("seamgate.violations", "{violation}", "Violations by agent and keyword.");
  const faults = counter("seamgate.faults", "{fault}", "Calls without a verdict, by fault.");
  const attempts = histogram("seamgate.ask.attempts", "{attempt}", "Attempts of a question.");
  const duration = histogram("seamgate.verdict.duration", "s", "Time in the sandbox.");
  const fuel = histogram("seamgate.verdict.fuel", "{fuel}", "Fuel of a verdict.");

  const observer: Observer = {
    verdict({ report, usage }) {
      const about = { [AGENT]: report.agent, [DISPOSITION]: report.disposition };
      verdicts.add(1, about);
      duration.record(usage.elapsedMs / 1000, about);
      fuel.record(usage.fuel, about);
      const keywords = report.violations.map(({ keyword }) => keyword);
      for (const keyword of keywords) violations.add(1, { [AGENT]: report.agent, [KEYWORD]: keyword });
      const attributes = { ...about, "seamgate.fuel": usage.fuel, "seamgate.keywords": [...new Set(keywords)].sort() };
      const end = performance.timeOrigin + performance.now();
      tracer.startSpan("seamgate.validate", { attributes, startTime: end - usage.elapsedMs }).end(end);
    },
    fault({ code }) {
      faults.add(1, { [ERROR]: code });
      const span = tracer.startSpan("seamgate.validate", { attributes: { [ERROR]: code } });
      span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
    asking(agent): Asking {
      const span = tracer.startSpan("seamgate.ask", { attributes: { [AGENT]: agent } });
      const within = trace.setSpan(context.active(), span);
      return {
        during: (call) => context.with(within, call),
        end({ result, error }) {
          if (result !== undefined) {
            const attributes = { [DISPOSITION]: result.disposition, [STOP]: result.stop };
            span.setAttributes({ ...attributes, "seamgate.attempts": result.attempts.length });
            attempts.record(result.attempts.length, { [AGENT]: agent, ...attributes });
          } else if (error !== undefined) {
            // The message of the error may quote an output, so only its name is recorded.
            span.setAttribute(ERROR, error instanceof Error ? error.name : typeof error);
            span.setStatus({ code: SpanStatusCode.ERROR });
          }
          span.end();
        },
      };
    },
  };
  observers.add(observer);
  return () => {
    observers.delete(observer);
  };
}
