// Runs the recipes of `ask` with the vendors' own clients, against a server that imitates the vendors' APIs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createOpenAI } from "@ai-sdk/openai";
import { Anthropic } from "@anthropic-ai/sdk";
import { OpenAI } from "openai";
import * as aiSdk from "./ai_sdk_ask.mjs";
import * as anthropic from "./anthropic_ask.mjs";
import { localModels } from "./local_models.mjs";
import * as openai from "./openai_ask.mjs";

const options = (url) => ({ baseURL: url, apiKey: "test-key", maxRetries: 0 });
const prompt = "Order for Ms Lee.";
const recipes = {
  "OpenAI, chat completions": (url) => openai.chatCompletions(new OpenAI(options(`${url}/v1`)), prompt),
  "OpenAI, responses": (url) => openai.responses(new OpenAI(options(`${url}/v1`)), prompt),
  "Anthropic, messages": (url) => anthropic.order(new Anthropic(options(url)), prompt),
  "AI SDK": (url) => aiSdk.order(createOpenAI(options(`${url}/v1`)).chat("gpt-5-mini"), prompt),
};

/** Returns the last message of the user. */
function told(messages) {
  const { content } = messages.at(-1);
  return typeof content === "string" ? content : content[0].text;
}

for (const [name, recipe] of Object.entries(recipes)) {
  test(name, async () => {
    // The schema rejects the first, and its own check the second.
    const script = [
      '{"sku":"A-7","count":0}',
      '{"sku":"C-1","count":2}',
      'Sure:\n```json\n{"sku":"A-7","count":2}\n```',
    ];
    await localModels(script, async (url, requests) => {
      const answer = await recipe(url);
      assert.equal(answer.success, true);
      assert.deepEqual(answer.data, { sku: "A-7", count: 2 });
      const [asked, first, second] = requests;
      assert.ok(told(asked).startsWith("Order for Ms Lee.\n\nAnswer with one JSON document"));
      assert.match(told(first), /- at \$\.count: must be >= 1\. Received/);
      assert.match(told(second), /- at \$\.sku: must be in stock\. Received/);
      assert.deepEqual(
        second.map(({ role }) => role),
        ["user", "assistant", "user", "assistant", "user"],
      );
    });
    await localModels([['{"sku":"A-7"', "length", null]], async (url) => {
      assert.equal((await recipe(url)).stop, "not_retryable");
    });
    // Nothing is left in the script: the server fails, and the client's error passes through.
    await localModels([], (url) =>
      assert.rejects(recipe(url), ({ status, statusCode }) => (status ?? statusCode) === 500),
    );
  });
}

test("a refusal is an outcome of its own", async () => {
  // The AI SDK does not hand on what the model said as a refusal.
  for (const [name, recipe] of Object.entries(recipes).slice(0, 3)) {
    await localModels([[null, "stop", "I cannot help with that."]], async (url) => {
      const answer = await recipe(url);
      assert.deepEqual([answer.disposition, answer.refusal], ["refused", "I cannot help with that."], name);
    });
  }
});
