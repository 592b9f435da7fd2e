//! Benchmarks each stage separately, on generated texts: `cargo bench -p seamgate-core --features bench`.

#![allow(missing_docs, reason = "a program")]

use std::hint::black_box;

use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};
use seamgate_core::{Contract, Request, bench, validate};

const SCHEMA: &str = r##"{
    "$id": "https://example.com/findings/1.0.0", "type": "object", "required": ["findings"], "additionalProperties": false,
    "properties": {"findings": {"type": "array", "maxItems": 10000, "items": {"$ref": "#/$defs/finding"}}},
    "$defs": {"finding": {
        "type": "object", "required": ["id", "severity", "summary", "lines"], "additionalProperties": false,
        "properties": {
            "id": {"type": "string", "pattern": "^[A-Z]+-[0-9]+$"},
            "severity": {"enum": ["low", "medium", "high"]},
            "summary": {"type": "string", "minLength": 1, "maxLength": 500},
            "lines": {"type": "array", "items": {"type": "integer", "minimum": 1}, "maxItems": 100},
            "url": {"type": "string", "format": "uri"},
            "where": {"anyOf": [{"type": "null"}, {"type": "object", "required": ["file"]}]}
        }
    }}
}"##;

/// The numbers of items in a document: about 2 and 200 KiB.
const SIZES: [usize; 2] = [10, 1_000];

fn source() -> String {
    format!(
        r#"{{"agent":"bench","schema":{SCHEMA},"items":{{"path":"$.findings[*]"}},"repair":"syntax",
        "extract":{{"embedded":true}}}}"#
    )
}

fn contract() -> Contract {
    Contract::compile(&source()).unwrap_or_else(|fault| panic!("{fault:?}"))
}

/// Returns a valid document with the given number of items.
fn document(items: usize) -> String {
    let item = |number: usize| {
        format!(
            "    {{\"id\": \"WEB-{number}\", \"severity\": \"{}\", \"summary\": \"The parameter \\\"q\\\" is used as it came, é\",\n     \
             \"lines\": [{number}, {}], \"url\": \"https://example.com/{number}?a=b\", \"where\": {{\"file\": \"src/{number}.rs\"}}}}",
            ["low", "medium", "high"][number % 3],
            number + 17
        )
    };
    let items: Vec<String> = (1..=items).map(item).collect();
    format!("{{\"findings\": [\n{}\n]}}", items.join(",\n"))
}

/// Returns the same document as a model's answer: in a code block, with prose around it.
fn answer(items: usize) -> String {
    format!("Here is what I found, with `code` and [links]:\n\n```json\n{}\n```\n\nThat is all.", document(items))
}

/// Returns a document with repairable syntax errors: an extra comma, a comment, missing closing brackets.
fn broken(items: usize) -> String {
    let text = document(items).replacen("},\n", "},,\n", 1).replacen("[\n", "[ // all of them\n", 1);
    text.trim_end_matches(['\n', ']', '}']).to_owned() + "}"
}

/// Returns a document in which every tenth item is cut off.
fn damaged(items: usize) -> String {
    let document = document(items);
    let lines = document.lines().enumerate();
    let lines = lines.map(|(number, line)| if number % 20 == 2 { &line[..line.len() / 2] } else { line });
    lines.collect::<Vec<_>>().join("\n")
}

fn stages(criterion: &mut Criterion) {
    let contract = contract();
    let each = |criterion: &mut Criterion, name: &str, text: &dyn Fn(usize) -> String, run: &dyn Fn(&str)| {
        let mut group: BenchmarkGroup<WallTime> = criterion.benchmark_group(name);
        for items in SIZES {
            let text = text(items);
            group.throughput(Throughput::Bytes(text.len() as u64));
            group.bench_function(items.to_string(), |bencher| bencher.iter(|| run(black_box(&text))));
        }
        group.finish();
    };
    each(criterion, "parse", &document, &|text| {
        black_box(bench::Parsed::new(text, &contract).expect("JSON").nodes());
    });
    each(criterion, "extract", &answer, &|text| {
        assert_eq!(bench::extract(text, &contract), 1);
    });
    each(criterion, "recover", &damaged, &|text| {
        assert!(bench::recover(text, &contract).is_some());
    });
    each(criterion, "repair", &broken, &|text| {
        assert!(bench::repair(text).is_some());
    });
    each(criterion, "validate", &answer, &|text| {
        black_box(validate(&contract, &Request { output: text, ..Request::default() }).expect("a report"));
    });
    let mut group = criterion.benchmark_group("judge");
    for items in SIZES {
        let text = document(items);
        let wrong = text.replace("\"low\"", "\"none\"");
        let parsed = |text| bench::Parsed::new(text, &contract).expect("JSON");
        let (right, wrong) = (parsed(&text), parsed(&wrong));
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(format!("valid/{items}"), |bencher| {
            bencher.iter(|| assert!(black_box(&right).is_valid(&contract)));
        });
        group.bench_function(format!("explained/{items}"), |bencher| {
            bencher.iter(|| assert!(black_box(&wrong).violations(&contract) > 0));
        });
    }
    group.finish();
    let source = source();
    criterion.bench_function("compile", |bencher| {
        bencher.iter(|| black_box(Contract::compile(black_box(&source)).is_ok()));
    });
}

criterion_group!(benches, stages);
criterion_main!(benches);
