// Not run: `tsc --strict` reads what the package says of itself, without the types of browsers or of Node.

import {
  ask,
  askStream,
  backend,
  type Call,
  type ContractInfo,
  ContractRegistry,
  type Decision,
  type Facts,
  Gate,
  type Limits,
  type Message,
  type Observation,
  type ParseResult,
  type ReceiptReport,
  type Report,
  ResultParser,
  SeamgateFault,
  type Verdict,
  verifyReceipt,
  WorkerGate,
  withJsonSchema,
} from "seamgate";
import { z } from "zod";
import * as mini from "zod/mini";

/** An interface has no index signature. */
interface OwnContract {
  agent: string;
  schema: { type: string };
}

class Model {
  type = "object";
}

interface Greeting {
  readonly greeting: string;
}

export async function uses(): Promise<void> {
  const limits: Limits = { fuel: 1_000_000 };
  const gate = await Gate.load({ limits });
  const info: ContractInfo = gate.register({ agent: "greeter", schema: true });
  const { report, usage }: Verdict<Greeting> = gate.validate<Greeting>(info.agent, "{}", { finish: "stop" });
  const greeting: string | undefined = report.data?.greeting;
  const span: readonly [number, number] | null | undefined = report.error?.violations[0]?.span;
  const fuel: number = usage.fuel;
  const untyped: Report = gate.instance().validate("greeter", "{}").report;
  // @ts-expect-error What was not said to be of a type is of none.
  untyped.output.greeting;
  // @ts-expect-error A report is not written to.
  untyped.disposition = "accepted";
  // Whatever an API says.
  gate.validate("greeter", "{}", { finish: String("end_turn") });
  // @ts-expect-error It is a word.
  gate.validate("greeter", "{}", { finish: 1 });
  const lists: readonly string[] = info.lists;
  const parsed: ParseResult<number> = new ResultParser(gate).parseWithSchema(z.string().transform(Number), "1");
  // @ts-expect-error The transform makes a number of it.
  const wrong: ParseResult<string> = new ResultParser(gate).parseWithSchema(z.string().transform(Number), "1");
  new ContractRegistry(gate).list();
  const Order = z.object({ sku: z.string() });
  gate.register({ agent: "order", schema: Order });
  const typed = gate.validate({ agent: "order", schema: z.object({ n: z.string().transform(Number) }) }, "{}").report;
  const made: number | undefined = typed.data?.n;
  const written: string | undefined = typed.output?.n;
  const asked: number | undefined =
    (await ask({ agent: "n", schema: z.string().transform(Number) }, () => "{}")).data ?? 1;
  // @ts-expect-error A schema of a library is no contract.
  gate.lint(Order);
  // @ts-expect-error
  gate.register(Order);
  // @ts-expect-error It does not say what it is in JSON.
  gate.register({ agent: "order", schema: mini.object({}) });
  // @ts-expect-error
  await ask(mini.object({}), () => "{}");
  await ask(withJsonSchema(mini.object({}), {}), () => "{}");
  // @ts-expect-error
  gate.register(null);
  // @ts-expect-error
  gate.register([]);
  // @ts-expect-error
  gate.register({ agent: "order", schema: new Model() });
  // @ts-expect-error
  gate.register({ agent: "order", schema: () => true });
  // @ts-expect-error
  gate.register({ agent: "order", schema: [] as string[] });
  // @ts-expect-error It is `retry`.
  gate.register({ agent: "order", schema: true, retries: 3 });
  // @ts-expect-error It is `limit`.
  gate.register({ agent: "order", schema: true, retry: { limt: 3 } });
  const own: OwnContract = { agent: "own", schema: { type: "object" } };
  gate.register(own);
  new ResultParser(gate).parseWithSchema(Order, "1", {
    contract: { coerce: "lossless" },
    preprocess: true,
    finish: "stop",
  });
  gate.register({ agent: "order", schema: z.toJSONSchema(Order, { io: "input" }) });
  const given: Record<string, unknown> = { agent: "given", schema: {} };
  gate.register(given);
  const runs: "native" | "webassembly" = backend;
  const violation = gate.validate("order", "{}").report.violations[0];
  const place: readonly [number, number] | null | undefined = violation?.textSpan;
  const unwrapped: Greeting = gate.validate<Greeting>("order", "{}").report.unwrap();
  const answer = await ask(Order, (_, { signal, attempt }) => ({ text: `${signal.aborted} ${attempt}` }), "", {
    timeoutMs: 1,
  });
  const sku: string = answer.report.unwrap().sku;
  // @ts-expect-error It is `deadlineMs`.
  await Gate.load({ deadline: 1 });
  // @ts-expect-error The schema stands first.
  new ResultParser(gate).parseWithSchema("1", Order);
  console.log(runs, place, unwrapped, sku);
  gate.session("order").close();
  gate.session("order")[Symbol.dispose]();
  await using_(await WorkerGate.load({ limits, deadlineMs: 100, workers: 2 }));
  void [greeting, span, fuel, parsed, wrong, lists, made, written, asked];
}

async function using_(gate: WorkerGate): Promise<string> {
  const [answer] = await gate.validateAll<Greeting>([{ agent: "greeter", output: new Uint8Array() }]);
  return answer instanceof SeamgateFault ? answer.code : (answer?.report.data?.greeting ?? "");
}

// A loop of one's own.
export function owns(gate: Gate): void {
  const loop = gate.loop("ops", { run: "r1", principal: "joe", lists: { services: ["cart"] } }, { now: () => 0 });
  const call: Call = { key: "1", tool: "logs", arguments: { q: "x" } };
  const decision: Decision = loop.decide(call);
  const permitted: "allow" | "deny" | "approval" = decision.permit;
  // @ts-expect-error: a denied call has nothing to send.
  decision.arguments;
  const sent: string | undefined = decision.allows ? decision.arguments : undefined;
  // @ts-expect-error: it may be denied.
  loop.permit(call).arguments;
  const allowed = loop.permit(call);
  if (allowed) {
    const text: string = allowed.arguments;
    const word: "allow" = allowed.permit;
    console.log(text, word);
  }
  switch (decision.permit) {
    case "allow":
      console.log(decision.arguments);
      break;
    case "approval":
      console.log(decision.ask.view);
      break;
    case "deny":
      console.log(decision.message);
      break;
    default: {
      const none: never = decision;
      console.log(none);
    }
  }
  const asked: readonly string[] = decision.permit === "approval" ? decision.ask.by : [];
  loop.approve(decision, "anna");
  const observation: Observation = loop.observe(call, { text: "x", status: "error" });
  const facts: Facts = loop.facts;
  gate.decide("ops", facts, call);
  // @ts-expect-error: a result has a body.
  loop.observe(call, { status: "ok" });
  // @ts-expect-error: a run has a principal.
  gate.loop("ops", { run: "r1" });
  console.log(permitted, sent, asked, observation.message);
}

// What `success` and `disposition` say of the type of `data`.
export async function asks(gate: Gate): Promise<void> {
  const Order = z.object({ count: z.string().transform(Number) });
  const result = await ask(Order, () => "{}", "Which order?", { contract: { retry: { limit: 2 } }, gate });
  if (result.success) {
    const count: number = result.data.count;
    console.log(count);
  } else if (result.disposition === "refused") {
    const nothing: null = result.data;
    console.log(nothing, result.refusal);
  } else {
    const maybe: number | undefined = result.data?.count;
    // @ts-expect-error There may be none.
    result.data.count;
    console.log(maybe);
  }
  // Messages of any client go in, and come out.
  await ask<unknown, { role: "system"; content: string } | Message>(
    { agent: "any", schema: true },
    async (messages) => ({ text: messages.map(({ content }) => content).join(), finish: "stop" }),
    [{ role: "system", content: "Be short." }],
  );
  const parsed = new ResultParser(gate).parseWithSchema(Order, "1");
  const { report } = gate.validate<{ greeting: string }>("greeter", "{}");
  // @ts-expect-error There may be none.
  parsed.data.count;
  // @ts-expect-error There may be none.
  report.data.greeting;
  const count: number = parsed.success ? parsed.data.count : 0;
  const greeting: string = report.success ? report.data.greeting : report.feedback;
  console.log(count, greeting);
}

// All before it is whole.
export async function streams(gate: Gate, chunks: AsyncIterable<string>): Promise<void> {
  const Order = z.object({ sku: z.string(), lines: z.array(z.object({ count: z.string().transform(Number) })) });
  const stream = askStream(Order, () => chunks, "Which order?", {
    stopEarly: true,
    onAttempt: ({ violations }) => void violations,
  });
  for await (const event of stream) {
    if (event.type === "progress") {
      const sku: string | undefined = event.partial?.sku;
      // The document is as the model writes it.
      const count: string | undefined = event.partial?.lines?.[0]?.count;
      // @ts-expect-error It may not be there yet.
      event.partial.sku;
      // @ts-expect-error
      event.partial?.lines[0];
      console.log(sku, count, event.items[0]?.value);
    } else if (event.type === "result" && event.result.success) {
      const count: number | undefined = event.result.data.lines[0]?.count;
      console.log(count);
    }
  }
  const result = await stream.result();
  const made: number | undefined = result.data?.lines[0]?.count;
  const session = gate.session<{ a: { b: string } }>("order");
  for await (const { partial, items, deadEnd } of session.read(chunks)) {
    const b: string | undefined = partial?.a?.b;
    console.log(b, items[0]?.text, deadEnd?.at);
  }
  const whole: string | undefined = session.finish().report.data?.a.b;
  await Gate.load({ onVerdict: ({ report, usage }) => console.log(report.disposition, usage.fuel) });
  console.log(made, whole);
  const receipt: ReceiptReport = await verifyReceipt(new Uint8Array(), {
    keys: "any",
    signal: new AbortController().signal,
  });
  const failed = receipt.checks.find(({ ok }) => !ok);
  const place: number | undefined = failed?.step;
  console.log(place, receipt.counts.derived, receipt.withheld?.[0]?.unchecked);
  // @ts-expect-error Somebody must have signed it.
  await verifyReceipt(new Uint8Array(), {});
}
