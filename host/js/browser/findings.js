// Shows the findings of a verdict: in a list, and as marks in the text.

import { placeOf } from "./place.js";
import { cut, element, locate, visible, whole } from "./text.js";

/** The most characters of a line that are shown before and after a problem. */
const AROUND = 60;

/** The most findings that are listed. */
const MOST = 50;

/** Keywords and codes of problems with the name of a member. */
const NAMES = [
  "additionalProperties",
  "unevaluatedProperties",
  "propertyNames",
  "duplicate_member",
  "ignored_keyword",
  "misspelled_keyword",
];

/** Returns the findings about an output: what rejected it, items in quarantine, and repairs. */
export function findings({ error, quarantined, changes }) {
  const violation = (level) => (violation) => ({ level, code: `${level}[${violation.keyword}]`, ...told(violation) });
  return [
    ...(error?.violations ?? []).map(violation("error")),
    ...quarantined.map(({ reason, path, span, violations }) => ({
      level: "item",
      code: `warning[${reason}]`,
      text: `${path} is in quarantine`,
      span,
      inside: violations.map(violation("warning")),
    })),
    // The removal of an item is already reported by its quarantine.
    ...changes
      .filter(({ kind }) => kind !== "item_removed")
      .map(({ kind, path, span, before, after }) => ({
        level: "warning",
        code: `changed[${kind}]`,
        text: `${path}: ${after === "" ? `took out ${before}` : `${before === "" ? "put in" : `${before} became`} ${after}`}`,
        span,
      })),
  ];
}

/** Returns the findings about an invalid contract: the violations of a fault, with their positions in its text. */
export function mistakes(fault, contract) {
  const found = fault.detail?.violations ?? [];
  return found.map((violation) => {
    const mistake = { level: "error", code: `${fault.code}[${violation.keyword}]`, ...told(violation), span: null };
    return { ...mistake, place: place(violation, contract) };
  });
}

/** Returns the likely mistakes in a contract, with their positions in its text. */
export function likely(warnings, contract) {
  return warnings.map(({ code, path, message, pointer, level }) => ({
    level: level === "error" ? "error" : "warning",
    code: `lint[${code}]`,
    text: `${path} ${message}`,
    span: null,
    place: placeIn(contract, pointer, code),
  }));
}

function place({ keyword, pointer, span }, contract) {
  if (keyword === "json" && span !== null) {
    const { places } = locate(contract, span);
    return span.map((offset) => places.get(offset).at);
  }
  try {
    JSON.parse(contract);
  } catch {
    return undefined;
  }
  // Its spans are places in the contract as the component got it, without white space.
  return placeIn(contract, pointer, keyword);
}

/** What is wrong by its name is shown by that, anything else by its value. */
function placeIn(contract, pointer, code) {
  const { name, value } = placeOf(contract, pointer);
  return NAMES.includes(code) && name !== undefined ? name : value;
}

function told({ path, message, expected, span }) {
  return { text: `${path} ${message}`, span, expected };
}

/**
 * The marks of findings in a text. A finding gets the place of its line, and its mark, as `line` and `mark`; one inside
 * another gets a mark of its own.
 */
export function marksOf(all, text) {
  const flat = all.flatMap((finding) => [finding, ...(finding.inside ?? [])]);
  const spans = flat.flatMap((finding) => finding.place ?? finding.span ?? []);
  const isPlaced = flat.some((finding) => finding.place !== undefined);
  const { places } = isPlaced ? linesAt(text, spans) : locate(text, spans);
  const marks = [];
  for (const finding of flat) {
    const span = finding.place ?? finding.span;
    if (span === null || span === undefined) {
      continue;
    }
    const [start, end] = span.map((offset) => places.get(offset));
    // With findings inside, those are where to go.
    const isStop = !(finding.inside ?? []).some((inner) => inner.span !== null);
    const { level, code, text: message } = finding;
    const seen = level === "item" ? [start.at, end.at] : underlined(text, start.at, end.at);
    finding.line = { ...start, to: Math.min(end.at, seen[1]) };
    finding.mark = { from: seen[0], to: seen[1], level, code, text: message, isStop };
    if (seen[1] > seen[0]) {
      marks.push(finding.mark);
    }
  }
  for (const finding of all) {
    if (finding.inside !== undefined) {
      // In the list, an item is shown with its problems.
      const inner = finding.inside.find(({ mark }) => mark !== undefined);
      finding.line = inner?.line ?? finding.line;
      finding.goes = inner?.mark ?? finding.mark;
    } else {
      finding.goes = finding.mark;
    }
  }
  return marks;
}

/** The same as {@link locate} for places in the string. */
function linesAt(text, offsets) {
  const places = new Map();
  for (const at of offsets) {
    const before = text.slice(0, at);
    const begin = before.lastIndexOf("\n") + 1;
    places.set(at, { at, begin, line: before.split("\n").length, column: [...before.slice(begin)].length + 1 });
  }
  return { places };
}

/**
 * What is underlined for a span: of several lines the first, of a long array or object its bracket, and of nothing a
 * character beside it.
 */
function underlined(text, start, end) {
  const line = text.indexOf("\n", start);
  const most = "[{".includes(text[start]) && end - start > AROUND ? start + 1 : start + 4 * AROUND;
  const to = Math.min(end, most, line === -1 ? end : line);
  if (to > start) {
    return [start, whole(text, to)];
  }
  const isAtEnd = start >= text.length || text[start] === "\n";
  return isAtEnd ? [Math.max(0, start - 1), start] : [start, start + 1];
}

/** A list of findings; `go` is called with the mark of one that a person chooses. */
export function listed(all, text, go) {
  const shown = all.slice(0, MOST).map((finding) => entry(finding, text, go));
  if (all.length > MOST) {
    shown.push(element("p", "quiet", `and ${all.length - MOST} more, which the report has`));
  }
  return shown;
}

function entry(finding, text, go) {
  const first = finding.inside?.[0];
  const rest = first === undefined ? finding.text : `${finding.text}: ${first.text}`;
  const name = [element("b", "", finding.code), `: ${visible(cut(rest, 600))}`];
  const title = element("h2", "");
  if (finding.goes === undefined) {
    title.append(...name);
  } else {
    const button = element("button", "place", ...name);
    button.type = "button";
    button.title = "Show it in the text";
    button.addEventListener("click", () => go(finding.goes));
    title.append(button);
  }
  const shown = [title];
  const expected = (first ?? finding).expected ?? "";
  if (finding.line !== undefined) {
    shown.push(excerpt(finding.line, text, expected));
  }
  return element("section", `finding ${finding.level}`, ...shown);
}

/** The line where something is wrong. */
function excerpt({ line, column, begin, at, to }, text, expected) {
  const next = text.indexOf("\n", at);
  const stop = next === -1 ? text.length : next;
  const end = Math.min(to, stop, at + AROUND);
  const before = text.slice(Math.max(begin, at - AROUND), at);
  const code = element(
    "pre",
    "",
    visible(begin < at - AROUND ? `…${before}` : before.trimStart()),
    element("mark", "", visible(text.slice(at, end)) || " "),
    visible(text.slice(end, Math.min(stop, end + AROUND))),
    end + AROUND < stop ? "…" : "",
  );
  const shown = element("div", "excerpt", element("pre", "gutter", `${line}:${column}`), code);
  if (expected !== "") {
    shown.append(element("pre", "gutter"), element("pre", "expected", `expected ${visible(cut(expected, 300))}`));
  }
  return shown;
}
