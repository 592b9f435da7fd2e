// Converts events and actions to and from their lines in journals. A line has the digest of a large value, which is
// stored as an artifact.

import { type Digest, measured } from "./journal-lines.js";
import { type Member, membersOf, namedMembers, stringOf } from "./slices.js";

/** Values of an event with more bytes than this become artifacts. */
const MAX_INLINE = 1024;

/** The same for results of the Model Context Protocol. */
const MAX_RETURNED = 16 * 1024;

/** The member that holds a result of the Model Context Protocol. */
const RETURNED = "returned";

/** The members of an event that may be large, and the most bytes that each may have in the line. */
const LARGE: ReadonlyMap<string, number> = new Map([
  ["result", MAX_INLINE],
  [RETURNED, MAX_RETURNED],
  ["text", MAX_INLINE],
  ["document", MAX_INLINE],
]);

/** An event, in the journal's form and in the kernel's form. */
export interface EventLine {
  /** The whole event. */
  readonly whole: string;
  /** The event in its line. */
  readonly line: string;
}

/** Returns an event in both forms. */
export function eventLine(event: string, digest: Digest): EventLine {
  const members = membersOf(event);
  if (members === undefined) return { whole: event, line: event };
  let returned: string | undefined;
  const line = each(members, ([name, value]) => {
    const most = LARGE.get(name);
    // A value that looks like a reference must become an artifact, or reading it would resolve the reference.
    if (most === undefined || !(isLonger(value, most) || namesArtifact(value))) return value;
    const reference = extracted(value, digest);
    if (name === RETURNED) returned = reference.digest;
    return reference.text;
  });
  const isResult = members.some(([name, value]) => name === "type" && value === '"tool_result"');
  const isTold = returned !== undefined && isResult && members.every(([name]) => name !== "digest");
  return { whole: isTold ? `${event.slice(0, -1)},"digest":"${returned}"}` : event, line };
}

/** Returns an action with the prompt replaced by its digest. */
export function withoutPrompt(action: string, digest: Digest): string {
  const members = membersOf(action);
  if (members === undefined) return action;
  return each(members, ([name, value]) => (name === "prompt" ? extracted(value, digest).text : value));
}

/** Puts artifacts back into an event. `get` returns the artifact with a digest. */
export function restored(object: string, get: (digest: string) => string): string {
  const members = membersOf(object);
  if (members === undefined) return object;
  return each(members, ([name, value]) => {
    const reference = LARGE.has(name) ? referenceOf(value) : undefined;
    if (reference === undefined) return value;
    const text = get(reference.digest);
    return reference.isText ? JSON.stringify(text) : text;
  });
}

/** Returns the texts of the members of an event, in the form of artifacts. */
export function inlineTexts(event: string): string[] {
  return membersOf(event)?.map(([, value]) => artifactOf(value).text) ?? [];
}

/** Returns an event with the artifacts that its step needs, by digest. */
export function withArtifacts(event: string, artifacts: ReadonlyMap<string, string>): string {
  const begin = event.endsWith("}") ? event.slice(0, -1) : event;
  const inOrder = [...artifacts].sort(([one], [other]) => (one < other ? -1 : 1));
  const members = inOrder.map(([digest, text]) => `${JSON.stringify(digest)}:${JSON.stringify(text)}`);
  return `${begin}${begin === "{" ? "" : ","}"artifacts":{${members.join(",")}}}`;
}

function each(members: readonly Member[], value: (member: Member) => string): string {
  return `{${members.map((member) => `${JSON.stringify(member[0])}:${value(member)}`).join(",")}}`;
}

function isLonger(text: string, bytes: number): boolean {
  return text.length > bytes || (text.length * 3 > bytes && new TextEncoder().encode(text).length > bytes);
}

function namesArtifact(value: string): boolean {
  return membersOf(value)?.some(([name]) => name === "artifact") ?? false;
}

/**
 * Reads the reference that replaces a value in a line. Its member `text` says that the artifact is a string's text, not
 * JSON.
 */
function referenceOf(value: string): { readonly digest: string; readonly isText: boolean } | undefined {
  const all = membersOf(value);
  const { artifact, text = "false" } = namedMembers(value, ["artifact", "text"]) ?? {};
  const digest = stringOf(artifact);
  const isOne = digest !== undefined && (text === "true" || text === "false");
  const isAll = all?.every(([name]) => name === "artifact" || name === "text");
  return isOne && isAll ? { digest, isText: text === "true" } : undefined;
}

function artifactOf(value: string): { readonly text: string; readonly isText: boolean } {
  const text = stringOf(value);
  return { text: text ?? value, isText: text !== undefined };
}

function extracted(value: string, digest: Digest): { readonly digest: string; readonly text: string } {
  const { text, isText } = artifactOf(value);
  const { digest: found } = measured(digest, text);
  return { digest: found, text: `{"artifact":"${found}"${isText ? ',"text":true' : ""}}` };
}
