// Runs patterns in V8: reads lines {"pattern", "texts"}, and writes lines {"reading", "matches", "faults"}.
//
// A pattern is read with `u`. One that this refuses is read without it, by code points: there V8 goes by halves of what is
// outside of the basic plane, so each such character stands for one inside, in the same order.
//
// With `u` a match begins at a code point. V8 tries between the halves of one, too: where that alone gives a match, the
// answer is the right one, and the text is counted under `faults`.

import { readFileSync, writeFileSync } from "node:fs";
import vm from "node:vm";

const [, , from, to] = process.argv;

const PAIR = /\\(?:u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|[^])/giu;
const OUTSIDE = /[\u{10000}-\u{10ffff}]/gu;
const ONE_OUTSIDE = /[\u{10000}-\u{10ffff}]/u;

function regExp(pattern, flags) {
  try {
    return new RegExp(pattern, flags);
  } catch {
    return null;
  }
}

function joined(high, low) {
  return String.fromCharCode(parseInt(high, 16), parseInt(low, 16));
}

function strictly(pattern, text) {
  const sticky = new RegExp(pattern, "uy");
  for (let at = 0; at <= text.length; at += text.codePointAt(at) > 0xffff ? 2 : 1) {
    sticky.lastIndex = at;
    if (sticky.test(text)) return true;
  }
  return false;
}

function answer({ pattern, texts }) {
  const strict = regExp(pattern, "u");
  if (strict) {
    const plain = texts.map((text) => strict.test(text));
    const matches = texts.map((text, index) => (ONE_OUTSIDE.test(text) ? strictly(pattern, text) : plain[index]));
    return { reading: "u", matches, faults: matches.filter((is, index) => is !== plain[index]).length };
  }
  const inPairs = pattern.replace(PAIR, (all, high, low) => (high ? joined(high, low) : all));
  const outside = [...new Set([inPairs, ...texts].join("").match(OUTSIDE) ?? [])].sort();
  const inside = (text) => text.replace(OUTSIDE, (one) => String.fromCharCode(0xfff0 + outside.indexOf(one)));
  const loose = regExp(inside(inPairs), "");
  if (loose) return { reading: "annex-b", matches: texts.map((text) => loose.test(inside(text))), faults: 0 };
  return { reading: "none", matches: [], faults: 0 };
}

// Some patterns take an engine that goes back for ever.
const context = vm.createContext({ answer });
const script = new vm.Script("answer(asked)");

function within(asked) {
  context.asked = asked;
  try {
    return script.runInContext(context, { timeout: 2000 });
  } catch (error) {
    if (error.code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    return { reading: "too-slow", matches: [], faults: 0 };
  }
}

const lines = readFileSync(from, "utf8").split("\n").filter(Boolean);
writeFileSync(to, lines.map((line) => JSON.stringify(within(JSON.parse(line))) + "\n").join(""));
