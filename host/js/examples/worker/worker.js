// A Cloudflare Worker that judges what is posted to it: POST /greeter, with an agent's output as the body, is answered
// with the report. Nothing is compiled at run time: `seamgate/workerd` imports the component as WebAssembly modules.

import { Gate, SeamgateFault } from "seamgate/workerd";

const gate = await Gate.load({ limits: { outputBytes: 1024 * 1024 } });
gate.register({
  agent: "greeter",
  schema: { type: "object", required: ["greeting"], properties: { greeting: { type: "string", maxLength: 40 } } },
});

const status = { unknown_agent: 404, input_too_large: 413 };

export default {
  async fetch(request) {
    if (request.method !== "POST") {
      return Response.json({ fault: "bad_request", message: "post an output to /AGENT", detail: {} }, { status: 405 });
    }
    const agent = new URL(request.url).pathname.slice(1);
    try {
      const { report } = gate.validate(agent, await request.bytes());
      return new Response(report.json, { headers: { "content-type": "application/json" } });
    } catch (fault) {
      if (!(fault instanceof SeamgateFault)) {
        throw fault;
      }
      return Response.json(fault, { status: status[fault.code] ?? 422 });
    }
  },
};
