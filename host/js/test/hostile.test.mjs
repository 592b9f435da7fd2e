import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { backend, Gate, SeamgateFault } from "seamgate";
import { read, text } from "./shared.mjs";

const folder = "tests/hostile";
const groups = readdirSync(new URL(`../../../../${folder}`, import.meta.url), { withFileTypes: true });

/** Those with another outcome here. All of them fail closed. */
const others = {
  // Text without braces is read as the name of an agent here, and that agent has no contract.
  "contracts/not-json.json": "unknown_agent",
  "size/contract-empty.json": "unknown_agent",
  // Read as JSON by this test, it has lost the member that stood twice.
  "contracts/member-twice-in-the-schema.json": "accepted",
};
if (backend === "webassembly") {
  Object.assign(others, {
    // The output stands in a request, and is read once more.
    "text/backslash-storm.json": "out_of_fuel",
    "size/output-over-its-cap.json": "out_of_memory",
    // Node's stack is larger than 512 KiB: the fuel ends first.
    "stack/reference-chain.json": "out_of_fuel",
  });
}

/** The outcome, in the words of `must`: a disposition or the code of a fault. */
function outcome(gate, hostile) {
  try {
    if (hostile.request !== undefined) {
      const answer = JSON.parse(gate.call(text(hostile.request)).json);
      return answer.fault?.fault ?? answer.report?.disposition ?? "result";
    }
    const contract = Array.isArray(hostile.contract) ? text(hostile.contract) : JSON.stringify(hostile.contract);
    return gate.validate(contract, text(hostile.output)).report.disposition;
  } catch (error) {
    assert.ok(error instanceof SeamgateFault, `${error.stack}`);
    return error.code;
  }
}

for (const group of groups.filter((entry) => entry.isDirectory())) {
  test(`attacks on ${group.name} have the outcome they must have`, async () => {
    const gate = await Gate.load();
    gate.register(read(`${folder}/contract.json`));
    for (const name of readdirSync(new URL(`../../../../${folder}/${group.name}`, import.meta.url))) {
      const hostile = JSON.parse(read(`${folder}/${group.name}/${name}`));
      const id = `${group.name}/${name}`;
      assert.equal(outcome(gate, hostile), others[id] ?? hostile.must.split(":")[0], id);
    }
  });
}
