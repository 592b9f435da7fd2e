import type { Cryptography } from "./crypto.js";
import { contentOf, type StepLines } from "./journal-lines.js";
import { type Claims, signedClaims } from "./signed-decision.js";
import { integerOf, itemsOf, membersOf, namedMembers, stringOf } from "./slices.js";

/** The members of an event of the type `approval` that a signature covers. */
interface Approval {
  readonly at: bigint;
  readonly key: string;
  readonly digest: string;
  readonly principal: string;
  readonly decision: string;
  readonly token: string | undefined;
}

/** A question to a person: the call's key and digest, and the public keys of those who may decide. */
interface Ask {
  readonly key: string;
  readonly digest: string;
  readonly keys: ReadonlyMap<string, readonly string[]> | undefined;
}

/** The decisions in the lines of steps. */
export interface Decisions {
  allowed: number;
  denied: number;
  asked: number;
  signedApprovals: number;
  namedApprovals: number;
  /** The status of the action `finish`. */
  ended: string | undefined;
}

/** The counts of decisions, and the first failure of a signature. */
export interface Approvals {
  readonly decisions: Decisions;
  readonly failed: { readonly step: number; readonly line: number; readonly detail: string } | undefined;
}

/** Verifies the signatures of people, and counts decisions. */
export async function approvalsOf(
  run: string,
  steps: readonly StepLines[],
  cryptography: Cryptography,
): Promise<Approvals> {
  const decisions: Decisions = {
    allowed: 0,
    denied: 0,
    asked: 0,
    signedApprovals: 0,
    namedApprovals: 0,
    ended: undefined,
  };
  const asks = new Map<string, Ask>();
  for (const step of steps) {
    let approval: Approval | "unreadable" | undefined;
    let isIgnored = false;
    for (const part of step.parts) {
      const { event, record, action } = (typeof part === "string" ? contentOf(part) : undefined) ?? {};
      if (wordOf(event) === "approval") approval = approvalOf(event) ?? "unreadable";
      isIgnored ||= wordOf(record) === "ignored";
      count(decisions, record);
      const ask = wordOf(action) === "ask_approval" ? askOf(namedMembers(action, ["ask"])?.ask) : undefined;
      if (ask !== undefined) asks.set(nameOf(ask), ask);
      const status = wordOf(action) === "finish" ? stringOf(namedMembers(action, ["status"])?.status) : undefined;
      decisions.ended = status ?? decisions.ended;
    }
    if (approval === undefined || isIgnored) continue;
    const detail =
      approval === "unreadable"
        ? "an approval cannot be read"
        : await told(decisions, run, approval, asks.get(nameOf(approval)), cryptography);
    if (detail !== undefined) return { decisions, failed: { step: step.number, line: step.line, detail } };
  }
  return { decisions, failed: undefined };
}

function count(decisions: Decisions, record: string | undefined): void {
  const permit = wordOf(record) === "decision" ? stringOf(namedMembers(record, ["permit"])?.permit) : undefined;
  if (permit === undefined) return;
  decisions[permit === "allow" ? "allowed" : permit === "deny" ? "denied" : "asked"] += 1;
}

/** Counts an approval, or returns what is wrong with its signature. */
async function told(
  decisions: Decisions,
  run: string,
  approval: Approval,
  ask: Ask | undefined,
  cryptography: Cryptography,
): Promise<string | undefined> {
  // The question is in a step whose lines are withheld.
  if (ask === undefined) return undefined;
  const keys = ask.keys?.get(approval.principal);
  if (keys === undefined) {
    decisions.namedApprovals += 1;
    return undefined;
  }
  const { at, key, digest, principal, decision, token } = approval;
  const who = `the decision of ${principal} about ${key}`;
  if (token === undefined) return `${who} is not signed, and the profile has a key`;
  const claims = await signedClaims(token, (name) => (name === principal ? keys : []), at, cryptography);
  if (claims === undefined) return `${who}: its token is malformed, has expired, or has another signature`;
  if (decision !== "approved" && decision !== "rejected") return `${who}: an edited call has no signed decision`;
  const expected: Claims = { run, key, digest, decision, principal };
  const isSame = Object.entries(expected).every(([name, text]) => claims[name as keyof Claims] === text);
  if (!isSame) return `${who}: what is signed is another decision, or about another call`;
  decisions.signedApprovals += 1;
  return undefined;
}

function nameOf({ key, digest }: Pick<Ask, "key" | "digest">): string {
  return JSON.stringify([key, digest]);
}

/** Returns the type of an event, a record or an action. */
export function wordOf(json: string | undefined): string | undefined {
  return stringOf(namedMembers(json, ["type"])?.type);
}

function approvalOf(event: string | undefined): Approval | undefined {
  const members = namedMembers(event, ["at", "key", "digest", "principal", "decision", "token"]) ?? {};
  const at = integerOf(members.at);
  const key = stringOf(members.key);
  const digest = stringOf(members.digest);
  const principal = stringOf(members.principal);
  const decision = stringOf(members.decision);
  const hasToken = members.token !== undefined && members.token !== "null";
  const token = stringOf(members.token);
  const isWhole = key !== undefined && digest !== undefined && principal !== undefined && decision !== undefined;
  if (at === undefined || !isWhole || (hasToken && token === undefined)) return undefined;
  return { at, key, digest, principal, decision, token };
}

function askOf(json: string | undefined): Ask | undefined {
  const members = namedMembers(json, ["key", "digest", "keys"]) ?? {};
  const [key, digest] = [stringOf(members.key), stringOf(members.digest)];
  if (key === undefined || digest === undefined) return undefined;
  if (members.keys === undefined || members.keys === "null") return { key, digest, keys: undefined };
  const keys = membersOf(members.keys)?.map(([name, list]) => [name, itemsOf(list)?.map(stringOf)] as const);
  const isWhole = keys?.every(([, list]) => list?.every((one) => one !== undefined));
  return isWhole ? { key, digest, keys: new Map(keys as [string, string[]][]) } : undefined;
}
