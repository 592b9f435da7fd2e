// Agent runs on Restate: an object for each run, whose handlers are the kernel's events. docs/restate.md explains it.
import { randomBytes, randomUUID } from "node:crypto";
import { handlers, object, rpc, service, TerminalError } from "@restatedev/restate-sdk";
import { Run, SeamgateFault } from "seamgate";

const { exclusive, shared } = handlers.object;
const [RUN, WORK] = [{ name: "run" }, { name: "work" }];

/** Events that people may send, and events that result from actions, which nobody else may send. */
const FROM_PEOPLE = ["approval", "input", "user_message", "resolution", "mode", "context", "cancelled"];
const OF_ACTIONS = ["model_output", "model_failed", "tool_result", "tool_failed", "call_cancelled", "child_result"];

/** Returns the event that tells a parent how its child ended. */
const TOLD = ["status", "document", "kinds", "labels", "confidence", "used", "requests", "uncertain"];

/** The lines and artifacts of a run, from the state of its object. */
async function journal(ctx) {
  const all = { lines: [], artifacts: {} };
  for (const key of (await ctx.stateKeys()).sort()) {
    if (key.startsWith("line ")) all.lines.push(...(await ctx.get(key)));
    if (key.startsWith("sha256:")) all.artifacts[key] = await ctx.get(key);
  }
  return all;
}

/** A journal in that state: an object has one writer, and Restate keeps what a handler sets together with what it sends. */
class Kept {
  constructor(ctx) {
    this.ctx = ctx;
  }
  count() {
    return 0;
  }
  append(first, lines) {
    this.ctx.set(`line ${String(first).padStart(9, "0")}`, lines);
    this.all = undefined;
    return true;
  }
  put(kind, digest, text) {
    if (kind === "artifact") this.ctx.set(digest, text);
  }
  // A step seldom needs a text again. Then it is tried again with the whole journal.
  loaded() {
    if (this.all === undefined) throw this;
    return this.all;
  }
  lines(from) {
    return this.loaded().lines.slice(from);
  }
  get(_kind, digest) {
    return this.loaded().artifacts[digest] ?? null;
  }
}

/** The event in place of one that the kernel does not take. */
function instead({ type, key, call }, fault) {
  if (type === "model_output")
    return { type: "model_failed", key, message: `Invalid answer: ${fault.message}`, retry: true };
  if (type !== "tool_result") throw fault;
  return { type, call, status: "error", text: `The call was done, but its result cannot be read: ${fault.message}` };
}

/**
 * The services that have all runs of a gate with profiles. `model(action)` gives members of `model_output`. A tool gets its arguments as text, the
 * action and a signal, and gives `{ result }` or `{ text }`, with `status: "error"` where it failed. What it throws leaves its effect unknown.
 */
export function services(gate, { model, tools }) {
  /** Apply an event, have done what it asks for, and keep where the run is. Gives what was decided. */
  async function step(ctx, event) {
    // The local clock may be behind the clock of the sender of a tick.
    const at = Math.max(await ctx.date.now(), event.at);
    const kept = new Kept(ctx);
    const own = (await ctx.get("run")) ?? { asks: [], underWay: {} };
    let run;
    const take = async (event) => {
      for (;;) {
        try {
          return run.send({ ...event, at });
        } catch (error) {
          if (error === kept) kept.all = await journal(ctx);
          else if (error instanceof SeamgateFault && error.code !== "timeout") return take(instead(event, error));
          else throw error;
        }
      }
    };
    const todo = [];
    if (own.snapshot) {
      run = Run.restore(gate, kept, own.snapshot);
      todo.push(...(await take(event)));
    } else {
      const { agent, ...started } = event;
      if (started.type !== "started") throw new TerminalError(`there is no run ${ctx.key}`, { errorCode: 404 });
      const begun = Run.start(gate, kept, agent, { ...started, at });
      run = begun.run;
      todo.push(...begun.actions);
      own.parent = started.parent;
    }
    const { records } = run;
    const other = (key) => ctx.objectSendClient(RUN, key);
    // It is in the journal that a call is sent before it is sent.
    const begins = async (call) => {
      todo.push(...(await take({ type: "tool_started", call })));
      return !run.records.some(({ type }) => type === "ignored");
    };
    for (const action of todo) {
      const { type, call } = action;
      if (type === "ask_model") ctx.serviceSendClient(WORK).ask({ run: run.id, action });
      if (type === "execute" && (await begins(call))) {
        const sent = ctx.serviceSendClient(WORK).execute({ run: run.id, action });
        own.underWay[call] = { work: await sent.invocationId };
      }
      if (type === "delegate" && (await begins(call))) {
        const profile = gate
          .profiles()
          .find(({ agent, profile }) => agent === action.agent && profile === action.profile);
        const { principal, lists = {} } = JSON.parse(run.state).facts;
        const { agent, task, parent } = action;
        const its = Object.fromEntries(Object.entries(lists).filter(([name]) => profile?.lists.includes(name)));
        if (profile) other(action.run).delegated({ agent, task, parent, principal, lists: its });
        else
          todo.push(...(await take({ type: "tool_failed", call, message: `no profile of ${agent}`, effect: "none" })));
        own.underWay[call] = { child: action.run };
      }
      if (type === "cancel") {
        const { work, child } = own.underWay[call] ?? {};
        if (work) ctx.cancel(work);
        if (child) other(child).cancelled({ reason: "cancelled by its parent" });
      }
      if (type === "ask_approval" || type === "ask_input") own.asks.push(action);
      if (type === "finish") {
        ctx.set("finish", action);
        const told = Object.fromEntries(TOLD.filter((name) => name in action).map((name) => [name, action[name]]));
        if (own.parent) other(own.parent.run).child_result({ call: own.parent.call, ...told });
      }
    }
    const { calls, question } = JSON.parse(run.state);
    const waits = new Set([
      question?.key,
      ...calls.filter(({ phase }) => /asked|uncertain/.test(phase)).map(({ key }) => key),
    ]);
    own.asks = own.asks.filter(({ key, call = key }) => waits.has(call));
    ctx.set("asks", own.asks);
    if (run.wakeAt !== null && run.wakeAt !== own.wakeAt)
      other(run.id).tick({ at: run.wakeAt }, rpc.sendOpts({ delay: Math.max(run.wakeAt - at, 0) }));
    ctx.set("run", { ...own, wakeAt: run.wakeAt, snapshot: run.snapshot });
    return records;
  }

  const event = (type, options) => [type, exclusive(options, (ctx, told) => step(ctx, { ...told, type, at: 0 }))];
  const start = async (ctx, told) => {
    // Asked for twice, it starts once.
    if (await ctx.get("run")) return;
    const nonce = await ctx.run("nonce", () => randomBytes(16).toString("hex"));
    await step(ctx, { ...told, type: "started", at: 0, run: ctx.key, nonce });
  };
  const run = object({
    ...RUN,
    options: {
      enableLazyState: true,
      asTerminalError: (error) =>
        error instanceof SeamgateFault && error.code !== "timeout"
          ? new TerminalError(error.message, { errorCode: 400 })
          : undefined,
    },
    handlers: {
      ...Object.fromEntries(FROM_PEOPLE.map((type) => event(type, {}))),
      ...Object.fromEntries(OF_ACTIONS.map((type) => event(type, { ingressPrivate: true }))),
      // RUN/CALL is the name of a child, and a parent is what the kernel says.
      async start(ctx, { parent: _, ...told }) {
        if (ctx.key.includes("/")) throw new TerminalError("the id of a run must not have /", { errorCode: 400 });
        await start(ctx, told);
      },
      delegated: exclusive({ ingressPrivate: true }, start),
      tick: exclusive({ ingressPrivate: true }, async (ctx, { at }) => {
        if ((await ctx.get("run")).wakeAt === at) await step(ctx, { type: "tick", at });
      }),
      status: shared(async (ctx) => ({ finish: await ctx.get("finish"), asks: (await ctx.get("asks")) ?? [] })),
      journal: shared(journal),
    },
  });

  const tell = (ctx, run, { type, ...told }) => ctx.objectSendClient(RUN, run)[type](told);
  const work = service({
    ...WORK,
    options: { ingressPrivate: true },
    handlers: {
      async ask(ctx, { run, action }) {
        const left = Math.max(action.expires - (await ctx.date.now()), 1);
        try {
          const answer = await ctx.run("model", () => model(action), { maxRetryDuration: left });
          tell(ctx, run, { ...answer, type: "model_output", key: action.key });
        } catch (error) {
          if (!(error instanceof TerminalError)) throw error;
          tell(ctx, run, { type: "model_failed", key: action.key, message: error.message });
        }
      },
      async execute(ctx, { run, action }) {
        const { call, tool, effect } = action;
        // Which attempt was the first is known before it has an effect. Another one cannot tell how far that came.
        const me = randomUUID();
        const signal = ctx.request().attemptCompletedSignal;
        try {
          const first = await ctx.run("begin", () => me);
          const came = await ctx.run(tool, async () => {
            const message = "the service ended while the call was under way";
            if (effect === "effectful" && first !== me) return { type: "tool_failed", message, effect: "unknown" };
            if (!Object.hasOwn(tools, tool))
              return { type: "tool_failed", message: `there is no tool ${tool}`, effect: "none" };
            try {
              return { ...(await tools[tool](action.arguments, action, signal)), type: "tool_result" };
            } catch (error) {
              return { type: "tool_failed", message: String(error?.message ?? error) };
            }
          });
          tell(ctx, run, { ...came, call });
        } catch (error) {
          if (!(error instanceof TerminalError)) throw error;
          tell(ctx, run, { type: "call_cancelled", call });
        }
      },
    },
  });
  return [run, work];
}
