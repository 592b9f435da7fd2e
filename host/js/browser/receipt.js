// Verifies the receipt of a run in this page. Texts of the file are never parsed as HTML.

import { outline } from "./run-steps.js";
import { verifyReceipt } from "./seamgate/dist/browser.js";
import { stepsOf, written } from "./seamgate/dist/journal-lines.js";
import { receiptFile } from "./seamgate/dist/receipt-file.js";
import { webCryptography } from "./seamgate/dist/web-crypto.js";
import { counted, cut, element, visible } from "./text.js";

/** The most bytes of a file. A tab has less memory than a process. */
const MOST_BYTES = 64 * 1024 * 1024;

/** The most steps that are shown. */
const MOST_STEPS = 512;

/** The most characters of a text that are shown. */
const MOST_TEXT = 400;

const page = Object.fromEntries([...document.querySelectorAll("[id]")].map((named) => [named.id, named]));

/** The last file, and the controller that aborts its verification. */
let given;
let running = new AbortController();

async function verify() {
  running.abort();
  running = new AbortController();
  const { signal } = running;
  const file = given;
  if (file === undefined) {
    return;
  }
  cleared();
  told("", "verifying …", file.name);
  const start = performance.now();
  try {
    if (file.size > MOST_BYTES) {
      throw new Error(
        `the file has ${counted(file.size, "byte")}, and this page reads ${counted(MOST_BYTES, "byte")}: use seamgate receipt verify`,
      );
    }
    const bytes = new Uint8Array(await file.arrayBuffer());
    const report = await verifyReceipt(bytes, { keys: keys(), signal });
    if (!signal.aborted) {
      show(report, bytes, file.name, performance.now() - start);
    }
  } catch (error) {
    if (!signal.aborted) {
      cleared();
      told("fault", "no verdict", error.message);
    }
  }
}

/** The keys that may have signed: one in each part between commas, or any. */
function keys() {
  const parts = page.keys.value.split(",").map((part) => part.trim());
  const named = parts.filter((part) => part !== "");
  return named.length === 0 ? "any" : named;
}

function cleared() {
  for (const part of [page["about-run"], page.checks, page["run-steps"], page["steps-cut"]]) {
    part.hidden = true;
  }
  page.usage.textContent = "";
}

function told(level, word, summary) {
  page.disposition.textContent = word;
  page.disposition.className = `disposition ${level}`;
  page.summary.textContent = shown(summary);
}

function show(report, bytes, name, took) {
  const { ok, whole, counts, checks, withheld = [] } = report;
  const failed = checks.find((check) => !check.ok);
  const summary = ok
    ? `${counted(counts.steps, "step")}; ${counted(counts.allowed, "call")} allowed, ${counts.denied} denied, ${counts.asked} asked about; ${report.ended ?? "not ended"}`
    : `${failed.check}: ${failed.step === undefined ? "" : `step ${failed.step}, `}${failed.detail}`;
  const word = ok ? (whole ? "verified" : "verified in part") : "not verified";
  told(ok ? (whole ? "accepted" : "partial") : "rejected", word, summary);
  page.usage.textContent = `${counted(bytes.length, "byte")}, ${(took / 1000).toFixed(1)} s`;
  about(report, name);
  listChecks(checks, withheld);
  if (checks.some(({ check, ok }) => check === "lines" && ok)) {
    listSteps(bytes, report, failed);
  }
}

/** Shows the run, the agent and the signer of the receipt. */
function about(report, name) {
  const { signed_approvals: signed, named_approvals: byName } = report.counts;
  const members = {
    File: name,
    Run: report.run,
    Agent: report.agent,
    "Signed by": report.key,
    Issuer: report.issuer,
    "Issued, as the signer says": time(report.issued_at),
    Approvals: report.ok ? `${signed} signed, ${byName} by a name alone` : "",
    Profile: report.profile,
    Component: report.component,
    "Last line": report.head,
  };
  const list = element("dl", "members");
  for (const [term, text] of Object.entries(members)) {
    if (text !== "") {
      list.append(element("dt", "", term), element("dd", "", shown(text)));
    }
  }
  page["about-run"].replaceChildren(list);
  page["about-run"].hidden = false;
}

function time(seconds) {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.valueOf()) ? `${seconds} s since 1970` : date.toISOString();
}

function listChecks(checks, withheld) {
  const rows = checks.map(({ check, ok, detail, step, line }) => {
    const place = step === undefined ? "" : `step ${step}, line ${line}: `;
    return row(ok ? "accepted" : "rejected", ok ? "ok" : "failed", check, shown(`${place}${detail}`));
  });
  if (withheld.length > 0) {
    const detail = `${counted(withheld.length, "step")} from step ${withheld[0].step} on: withheld, or not derived again`;
    rows.push(row("partial", "unchecked", "steps", detail));
  }
  listed(page.checks, ["Result", "Check", "What was found"], rows);
}

/** The steps, each with its event and what was decided. */
function listSteps(bytes, { counts, withheld = [] }, failed) {
  const { lines } = receiptFile(bytes);
  const { steps } = stepsOf(lines, (text) => written(webCryptography.sha256(text)));
  const unchecked = new Set(withheld.map(({ step }) => step));
  const all = steps.slice(1);
  const rows = all.slice(0, MOST_STEPS).map((step) => {
    const { number, event, subject, decided, more, isWithheld } = outline(step);
    const isFailed = failed?.step === number;
    const [level, word] = isFailed
      ? ["rejected", "failed"]
      : isWithheld
        ? ["partial", "withheld"]
        : unchecked.has(number) || number > counts.derived
          ? ["partial", "unchecked"]
          : ["accepted", "ok"];
    const about = event === undefined ? "withheld" : `${event} ${subject}`;
    const decisions = decided.map(({ word, subject, codes }) => shown([word, subject, ...codes].join(" ").trim()));
    const texts = more > 0 ? [...decisions, `and ${more} more`] : decisions;
    return row(level, word, String(number), shown(about), texts.join("; "));
  });
  listed(page["run-steps"], ["Result", "Step", "Event", "Decisions"], rows);
  page["steps-cut"].hidden = all.length <= MOST_STEPS;
  page["steps-cut"].textContent = `The first ${MOST_STEPS} of ${counted(all.length, "step")} are shown.`;
}

/** A row whose first cell says how it came out. */
function row(level, word, ...texts) {
  const cells = texts.map((text) => element("td", "", text));
  return element("tr", "", element("td", "", element("span", level, word)), ...cells);
}

function listed(section, titles, rows) {
  const head = titles.map((title) => {
    const cell = element("th", "", title);
    cell.scope = "col";
    return cell;
  });
  const table = element("table", "", element("thead", "", element("tr", "", ...head)), element("tbody", "", ...rows));
  section.querySelector(".scroll").replaceChildren(table);
  section.hidden = false;
}

/** A text of the file, bounded, and with nothing in it that cannot be seen. */
function shown(text) {
  return visible(cut(text, MOST_TEXT));
}

function give(file) {
  given = file;
  verify();
}

page.file.addEventListener("change", () => give(page.file.files[0]));
page.keys.addEventListener("change", verify);
addEventListener("dragover", (event) => {
  event.preventDefault();
  document.body.classList.add("over");
});
addEventListener("dragleave", (event) => event.relatedTarget === null && document.body.classList.remove("over"));
addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("over");
  const [file] = event.dataTransfer.files;
  if (file !== undefined) {
    page.file.value = "";
    give(file);
  }
});
document.body.dataset.ready = "";
