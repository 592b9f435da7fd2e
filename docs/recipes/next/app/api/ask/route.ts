// Streams an order as it comes, asks the model again if it is not valid, and ends with a typed answer. Each line of the response is
// JSON. If the reader goes away, the model's request is aborted.

import { type AnswerStream, askStream } from "seamgate";
import { z } from "zod";
import { model } from "../../model";

const Order = z.object({ sku: z.string(), count: z.int().min(1) });
// Spans and metrics have this name.
const contract = { agent: "order", retry: { limit: 2 } };

export async function POST(request: Request): Promise<Response> {
  const stream = askStream(Order, model, await request.text(), { contract, timeoutMs: 30_000, signal: request.signal });
  const told = lines(stream);
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await told.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    // The client disconnected, so the model's stream is closed as well.
    cancel: () => told.return(undefined).then(() => {}),
  });
  return new Response(body, { headers: { "content-type": "application/x-ndjson" } });
}

async function* lines(stream: AnswerStream<z.infer<typeof Order>>): AsyncGenerator<Uint8Array> {
  const line = (value: unknown) => new TextEncoder().encode(`${JSON.stringify(value)}\n`);
  for await (const event of stream) {
    if (event.type === "progress") yield line({ partial: event.partial });
    if (event.type !== "result") continue;
    const { result } = event;
    yield line(result.success ? { pieces: result.data.count, of: result.data.sku } : { stop: result.stop });
  }
}
