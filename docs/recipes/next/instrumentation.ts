// OpenTelemetry for all routes: spans go to the console here. The package's own spans are inside those of Next.js.

export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME !== "nodejs") return;
  const { ConsoleSpanExporter, NodeTracerProvider, SimpleSpanProcessor } = await import("@opentelemetry/sdk-trace-node");
  new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(new ConsoleSpanExporter())] }).register();
  const { instrument } = await import("seamgate/otel");
  instrument();
}
