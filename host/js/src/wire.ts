import { ofDocument } from "./contract.js";
import { SeamgateFault } from "./fault.js";
import type { OutputOptions, Seen } from "./options.js";
import type { ContractInfo, Progress } from "./types.js";

/** What an answer to a request without an `id` holds. */
export function answered(answer: string, member: "report" | "result"): string {
  const before = `{"id":null,"${member}":`;
  if (answer.startsWith(before)) {
    return answer.slice(before.length, -1);
  }
  const { fault } = JSON.parse(answer);
  throw ofDocument(SeamgateFault.of(fault));
}

/** What comes with an output, as it stands in a request. Members that are undefined are left out of JSON text. */
export function extras({ finish, lists, evidence }: OutputOptions): Record<string, unknown> {
  return { finish, lists, evidence: evidence?.map(seen) };
}

/** Of an observation, what claims are held to. */
function seen({ id, text, kinds, labels, confidence, complete, limitations }: Seen): Record<string, unknown> {
  return { id, text, kinds, labels, confidence, complete, limitations };
}

/** What a contract is, of its JSON text. */
export function contractInfo(json: string): ContractInfo {
  const { schema_id: schemaId, retry_limit: retryLimit, ...rest } = JSON.parse(json);
  return { ...rest, schemaId, retryLimit };
}

/** What is known after a chunk, of its JSON text. */
export function progressOf(json: string): Progress {
  const { dead_end: deadEnd, ...rest } = JSON.parse(json);
  return { ...rest, deadEnd };
}
