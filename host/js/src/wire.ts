import { ofDocument } from "./contract.js";
import { SeamgateFault } from "./fault.js";
import type { OutputOptions, Seen } from "./options.js";
import type { ContractInfo, Progress } from "./types.js";

/** Returns the report or the result in an answer to a request without an `id`. */
export function answered(answer: string, member: "report" | "result"): string {
  const before = `{"id":null,"${member}":`;
  if (answer.startsWith(before)) {
    return answer.slice(before.length, -1);
  }
  const { fault } = JSON.parse(answer);
  throw ofDocument(SeamgateFault.of(fault));
}

/** Returns the options of an output in the form of a request. JSON text omits undefined members. */
export function extras({ finish, lists, evidence }: OutputOptions): Record<string, unknown> {
  return { finish, lists, evidence: evidence?.map(seen) };
}

/** Returns the members of an observation that claims are checked against. */
function seen({ id, text, kinds, labels, confidence, complete, limitations }: Seen): Record<string, unknown> {
  return { id, text, kinds, labels, confidence, complete, limitations };
}

/** Reads the info of a contract from JSON text. */
export function contractInfo(json: string): ContractInfo {
  const { schema_id: schemaId, retry_limit: retryLimit, ...rest } = JSON.parse(json);
  return { ...rest, schemaId, retryLimit };
}

/** Reads the progress after a chunk from JSON text. */
export function progressOf(json: string): Progress {
  const { dead_end: deadEnd, ...rest } = JSON.parse(json);
  return { ...rest, deadEnd };
}
