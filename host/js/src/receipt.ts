import type { Cryptography } from "./crypto.js";
import { Artifacts, Derivation } from "./derivation.js";
import type { Engine } from "./engine.js";
import { SeamgateFault } from "./fault.js";
import { asGate, Gate } from "./gate.js";
import {
  type ChangedStep,
  changesOf,
  contentOf,
  type Digest,
  measured,
  type StepLines,
  stepsOf,
  textsOf,
  written,
} from "./journal-lines.js";
import type { Limits } from "./limits.js";
import { type Names, only } from "./options.js";
import { kindOf } from "./plain.js";
import { platform } from "./platform.js";
import { base64Url, publicKey, trimmed } from "./public-key.js";
import { approvalsOf } from "./receipt-approvals.js";
import { MAX_RECEIPT, type ReceiptFile, receiptFile } from "./receipt-file.js";
import { integerOf, isJson, itemsOf, namedMembers, stringOf } from "./slices.js";
import { checkWitness } from "./witness.js";

/** Options of {@link verifyReceipt}. */
export interface ReceiptOptions {
  /** The trusted public keys, one of which must have signed the receipt, as base64url or OpenSSH lines; or `any`. */
  readonly keys: "any" | readonly string[];
  /** The document of the profile that the run must have, as JSON text. Default: any profile. */
  readonly profile?: string;
  /** A statement of a witness about the receipt, which is checked after all other checks passed. Default: none. */
  readonly witness?: ReceiptWitness;
  /**
   * A gate with the component that the receipt names, which derives the decisions again. Nothing is registered in it.
   * Default: a gate with the built-in component.
   */
  readonly gate?: Gate;
  /** Ends the verification early. */
  readonly signal?: AbortSignal;
}

/** A statement that `seamgate receipt witness` wrote, and the keys that may have signed it. */
export interface ReceiptWitness {
  /** The bytes of the statement. */
  readonly file: Uint8Array;
  /** The trusted public keys, as for the receipt. */
  readonly keys: "any" | readonly string[];
}

/** The name of a check. */
export type ReceiptCheckName =
  | "encoding"
  | "signature"
  | "key"
  | "statement"
  | "lines"
  | "profile"
  | "component"
  | "steps"
  | "artifacts"
  | "approvals"
  | "witness";

/** One check. */
export interface ReceiptCheck {
  readonly check: ReceiptCheckName;
  readonly ok: boolean;
  /** The finding. It may contain text from the run, truncated. */
  readonly detail: string;
  /** The number of the step that fails, from 1. */
  readonly step?: number;
  /** The number of the line that fails, from 0. */
  readonly line?: number;
}

/** A step with withheld lines, or one that cannot be derived because of an earlier withheld step. */
export interface WithheldStep {
  /** From 1. */
  readonly step: number;
  /** The checks that are no longer possible. */
  readonly unchecked: string;
}

/** Counts from the lines that are not withheld. */
export interface ReceiptCounts {
  readonly steps: number;
  /** Steps that were derived again with the same lines. */
  readonly derived: number;
  readonly allowed: number;
  readonly denied: number;
  /** Decisions that a person was asked about. */
  readonly asked: number;
  /** Decisions of people whose signature was verified. */
  readonly signed_approvals: number;
  /** Decisions of people for whom the profile has no key. Only the signer of the receipt vouches for them. */
  readonly named_approvals: number;
}

/** The result of a verification. `JSON.stringify` returns the same as `seamgate receipt verify --json` prints. */
export interface ReceiptReport {
  /** True if every check passed. */
  readonly ok: boolean;
  /** True if every step was derived again. */
  readonly whole: boolean;
  /** The run's id. */
  readonly run: string;
  readonly agent: string;
  /** The digest of the profile. */
  readonly profile: string;
  /** The digest of the component. */
  readonly component: string;
  /**
   * The digest of the last line. Compare it with a digest kept elsewhere, because a receipt with fewer steps has
   * another one.
   */
  readonly head: string;
  /** The public key that signed (base64url). */
  readonly key: string;
  /** The issuer, as the signer names it. */
  readonly issuer: string;
  /** The time of signing, in seconds since 1970, as the signer states it. */
  readonly issued_at: number;
  /** How the run ended: the status of its action `finish`. */
  readonly ended?: string;
  readonly counts: ReceiptCounts;
  /** The checks that ran, in order. The first failure ends the verification. */
  readonly checks: readonly ReceiptCheck[];
  /** The checks that are no longer possible, by step. */
  readonly withheld?: readonly WithheldStep[];
}

const OPTIONS: Names<ReceiptOptions> = { keys: true, profile: true, witness: true, gate: true, signal: true };
const WITNESS_OPTIONS: Names<ReceiptWitness> = { file: true, keys: true };

/** The maximum number of earlier components that a report names. */
const MAX_CHANGES = 4;

/** The most bytes of a line in a report. */
const MAX_SHOWN = 300;

/** The milliseconds for which a verification blocks its thread before it yields. */
const BUSY = 50;

/** The members of a statement, in order. */
const STATEMENT = ["receipt", "run", "agent", "profile", "component", "lines", "head", "profiles"] as const;

/** The signed statement. */
interface Statement {
  readonly run: string;
  readonly agent: string;
  readonly profile: string;
  readonly component: string;
  /** The number of lines, in digits. */
  readonly lines: string;
  readonly head: string;
  readonly profiles: readonly string[];
}

/** A failed check. */
class Failed extends Error {
  readonly check: ReceiptCheckName;
  readonly step: number | undefined;
  readonly line: number | undefined;

  constructor(check: ReceiptCheckName, detail: string, step?: number, line?: number) {
    super(detail);
    this.check = check;
    this.step = step;
    this.line = line;
  }
}

/**
 * Verifies the file of a receipt: its signature, that nothing in it was changed, and that each decision follows from
 * the events. The component derives every decision again.
 *
 * It yields to other work of its thread from time to time. A receipt with thousands of steps takes seconds.
 *
 * @param file - The bytes of the file.
 * @returns The findings. For an invalid receipt, `ok` is false.
 * @throws {TypeError} An option is invalid: a key cannot be read, or `profile` is not a string.
 * @throws {LoadError} The component or the cryptography is not available.
 */
export async function verifyReceipt(file: Uint8Array, options: ReceiptOptions): Promise<ReceiptReport> {
  if (!(file instanceof Uint8Array)) {
    throw new TypeError(`\`file\` must be the bytes of a receipt, a Uint8Array, not ${kindOf(file)}`);
  }
  if (file.length > MAX_RECEIPT) {
    throw new TypeError(`\`file\` has ${file.length} bytes, and a receipt has at most ${MAX_RECEIPT}`);
  }
  only("options", options, OPTIONS);
  const keys = asKeys(options.keys);
  const { profile, signal } = options;
  const witness = asWitness(options.witness);
  if (profile !== undefined && typeof profile !== "string") {
    throw new TypeError(`\`profile\` must be the document of a profile, as JSON text, not ${kindOf(profile)}`);
  }
  const gate = options.gate === undefined ? await Gate.load() : asGate(options.gate);
  const verification = new Verification(await gate.engine.again(), gate.limits, platform().cryptography, signal);
  return verification.report(file, keys, profile, witness);
}

function asWitness(witness: ReceiptWitness | undefined): ReceiptWitness | undefined {
  if (witness === undefined) return undefined;
  only("witness", witness, WITNESS_OPTIONS);
  const { file } = witness;
  if (!(file instanceof Uint8Array)) {
    throw new TypeError(`\`witness.file\` must be the bytes of a statement, a Uint8Array, not ${kindOf(file)}`);
  }
  return { file, keys: asKeys(witness.keys) };
}

function asKeys(keys: ReceiptOptions["keys"]): "any" | readonly string[] {
  if (keys === "any") return keys;
  if (!Array.isArray(keys)) {
    throw new TypeError(`\`keys\` must be "any", or a list of public keys, not ${kindOf(keys)}`);
  }
  return keys.map((key) => {
    const read = typeof key === "string" ? publicKey(key) : undefined;
    if (read === undefined) {
      throw new TypeError(
        "`keys`: a key must be the 32 bytes of an Ed25519 key as base64url, or a line of OpenSSH: ssh-ed25519 AAAA…",
      );
    }
    return base64Url(read);
  });
}

/** The run of a receipt. */
interface Recorded {
  readonly statement: Statement;
  readonly steps: readonly StepLines[];
  readonly changes: readonly ChangedStep[];
}

class Verification {
  readonly #engine: Engine;
  readonly #limits: Required<Limits>;
  readonly #cryptography: Cryptography;
  readonly #digest: Digest;
  readonly #signal: AbortSignal | undefined;
  readonly #checks: ReceiptCheck[] = [];
  readonly #withheld: WithheldStep[] = [];
  #about = {
    whole: false,
    run: "",
    agent: "",
    profile: "",
    component: "",
    head: "",
    key: "",
    issuer: "",
    issued_at: 0,
  };
  #ended: string | undefined;
  #counts = { steps: 0, derived: 0, allowed: 0, denied: 0, asked: 0, signed_approvals: 0, named_approvals: 0 };

  constructor(engine: Engine, limits: Required<Limits>, cryptography: Cryptography, signal: AbortSignal | undefined) {
    this.#engine = engine;
    this.#limits = limits;
    this.#cryptography = cryptography;
    this.#digest = (bytes) => written(cryptography.sha256(bytes));
    this.#signal = signal;
  }

  async report(
    file: Uint8Array,
    keys: "any" | readonly string[],
    profile: string | undefined,
    witness: ReceiptWitness | undefined,
  ): Promise<ReceiptReport> {
    let ok = true;
    try {
      await this.#check(file, keys, profile);
      if (witness !== undefined) await this.#witness(file, witness);
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      const { check, message, step, line } = error;
      const place = { ...(step !== undefined && { step }), ...(line !== undefined && { line }) };
      this.#checks.push({ check, ok: false, detail: cut(message), ...place });
      ok = false;
    }
    return {
      ok,
      ...this.#about,
      ...(this.#ended !== undefined && { ended: this.#ended }),
      counts: this.#counts,
      checks: this.#checks,
      ...(this.#withheld.length > 0 && { withheld: this.#withheld }),
    };
  }

  async #check(bytes: Uint8Array, keys: "any" | readonly string[], profile: string | undefined): Promise<void> {
    const file = receiptFile(bytes);
    if (file === undefined) {
      throw new Failed(
        "encoding",
        "it is no receipt: it must be a tagged COSE_Sign1 message (RFC 9052, section 4.2) with the members of a receipt, in one encoding",
      );
    }
    const key = base64Url(file.key);
    this.#about = { ...this.#about, key, issuer: cut(file.issuer), issued_at: file.issuedAt };
    this.#passed("encoding", "COSE_Sign1, in its one encoding");
    if (!(await this.#cryptography.hasSigned(file.key, file.signed, file.signature))) {
      throw new Failed("signature", "the signature is wrong: what is signed was changed, or another key signed it");
    }
    this.#passed("signature", "Ed25519");
    if (keys === "any") {
      this.#passed("key", "any key was accepted: nothing says whose it is");
    } else if (keys.includes(key)) {
      this.#passed("key", "it is one that was given");
    } else {
      throw new Failed("key", `the key ${key} signed it, and none that was given`);
    }
    const { statement, steps, changes } = this.#recorded(file);
    this.#profiles(file, statement, profile);
    this.#registered(file, statement, changes);
    await this.#derived(file, statement, steps);
    await this.#approvals(statement, steps);
  }

  /** Checks the statement of a witness. */
  async #witness(receipt: Uint8Array, { file, keys }: ReceiptWitness): Promise<void> {
    const { ok, detail } = await checkWitness(receipt, file, keys, this.#cryptography);
    if (!ok) throw new Failed("witness", detail);
    this.#passed("witness", detail);
  }

  /** Checks that the signed statement describes the lines. */
  #recorded(file: ReceiptFile): Recorded {
    const statement = statementOf(file.statement);
    const { run, agent, profile, component, head } = statement;
    this.#about = { ...this.#about, run, agent, profile, component, head };
    const read = stepsOf(file.lines, this.#digest);
    if (!("steps" in read)) {
      const detail = "it, or the line before it, is changed, moved or missing: the digests do not follow";
      throw new Failed("lines", detail, read.step, read.line);
    }
    const about = aboutOf(file.lines[0]);
    if (about === undefined) throw new Failed("lines", "it describes no run", 0, 0);
    const count = file.lines.length;
    if (String(count) !== statement.lines || read.head !== head) {
      const detail = `${count} lines that end with ${read.head}; what is signed has ${statement.lines} and ${head}`;
      throw new Failed("lines", detail, read.steps.length - 1, count - 1);
    }
    const changed = changesOf(read.steps, about.component);
    if (!("changes" in changed)) {
      const detail = "it names no change from the component that the run has";
      throw new Failed("lines", detail, changed.step, changed.line);
    }
    if (changed.component !== component) {
      const last = changed.changes.at(-1);
      const detail = `from it on the run has the component ${changed.component}, and what is signed has ${component}`;
      throw new Failed("lines", detail, last?.step ?? 0, last?.line ?? 0);
    }
    const isSame = (["run", "agent", "profile"] as const).every((name) => about[name] === statement[name]);
    if (!isSame || file.subject !== run) {
      throw new Failed("statement", "the first line describes another run, agent or profile");
    }
    this.#counts.steps = read.steps.length - 1;
    this.#passed("lines", `${count}, each with the digest of the line before it`);
    return { statement, steps: read.steps, changes: changed.changes };
  }

  /** Checks the documents of the profiles, and finds the expected one. */
  #profiles(file: ReceiptFile, statement: Statement, expected: string | undefined): void {
    const digests = file.profiles.map((text) => measured(this.#digest, text).digest);
    const isSame = digests.length === statement.profiles.length;
    if (!isSame || digests.some((digest, at) => digest !== statement.profiles[at])) {
      throw new Failed("profile", "the document of a profile was changed, added or removed");
    }
    if (expected !== undefined && file.profiles.every((text) => trimmed(text) !== trimmed(expected))) {
      throw new Failed("profile", "the run has another profile than the one that was given");
    }
  }

  /** Registers the profiles in the component that the receipt names. */
  #registered(file: ReceiptFile, { agent, profile, component }: Statement, changes: readonly ChangedStep[]): void {
    const found = this.#engine.digest ?? "unknown";
    if (found !== component) {
      throw new Failed("component", `the run has ${component}, and this one is ${found}: verify it with the run's`);
    }
    for (const text of file.profiles) {
      if (!isJson(text)) throw new Failed("profile", "its document is not JSON");
      try {
        this.#engine.registerProfile(text);
      } catch (error) {
        if (!(error instanceof SeamgateFault)) throw error;
        const why = error.code === "bad_profile" ? error.message : error.code;
        throw new Failed("profile", `the component does not take it: ${why}`);
      }
    }
    const { profiles } = this.#engine;
    if (!profiles.has(agent) || profiles.of(agent).info.profile !== profile) {
      throw new Failed("profile", "its document has another digest than the run names");
    }
    this.#passed("profile", profile);
    this.#passed("component", withChanges(component, changes));
  }

  /** Derives the steps again, up to the first that has withheld lines. */
  async #derived(file: ReceiptFile, { agent, component }: Statement, steps: readonly StepLines[]): Promise<void> {
    const first = steps.findIndex((step) => textsOf(step) === undefined);
    const whole = first === -1 ? steps : steps.slice(0, first);
    const lines = whole.flatMap((step) => textsOf(step) ?? []);
    const artifacts = new Artifacts(this.#digest, file.artifacts, lines);
    const judge = this.#engine.instance();
    const derivation = Derivation.begin(
      judge,
      this.#limits,
      { agent, component },
      this.#digest,
      artifacts,
      lines[0] ?? "",
    );
    if (derivation === undefined) throw new Failed("steps", "the first line is not one that this version reads", 0, 0);
    let since = performance.now();
    this.#signal?.throwIfAborted();
    for (const step of whole.slice(1)) {
      if (performance.now() - since > BUSY) {
        await new Promise((resolve) => setTimeout(resolve, 0));
        this.#signal?.throwIfAborted();
        since = performance.now();
      }
      const failed = derivation.step(textsOf(step) ?? []);
      if (failed === undefined) {
        this.#counts.derived += 1;
      } else if ("detail" in failed) {
        throw new Failed("steps", failed.detail, step.number, failed.line ?? step.line);
      } else {
        const [recorded, derived] = around(failed.recorded, failed.derived);
        const detail = `the receipt has ${recorded}, and from the events follows ${derived}`;
        throw new Failed("steps", detail, step.number, failed.line);
      }
    }
    const { used } = artifacts;
    if (used.length !== file.artifacts.length || used.some((text, at) => text !== file.artifacts[at])) {
      throw new Failed("artifacts", "it has artifacts that no derived step asks for, or in another order");
    }
    const { steps: all, derived } = this.#counts;
    this.#about.whole = derived === all;
    for (const step of steps.slice(whole.length)) {
      const isShown = textsOf(step) !== undefined;
      const unchecked = isShown
        ? "whether these lines follow from the events"
        : "what happened, and what follows from it";
      this.#withheld.push({ step: step.number, unchecked });
    }
    this.#passed("steps", `${derived} of ${all} derived again, with the same lines`);
  }

  /** Verifies the signatures of people, and counts decisions. */
  async #approvals({ run }: Statement, steps: readonly StepLines[]): Promise<void> {
    const { decisions, failed } = await approvalsOf(run, steps.slice(1), this.#cryptography);
    const { allowed, denied, asked, signedApprovals, namedApprovals, ended } = decisions;
    const approvals = { signed_approvals: signedApprovals, named_approvals: namedApprovals };
    this.#counts = { ...this.#counts, allowed, denied, asked, ...approvals };
    this.#ended = ended === undefined ? undefined : cut(ended);
    if (failed !== undefined) throw new Failed("approvals", failed.detail, failed.step, failed.line);
    this.#passed("approvals", `${signedApprovals} signed, ${namedApprovals} by a name alone`);
  }

  #passed(check: ReceiptCheckName, detail: string): void {
    this.#checks.push({ check, ok: true, detail });
  }
}

/** Describes the component of a run, and those that it had before. */
function withChanges(component: string, changes: readonly ChangedStep[]): string {
  const shown = changes.slice(0, MAX_CHANGES).map(({ step, from }) => `; before step ${step}: ${from}`);
  const more = changes.length - shown.length;
  return cut(`${component}${shown.join("")}${more > 0 ? `; and ${more} changes more` : ""}`);
}

/** Reads a statement, which must be in its canonical form. */
function statementOf(bytes: Uint8Array): Statement {
  const text = textOf(bytes);
  if (!text?.startsWith('{"receipt":1,')) {
    throw new Failed(
      "statement",
      'its format is another one: this version reads statements that begin with {"receipt":1,',
    );
  }
  const members = isJson(text) ? namedMembers(text, STATEMENT) : undefined;
  const [run, agent, profile, component, head] = (["run", "agent", "profile", "component", "head"] as const).map(
    (name) => stringOf(members?.[name]),
  );
  const profiles = itemsOf(members?.profiles ?? "")?.map(stringOf);
  const lines = integerOf(members?.lines);
  const values = [1n, run, agent, profile, component, lines, head];
  const isWhole = [...values, ...(profiles ?? [undefined])].every((value) => value !== undefined);
  const json = values.map((value) => (typeof value === "bigint" ? String(value) : JSON.stringify(value)));
  const form = STATEMENT.map((name, at) => `"${name}":${json[at] ?? JSON.stringify(profiles)}`).join(",");
  if (!isWhole || text !== `{${form}}`) {
    throw new Failed("statement", "it is no statement of a receipt, or not in the one form of statements");
  }
  return { run, agent, profile, component, lines: String(lines), head, profiles } as Statement;
}

/** Returns the members of the first line. */
function aboutOf(
  first: ReceiptFile["lines"][number] | undefined,
): Omit<Statement, "lines" | "head" | "profiles"> | undefined {
  const run = typeof first === "string" ? contentOf(first)?.run : undefined;
  const names = ["run", "agent", "profile", "component"] as const;
  const members = namedMembers(run, names);
  const texts = names.map((name) => [name, stringOf(members?.[name])] as const);
  return texts.every(([, text]) => text !== undefined) ? (Object.fromEntries(texts) as never) : undefined;
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Returns at most 1,200 characters of a text. */
function cut(text: string): string {
  if (text.length <= 4 * MAX_SHOWN) return text;
  let end = 0;
  for (let shown = 0; shown < 4 * MAX_SHOWN && end < text.length; shown += 1) {
    end += (text.codePointAt(end) as number) > 0xffff ? 2 : 1;
  }
  return end < text.length ? `${text.slice(0, end)}… (${new TextEncoder().encode(text).length} bytes)` : text;
}

/** Returns the parts of two lines around the first difference. */
function around(one: string, other: string): readonly [string, string] {
  const [a, b] = [one, other].map((text) => new TextEncoder().encode(text)) as [Uint8Array, Uint8Array];
  let same = 0;
  while (same < a.length && same < b.length && a[same] === b[same]) same += 1;
  return [shownAt(a, same), shownAt(b, same)];
}

function shownAt(bytes: Uint8Array, same: number): string {
  if (bytes.length === 0) return "no line";
  const begin = boundary(bytes, Math.min(Math.max(same - 60, 0), bytes.length));
  const end = boundary(bytes, Math.min(begin + MAX_SHOWN, bytes.length));
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(begin, end));
  return `${begin > 0 ? "…" : ""}${text}${end < bytes.length ? "…" : ""}`;
}

/** Returns the last boundary of a character at or before an offset. */
function boundary(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at > 0 && at < bytes.length && ((bytes[at] as number) & 0xc0) === 0x80) at -= 1;
  return at;
}
