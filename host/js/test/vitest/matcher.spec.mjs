// Run by Vitest: ../vitest.test.mjs.

import { toPassContract } from "seamgate/vitest";
import { expect, test } from "vitest";
import { z } from "zod";

expect.extend({ toPassContract });

const order = { agent: "order", schema: z.object({ count: z.int().refine((n) => n % 2 === 0, "must be even") }) };

test("an output passes a contract, or does not", () => {
  expect('So: \n```json\n{"count": 2}\n```').toPassContract(order);
  expect('{"count": 3}').not.toPassContract(order);
  expect('{"count": 2}').toPassContract(order.schema);
  expect('{"count": 3}').not.toPassContract(order.schema);
  expect("No.").not.toPassContract(order, { finish: "refusal" });
});

test("this one fails", () => {
  expect('{"count": "x"}').toPassContract(order);
});
