// Makes receipts of recorded runs, honest ones and others, with a writer of CBOR of its own.

import { spawnSync } from "node:child_process";
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const pair = generateKeyPairSync("ed25519");
/** The key that signs receipts. */
export const KEY = pair.publicKey.export({ format: "jwk" }).x;

/** The recorded runs; none where there is no addon. */
export function recorded() {
  const place = mkdtempSync(path.join(tmpdir(), "seamgate-receipts-"));
  const file = path.join(place, "runs.json");
  const script = fileURLToPath(new URL("recorded-runs.mjs", import.meta.url));
  const env = { ...process.env, SEAMGATE_BACKEND: "native" };
  const { status, stderr } = spawnSync(process.execPath, [script, file], { env, encoding: "utf8" });
  if (status !== 0 && !stderr.includes("LoadError")) throw new Error(stderr);
  const runs = status === 0 ? JSON.parse(readFileSync(file, "utf8")) : [];
  rmSync(place, { recursive: true });
  return runs;
}

export const sha256 = (text) => `sha256:${createHash("sha256").update(text).digest("hex")}`;

/**
 * Returns the content of a run's lines by step: `"event":…`, without number and digest. The first step describes the
 * run.
 */
export function contents({ lines }) {
  const steps = [[]];
  for (const line of lines) {
    const rest = line.slice(line.indexOf(",", line.indexOf(",") + 1) + 1, -1);
    steps.at(-1).push(rest);
    if (rest.startsWith('"state":') || steps.length === 1) steps.push([]);
  }
  steps.pop();
  return steps;
}

/** The lines of steps, whose numbers and digests follow. */
export function chained(steps) {
  let before = "";
  return steps.flat().map((content, n) => {
    const line = `{"n":${n},"before":"${before}",${content}}`;
    before = sha256(line);
    return line;
  });
}

/**
 * The same run, begun under another component whose kernel has another version: it went on before each of these steps,
 * and has its own component since the last.
 */
export function changed(run, ...steps) {
  const about = JSON.parse(run.lines[0]).run;
  const { component, version } = about;
  const all = contents(run);
  let now = { digest: sha256("component 0"), version: "0.0.9" };
  all[0] = [`"run":${JSON.stringify({ ...about, component: now.digest, version: now.version })}`];
  for (let step = 1; step < all.length; step += 1) {
    const at = steps.indexOf(step);
    if (at !== -1) {
      const isLast = at === steps.length - 1;
      const to = isLast
        ? { digest: component, version }
        : { digest: sha256(`component ${step}`), version: `0.0.${step}` };
      all[step].unshift(`"component":${JSON.stringify({ from: now.digest, to: to.digest, version: to.version })}`);
      now = to;
    }
    const state = run.states[step - 1];
    const digest = sha256(state.replace(`"component":"${version}"`, `"component":"${now.version}"`));
    all[step].push(all[step].pop().replace(sha256(state), digest));
  }
  return { ...run, lines: chained(all) };
}

/** The artifacts that the events name, in the order of the first time. */
function named(lines, artifacts) {
  const references = lines.flatMap((line) =>
    /^\{"n":\d+,"before":"[^"]*","event":/.test(line)
      ? [...line.matchAll(/"(?:result|returned|text|document)":\{"artifact":"(sha256:\w{64})"/g)].map(
          ([, digest]) => digest,
        )
      : [],
  );
  return [...new Set(references)].map((digest) => artifacts[digest]);
}

/** The file of a receipt. `change` may change its parts before they are signed; `withheld` are numbers of steps. */
export function receipt(run, { withheld = [], change = (parts) => parts } = {}) {
  const about = JSON.parse(run.lines[0]).run;
  let shown = run.lines;
  let lines = [...run.lines];
  let step = 0;
  let first = lines.length;
  for (const [n, line] of run.lines.entries()) {
    const isEnd = line.includes('"state":{"step":') && /^\{"n":\d+,"before":"[^"]*","state":/.test(line);
    const isChange = line.includes('"component":{"from":');
    if (n > 0 && withheld.includes(step + 1) && !isEnd && !isChange) {
      lines[n] = createHash("sha256").update(line).digest();
      first = Math.min(first, n);
    }
    if (isEnd) step += 1;
  }
  shown = run.lines.slice(0, first);
  const parts = change({ lines, artifacts: named(shown, run.artifacts), profiles: [run.profile], subject: about.run });
  lines = parts.lines;
  const { run: id, agent, profile } = about;
  const changes = run.lines.flatMap((line) => JSON.parse(line).component ?? []);
  const component = changes.at(-1)?.to ?? about.component;
  const statement = {
    receipt: 1,
    run: id,
    agent,
    profile,
    component,
    lines: lines.length,
    head: sha256(lines.at(-1) ?? ""),
    profiles: parts.profiles.map(sha256),
  };
  return file({
    statement: JSON.stringify(statement),
    issuer: "https://operator.example",
    time: 1_790_000_000,
    ...parts,
  });
}

/** The bytes of a receipt, signed. */
export function file({ statement, issuer, subject, time, lines, artifacts, profiles }) {
  const header = map([
    [1, -8],
    [3, "application/vnd.seamgate.receipt+json"],
    [4, Buffer.from(KEY, "base64url")],
    [
      15,
      map([
        [1, issuer],
        [2, subject],
        [6, time],
      ]),
    ],
  ]);
  const payload = Buffer.from(statement);
  const signed = list(["Signature1", header.bytes, Buffer.alloc(0), payload]);
  const body = map([
    ["lines", list(lines)],
    ["artifacts", list(artifacts)],
    ["profiles", list(profiles)],
  ]);
  const signature = sign(null, signed.bytes, pair.privateKey);
  return Buffer.concat([head(6, 18), list([header.bytes, map([["seamgate", body]]), payload, signature]).bytes]);
}

/** CBOR that is made already. */
class Made {
  constructor(bytes) {
    this.bytes = bytes;
  }
}

function head(major, value) {
  const short = (size, length) => {
    const bytes = Buffer.alloc(length);
    bytes[0] = (major << 5) | size;
    bytes.writeUIntBE(value, 1, length - 1);
    return bytes;
  };
  if (value < 24) return Buffer.of((major << 5) | value);
  if (value < 2 ** 8) return short(24, 2);
  if (value < 2 ** 16) return short(25, 3);
  return short(26, 5);
}

function cbor(value) {
  if (value instanceof Made) return value.bytes;
  if (typeof value === "number") return value < 0 ? head(1, -1 - value) : head(0, value);
  const bytes = Buffer.from(value);
  return Buffer.concat([head(typeof value === "string" ? 3 : 2, bytes.length), bytes]);
}

function list(items) {
  return new Made(Buffer.concat([head(4, items.length), ...items.map(cbor)]));
}

function map(members) {
  return new Made(Buffer.concat([head(5, members.length), ...members.flat().map(cbor)]));
}
