// Runs the recipes for LangChain.js and LlamaIndex.TS with the frameworks' own test models.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { MockLLM } from "@llamaindex/core/llms/mock";
import { NotAcceptedError } from "seamgate";
import * as langchain from "./langchain_chain.mjs";
import * as llamaindex from "./llamaindex_parser.mjs";

const valid = 'Sure:\n```json\n{"sku":"A-7","count":2}\n```';
const few = '{"sku":"A-7","count":0}';
const outOfStock = '{"sku":"C-1","count":2}';
const mail = "Two of A-7, please. Lee";

/** A model of LangChain that says what a script has, and the conversations that callbacks of a chain see. */
function scripted(...responses) {
  const conversations = [];
  const seen = { handleChatModelStart: (_, [messages]) => conversations.push(messages) };
  return { model: new FakeListChatModel({ responses }), conversations, config: { callbacks: [seen] } };
}

test("LangChain.js: a parser at the end of a chain", async () => {
  const { model, conversations, config } = scripted(valid, few, outOfStock);
  const chain = langchain.chain(model);
  assert.deepEqual(await chain.invoke({ mail }, config), { sku: "A-7", count: 2 });
  assert.match(conversations[0].at(-1).content, /one JSON document/);
  for (const reason of [/\$\.count: must be >= 1/, /\$\.sku: must be in stock/]) {
    await assert.rejects(chain.invoke({ mail }), ({ lc_error_code, observation, sendToLLM }) => {
      assert.match(observation, reason);
      return lc_error_code === "OUTPUT_PARSING_FAILURE" && sendToLLM;
    });
  }
});

test("LangChain.js: a Runnable that asks again", async () => {
  const { model, conversations, config } = scripted(few, outOfStock, valid);
  const answer = await langchain.asking(model).invoke({ mail }, config);
  assert.deepEqual([answer.success, answer.data], [true, { sku: "A-7", count: 2 }]);
  assert.deepEqual(
    conversations.map((messages) => messages.map((message) => message.getType())),
    [[], ["ai", "human"], ["ai", "human", "ai", "human"]].map((said) => ["human", "human", ...said]),
  );
  assert.match(conversations[2].at(-1).content, /\$\.sku: must be in stock/);
  const stubborn = await langchain.asking(scripted(few).model).invoke({ mail });
  assert.deepEqual([stubborn.success, stubborn.stop], [false, "repeated"]);
  const batch = await langchain.asking(scripted(valid).model).batch([{ mail }, { mail }]);
  assert.deepEqual(
    batch.map(({ data }) => data.count),
    [2, 2],
  );
  const ended = AbortSignal.abort(new Error("the reader went away"));
  await assert.rejects(langchain.asking(scripted(valid).model).invoke({ mail }, { signal: ended }), /the reader went/);
});

/** A model of LlamaIndex that says what a script has. */
class Scripted extends MockLLM {
  conversations = [];

  constructor(...script) {
    super({ timeBetweenToken: 0 });
    this.script = script;
  }

  chat(params) {
    this.conversations.push(params.messages);
    this.options.responseMessage = this.script.shift();
    return super.chat(params);
  }
}

test("LlamaIndex.TS: the output parser of a prompt", async () => {
  const llm = new Scripted(valid, few, outOfStock);
  assert.deepEqual(await llamaindex.order(llm, mail), { sku: "A-7", count: 2 });
  assert.match(llm.conversations[0][0].content, /Two of A-7, please\. Lee\n\n.*one JSON document/s);
  for (const reason of [/\$\.count: must be >= 1/, /\$\.sku: must be in stock/]) {
    await assert.rejects(llamaindex.order(llm, mail), (error) => {
      assert.match(error.report.feedback, reason);
      return error instanceof NotAcceptedError;
    });
  }
});

test("LlamaIndex.TS: ask and askStream ask again", async () => {
  const llm = new Scripted(few, outOfStock, valid);
  const answer = await llamaindex.askedAgain(llm, mail);
  assert.deepEqual([answer.success, answer.data], [true, { sku: "A-7", count: 2 }]);
  assert.match(llm.conversations[2].at(-1).content, /\$\.sku: must be in stock/);
  const partial = [];
  for await (const event of llamaindex.streamed(new Scripted(few, valid), mail)) {
    if (event.type === "progress" && event.partial?.count !== undefined) partial.push(event.partial.count);
    if (event.type === "result") assert.deepEqual(event.result.data, { sku: "A-7", count: 2 });
  }
  assert.deepEqual([...new Set(partial)], [0, 2]);
});
