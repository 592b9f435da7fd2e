//! Tests how a model sees results between 15 and 60 KB under a profile with defaults: how much of the room is used,
//! whether records stay complete, and whether JSON stays valid.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use seamgate_kernel::{Profile, observe};
use seamgate_tests::Random;
use serde_json::{Map, Value, json};

/// The default of `result.max_bytes`.
const ROOM: usize = 20_000;

/// The shapes of results that an agent reads. All have the same frequency.
const SHAPES: [&str; 14] = [
    "array",
    "pretty array",
    "list in an object",
    "structured list",
    "list of arrays",
    "records by name",
    "two lists",
    "JSON in a string",
    "JSON lines",
    "text blocks",
    "table",
    "CSV",
    "log",
    "pages",
];

const WORDS: &[&str] = &[
    "order",
    "shipped",
    "cart",
    "refund",
    "über",
    "naïve",
    "价格",
    "データ",
    "состояние",
    "open",
    "closed",
    "latency",
    "p99",
    "the",
    "of",
    "a",
    "to",
    "service",
    "db-1",
    "checkout",
    "retry",
    "…",
    "🚚",
    "quote \" quote",
    "back\\slash",
    "tab\tstop",
];

fn words(random: &mut Random, count: usize) -> String {
    (0..count).map(|_| random.one(WORDS)).collect::<Vec<_>>().join(" ")
}

/// Returns a record of an API. Some records contain lists and objects.
fn record(random: &mut Random, number: usize, length: usize) -> Value {
    let mut record = Map::new();
    record.insert("id".to_owned(), json!(format!("r-{number}")));
    record.insert("total".to_owned(), json!(random.below(100_000)));
    let count = random.below(length) + 1;
    record.insert("note".to_owned(), json!(words(random, count)));
    if random.chance(40) {
        let tags: Vec<String> = (0..random.below(6)).map(|_| words(random, 1)).collect();
        record.insert("tags".to_owned(), json!(tags));
    }
    if random.chance(30) {
        record.insert("owner".to_owned(), json!({"name": words(random, 2), "active": random.chance(50)}));
    }
    Value::Object(record)
}

/// A result, and the records or lines that must stay complete.
struct Reading {
    result: Value,
    records: BTreeMap<String, Value>,
    lines: BTreeSet<String>,
    /// `true` if each text, or each line of it, is JSON.
    is_json: bool,
    is_lines: bool,
}

fn reading(random: &mut Random, shape: &str) -> Reading {
    let wanted = 15_000 + random.below(45_000);
    let length = random.one(&[4, 12, 40, 120]);
    let mut records = Vec::new();
    let mut bytes = 0;
    while bytes < wanted {
        let record = record(random, records.len(), length);
        bytes += record.to_string().len() + 1;
        records.push(record);
    }
    let text = |text: String| json!({"content": [{"type": "text", "text": text}]});
    let of_lines = |lines: Vec<String>, is_json: bool| Reading {
        result: text(lines.join("\n")),
        records: BTreeMap::new(),
        lines: lines.into_iter().collect(),
        is_json: false,
        is_lines: is_json,
    };
    let escape = |value: &Value| value.as_str().map_or(value.to_string(), str::to_owned).replace(['|', '\t', ','], "/");
    let cells = |record: &Value| ["id", "total", "note"].map(|name| escape(&record[name]));
    let list = json!(records);
    let result = match shape {
        "array" => text(list.to_string()),
        "pretty array" => text(serde_json::to_string_pretty(&list).unwrap_or_default()),
        "list in an object" => text(json!({"count": records.len(), "items": list, "next": "/page/2"}).to_string()),
        "structured list" => {
            let whole = json!({"data": {"items": list}, "next": null});
            json!({"content": [{"type": "text", "text": whole.to_string()}], "structuredContent": whole})
        }
        "list of arrays" => {
            let rows: Vec<Value> =
                records.chunks(3).map(|three| json!({"id": three[0]["id"], "group": three})).collect();
            let list = json!(rows);
            records = rows;
            text(list.to_string())
        }
        "records by name" => {
            let named: Map<String, Value> = records
                .iter()
                .map(|record| (record["id"].as_str().unwrap_or_default().to_owned(), record.clone()))
                .collect();
            text(json!({"users": named}).to_string())
        }
        "two lists" => {
            let (first, last) = records.split_at(records.len() / 3);
            text(json!({"open": first, "meta": {"page": 1}, "closed": last}).to_string())
        }
        "JSON in a string" => {
            let whole = json!({"result": list.to_string()});
            json!({"content": [{"type": "text", "text": whole.to_string()}], "structuredContent": whole})
        }
        "text blocks" => {
            let blocks: Vec<Value> = records
                .iter()
                .map(|record| json!({"type": "text", "text": serde_json::to_string_pretty(record).unwrap_or_default()}))
                .collect();
            json!({"content": blocks})
        }
        "JSON lines" => return of_lines(records.iter().map(Value::to_string).collect(), true),
        "table" => {
            let rows = records.iter().map(|record| format!("| {} |", cells(record).join(" | ")));
            let head = ["| id | total | note |", "| --- | ---: | --- |"].map(str::to_owned);
            return of_lines(head.into_iter().chain(rows).collect(), false);
        }
        "CSV" => {
            let rows = records.iter().map(|record| cells(record).join(","));
            return of_lines(["id,total,note".to_owned()].into_iter().chain(rows).collect(), false);
        }
        "log" => {
            let line = |(index, record): (usize, &Value)| {
                format!(
                    "2026-11-26T10:{:02}:{:02}Z INFO {} {}",
                    index / 60 % 60,
                    index % 60,
                    escape(&record["id"]),
                    escape(&record["note"])
                )
            };
            return of_lines(records.iter().enumerate().map(line).collect(), false);
        }
        _ => {
            let paragraphs = records.iter().map(|record| [escape(&record["note"]), String::new()]);
            return of_lines(paragraphs.flatten().collect(), false);
        }
    };
    let by_id = |record: Value| (record["id"].as_str().unwrap_or_default().to_owned(), record);
    Reading {
        result,
        records: records.into_iter().map(by_id).collect(),
        lines: BTreeSet::new(),
        is_json: true,
        is_lines: false,
    }
}

/// Returns the part of a result that the model sees.
fn shown(result: &Value) -> Value {
    static PROFILE: LazyLock<Profile> = LazyLock::new(|| {
        let profile = json!({"agent": "a", "tools": [{"name": "read", "effect": "read", "permit": "allow"}]});
        Profile::compile(&profile.to_string()).unwrap_or_else(|fault| panic!("{}", fault.to_json()))
    });
    let facts = json!({"at": 1, "run": "r", "principal": "anna", "nonce": "c0ffee00c0ffee00"}).to_string();
    let call = json!({"key": "c1", "tool": "read", "arguments": {}}).to_string();
    let observed = observe(&PROFILE, &facts, &call, &json!({"returned": result}).to_string());
    let observed: Value =
        serde_json::from_str(&observed.unwrap_or_else(|fault| panic!("{}", fault.to_json()))).expect("JSON");
    match &observed["returned"] {
        Value::Null => result.clone(),
        returned => returned.clone(),
    }
}

#[derive(Default)]
struct Figures {
    reads: usize,
    cut: usize,
    used: usize,
    shown: usize,
    of: usize,
    split: usize,
    not_json: usize,
}

impl Figures {
    fn add(&mut self, reading: &Reading) {
        let shown = shown(&reading.result);
        let texts: Vec<&str> =
            shown["content"].as_array().into_iter().flatten().filter_map(|block| block["text"].as_str()).collect();
        let is_note = |text: &&&str| text.starts_with("Showing ") || text.starts_with("… [");
        let is_cut = texts.iter().any(|text| is_note(&text));
        let texts: Vec<&str> = texts.iter().filter(|text| !is_note(text)).copied().collect();
        self.reads += 1;
        if is_cut {
            self.cut += 1;
            self.used += texts.iter().map(|text| text.len()).sum::<usize>().min(ROOM);
        }
        self.of += reading.records.len() + reading.lines.len();
        for text in texts {
            if reading.is_json {
                match serde_json::from_str(text) {
                    Ok(value) => self.look(&value, reading),
                    Err(_) => self.not_json += 1,
                }
                continue;
            }
            for line in text.lines().filter(|line| !line.is_empty()) {
                self.not_json += usize::from(reading.is_lines && serde_json::from_str::<Value>(line).is_err());
                let is_whole = reading.lines.contains(line);
                self.shown += usize::from(is_whole);
                self.split += usize::from(!is_whole && !line.trim_start_matches('"').starts_with("… ["));
            }
        }
        if let Some(structured) = shown.get("structuredContent").filter(|_| is_cut) {
            assert_eq!(shown["_meta"]["seamgate.dev/truncated"]["unit"], "items", "{structured}");
        }
    }

    /// Counts the records in a value. A record is complete if it equals an original record.
    fn look(&mut self, value: &Value, reading: &Reading) {
        match value {
            Value::Object(members) if members.contains_key("id") => {
                let is_whole = reading.records.get(value["id"].as_str().unwrap_or_default()) == Some(value);
                self.shown += usize::from(is_whole);
                self.split += usize::from(!is_whole);
            }
            Value::Object(members) => members.values().for_each(|member| self.look(member, reading)),
            Value::Array(items) => items.iter().for_each(|item| self.look(item, reading)),
            Value::String(text) if text.starts_with('[') => match serde_json::from_str(text) {
                Ok(value) => self.look(&value, reading),
                Err(_) => self.not_json += usize::from(!text.ends_with("left out]")),
            },
            _ => {}
        }
    }
}

#[test]
fn truncated_results_use_their_room_and_split_no_record() {
    let mut random = Random(2026);
    let mut all: BTreeMap<&str, Figures> = BTreeMap::new();
    for number in 0..2000 {
        let shape = SHAPES[number % SHAPES.len()];
        all.entry(shape).or_default().add(&reading(&mut random, shape));
    }
    println!("| shape | reads | cut | room used | shown | split | not JSON |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    let mut sum = Figures::default();
    for (shape, figures) in all.iter().map(|(shape, figures)| (*shape, figures)) {
        line(shape, figures);
        sum.reads += figures.reads;
        sum.cut += figures.cut;
        sum.used += figures.used;
        sum.shown += figures.shown;
        sum.of += figures.of;
        sum.split += figures.split;
        sum.not_json += figures.not_json;
    }
    line("all", &sum);
    assert_eq!((sum.split, sum.not_json), (0, 0));
    for (shape, figures) in all {
        assert!(figures.used * 100 >= 95 * figures.cut * ROOM, "{shape}");
    }
}

fn line(shape: &str, figures: &Figures) {
    let Figures { reads, cut, used, shown, of, split, not_json } = figures;
    let used = 100.0 * *used as f64 / (cut * ROOM).max(1) as f64;
    println!("| {shape} | {reads} | {cut} | {used:.1} % | {shown} of {of} | {split} | {not_json} |");
}

/// Returns a random nested value with strings of all lengths. Some strings are JSON or Base64.
fn value(random: &mut Random, depth: usize) -> Value {
    let count = random.one(&[0, 1, 3, 40]);
    match random.below(if depth == 0 { 4 } else { 7 }) {
        0 => json!(random.below(1_000_000)),
        1 => {
            let count = random.one(&[0, 3, 30, 800]);
            json!(words(random, count))
        }
        2 => json!(
            ["\u{200b}", "\0\u{1b}[31m", "AKIAIOSFODNN7EXAMPLQ", "\n\n", "🚚🚚"]
                .map(|part| part.repeat(random.below(40)))
        ),
        3 => json!("aB3+/9Zz".repeat(random.below(400))),
        4 => json!(value(random, depth - 1).to_string()),
        5 => Value::Array((0..count).map(|_| value(random, depth - 1)).collect()),
        _ => {
            (0..count).map(|index| (format!("member {index}"), value(random, depth - 1))).collect::<Map<_, _>>().into()
        }
    }
}

#[test]
fn any_json_stays_json_within_its_room() {
    let mut random = Random(11);
    let mut cut = 0;
    for _ in 0..2000 {
        let max_bytes = random.one(&[256, 400, 1000, 5000, 20_000]);
        let rule = match random.below(4) {
            0 => json!({"max_bytes": max_bytes, "keep": {"head": random.below(5), "tail": random.below(3)}}),
            1 => json!({"max_bytes": max_bytes, "items": "$.rows[*]"}),
            _ => json!({"max_bytes": max_bytes}),
        };
        let profile =
            json!({"agent": "a", "tools": [{"name": "read", "effect": "read", "permit": "allow", "result": rule}]});
        let profile = Profile::compile(&profile.to_string()).unwrap_or_else(|fault| panic!("{}", fault.to_json()));
        let whole = json!({"rows": value(&mut random, 3), "more": value(&mut random, 2)});
        let result = match random.below(3) {
            0 => json!({"result": whole}),
            1 => json!({"returned": {"content": [], "structuredContent": whole}}),
            _ => {
                json!({"returned": {"content": [{"type": "text", "text": serde_json::to_string_pretty(&whole).unwrap_or_default()}]}})
            }
        };
        let facts = json!({"at": 1, "run": "r", "principal": "anna", "nonce": "c0ffee00c0ffee00"}).to_string();
        let call = json!({"key": "c1", "tool": "read", "arguments": {}}).to_string();
        let observed = observe(&profile, &facts, &call, &result.to_string());
        let observed: Value =
            serde_json::from_str(&observed.unwrap_or_else(|fault| panic!("{}", fault.to_json()))).expect("JSON");
        let text = observed["text"].as_str().unwrap_or_default();
        assert!(text.len() <= max_bytes, "{} of {max_bytes}: {text}", text.len());
        if observed["shown"]["of"].is_u64() {
            cut += 1;
            assert!(serde_json::from_str::<Value>(text).is_ok(), "{rule}: {text}");
        }
    }
    assert!(cut > 500, "{cut}");
}
