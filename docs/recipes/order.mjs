// The answer that all recipes of `ask` expect: an order for a product that is in stock.

import { z } from "zod";

const STOCK = new Set(["A-7", "B-2"]);

export const Order = z
  .object({
    // A check that JSON Schema cannot express. Its message is part of the feedback for the model.
    sku: z
      .string()
      .refine((sku) => STOCK.has(sku), { error: "must be in stock" })
      .describe("Stock number"),
    count: z.int().min(1).describe("How many pieces"),
  })
  .describe("One order of a customer.");
