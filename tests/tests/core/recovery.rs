//! One damaged item costs only one item. Lists are damaged at random places and at every structural character, and
//! truncated at every byte.

use seamgate_checks::{changes::changes_give_what_was_validated, items::nothing_is_lost_between_items};
use seamgate_core::{Contract, Report, Request, validate};
use seamgate_tests::{Random, indented};
use serde_json::{Value, json};

/// The number of lists to damage, and the number of texts of pieces to judge.
const DAMAGES: usize = 100_000;
const TEXTS_OF_PIECES: usize = 200_000;

/// Texts as agents write them, including JSON punctuation.
const TEXTS: [&str; 9] = [
    "plain words",
    "with, commas: and {braces}",
    "say \"hi\", ok",
    "tab\tand\nline",
    "é ü — “x”",
    "",
    "a}, {b",
    "x]",
    "it's",
];

fn item(random: &mut Random, number: usize) -> Value {
    let mut item = json!({"id": format!("ID-{number}"), "rank": number, "text": random.one(&TEXTS)});
    if random.below(2) == 0 {
        item["tags"] = json!(["a", random.one(&TEXTS)]);
    }
    if random.below(2) == 0 {
        item["meta"] = json!({"k": random.one(&TEXTS), "n": 1.5});
    }
    if random.below(3) == 0 {
        item["refs"] = json!([{"u": 1}, {"u": 2, "w": "z"}]);
    }
    item
}

/// The style of a list: minified, pretty-printed, or with each item on a line.
#[derive(Clone, Copy)]
enum Style {
    Minified,
    Pretty,
    Lines,
}

const STYLES: [Style; 3] = [Style::Minified, Style::Pretty, Style::Lines];

impl Style {
    /// Returns the text before, between and after the items.
    fn around(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Style::Minified => ("{\"date\":\"d\",\"list\":[", ",", "],\"end\":{\"z\":[1]}}"),
            Style::Lines => ("{\"date\":\"d\",\"list\":[\n", ",\n", "\n],\"end\":{\"z\":[1]}}"),
            Style::Pretty => (
                "{\n  \"date\": \"d\",\n  \"list\": [\n    ",
                ",\n    ",
                "\n  ],\n  \"end\": {\n    \"z\": [\n      1\n    ]\n  }\n}",
            ),
        }
    }

    /// Formats an item that is written without white space.
    fn text(self, item: &str) -> String {
        match self {
            Style::Pretty => indented(item).trim_end().replace('\n', "\n    "),
            _ => item.to_owned(),
        }
    }

    fn item(self, item: &Value) -> String {
        match self {
            Style::Pretty => serde_json::to_string_pretty(item).expect("JSON").replace('\n', "\n    "),
            _ => item.to_string(),
        }
    }
}

/// Truncates an item, or inserts, removes or swaps a byte. Returns the text, the kind of the damage, and whether it
/// affects quotes or backslashes.
fn damage(random: &mut Random, text: &str) -> (String, String, bool) {
    let mut bytes = text.as_bytes().to_vec();
    let at = random.below(bytes.len());
    let new = random.one(b"{}[],:\"\\ a1\n'");
    let is_quote = |byte: u8| matches!(byte, b'"' | b'\\');
    let (what, quotes) = match random.below(4) {
        0 => {
            let quotes = bytes[at..].iter().copied().any(is_quote);
            bytes.truncate(at);
            (format!("cut at {at}"), quotes)
        }
        1 => {
            bytes.insert(at, new);
            (format!("{:?} put in at {at}", new as char), is_quote(new))
        }
        2 => {
            let old = bytes.remove(at);
            (format!("{:?} taken out at {at}", old as char), is_quote(old))
        }
        _ => {
            let old = std::mem::replace(&mut bytes[at], new);
            (format!("{:?} for {:?} at {at}", new as char, old as char), is_quote(old) || is_quote(new))
        }
    };
    (String::from_utf8_lossy(&bytes).into_owned(), what, quotes)
}

fn contract(repair: &str) -> Contract {
    let contract = json!({
        "agent": "a", "schema": true, "repair": repair, "items": {"path": "$.list[*]", "schema": true}
    });
    Contract::compile(&contract.to_string()).expect("a contract")
}

fn judge(contract: &Contract, output: &str) -> Report {
    validate(contract, &Request { output, ..Request::default() }).expect("a report")
}

/// Returns the items that a report delivers, in the output or separately.
fn delivered(report: &Report) -> Vec<Value> {
    let value = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
    match &report.output {
        Some(output) => {
            let output = value(output);
            output.get("list").unwrap_or(&output).as_array().cloned().unwrap_or_default()
        }
        None => report.items.iter().map(|item| value(&item.value)).collect(),
    }
}

#[test]
fn a_damaged_item_costs_no_other() {
    for repair in ["none", "syntax"] {
        let contract = contract(repair);
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let (mut whole, mut by_quotes, mut otherwise, mut lost, mut foreign) = (0, 0, 0, 0, 0);
        for round in 0..DAMAGES {
            let items: Vec<Value> = (0..2 + random.below(8)).map(|number| item(&mut random, number)).collect();
            let style = STYLES[round % STYLES.len()];
            let hit = random.below(items.len());
            let mut quotes = false;
            let texts: Vec<String> = items
                .iter()
                .enumerate()
                .map(|(number, item)| {
                    let text = style.item(item);
                    if number != hit {
                        return text;
                    }
                    let (damaged, _, has_quotes) = damage(&mut random, &text);
                    quotes = has_quotes;
                    damaged
                })
                .collect();
            let (before, between, after) = style.around();
            let output = format!("{before}{}{after}", texts.join(between));
            let delivered = delivered(&judge(&contract, &output));
            let missing =
                items.iter().enumerate().filter(|(number, item)| *number != hit && !delivered.contains(item)).count();
            match (missing, quotes) {
                (0, _) => whole += 1,
                (_, true) => by_quotes += 1,
                (_, false) => otherwise += 1,
            }
            lost += missing;
            // The damaged item may still be JSON. Every other unknown item is a piece that was mistaken for an item.
            foreign += usize::from(delivered.iter().filter(|item| !items.contains(item)).count() > 1);
        }
        println!(
            "repair {repair}: of {DAMAGES} damages {whole} cost no other item, {by_quotes} in quotes and {otherwise} \
             others do, {lost} items; {foreign} times a piece of an item was taken for one"
        );
        assert!(whole * 1000 >= DAMAGES * 998, "{whole} of {DAMAGES}");
        assert!(foreign * 1000 <= DAMAGES, "{foreign} of {DAMAGES}");
    }
}

/// The name of a shape, and the function that writes an item of this shape.
type Shape = (&'static str, fn(usize) -> String);

/// The shapes of items, as text, because the order of their members matters. If items contain other items of the same
/// shape, only the brackets distinguish them.
const SHAPES: [Shape; 7] = [
    ("flat", |n| {
        format!(r#"{{"id":{n},"text":"some words","tags":["a","b"],"meta":{{"k":"v","n":1.5}},"done":true}}"#)
    }),
    ("comments and replies", |n| {
        let replies = format!(r#"{{"id":{n}1,"text":"a reply"}},{{"id":{n}2,"text":"another"}}"#);
        format!(r#"{{"id":{n},"text":"a comment","replies":[{replies}]}}"#)
    }),
    ("issues and labels", |n| {
        let labels = format!(r#"{{"name":"label {n}","color":"red"}},{{"name":"bug"}}"#);
        format!(r#"{{"name":"issue {n}","labels":[{labels}],"open":true}}"#)
    }),
    ("tasks and steps", |n| {
        let step = |number: usize| format!(r#"{{"id":"T{n}.{number}","name":"a step","done":true}}"#);
        let owner = r#"{"id":"u","name":"someone"}"#;
        format!(r#"{{"id":"T{n}","name":"a task","steps":[{},{}],"owner":{owner}}}"#, step(1), step(2))
    }),
    ("one step", |n| format!(r#"{{"id":{n},"steps":[{{"id":{n}1}}]}}"#)),
    ("two levels", |n| {
        let inner = format!(r#"{{"id":{n}11}},{{"id":{n}12}}"#);
        format!(r#"{{"id":{n},"parts":[{{"id":{n}1,"parts":[{inner}]}},{{"id":{n}2,"parts":[{{"id":{n}21}}]}}]}}"#)
    }),
    ("the same at each level", |n| {
        let leaf = |id: usize| format!(r#"{{"id":{n}{id},"text":"a","replies":[]}}"#);
        let inner = format!(r#"{{"id":{n}2,"text":"a","replies":[{},{}]}}"#, leaf(21), leaf(22));
        format!(r#"{{"id":{n},"text":"a","replies":[{},{inner}]}}"#, leaf(1))
    }),
];

/// Returns all objects inside a value.
fn inner(value: &Value) -> Vec<&Value> {
    let mut found = Vec::new();
    let mut left = vec![value];
    while let Some(next) = left.pop() {
        left.extend(next.as_array().into_iter().flatten());
        left.extend(next.as_object().into_iter().flat_map(|object| object.values()));
        found.extend((next.is_object() && next != value).then_some(next));
    }
    found
}

/// Returns variants of a text: for each structural character, one without it and one with it doubled.
fn damaged_at_each_mark(text: &str) -> Vec<String> {
    let mut quoted = false;
    let mut damaged = Vec::new();
    for (at, character) in text.char_indices() {
        quoted ^= character == '"';
        if "{}[],:\"".contains(character) && (!quoted || character == '"') {
            damaged.push(format!("{}{}", &text[..at], &text[at + 1..]));
            damaged.push(format!("{}{character}{}", &text[..at], &text[at..]));
        }
    }
    damaged
}

/// The results for the other items of a list with one damaged item.
#[derive(Default)]
struct Tally {
    damages: usize,
    others: usize,
    delivered: usize,
    /// Inner objects that were delivered as items.
    promoted: usize,
    /// Items that are neither delivered nor quarantined.
    silent: usize,
    /// Damaged items that are delivered with their original value. `changed` counts items with another value.
    repaired: usize,
    changed: usize,
}

impl Tally {
    fn add(&mut self, contract: &Contract, items: &[Value], hit: usize, (texts, wrap): (&[String], [&str; 3])) {
        let [before, between, after] = wrap;
        let output = format!("{before}{}{after}", texts.join(between));
        let report = judge(contract, &output);
        let delivered = delivered(&report);
        self.damages += 1;
        self.others += items.len() - 1;
        let mut at = before.len();
        for (number, (item, text)) in items.iter().zip(texts).enumerate() {
            let is_quarantined = report
                .quarantined
                .iter()
                .filter_map(|item| item.span)
                .any(|span| span.start as usize <= at && at + text.len() <= span.end as usize);
            match (number == hit, delivered.contains(item)) {
                (true, is_delivered) => self.repaired += usize::from(is_delivered),
                (false, true) => self.delivered += 1,
                (false, false) => self.silent += usize::from(!is_quarantined),
            }
            at += text.len() + between.len();
        }
        let inner: Vec<&Value> = items.iter().flat_map(inner).collect();
        self.promoted += delivered.iter().filter(|item| inner.contains(item)).count();
        self.changed += delivered.iter().filter(|item| !items.contains(item) && !inner.contains(item)).count();
    }
}

#[test]
fn a_damaged_item_that_nests_others_of_its_kind_costs_no_other() {
    for repair in ["none", "syntax"] {
        println!("repair {repair}: shape, damages, others delivered, promoted, lost silently, repaired, changed");
        let list = contract(repair);
        let root = json!({"agent": "a", "schema": true, "repair": repair, "items": {"path": "$[*]", "schema": true}});
        let root = Contract::compile(&root.to_string()).expect("a contract");
        for (shape, item) in SHAPES {
            let mut tally = Tally::default();
            let whole: Vec<String> = (1..=5).map(item).collect();
            let items: Vec<Value> = whole.iter().map(|item| serde_json::from_str(item).expect("JSON")).collect();
            for style in STYLES {
                let (before, between, after) = style.around();
                let texts: Vec<String> = whole.iter().map(|item| style.text(item)).collect();
                let wraps = [
                    (&list, [before, between, after]),
                    (&list, ["{\"list\":[", between, "]}"]),
                    (&root, ["[", between, "]"]),
                ];
                for (hit, (contract, wrap)) in (0..items.len()).flat_map(|hit| wraps.map(|wrap| (hit, wrap))) {
                    for damaged in damaged_at_each_mark(&texts[hit]) {
                        let mut texts = texts.clone();
                        texts[hit] = damaged;
                        tally.add(contract, &items, hit, (&texts, wrap));
                    }
                }
            }
            let Tally { damages, others, delivered, promoted, silent, repaired, changed } = tally;
            let rate = 100.0 * delivered as f64 / others as f64;
            println!("| {shape} | {damages} | {rate:.2} % | {promoted} | {silent} | {repaired} | {changed} |");
            assert!(delivered * 1000 >= others * 999, "{shape}: {delivered} of {others}");
            assert_eq!((promoted, silent), (0, 0), "{shape}: promoted, and lost silently");
        }
    }
}

#[test]
fn a_text_that_is_cut_off_keeps_the_items_that_were_complete() {
    let list: Vec<Value> = (0..6)
        .map(|number| {
            json!({"id": number, "t": "a}, {b \"q\" \\ é", "refs": [{"id": 1}, {"id": 2}], "m": {"n": [1, 2]}})
        })
        .collect();
    for (style, repair) in STYLES.into_iter().flat_map(|style| [(style, "none"), (style, "syntax")]) {
        let contract = contract(repair);
        let (before, between, after) = style.around();
        let texts: Vec<String> = list.iter().map(|item| style.item(item)).collect();
        let text = format!("{before}{}{after}", texts.join(between));
        for cut in (0..text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            let ends = texts.iter().scan(before.len(), |at, item| {
                let end = *at + item.len();
                *at = end + between.len();
                Some(end)
            });
            let complete = ends.filter(|end| *end <= cut).count();
            let delivered = delivered(&judge(&contract, &text[..cut]));
            assert!(
                list[..complete].iter().all(|item| delivered.contains(item)),
                "cut at {cut}, repair {repair}: {} of {complete} in {}",
                delivered.len(),
                &text[..cut]
            );
            // A truncated document is delivered only if syntax is repaired.
            let more = usize::from(repair == "syntax");
            assert!(delivered.len() <= complete + more, "cut at {cut}, repair {repair}: {delivered:?}");
        }
    }
}

/// Pieces of JSON, and pieces that can be mistaken for JSON.
const PIECES: [&str; 64] = [
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
    "\"list\"",
    "\"id\":1",
    "{\"id\":1}",
    "{\"id\":\"é\"}",
    "[1,2]",
    "é",
    "“",
    "”",
    "‘",
    "’",
    "`",
    "```",
    "```json\n",
    "```\n",
    "//",
    "/*",
    "*/",
    "#",
    "true",
    "None",
    "True",
    "nul",
    "-",
    "1",
    "12.5e3",
    "0",
    "x",
    "list:",
    "a b",
    "\u{a0}",
    "\u{feff}",
    "\\u00e9",
    "\\ud83d",
    "\\ude00",
    "\\n",
    "\\'",
    "\t",
    "\u{1}",
    "{\"list\":[",
    "]}",
    "},{",
    "\"},{\"",
    "😀",
    ",\n  \"",
    "\"\n",
    "+",
    "(",
    ");",
    "$",
    "\"x\":{\"y\":[",
    "\"date\":\"d\"",
    "{{",
];

#[test]
fn any_text_has_a_verdict_and_its_changes_give_what_was_validated() {
    let paths = [None, Some("$.list[*]"), Some("$[*]"), Some("$.list[0].x[*]"), Some("$.x.y[*]"), Some("$['é'][*]")];
    let contracts: Vec<(Contract, Option<&str>)> = paths
        .into_iter()
        .flat_map(|path| [(path, "none", "strip"), (path, "syntax", "reject"), (path, "syntax", "strip")])
        .map(|(path, repair, unknown)| {
            let mut contract = json!({
                "agent": "a", "repair": repair, "unknown_members": unknown, "extract": {"embedded": true},
                "caps": {"depth": 6, "string_bytes": 40},
                "schema": {"properties": {"date": true, "list": true, "x": true, "id": true, "é": true}, "additionalProperties": false}
            });
            if let Some(path) = path {
                let one = json!({
                    "type": ["object", "integer", "string"], "properties": {"id": {"type": "integer"}},
                    "additionalProperties": false
                });
                contract["items"] = json!({"path": path, "schema": one, "max": 3});
            }
            (Contract::compile(&contract.to_string()).expect("a contract"), path)
        })
        .collect();
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let (mut used, mut changed) = (0, 0);
    for round in 0..TEXTS_OF_PIECES {
        let mut text = String::from(if random.below(3) == 0 { "{\"date\":\"d\",\"list\":[" } else { "" });
        for _ in 0..random.below(24) {
            text.push_str(random.one(&PIECES));
        }
        let (contract, path) = &contracts[round % contracts.len()];
        let report = judge(contract, &text);
        nothing_is_lost_between_items(&report, &text).unwrap_or_else(|error| panic!("{error}: {}", report.to_json()));
        used += usize::from(report.output.is_some());
        changed += usize::from(!report.changes.is_empty());
        // Valid JSON is not changed, except for members that the contract removes.
        let is_json = serde_json::from_str::<Value>(&text).is_ok();
        assert!(!is_json || report.changes.iter().all(|change| change.kind.as_str() == "stripped"), "{text:?}");
        let report: Value = serde_json::from_str(&report.to_json()).expect("a report");
        if let Err(error) = changes_give_what_was_validated(&report, &text, *path) {
            panic!("{error:#}\n{text:?}\n{report}");
        }
    }
    println!("of {TEXTS_OF_PIECES} texts {used} gave a document, {changed} were changed");
    assert!(used * 100 >= TEXTS_OF_PIECES && changed * 100 >= TEXTS_OF_PIECES, "{used} {changed}");
}
