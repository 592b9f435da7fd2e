// A shop whose agent charges an order and has it shipped: what docs/restate.md runs. Its model is a script, its effects are lines of a file.
import { appendFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { serve } from "@restatedev/restate-sdk";
import { Gate, readProfiles } from "seamgate";
import { services } from "./runs.mjs";

const EFFECTS = process.env.EFFECTS ?? "effects.txt";

/** Returns the scripted answer of a model. */
export function model({ prompt: { messages } }) {
  const all = messages.map(({ text }) => text).join("\n");
  const order = Number(/"order":(\d+)/.exec(all)[1]);
  const results = messages.filter(
    ({ role, text }) => role === "tool" && !text.includes("The tool says that it failed"),
  );
  const done = messages
    .flatMap(({ calls = [] }) => calls)
    .filter(({ call }) => results.some((one) => one.call === call));
  const next = (...tools) => tools.find((name) => !done.some(({ tool }) => tool === name));
  const say = (tool, answer, given = { order }) =>
    tool ? { calls: [{ tool, arguments: given }] } : { text: JSON.stringify(answer) };
  if (all.includes("You ship one parcel.")) return say(next("ship"), { shipped: true });
  const tool = next("find_order", "charge", ...(all.includes('"parcel":true') ? ["delegate_packer"] : []));
  const amount = Number(/"amount":(\d+)/.exec(all)?.[1]);
  const shipped = all.includes('"shipped":true');
  return say(tool, { order, amount, shipped }, tool === "delegate_packer" ? { reason: "ship it" } : { order });
}

/** An effect, which names its call. */
const effect = (tool, given, { idempotency_key }) =>
  appendFileSync(EFFECTS, `${tool} ${JSON.parse(given).order} ${idempotency_key}\n`);

export const tools = {
  find_order: (given) => ({ result: { amount: (JSON.parse(given).order * 7) % 100 } }),
  charge(given, action) {
    effect("charge", given, action);
    return { result: { charged: true } };
  },
  ship(given, action) {
    effect("ship", given, action);
    return { result: { shipped: true } };
  },
};

/** A gate with the profiles of this folder. */
export async function gate() {
  const gate = await Gate.load();
  for (const profile of readProfiles(fileURLToPath(new URL(".", import.meta.url)))) gate.registerProfile(profile);
  return gate;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await serve({ services: services(await gate(), { model, tools }), port: 9080 });
}
