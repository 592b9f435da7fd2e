//! What a verdict costs, beside `serde_json` and `jsonschema` in the same process, on the same documents.
//!
//! Read the ratios, taken in one run on one machine: `cargo xtask bench`.

use std::{fs, hint::black_box, path::Path, time::Duration};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group};
use seamgate::{Gate, Request};
use serde_json::{Value, json};

/// The contract of all documents here: a list of tickets, as an agent would rank them.
fn contract() -> String {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://example.com/tickets/1.0.0",
        "type": "object",
        "required": ["tickets"],
        "additionalProperties": false,
        "properties": {
            "tickets": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["id", "severity", "title", "confidence", "labels"],
                    "additionalProperties": false,
                    "properties": {
                        "id": { "type": "string", "pattern": "^[A-Z]+-[0-9]+$" },
                        "severity": { "enum": ["critical", "high", "medium", "low"] },
                        "title": { "type": "string", "minLength": 1, "maxLength": 200 },
                        "confidence": { "type": "number", "minimum": 0, "maximum": 1 },
                        "labels": { "type": "array", "items": { "type": "string" }, "uniqueItems": true },
                        "url": { "type": "string", "format": "uri" }
                    }
                }
            }
        }
    });
    json!({ "agent": "tickets", "schema": schema }).to_string()
}

/// A document of about so many bytes.
fn document(bytes: usize) -> String {
    let mut tickets = Vec::new();
    let mut length = 0;
    while length < bytes.saturating_sub(20) {
        let number = tickets.len();
        let severity = ["critical", "high", "medium", "low"][number % 4];
        let ticket = json!({
            "id": format!("OPS-{number}"),
            "severity": severity,
            "title": "The nightly export stops at \"page 3\" when the caf\u{e9} list is long",
            "confidence": (number % 100) as f64 / 100.0,
            "labels": ["export", "nightly", format!("team-{}", number % 7)],
            "url": format!("https://example.com/tickets/{number}?from=triage"),
        });
        length += ticket.to_string().len() + 1;
        tickets.push(ticket);
    }
    json!({ "tickets": tickets }).to_string()
}

fn documents() -> Vec<(&'static str, String)> {
    // The two largest are below the default caps on items and bytes.
    vec![("300 B", document(300)), ("4 KB", document(4_000)), ("1 MB", document(1_000_000))]
}

fn benches(criterion: &mut Criterion) {
    let contract = contract();
    let schema: Value = serde_json::from_str::<Value>(&contract).expect("JSON")["schema"].take();

    let mut group = criterion.benchmark_group("compile a contract");
    group.bench_function("native, jsonschema alone", |bencher| {
        bencher.iter(|| jsonschema::validator_for(black_box(&schema)).expect("a schema"))
    });
    group.bench_function("native, seamgate-core", |bencher| {
        bencher.iter(|| seamgate_core::Contract::compile(black_box(&contract)).expect("a contract"))
    });
    let mut gate = Gate::new().expect("a gate");
    group.bench_function("fresh sandbox", |bencher| {
        bencher.iter(|| gate.register(black_box(&contract)).expect("a contract"))
    });
    group.finish();

    let native = jsonschema::options()
        .with_pattern_options(jsonschema::PatternOptions::regex())
        .should_validate_formats(true)
        .build(&schema)
        .expect("a schema");
    let core = seamgate_core::Contract::compile(&contract).expect("a contract");
    let mut warm = gate.instance();
    for (name, text) in documents() {
        let mut group = criterion.benchmark_group("bytes to verdict");
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_with_input(BenchmarkId::new("native, serde_json parse alone", name), &text, |bencher, text| {
            bencher.iter(|| serde_json::from_str::<Value>(black_box(text)).expect("JSON"))
        });
        let value: Value = serde_json::from_str(&text).expect("JSON");
        group.bench_with_input(
            BenchmarkId::new("native, jsonschema validate alone", name),
            &value,
            |bencher, value| bencher.iter(|| assert!(native.is_valid(black_box(value)))),
        );
        group.bench_with_input(BenchmarkId::new("native, serde_json + jsonschema", name), &text, |bencher, text| {
            bencher.iter(|| {
                let value: Value = serde_json::from_str(black_box(text)).expect("JSON");
                assert!(native.is_valid(&value));
            })
        });
        group.bench_with_input(BenchmarkId::new("native, seamgate-core", name), &text, |bencher, text| {
            let request = seamgate_core::Request { output: text, ..Default::default() };
            bencher.iter(|| seamgate_core::validate(&core, black_box(&request)).expect("a report"))
        });
        let request = Request::new("tickets", &text);
        group.bench_with_input(BenchmarkId::new("seamgate, warm instance", name), &request, |bencher, request| {
            bencher.iter(|| warm.validate(black_box(request)).expect("a verdict"))
        });
        group.bench_with_input(BenchmarkId::new("seamgate, fresh instance", name), &request, |bencher, request| {
            bencher.iter(|| gate.validate(black_box(request)).expect("a verdict"))
        });
        group.finish();
    }
}

/// The figures as ratios to `serde_json` + `jsonschema` in the same process, from what criterion has kept.
fn ratios() {
    let median = |bench: &str, name: &str| -> Option<f64> {
        let path = format!("bytes to verdict/{bench}/{name}/new/estimates.json");
        let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "../target".to_owned());
        let text = fs::read_to_string(Path::new(&target).join("criterion").join(path)).ok()?;
        serde_json::from_str::<Value>(&text).ok()?["median"]["point_estimate"].as_f64()
    };
    println!("\nratio to native serde_json + jsonschema (medians of this run)\n");
    println!("| document | native | seamgate-core, native | seamgate, warm | seamgate, fresh |");
    println!("| --- | --- | --- | --- | --- |");
    for (name, _) in documents() {
        let Some(native) = median("native, serde_json + jsonschema", name) else {
            continue;
        };
        let ratio =
            |bench: &str| median(bench, name).map_or("–".to_owned(), |time| format!("{:.2} ×", time / native));
        println!(
            "| {name} | {:.1} µs | {} | {} | {} |",
            native / 1000.0,
            ratio("native, seamgate-core"),
            ratio("seamgate, warm instance"),
            ratio("seamgate, fresh instance"),
        );
    }
}

criterion_group! {
    name = all;
    config = Criterion::default()
        .sample_size(30)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2));
    targets = benches
}

fn main() {
    all();
    Criterion::default().configure_from_args().final_summary();
    ratios();
}
