// LangChain.js: the gate as an output parser at the end of a chain; and as a Runnable that asks the model again.

import { BaseOutputParser, OutputParserException } from "@langchain/core/output_parsers";
import { ChatPromptTemplate } from "@langchain/core/prompts";
import { RunnableLambda } from "@langchain/core/runnables";
import { ask, Gate, ResultParser } from "seamgate";
import { Order } from "./order.mjs";

const results = new ResultParser(await Gate.load());
const prompt = ChatPromptTemplate.fromTemplate("Which order is in this mail?\n{mail}");

export class SchemaOutputParser extends BaseOutputParser {
  lc_namespace = ["seamgate"];

  constructor(schema) {
    super();
    this.schema = schema;
  }

  getFormatInstructions() {
    return results.describeSchema(this.schema);
  }

  async parse(text) {
    const result = results.parseWithSchema(this.schema, text);
    if (result.success) return result.data;
    // The feedback is what a parser that retries tells the model.
    throw new OutputParserException(result.feedback, text, result.feedback, true);
  }
}

/** Asks once. An answer that is not valid is LangChain's own exception. */
export function chain(model) {
  const parser = new SchemaOutputParser(Order);
  const wanted = ChatPromptTemplate.fromMessages([...prompt.promptMessages, ["user", "{wanted}"]]);
  return RunnableLambda.from(({ mail }) => ({ mail, wanted: parser.getFormatInstructions() }))
    .pipe(wanted)
    .pipe(model)
    .pipe(parser);
}

/** Asks again until the answer is valid. Callbacks, traces and the signal of the chain reach each attempt. */
export function asking(model, options = { contract: { retry: { limit: 2 } } }) {
  const answered = RunnableLambda.from((value, config) => {
    const call = (messages, { signal }) => model.invoke(messages, { ...config, signal });
    const { signal } = config;
    return ask(Order, call, value.toChatMessages(), { ...options, ...(signal && { signal }) });
  });
  return prompt.pipe(answered);
}
