import type { Judge } from "./engine.js";
import { eventLine, inlineTexts, restored, withArtifacts, withoutPrompt } from "./event-line.js";
import { SeamgateFault } from "./fault.js";
import { Chain, changeOf, type Digest, measured, Order } from "./journal-lines.js";
import { type Limits, smallEnough } from "./limits.js";
import { integerOf, itemsOf, namedMembers, stringOf } from "./slices.js";

/** The newest supported format of journals. */
const VERSION = 2n;

/** The version of the kernel that wrote all journals of the first format, which does not name it. */
const FIRST_KERNEL = "0.1.0";

/**
 * Why a step cannot be derived: the line that differs, or the reason why the event or a line is rejected. Without a
 * line, it is the first line of the step.
 */
export type NotDerived =
  | { readonly line: number; readonly recorded: string; readonly derived: string }
  | { readonly line?: number; readonly detail: string };

/** The agent of a run, and the digest of the component that derives it. */
export interface Deriving {
  readonly agent: string;
  readonly component: string;
}

/** The component of a run at a line, and the line that names it. */
interface RunComponent {
  readonly digest: string;
  /** The version of the kernel that states name. */
  readonly version: string | undefined;
  readonly line: number;
}

/** A step of the kernel, as JSON texts. */
interface Step {
  readonly number: string;
  readonly state: string;
  readonly wakeAt: string | undefined;
  readonly records: readonly string[];
  readonly actions: readonly string[];
}

/** The event is rejected. */
class Underivable extends Error {}

/**
 * Derives the steps of a run again, from its first line and the lines of one step after the other. A run can continue
 * under another component. Then this component must derive the steps of each component with the same lines, except for
 * the version of the kernel that states name.
 */
export class Derivation {
  readonly #judge: Judge;
  readonly #limits: Required<Limits>;
  readonly #agent: string;
  readonly #component: string;
  readonly #digest: Digest;
  readonly #artifacts: Artifacts;
  #of: RunComponent;
  #chain: Chain;
  #state: string | undefined;
  #stateBytes = 0;

  private constructor(
    judge: Judge,
    limits: Required<Limits>,
    { agent, component }: Deriving,
    digest: Digest,
    artifacts: Artifacts,
    of: RunComponent,
    chain: Chain,
  ) {
    this.#judge = judge;
    this.#limits = limits;
    this.#agent = agent;
    this.#component = component;
    this.#digest = digest;
    this.#artifacts = artifacts;
    this.#of = of;
    this.#chain = chain;
  }

  /**
   * Begins with the first line of a run. Returns undefined if this version does not support its format. The same judge
   * is used for every step: a step that could corrupt it could equally corrupt the next step through its state.
   */
  static begin(
    judge: Judge,
    limits: Required<Limits>,
    deriving: Deriving,
    digest: Digest,
    artifacts: Artifacts,
    first: string,
  ): Derivation | undefined {
    const chain = new Chain(digest);
    const read = chain.read(first);
    const { journal, component, version } = namedMembers(read?.value, ["journal", "component", "version"]) ?? {};
    const format = integerOf(journal);
    const begun = stringOf(component);
    if (format === undefined || format > VERSION || begun === undefined) return undefined;
    const written = version === "null" ? undefined : version;
    const named = stringOf(written) ?? (format === 1n ? FIRST_KERNEL : undefined);
    if (written !== undefined && stringOf(written) === undefined) return undefined;
    const of = { digest: begun, version: named, line: 0 };
    return new Derivation(judge, limits, deriving, digest, artifacts, of, chain);
  }

  /** Derives the next step from its first line, and compares all its lines. Returns undefined if they are equal. */
  step(lines: readonly string[]): NotDerived | undefined {
    try {
      return this.#derive(lines);
    } catch (error) {
      if (error instanceof Underivable) return { detail: error.message };
      if (error instanceof SeamgateFault) return { detail: ofFault(error) };
      throw error;
    }
  }

  #derive(all: readonly string[]): NotDerived | undefined {
    const chain = this.#chain.copy();
    const order = new Order(this.#chain.copy());
    let [of, lines] = [this.#of, all];
    let first = order.take(lines[0] ?? "");
    if (first?.kind === "component") {
      const change = changeOf(first.value);
      if (change === undefined || change.from !== of.digest) throw misplaced(chain.n);
      of = { digest: change.to, version: change.version, line: chain.n };
      chain.read(lines[0] as string);
      lines = lines.slice(1);
      first = order.take(lines[0] ?? "");
    }
    const at = chain.n;
    if (first?.kind !== "event") throw misplaced(at);
    const event = eventLine(
      restored(first.value, (digest) => this.#artifacts.get(digest)),
      this.#digest,
    );
    const step = this.#advance(event.whole);
    const own = stringOf(namedMembers(step.state, ["component"])?.component);
    const isOwn = of.digest === this.#component;
    if (isOwn && own !== undefined && of.version !== own) {
      const named = of.version ?? "no version";
      return { line: of.line, detail: `it names ${named} of the kernel, and its component has ${own}` };
    }
    const { bytes } = measured(this.#digest, step.state);
    const { digest } = measured(this.#digest, isOwn ? step.state : withVersion(step.state, own, of.version));
    const wakeAt = step.wakeAt === undefined ? "" : `,"wake_at":${step.wakeAt}`;
    const derived = [
      chain.write("event", event.line),
      ...step.records.map((record) => chain.write("record", record)),
      ...step.actions.map((action) => chain.write("action", withoutPrompt(action, this.#digest))),
      chain.write("state", `{"step":${step.number},"digest":"${digest}"${wakeAt}}`),
    ];
    for (let index = 0; index < Math.max(derived.length, lines.length); index += 1) {
      if (derived[index] !== lines[index]) {
        return { line: at + index, recorded: lines[index] ?? "", derived: derived[index] ?? "" };
      }
    }
    this.#chain = chain;
    this.#of = of;
    this.#state = step.state;
    this.#stateBytes = bytes;
    return undefined;
  }

  /** Returns the step that an event leads to, with the artifacts that it needs. */
  #advance(event: string): Step {
    const given = new Map<string, string>();
    for (;;) {
      const answer = this.#ask(given.size === 0 ? event : withArtifacts(event, given));
      if (!("need" in answer)) return answer;
      const had = given.size;
      for (const digest of answer.need) {
        if (!given.has(digest)) given.set(digest, this.#artifacts.get(digest));
      }
      // Each round must add an artifact. Otherwise the component could loop forever.
      if (given.size === had) throw new SeamgateFault("trap", "invalid step: it needs artifacts that it has");
    }
  }

  #ask(event: string): Step | { readonly need: readonly string[] } {
    const state = this.#state;
    const bytes = this.#stateBytes + new TextEncoder().encode(event).length;
    smallEnough(this.#limits, bytes);
    const documents: Readonly<Record<string, string>> = state === undefined ? { event } : { state, event };
    return answered(this.#judge.decide("advance", this.#agent, documents, bytes));
  }
}

/** Replaces the version of the kernel in a state. */
function withVersion(state: string, own: string | undefined, other: string | undefined): string {
  if (own === undefined || other === undefined) return state;
  const [member, replaced] = [own, other].map((version) => `"component":${JSON.stringify(version)}`) as [
    string,
    string,
  ];
  return state.replace(member, () => replaced);
}

function answered(answer: string): Step | { readonly need: readonly string[] } {
  const read = namedMembers(answer, ["step", "state", "records", "actions", "wake_at", "need"]) ?? {};
  const need = itemsOf(read.need ?? "[]")?.map((digest) => stringOf(digest) ?? "") ?? [];
  if (need.length > 0) return { need };
  const { step, state } = read;
  if (step === undefined || state === undefined || answer.includes("\n")) {
    throw new SeamgateFault("trap", "invalid step: it lacks step or state, or has a line end");
  }
  const records = itemsOf(read.records ?? "[]") ?? [];
  const actions = itemsOf(read.actions ?? "[]") ?? [];
  return { number: step, state, wakeAt: read.wake_at === "null" ? undefined : read.wake_at, records, actions };
}

function ofFault({ code, message }: SeamgateFault): string {
  // For an error in the request, the kernel names the place.
  return code === "bad_request"
    ? `the component does not take the event: ${message.replace(/^request: \$\.event/, "event: $")}`
    : `the component makes no decision: ${code}`;
}

function misplaced(line: number): Underivable {
  return new Underivable(`line ${line} is not the next one of a journal`);
}

/** The artifacts of a receipt: large values, and those inside the lines of events. */
export class Artifacts {
  /** The artifacts that were requested, in the order of the first request. */
  readonly used: string[] = [];
  readonly #digest: Digest;
  readonly #apart: ReadonlyMap<string, string>;
  readonly #asked = new Set<string>();
  readonly #lines: readonly string[];
  readonly #order: Order;
  /** The first inline text for each digest, in the lines that were searched so far. */
  readonly #inline = new Map<string, string>();
  #next = 0;

  constructor(digest: Digest, apart: readonly string[], lines: readonly string[]) {
    this.#digest = digest;
    this.#apart = new Map(apart.map((text) => [measured(digest, text).digest, text]));
    this.#lines = lines;
    this.#order = new Order(new Chain(digest));
  }

  /** Returns the artifact with a digest. */
  get(expected: string): string {
    const text = this.#apart.get(expected);
    if (text !== undefined && !this.#asked.has(expected)) {
      this.#asked.add(expected);
      this.used.push(text);
    }
    return text ?? this.#inLines(expected);
  }

  #inLines(expected: string): string {
    for (;;) {
      const known = this.#inline.get(expected);
      if (known !== undefined) return known;
      const line = this.#lines[this.#next];
      if (line === undefined) {
        throw new Underivable(`the artifact ${JSON.stringify([...expected].slice(0, 80).join(""))} is missing`);
      }
      const read = this.#order.take(line);
      if (read === undefined) throw misplaced(this.#next);
      this.#next += 1;
      for (const text of read.kind === "event" ? inlineTexts(read.value) : []) {
        const { digest } = measured(this.#digest, text);
        if (!this.#inline.has(digest)) this.#inline.set(digest, text);
      }
    }
  }
}
