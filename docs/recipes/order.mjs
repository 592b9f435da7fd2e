// What all recipes of `ask` want of a model: an order, of something that is in stock.

import { z } from "zod";

const STOCK = new Set(["A-7", "B-2"]);

export const Order = z
  .object({
    // What JSON Schema cannot say. It is told to the model.
    sku: z
      .string()
      .refine((sku) => STOCK.has(sku), { error: "must be in stock" })
      .describe("Stock number"),
    count: z.int().min(1).describe("How many pieces"),
  })
  .describe("One order of a customer.");
