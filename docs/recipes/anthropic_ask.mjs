// Anthropic: `ask` with messages.

import { ask } from "seamgate";
import { Order } from "./order.mjs";

/** @param {import("@anthropic-ai/sdk").Anthropic} client @param {string} prompt */
export function order(client, prompt) {
  const callLlm = (messages) => client.messages.create({ model: "claude-sonnet-5-5", max_tokens: 1000, messages });
  return ask(Order, callLlm, prompt, { contract: { retry: { limit: 2 } } });
}
