// The page with an output, a contract, and the verdict, as `seamgate check` shows it. Producers' texts are never parsed
// as HTML.

import { Editor } from "./editor.js";
import examples from "./examples.js";
import { findings, likely, listed, marksOf, mistakes } from "./findings.js";
import { Judge, syntax } from "./judge.js";
import { LinkError, made, read } from "./link.js";
import { SeamgateFault } from "./seamgate/dist/browser.js";
import { Tabs } from "./tabs.js";
import { bytes, counted, cut, indented, locate, visible, whole } from "./text.js";

/** The pause in typing before the gate is called, in milliseconds. */
const PAUSE = 100;

/** The time after which the page says that a verdict is pending, in milliseconds. */
const PATIENCE = 300;

/** The most characters of a result that are shown. The button copies all of it. */
const SHOWN = 100_000;

/** The number of steps of a replay, and the least milliseconds of a step. */
const STEPS = 200;
const STEP = 30;

const page = Object.fromEntries([...document.querySelectorAll("[id]")].map((named) => [named.id, named]));

const output = new Editor(page.output, () => {
  page.position.value = page.position.max;
  changed();
});
const contract = new Editor(page.contract, changed);

/** The content of the tabs for the last verdict. */
const views = {
  document: { title: "Document", about: "There is no document: nothing was accepted.", text: "" },
  feedback: { title: "Feedback", about: "There is nothing to send back.", text: "" },
  prompt: { title: "Prompt", about: "There is no contract to describe.", text: "" },
  report: { title: "Report", about: "There is no report.", text: "" },
};

const shownExamples = new Tabs(page.examples, page.example, (key) => {
  // A reload shows this one, not what an earlier link held.
  history.replaceState(null, "", location.pathname);
  notice("");
  give(key === "linked" ? linked : examples[key]);
});
const shownViews = new Tabs(page.views, page.view, view);

/** The content of the last link. */
let linked;

/** The current contract: its text, its judge or the reason why there is none, and the problems in it. */
let current = none();
function none(text) {
  return { text, judge: undefined, fault: undefined, prompt: "", mistakes: [], marks: [] };
}

const refresh = oneAtATime(async () => {
  const [given, text] = [contract.text, output.text];
  const until = position();
  const slow = setTimeout(() => told("", "judging …", "judging"), PATIENCE);
  try {
    if (current.text !== given) {
      await change(given);
    }
    if (contract.text === given) {
      contract.marks = current.marks;
    }
    if (current.fault !== undefined) {
      failed(current.fault, given, current.mistakes);
      return;
    }
    const isWhole = until === text.length;
    const shown = text.slice(0, until);
    const verdict = await current.judge.validate(shown, isWhole ? {} : { finish: "length" });
    const progress = isWhole ? undefined : await current.judge.progress(shown);
    // Else there will be another.
    if (output.text === text && contract.text === given) {
      show(verdict, shown, text, progress);
    }
  } catch (error) {
    failed(error, given);
  } finally {
    clearTimeout(slow);
  }
});

/** Take another contract. */
async function change(text) {
  const before = current.judge;
  current = none(text);
  await before?.close();
  try {
    if (text.trim() === "") {
      throw new SeamgateFault(
        "bad_contract",
        "the contract is empty: it must be a JSON object with an agent and a schema",
      );
    }
    const violations = await syntax(text);
    if (violations.length > 0) {
      const [{ message }] = violations;
      throw new SeamgateFault("bad_contract", `contract: ${message}`, { violations });
    }
    current.judge = await Judge.of(text);
    current.prompt = await current.judge.describe();
    current.mistakes = likely(await current.judge.lint(text), text);
  } catch (error) {
    current.fault = error;
    current.mistakes = mistakes(error, text);
  }
  current.marks = marksOf(current.mistakes, text);
}

/** Show a verdict on a text, or on as much of it as has come. */
function show({ report, usage }, shown, text, progress) {
  const all = findings(report);
  const done = progress === undefined ? [] : completed(progress, shown);
  output.marks = [...done, ...marksOf(all, shown)];
  const parts = [
    report.error === null ? "" : counted(report.error.violations.length, "violation"),
    report.quarantined.length === 0 ? "" : `${counted(report.quarantined.length, "item")} in quarantine`,
    report.reviewRequired ? "look before use" : "",
    report.error?.retryable ? "another attempt can help" : "",
  ];
  told(report.disposition, parts.filter((part) => part !== "").join(", "));
  page.stopped.hidden = progress === undefined;
  page.progress.textContent = progress === undefined ? "" : standing(progress, shown, text);
  page.findings.replaceChildren(...listed(all, shown, (mark) => output.go(mark)));
  const { fuel, memory, elapsedMs } = usage;
  page.usage.textContent = `${fuel.toLocaleString("en")} fuel, ${memory / 1024} KiB, ${elapsedMs.toFixed(1)} ms`;
  views.document.text = report.outputJson ?? "";
  views.feedback.text = report.feedback;
  views.prompt.text = current.prompt;
  views.report.text = report.json;
  view();
}

/** There is no verdict. What is wrong with the contract is shown in it. */
function failed(error, given, mistakes = []) {
  const code = error instanceof SeamgateFault ? error.code : error.name;
  told("fault", `no verdict: ${code}`);
  output.marks = [];
  page.stopped.hidden = true;
  page.progress.textContent = "";
  page.usage.textContent = "";
  const fault = { level: "error", code: `fault[${code}]`, text: error.message };
  const all = mistakes.length === 0 ? [fault] : mistakes;
  page.findings.replaceChildren(...listed(all, given, (mark) => contract.go(mark)));
  views.document.text = "";
  views.feedback.text = "";
  views.prompt.text = current.prompt;
  views.report.text = error instanceof SeamgateFault ? JSON.stringify(error) : "";
  view();
}

function told(disposition, summary, word = disposition) {
  page.disposition.textContent = word;
  page.disposition.className = `disposition ${disposition}`;
  page.summary.textContent = summary;
}

/** Marks of the items that are complete. */
function completed({ items }, text) {
  const { places } = locate(
    text,
    items.flatMap(({ span }) => span),
  );
  return items.map(({ span }) => {
    const [from, to] = span.map((offset) => places.get(offset).at);
    return { from, to, level: "done" };
  });
}

/** Describes the state of an incomplete output. */
function standing({ completeness, items, dead_end }, shown, text) {
  const came = `${bytes(shown).toLocaleString("en")} of ${counted(bytes(text), "byte")} came`;
  const parts = [
    completeness === "soft_complete" ? "this is a whole document (soft-complete)" : "in flight",
    items.length === 0 ? "" : `${counted(items.length, "item")} complete`,
    dead_end === null ? "" : `dead end at byte ${dead_end.at}: ${visible(cut(dead_end.message, 300))}`,
  ];
  return `${came}: ${parts.filter((part) => part !== "").join(", ")}.`;
}

/** Show the result that is chosen. */
function view() {
  const { text, about } = views[shownViews.selected];
  const isJson = ["document", "report"].includes(shownViews.selected);
  const shown = text.slice(0, whole(text, SHOWN));
  const isCut = shown.length < text.length;
  page.content.textContent = isJson ? indented(shown) : visible(shown, "\n");
  page.content.hidden = text === "";
  page.about.hidden = text !== "" && !isCut;
  page.about.textContent = isCut
    ? `The first ${counted(shown.length, "character")} of ${text.length.toLocaleString("en")} are shown. The button copies all.`
    : about;
  page.copy.disabled = text === "";
}

/** As far as the output has come. */
function position() {
  const { value, max } = page.position;
  const length = output.text.length;
  return value === max ? length : whole(output.text, Math.round((length * value) / max));
}

/** Another output or contract was given: after a pause, the gate is asked. */
let pause;
function changed() {
  paused();
  const steps = Math.max(1, Math.min(STEPS, output.text.length));
  page.position.max = steps;
  page.position.value = steps;
  moved();
  clearTimeout(pause);
  pause = setTimeout(refresh, PAUSE);
}

/** The slider was moved. */
function moved() {
  const until = position();
  output.until = until;
  page.position.ariaValueText = `${until.toLocaleString("en")} of ${counted(output.text.length, "character")}`;
}

let isPlaying = false;
async function play() {
  if (isPlaying) {
    paused();
    return;
  }
  isPlaying = true;
  // Not each step is read out.
  page.example.ariaBusy = "true";
  page.play.textContent = "Pause";
  if (page.position.value === page.position.max) {
    page.position.value = 0;
  }
  while (isPlaying) {
    moved();
    await Promise.all([refresh(), new Promise((resolve) => setTimeout(resolve, STEP))]);
    if (page.position.value === page.position.max) {
      paused();
    } else if (isPlaying) {
      page.position.value = Number(page.position.value) + 1;
    }
  }
}

function paused() {
  isPlaying = false;
  page.example.ariaBusy = "false";
  page.play.textContent = "Replay";
}

async function give({ output: text, contract: by }) {
  output.text = text;
  contract.text = by;
  changed();
  clearTimeout(pause);
  await refresh();
  output.reveal();
  contract.reveal();
}

function notice(text) {
  page.notice.textContent = text;
}

/** Put output and contract into the address, and on the clipboard. */
async function link() {
  try {
    const fragment = await made(output.text, contract.text);
    history.replaceState(null, "", `#${fragment}`);
  } catch (error) {
    if (!(error instanceof LinkError)) {
      throw error;
    }
    notice(`There is no link. ${error.message}`);
    return;
  }
  const isCopied = await copied(location.href);
  notice(`The link is in the address bar${isCopied ? " and on the clipboard" : ""}. It holds output and contract.`);
}

/** Show what the link holds that was followed. */
async function follow() {
  const fragment = location.hash.slice(1);
  if (fragment === "") {
    return false;
  }
  try {
    linked = await read(fragment);
  } catch (error) {
    notice(`This link cannot be read: ${error.message}.`);
    return false;
  }
  if (!shownExamples.has("linked")) {
    shownExamples.add("linked", "From the link");
  }
  notice("");
  shownExamples.select("linked");
  await give(linked);
  return true;
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // It was not allowed, or is not there.
    return false;
  }
}

/** Runs work one at a time. Requests that arrive meanwhile are combined into one run afterwards. */
function oneAtATime(work) {
  let running;
  let isAskedAgain = false;
  const run = async () => {
    do {
      isAskedAgain = false;
      await work();
    } while (isAskedAgain);
    running = undefined;
  };
  return () => {
    isAskedAgain = true;
    running ??= run();
    return running;
  };
}

for (const [at, { title }] of examples.entries()) {
  shownExamples.add(at, title);
}
for (const [key, { title }] of Object.entries(views)) {
  shownViews.add(key, title);
}
shownViews.select("document");
page.position.addEventListener("input", () => {
  paused();
  moved();
  refresh();
});
page.play.addEventListener("click", play);
page.link.addEventListener("click", link);
page.copy.addEventListener("click", async () => {
  const isCopied = await copied(views[shownViews.selected].text);
  notice(isCopied ? "Copied." : "The browser does not let this page copy.");
});
addEventListener("hashchange", follow);

if (!(await follow())) {
  shownExamples.select("0");
  await give(examples[0]);
}
document.body.dataset.ready = "true";
