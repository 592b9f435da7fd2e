// Writes the journal of a run on Restate to a folder that `seamgate trace` reads: `node folder.mjs RUN FOLDER [INGRESS]`.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** Write what the handler `journal` gives. */
export function write(folder, { lines, artifacts }) {
  mkdirSync(path.join(folder, "artifacts"), { recursive: true });
  writeFileSync(path.join(folder, "journal.ndjson"), lines.map((line) => `${line}\n`).join(""));
  for (const [digest, text] of Object.entries(artifacts)) {
    writeFileSync(path.join(folder, "artifacts", digest.slice("sha256:".length)), text);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [run, folder, ingress = "http://localhost:8080"] = process.argv.slice(2);
  const response = await fetch(`${ingress}/run/${encodeURIComponent(run)}/journal`, { method: "POST" });
  if (!response.ok) throw new Error(`${run}: ${response.status} ${await response.text()}`);
  write(folder, await response.json());
}
