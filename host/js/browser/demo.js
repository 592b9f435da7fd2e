// What an agent wrote, and the verdict on it, as `seamgate check` shows it. Texts of the producer only ever become
// text.

import { SeamgateFault, WorkerGate } from "./seamgate/dist/browser.js";

const contract = {
  agent: "triage",
  description: "Ranked list of the issues to look at first today",
  schema: {
    type: "object",
    required: ["date", "recommendations"],
    additionalProperties: false,
    properties: {
      date: { type: "string", format: "date" },
      recommendations: {
        type: "array",
        items: {
          type: "object",
          required: ["issue", "severity", "link"],
          additionalProperties: false,
          properties: {
            issue: { type: "string", minLength: 1 },
            severity: { enum: ["critical", "high", "medium", "low"] },
            link: { type: "string", format: "uri" },
          },
        },
      },
    },
  },
  repair: "syntax",
  items: { path: "$.recommendations[*]", max: 7 },
};

const output = `Good morning! These are the issues to look at first:

\`\`\`json
{
  "date": "2026-03-12",
  "recommendations": [
    {
      "issue": "Sign-in fails for some users",
      "severity": "critical",
      "link": "https://issues.example.com/412"
    },
    {
      "issue": "Half of the webhooks arrive twice",
      "severity": "urgent",
      "link": "https://issues.example.com/398"
    },
    {
      "issue": "The export is slow",
      "severity": "low",
      "link": "issues.example.com/377, see comment 4"
    },
    {
      "issue": "Invoices show the wrong <b>currency</b>",
      "severity": "high",
      "link": "https://issues.example.com/401"
    },
  ]
}
\`\`\`
`;

/** As much of a line as is shown before and after what is wrong. */
const AROUND = 60;

/** As many findings as are shown. */
const MOST = 20;

const page = Object.fromEntries(
  ["output", "contract", "disposition", "summary", "findings", "document", "data", "usage"].map((id) => [
    id,
    document.getElementById(id),
  ]),
);

/** An element with a class and what is in it: elements, and texts, which stay texts. */
function element(name, className, ...children) {
  const made = document.createElement(name);
  made.className = className;
  made.append(...children);
  return made;
}

/** The line of a text where a span of its bytes is, in the parts before, in and after it. */
function line(text, [start, end]) {
  const bytes = new TextEncoder().encode(text);
  const upTo = (at) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, at)).length;
  const [from, to] = [upTo(start), upTo(end)];
  const begin = text.lastIndexOf("\n", from - 1) + 1;
  const next = text.indexOf("\n", from);
  const stop = next === -1 ? text.length : next;
  return {
    number: text.slice(0, begin).split("\n").length,
    column: [...text.slice(begin, from)].length + 1,
    before: text.slice(Math.max(begin, from - AROUND), from).trimStart(),
    inside: text.slice(from, Math.min(to, stop, from + AROUND)),
    after: text.slice(Math.min(to, stop, from + AROUND), Math.min(stop, to + AROUND)),
  };
}

/** What cannot be seen, or turns the direction of writing, is shown as an escape. */
function visible(text) {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (hidden) =>
    hidden === "\t" ? "  " : `\\u{${hidden.codePointAt(0).toString(16)}}`,
  );
}

function finding(kind, title, rest, { span, expected = "" }, raw) {
  const shown = [element("h2", "", element("b", "", title), visible(rest))];
  if (span !== null && span !== undefined) {
    const { number, column, before, inside, after } = line(raw, span);
    const code = element("pre", "", element("span", "gutter", `${number}:${column} │ `));
    code.append(visible(before), element("mark", "", visible(inside) || " "), visible(after));
    if (expected !== "") {
      code.append(
        "\n",
        element("span", "expected", `${" ".repeat(`${number}:${column}`.length)} │ expected ${visible(expected)}`),
      );
    }
    shown.push(code);
  }
  return element("section", `finding ${kind}`, ...shown);
}

function findings({ error, quarantined, changes }, raw) {
  const errors = (error?.violations ?? []).map((violation) =>
    finding("error", `error[${violation.keyword}]`, `: ${violation.path} ${violation.message}`, violation, raw),
  );
  const items = quarantined.map(({ reason, path, span, violations }) => {
    const [first] = violations;
    const what = first === undefined ? " is in quarantine" : ` is in quarantine: ${first.path} ${first.message}`;
    return finding("warning", `warning[${reason}]`, `: ${path}${what}`, first ?? { span }, raw);
  });
  const repairs = changes
    .filter(({ kind }) => kind !== "item_removed")
    .map((change) => finding("warning", `changed[${change.kind}]`, `: ${change.path}`, change, raw));
  return [...errors, ...items, ...repairs];
}

/** JSON text with white space put in and nothing else: numbers keep their digits. */
function indented(json) {
  let depth = 0;
  return json.replace(/"(?:[^"\\]|\\.)*"|\{\}|\[\]|[{}[\],:]/g, (token) => {
    const line = () => `\n${"  ".repeat(depth)}`;
    switch (token) {
      case "{":
      case "[":
        depth += 1;
        return token + line();
      case "}":
      case "]":
        depth -= 1;
        return line() + token;
      case ",":
        return token + line();
      case ":":
        return ": ";
      default:
        return visible(token);
    }
  });
}

function counted(number, what) {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

function show({ report, usage }) {
  const all = findings(report, report.raw);
  const parts = [
    report.error === null ? "" : counted(report.error.violations.length, "violation"),
    report.quarantined.length === 0 ? "" : `${counted(report.quarantined.length, "item")} in quarantine`,
    report.review_required ? "look before use" : "",
    report.error?.retryable ? "another attempt can help" : "",
  ];
  told(report.disposition, parts.filter((part) => part !== "").join(", "));
  page.findings.replaceChildren(...all.slice(0, MOST));
  if (all.length > MOST) {
    page.findings.append(element("p", "gutter", `and ${all.length - MOST} more`));
  }
  page.document.hidden = report.outputJson === null;
  page.data.textContent = indented(report.outputJson ?? "");
  const { fuel, memory, elapsed } = usage;
  page.usage.textContent = `${fuel.toLocaleString("en")} fuel, ${memory / 1024} KiB, ${elapsed.toFixed(1)} ms`;
}

function told(disposition, summary) {
  page.disposition.textContent = disposition;
  page.disposition.className = `disposition ${disposition}`;
  page.summary.textContent = summary;
}

function failed(error) {
  const code = error instanceof SeamgateFault ? error.code : error.name;
  told("fault", "no verdict");
  page.findings.replaceChildren(finding("error", `fault[${code}]`, `: ${error.message}`, {}, ""));
  page.document.hidden = true;
  page.usage.textContent = "";
}

const gate = await WorkerGate.load({ workers: 1, deadline: 2000 });

let latest = 0;
async function check() {
  latest += 1;
  const mine = latest;
  try {
    // A text without brackets would be an agent's name.
    const contract = page.contract.value.trim();
    const verdict = await gate.validate(contract.startsWith("{") ? contract : `{${contract}`, page.output.value);
    if (mine === latest) {
      show(verdict);
    }
  } catch (error) {
    if (mine === latest) {
      failed(error);
    }
  }
}

page.contract.value = JSON.stringify(contract, undefined, 2);
page.output.value = output;
page.contract.addEventListener("input", check);
page.output.addEventListener("input", check);
await check();
document.body.dataset.ready = "true";
