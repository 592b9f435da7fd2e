// OpenAI: `ask` with chat completions, and with responses.

import { ask } from "seamgate";
import { Order } from "./order.mjs";

/** @param {import("openai").OpenAI} client @param {string} prompt */
export function chatCompletions(client, prompt) {
  const callLlm = (messages) => client.chat.completions.create({ model: "gpt-5-mini", messages });
  return ask(Order, callLlm, prompt, { contract: { retry: { limit: 2 } } });
}

/** @param {import("openai").OpenAI} client @param {string} prompt */
export function responses(client, prompt) {
  const callLlm = (messages) => client.responses.create({ model: "gpt-5-mini", input: messages });
  return ask(Order, callLlm, prompt, { contract: { retry: { limit: 2 } } });
}
