import type { Message } from "seamgate";

/** In the place of a model's client, which returns its stream: an order that is not valid, then one that is. */
export async function* model(messages: readonly Message[], { signal }: { signal: AbortSignal }): AsyncGenerator<string> {
  signal.throwIfAborted();
  yield* messages.length === 1 ? ['{"sku": "A-7", ', '"count": 0}'] : ['{"sku": "A', '-7", "cou', 'nt": 2}'];
}
