// LlamaIndex.TS: the gate as the output parser of a prompt; and `ask` and `askStream`, which ask again.

import { PromptTemplate } from "@llamaindex/core/prompts";
import { ask, askStream, Gate, ResultParser } from "seamgate";
import { Order } from "./order.mjs";

const results = new ResultParser(await Gate.load());
const policy = { contract: { retry: { limit: 2 } } };
const asked = (mail) => `Which order is in this mail?\n${mail}`;

/** LlamaIndex's interface `BaseOutputParser`: `format` adds to a prompt what the answer must be. */
export class SchemaOutputParser {
  constructor(schema) {
    this.schema = schema;
  }

  format(query) {
    return `${query}\n\n${results.describeSchema(this.schema)}`;
  }

  parse(output) {
    // Throws a NotAcceptedError, whose report has the feedback.
    const { report, data } = results.parseWithSchema(this.schema, output);
    report.unwrap();
    return data;
  }
}

/** Asks once. */
export async function order(llm, mail) {
  const outputParser = new SchemaOutputParser(Order);
  const prompt = new PromptTemplate({ template: asked("{mail}"), templateVars: ["mail"], outputParser });
  const { message } = await llm.chat({ messages: [{ role: "user", content: prompt.format({ mail }) }] });
  return outputParser.parse(message.content);
}

export function askedAgain(llm, mail) {
  return ask(Order, (messages) => llm.chat({ messages }), asked(mail), policy);
}

export function streamed(llm, mail) {
  return askStream(Order, (messages) => llm.chat({ messages, stream: true }), asked(mail), policy);
}
