// The shop of docs/recipes/restate as a process to kill: its tools take a while before and after their effect, so that many are under way.
import { setTimeout as sleep } from "node:timers/promises";
import { serve } from "@restatedev/restate-sdk";
import { services } from "./runs.mjs";
import { gate, model, tools } from "./shop.mjs";

// The SDK is for Node 22 and later. This is what it lacks in Node 20.
Promise.withResolvers ??= function () {
  const made = {};
  made.promise = new this((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
};

const wait = () => sleep(Math.random() * 30);

const slow = (tool) => async (given, action) => {
  await wait();
  const result = tool(given, action);
  await wait();
  return result;
};

const slowly = Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, slow(tool)]));
await serve({ services: services(await gate(), { model, tools: slowly }), port: Number(process.env.PORT) });
