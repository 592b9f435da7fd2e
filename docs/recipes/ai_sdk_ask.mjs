// Vercel AI SDK: `ask` with any model of it. `generateText` gives the text and why the model stopped.

import { generateText } from "ai";
import { ask } from "seamgate";
import { Order } from "./order.mjs";

/** @param {import("ai").LanguageModel} model @param {string} prompt */
export function order(model, prompt) {
  const callLlm = (messages) => generateText({ model, messages, maxRetries: 0 });
  return ask(Order, callLlm, prompt, { contract: { retry: { limit: 2 } } });
}
