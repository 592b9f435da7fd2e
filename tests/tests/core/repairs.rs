//! A repair loses nothing and invents nothing. The tests use documents with damaged syntax, and texts from files.

use std::{collections::BTreeMap, fs};

use seamgate_checks::scalars::{all_words, missing, repairs_keep_words, scalars, words};
use seamgate_core::{ChangeKind, Contract, Report, Request, validate};
use seamgate_tests::Random;
use serde_json::{Value, json};

/// The number of documents to damage.
const DAMAGES: usize = 100_000;

/// The kinds of changes whose spans cover the omitted text.
const TOLD: [&str; 5] = ["dropped", "around", "stray", "item_removed", "member_removed"];

/// Values as in real documents. Each of them looks like something else in some context.
const TEXTS: [&str; 40] = [
    "#fff",
    "#12ab34",
    "#sale",
    "#sale #new",
    "#12",
    "https://x.org/a#b",
    "http://x.org",
    "//cdn/x",
    "/usr/*/lib",
    "src/*.js",
    "C:\\x",
    "C:\\new\\dir",
    "A7",
    "ORD-1042",
    "4f9a",
    "1,234.50",
    "$5",
    "12",
    "12.50",
    "007",
    "5\"",
    "5\" pipe",
    "a 24\" screen",
    "say \"hi\" now",
    "\"quoted\"",
    "it's",
    "dogs' bowls",
    "rock 'n' roll",
    "12:30",
    "2026-11-20",
    "555 1234",
    "+1 555-1234",
    "12 #4 Main St",
    "see // below",
    "true",
    "None",
    "",
    "one, two",
    "note: three",
    "“x” é",
];

const NUMBERS: [&str; 8] = ["0", "1", "-2.5", "1e3", "12.50", "42", "1042", "9007199254740993"];

const NAMES: [&str; 12] =
    ["a", "color", "refs", "u", "price", "size", "it's", "x-y", "two words", "#id", "12", "at: 5"];

/// Comments in common styles. Some of them hide the rest of their line.
const COMMENTS: [&str; 14] = [
    "/* zzq */",
    "/* zzq, zzr */",
    " // zzq\n",
    " # zzq\n",
    " // zzq, zzr\n",
    " //zzq\n",
    " #zzq\n",
    "\n// zzq\n",
    "\n# zzq zzr\n",
    " // zzq ",
    " # zzq ",
    " //zzq ",
    " #zzq ",
    "/* zzq ",
];

/// A token of a document, which is kept or lost as a whole.
#[derive(Clone)]
struct Piece {
    text: String,
    is_string: bool,
    /// Whether the token has lost quotes, a comma or a colon.
    is_damaged: bool,
    has_lost_quote: bool,
}

/// A writer of random documents as tokens: brackets, punctuation, scalars and white space.
struct Writer<'r> {
    random: &'r mut Random,
    pieces: Vec<Piece>,
    style: usize,
}

impl Writer<'_> {
    fn put(&mut self, text: &str) {
        self.pieces.push(Piece { text: text.to_owned(), is_string: false, is_damaged: false, has_lost_quote: false });
    }

    fn string(&mut self, text: &str) {
        self.pieces.push(Piece {
            text: Value::from(text).to_string(),
            is_string: true,
            is_damaged: false,
            has_lost_quote: false,
        });
    }

    fn line(&mut self, depth: usize, between: bool) {
        match self.style {
            0 => {}
            1 if between => self.put(" "),
            1 => {}
            _ => self.put(&format!("\n{}", "  ".repeat(depth))),
        }
    }

    fn scalar(&mut self) {
        match self.random.below(10) {
            0..=6 => {
                let text = self.random.one(&TEXTS);
                self.string(text);
            }
            7 | 8 => {
                let number = self.random.one(&NUMBERS);
                self.put(number);
            }
            _ => {
                let literal = self.random.one(&["true", "false", "null"]);
                self.put(literal);
            }
        }
    }

    fn value(&mut self, depth: usize) {
        match self.random.below(6) {
            0 if depth < 3 => self.array(depth),
            1 if depth < 3 => self.object(depth),
            _ => self.scalar(),
        }
    }

    fn array(&mut self, depth: usize) {
        self.put("[");
        for index in 0..self.random.below(4) {
            if index > 0 {
                self.put(",");
            }
            self.line(depth + 1, index > 0);
            self.value(depth + 1);
        }
        self.line(depth, false);
        self.put("]");
    }

    fn object(&mut self, depth: usize) {
        self.put("{");
        let first = self.random.below(NAMES.len());
        for index in 0..self.random.below(5) {
            if index > 0 {
                self.put(",");
            }
            self.line(depth + 1, index > 0);
            self.string(NAMES[(first + index) % NAMES.len()]);
            self.put(if self.style == 0 { ":" } else { ": " });
            self.value(depth + 1);
        }
        self.line(depth, false);
        self.put("}");
    }

    /// Writes a list of items, with members before and after it.
    fn list(&mut self) {
        self.put("{");
        self.string("first");
        self.put(":");
        self.scalar();
        self.put(",");
        self.line(1, true);
        self.string("list");
        self.put(":");
        self.put("[");
        for index in 0..1 + self.random.below(4) {
            if index > 0 {
                self.put(",");
            }
            self.line(2, index > 0);
            match self.random.below(4) {
                0 => self.scalar(),
                _ => self.object(2),
            }
        }
        self.line(1, false);
        self.put("]");
        self.put(",");
        self.line(1, true);
        self.string("last");
        self.put(":");
        self.scalar();
        self.line(0, false);
        self.put("}");
    }
}

/// Damages the syntax of a document, with or without items. Returns a description of the damage. Skips damage that is
/// impossible to detect: a comment on a line of its own may contain any text, two missing quotes turn two strings into
/// one, and some texts are values without their quotes.
fn damage(random: &mut Random, pieces: &mut Vec<Piece>, items: bool) -> String {
    let strings: Vec<usize> = (0..pieces.len()).filter(|at| pieces[*at].is_string).collect();
    let marks = |mark: &str| (0..pieces.len()).filter(|at| pieces[*at].text.trim() == mark).collect::<Vec<_>>();
    let kind = random.below(13);
    let of = match kind {
        0..=6 => strings,
        7 | 8 => (1..pieces.len()).collect(),
        9 | 10 => marks(","),
        11 => (0..pieces.len()).filter(|at| ["true", "false", "null"].contains(&&*pieces[*at].text)).collect(),
        _ => marks(":"),
    };
    if of.is_empty() {
        return "nothing".to_owned();
    }
    let at = random.one(&of);
    let text = pieces[at].text.clone();
    let between = (at > 0).then(|| [&pieces[at - 1].text, &pieces[(at + 1) % pieces.len()].text]);
    if kind == 10 && between.is_some_and(|both| both.iter().all(|text| text.contains(char::is_alphanumeric))) {
        return "nothing".to_owned();
    }
    let is_value = ["\"\"", "\"1,234.50\""].contains(&&*text);
    let takes_out = matches!(kind, 0 | 1 | 10 | 12);
    let hidden = items && takes_out && pieces.iter().any(|piece| piece.text.contains("zzq"));
    let has_lost = pieces.iter().any(|piece| piece.is_damaged && (kind < 2 || piece.has_lost_quote));
    if (kind < 2 && is_value) || (takes_out && has_lost) || hidden {
        return "nothing".to_owned();
    }
    let inside = text.get(1..text.len().max(2) - 1).unwrap_or_default().to_owned();
    let side = random.below(3);
    let around = |quote: &str| {
        let (open, close) = [("\"", quote), (quote, "\""), (quote, quote)][side];
        format!("{open}{inside}{close}")
    };
    let (what, new) = match kind {
        0 | 1 => ("quotes dropped", around("")),
        2 | 3 => ("quotes doubled", around("\"\"")),
        4 => ("single quotes", format!("'{}'", inside.replace("\\\"", "\""))),
        5 => ("curly quotes", format!("“{}”", inside.replace("\\\"", "\""))),
        6 => ("quotes not escaped", format!("\"{}\"", inside.replace("\\\"", "\""))),
        7 | 8 => {
            let comment = random.one(&COMMENTS);
            let before: String = pieces[..at].iter().map(|piece| &*piece.text).collect();
            let begins_line = before.trim_end_matches(' ').ends_with('\n');
            let hides = !comment.ends_with(['\n', '/']);
            if pieces.iter().any(|piece| piece.text.contains("zzq")) || (begins_line && hides) {
                return "nothing".to_owned();
            }
            pieces.insert(
                at,
                Piece { text: comment.to_owned(), is_string: false, is_damaged: false, has_lost_quote: false },
            );
            return format!("comment {comment:?}");
        }
        9 => ("comma doubled", ",,".to_owned()),
        10 => ("comma dropped", String::new()),
        11 => (
            "Python literal",
            match &*text {
                "true" => "True",
                "false" => "False",
                _ => "None",
            }
            .to_owned(),
        ),
        _ => ("colon dropped", text.replace(':', "")),
    };
    pieces[at] = Piece { text: new, is_string: false, is_damaged: takes_out, has_lost_quote: kind < 2 };
    format!("{what} at {text}")
}

/// Text around a document, as models write it.
const AROUND: [(&str, &str); 6] = [
    ("", ""),
    ("", ""),
    ("", "\n\nHope this helps!"),
    ("Here it is:\n\n", ""),
    ("Here it is: ", ""),
    ("Here is what I found [1]:\n", "\n\nTell me if it's wrong."),
];

fn contract(items: bool) -> Contract {
    let mut contract = json!({"agent": "a", "schema": true, "repair": "syntax"});
    if items {
        contract["items"] = json!({"path": "$.list[*]", "schema": true});
    }
    Contract::compile(&contract.to_string()).expect("a contract")
}

fn judge(contract: &Contract, output: &str) -> Report {
    validate(contract, &Request { output, ..Request::default() }).expect("a report")
}

/// Returns the pieces of a text that a report lists as omitted, without comments.
fn told<'t>(report: &Report, output: &'t str) -> Vec<&'t str> {
    let changes =
        report.changes.iter().filter(|change| TOLD.contains(&change.kind.as_str())).filter_map(|change| change.span);
    let spans = changes.chain(report.quarantined.iter().filter_map(|item| item.span));
    let mut spans: Vec<_> = spans.map(|span| (span.start as usize, span.end as usize)).collect();
    // A quarantined item may also be part of a change. Its text is counted once.
    spans.sort_unstable();
    let mut at = 0;
    let piece = |(start, end): (usize, usize)| {
        let start = start.max(at);
        at = at.max(end);
        (start < end).then(|| &output[start..end])
    };
    spans.into_iter().filter_map(piece).collect()
}

#[test]
fn a_repair_loses_nothing_and_invents_nothing() {
    for items in [false, true] {
        let contract = contract(items);
        let mut random = Random(0x7f4a_7c15_9e37_79b9);
        let (mut repaired, mut not, mut whole, mut lost, mut invented) = (0, 0, 0, 0, 0);
        let mut shown = Vec::new();
        let mut by_kind: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for round in 0..DAMAGES {
            let mut writer = Writer { style: round % 3, random: &mut random, pieces: Vec::new() };
            match (items, writer.random.below(2)) {
                (true, _) => writer.list(),
                (false, 0) => writer.object(0),
                (false, _) => writer.array(0),
            }
            let mut pieces = writer.pieces;
            let original: String = pieces.iter().map(|piece| &*piece.text).collect();
            let damages: Vec<String> =
                (0..1 + random.below(3)).map(|_| damage(&mut random, &mut pieces, items)).collect();
            let output: String = pieces.iter().map(|piece| &*piece.text).collect();
            let (before, after) = AROUND[round / 3 % AROUND.len()];
            // The damaged text is JSON with another meaning.
            if serde_json::from_str::<Value>(&output).is_ok() {
                continue;
            }
            let output = format!("{before}{output}{after}");
            let report = judge(&contract, &output);
            // Counts the result by kind if there is only one damage.
            let done: Vec<&String> = damages.iter().filter(|damage| *damage != "nothing").collect();
            if let [damage] = done[..] {
                let kind = damage.split(" at ").next().unwrap_or_default();
                let (all, whole) = by_kind.entry(kind.to_owned()).or_default();
                *all += 1;
                *whole += usize::from(report.output.is_some());
            }
            let Some(document) = &report.output else {
                not += 1;
                continue;
            };
            repaired += 1;
            // The feedback may say that nothing needs to be sent again only if the document is complete.
            let inside = Report {
                changes: report.changes.iter().filter(|change| change.kind != ChangeKind::Around).cloned().collect(),
                ..report.clone()
            };
            let told_nothing = told(&inside, &output).iter().all(|piece| all_words(piece).is_empty());
            let is_whole = report.feedback.ends_with("\nNothing needs to be sent again.");
            assert!(!is_whole || (told_nothing && report.quarantined.is_empty()), "{}", report.to_json());
            whole += usize::from(is_whole);
            let literal = |text: String| if text == "None" { "null".to_owned() } else { text };
            let [from, to] =
                [&original, document].map(|text| scalars(text).into_iter().map(literal).collect::<Vec<_>>());
            let told = told(&report, &output);
            let all_told = told.iter().flat_map(|piece| all_words(piece)).chain(words(document));
            let vanished = match told.is_empty() {
                true => missing(&from, to.iter().cloned()),
                false => missing(&words(&original), all_told),
            };
            let new = missing(&to, from.iter().cloned());
            lost += usize::from(!vanished.is_empty());
            invented += usize::from(!new.is_empty());
            if !vanished.is_empty() || !new.is_empty() {
                shown.push(format!("{damages:?}\n  {original}\n  {output}\n  {document}\n  {vanished:?} {new:?}"));
            }
        }
        for (kind, (all, whole)) in by_kind {
            println!("  {kind}: {whole} of {all} repaired");
        }
        for one in shown.iter().take(20) {
            println!("{one}");
        }
        println!(
            "items {items}: of {} damaged documents {repaired} were repaired ({whole} with nothing to ask for), {not} were not; {lost} times a scalar \
             vanished, {invented} times one was invented",
            repaired + not
        );
        assert_eq!((lost, invented), (0, 0));
        assert!(repaired * 4 > not, "{repaired} {not}");
    }
}

/// Pieces of JSON, pieces that can be mistaken for JSON, and pieces that look like comments.
const PIECES: [&str; 48] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "'",
    "\\",
    "\n",
    " ",
    "\"id\"",
    "\"a\":",
    "\"id\":1",
    "{\"id\":1}",
    "[1,2]",
    "“",
    "”",
    "‘",
    "`",
    "//",
    "/*",
    "*/",
    "#",
    " #",
    " // ",
    "#fff",
    "//cdn/x",
    "true",
    "None",
    "nul",
    "-",
    "1",
    "12.5e3",
    "x",
    "a b",
    "b:",
    "\u{a0}",
    "\\u00e9",
    "\\n",
    "\\'",
    "\t",
    "\u{1}",
    "\"\"",
    "''",
    "},{",
    "\n# two words\n",
    ",\n  \"",
];

#[test]
fn changes_of_any_text_keep_each_word() {
    let contract = contract(false);
    let mut random = Random(0x1b87_3593_cc9e_2d51);
    let mut repaired = 0;
    for _ in 0..DAMAGES {
        let mut text = String::from(random.one(&["", "{", "[", "{\"a\":["]));
        for _ in 0..random.below(16) {
            text.push_str(random.one(&PIECES));
        }
        text.push_str(random.one(&["", "}", "]", "]}"]));
        let report = judge(&contract, &text);
        repaired += usize::from(report.output.is_some() && !report.changes.is_empty());
        let report = serde_json::from_str(&report.to_json()).expect("a report");
        repairs_keep_words(&report, &text).unwrap_or_else(|error| panic!("{error}: {text:?}"));
    }
    println!("of {DAMAGES} texts {repaired} were repaired");
    assert!(repaired * 100 > DAMAGES, "{repaired}");
}

/// The same test for arbitrary texts: each word outside a comment is in the output, or in the text that the report
/// lists as omitted. `SEAMGATE_TEXTS` names the files. Each file contains JSON lines, whose `input` is the text:
///
/// ```sh
/// SEAMGATE_TEXTS="$(ls broken/*.jsonl)" cargo test -p seamgate-tests --test core -- of_files --nocapture
/// ```
#[test]
fn repairs_of_files_lose_no_word() {
    let files = std::env::var("SEAMGATE_TEXTS").unwrap_or_default();
    let contract = contract(false);
    let (mut texts, mut repaired, mut lost) = (0, 0, 0);
    for file in files.split_whitespace() {
        for line in fs::read_to_string(file).expect("a file").lines() {
            let line: Value = serde_json::from_str(line).expect("JSON");
            let output = line["input"].as_str().expect("an input");
            let report = judge(&contract, output);
            let chosen = report.candidates.iter().find(|candidate| candidate.chosen);
            texts += 1;
            let (Some(document), Some(chosen)) = (&report.output, chosen) else { continue };
            let text = &output[chosen.span.start as usize..chosen.span.end as usize];
            repaired += usize::from(!report.changes.is_empty());
            let told = told(&report, output);
            let vanished = missing(&words(text), told.iter().flat_map(|piece| all_words(piece)).chain(words(document)));
            if !vanished.is_empty() {
                lost += 1;
                println!("{output:?} became {document:?}: {vanished:?}");
            }
        }
    }
    println!("of {texts} texts {repaired} were repaired; from {lost} a word vanished");
    assert_eq!(lost, 0);
}
