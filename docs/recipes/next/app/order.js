// The response of both routes: the order in a model's output, or the violations.

import { backend, Gate } from "seamgate";

const contract = {
  agent: "order",
  schema: { type: "object", required: ["sku"], properties: { sku: { type: "string" }, count: { type: "integer" } } },
};
// Once for all requests.
const gate = Gate.load();

export async function judged(request) {
  const { report } = (await gate).validate(contract, await request.text());
  const { disposition, data, feedback } = report;
  return Response.json({ backend, disposition, data, feedback }, { status: report.success ? 200 : 422 });
}
