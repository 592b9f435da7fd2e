// The steps of a receipt, as a person reads them. Whoever wrote the file chose every text in it.

import { contentOf } from "./seamgate/dist/journal-lines.js";
import { itemsOf, namedMembers, stringOf } from "./seamgate/dist/slices.js";

/** The most records of one step that are shown. */
const MOST = 16;

/** The types of records and actions that show a decision. */
const SHOWN = ["decision", "ignored", "stop", "finish"];

/** Returns the event and the decisions of a step, as texts of any length. */
export function outline(step) {
  const contents = step.parts.map((part) => (typeof part === "string" ? contentOf(part) : undefined));
  const event = contents[0]?.event;
  const decided = contents.flatMap((content) => [content?.record, content?.action].flatMap((json) => told(json)));
  return {
    number: step.number,
    event: event === undefined ? undefined : (stringOf(namedMembers(event, ["type"])?.type) ?? "unknown"),
    subject: subjectOf(event),
    decided: decided.slice(0, MOST),
    more: Math.max(0, decided.length - MOST),
    isWithheld: step.parts.some((part) => typeof part !== "string"),
  };
}

/** Returns the subject of an event: a tool or a call. */
function subjectOf(event) {
  const { tool, call, key } = namedMembers(event, ["tool", "call", "key"]) ?? {};
  return stringOf(tool) ?? stringOf(call) ?? stringOf(key) ?? "";
}

function told(json) {
  const { type, permit, reasons, code, status, tool } =
    namedMembers(json, ["type", "permit", "reasons", "code", "status", "tool"]) ?? {};
  const word = stringOf(type);
  if (!SHOWN.includes(word)) {
    return [];
  }
  const codes = (itemsOf(reasons ?? "") ?? []).map((reason) => stringOf(namedMembers(reason, ["code"])?.code) ?? "");
  const permits = { allow: "allow", deny: "deny", approval: "ask" };
  const own = stringOf(permit);
  return [
    {
      word: word === "decision" ? (permits[own] ?? own ?? "unknown") : word,
      subject: stringOf(tool) ?? "",
      codes: [...codes, stringOf(code) ?? "", word === "finish" ? (stringOf(status) ?? "") : ""].filter(Boolean),
    },
  ];
}
