//! Checks that the schemas of our own documents agree with the code.

use std::{fs, path::Path};

use seamgate::{Gate, Request, read_contracts};
use serde_json::{Value, json};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn schema(name: &str) -> jsonschema::Validator {
    let text = fs::read_to_string(root().join("schemas").join(name)).expect(name);
    let schema: Value = serde_json::from_str(&text).expect(name);
    jsonschema::draft202012::meta::validate(&schema).expect(name);
    jsonschema::validator_for(&schema).expect(name)
}

/// `request.schema.json` accepts exactly the requests that `wire` accepts.
#[test]
fn requests_are_read_as_their_schema_says() {
    let schema = schema("request.schema.json");
    let contract = json!({"agent": "a", "schema": true});
    let mut gate = Gate::new().expect("a gate");
    gate.register(&contract.to_string()).expect("a contract");
    let report = gate.validate(&Request::new("a", "1")).expect("a verdict").report.to_json();
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let good = [
        json!({"contract": contract, "output": ""}),
        json!({"contract": contract, "output": "", "agent": "a"}),
        json!({"id": {"any": [1]}, "op": "validate", "contract": contract, "output": "", "finish": "length"}),
        json!({"contract": contract, "output": "", "finish": "MAX_TOKENS"}),
        json!({"contract": contract, "output": "", "finish": "tool-calls"}),
        json!({"contract": contract, "output": "", "lists": {"l": ["x"], "m": []}}),
        json!({"contract": contract, "output": "", "evidence": []}),
        json!({"contract": contract, "output": "", "evidence": null}),
        json!({"contract": contract, "output": "", "evidence": [{"id": "a", "text": ""}]}),
        json!({"contract": contract, "output": "", "evidence": [{"id": "a", "text": "x", "kinds": ["k"], "labels": ["stale"],
            "confidence": "high", "complete": true, "limitations": ["l"]}]}),
        json!({"op": "merge", "agent": "a", "reports": [report], "evidence": [{"id": "a", "text": ""}]}),
        json!({"contract": contract, "output": "", "invalid_utf8": 3}),
        json!({"contract": contract, "output": "", "invalid_utf8": null}),
        json!({"op": "has", "agent": "a"}),
        json!({"op": "names"}),
        json!({"op": "seal", "id": 1}),
        json!({"op": "is_sealed"}),
        json!({"op": "register", "contract": contract}),
        json!({"op": "lint", "contract": contract}),
        json!({"op": "merge", "agent": "a", "reports": [report]}),
        json!({"op": "merge", "agent": "a", "reports": [report, report], "lists": {"l": ["x"]}}),
        json!({"op": "push", "agent": "a", "chunk": "{"}),
        json!({"op": "push", "agent": "a", "chunk": "", "state": null}),
    ];
    let bad = [
        json!([]),
        json!("validate"),
        json!({}),
        json!({"output": ""}),
        json!({"contract": contract}),
        json!({"contract": contract, "output": 1}),
        json!({"contract": contract, "output": "", "agent": 1}),
        json!({"contract": contract, "output": "", "finish": "done"}),
        json!({"contract": contract, "output": "", "finish": ""}),
        json!({"contract": contract, "output": "", "finish": null}),
        json!({"contract": contract, "output": "", "lists": []}),
        json!({"contract": contract, "output": "", "lists": {"l": [1]}}),
        json!({"contract": contract, "output": "", "lists": {"l": "x"}}),
        json!({"contract": contract, "output": "", "evidence": {}}),
        json!({"contract": contract, "output": "", "evidence": ["a"]}),
        json!({"contract": contract, "output": "", "evidence": [{"id": "a"}]}),
        json!({"contract": contract, "output": "", "evidence": [{"id": "", "text": ""}]}),
        json!({"contract": contract, "output": "", "evidence": [{"id": "a", "text": "", "kind": "k"}]}),
        json!({"contract": contract, "output": "", "evidence": [{"id": "a", "text": "", "kinds": "k"}]}),
        json!({"contract": contract, "output": "", "evidence": [{"id": "a", "text": "", "kinds": vec!["k"; 65]}]}),
        json!({"contract": contract, "output": "", "evidence": [{"id": "a", "text": "", "labels": ["l".repeat(257)]}]}),
        json!({"contract": contract, "output": "", "evidence": [{"id": "a", "text": "", "confidence": "sure"}]}),
        json!({"contract": contract, "output": "", "evidence": [{"id": "a", "text": "", "complete": 1}]}),
        json!({"contract": contract, "output": "", "evidence": vec![json!({"id": "a", "text": ""}); 1001]}),
        json!({"contract": contract, "output": "", "invalid_utf8": -1}),
        json!({"contract": contract, "output": "", "invalid_utf8": 4294967296_u64}),
        json!({"contract": contract, "output": "", "other": 1}),
        json!({"op": "other"}),
        json!({"op": 1}),
        json!({"op": "has"}),
        json!({"op": "has", "agent": "a", "contract": contract}),
        json!({"op": "names", "agent": "a"}),
        json!({"op": "register"}),
        json!({"op": "merge", "agent": "a"}),
        json!({"op": "merge", "agent": "a", "reports": []}),
        json!({"op": "merge", "agent": "a", "reports": [1]}),
        json!({"op": "merge", "reports": [report]}),
        json!({"op": "push", "agent": "a"}),
        json!({"op": "push", "agent": "a", "chunk": 1}),
        json!({"op": "push", "agent": "a", "chunk": "", "state": 1}),
        json!({"op": "push", "agent": "a", "chunk": "", "output": ""}),
    ];
    for (requests, is_good) in [(&good[..], true), (&bad[..], false)] {
        for request in requests {
            assert_eq!(schema.is_valid(request), is_good, "the schema on {request}");
            let answer = gate.call(&request.to_string()).expect("an answer").json;
            assert_eq!(!answer.contains("\"fault\":\"bad_request\""), is_good, "{request}: {answer}");
        }
    }
}

/// Invalid requests are answered, too.
#[test]
fn any_text_is_answered() {
    let gate = Gate::new().expect("a gate");
    for text in ["", " ", "{", "{\"id\":1", "\u{0}", "[[[[", "{\"id\":1,\"id\":2}", "nul", "{\"output\":\"\\ud800\"}"] {
        let answer = gate.call(text).expect("an answer").json;
        assert!(
            answer.starts_with("{\"id\":null,\"fault\":{\"fault\":\"bad_request\",\"message\":\"request: $"),
            "{answer}"
        );
    }
}

/// The host's loader accepts the example contracts, and the verdicts on the examples match their names.
#[test]
fn the_examples_are_what_their_names_say() {
    let examples = root().join("schemas/examples");
    let on_disk = schema("contract.schema.json");
    let mut gate = Gate::new().expect("a gate");
    for (path, contract) in read_contracts(&examples).expect("the examples") {
        let text = fs::read_to_string(&path).expect("a contract");
        assert!(on_disk.is_valid(&serde_json::from_str(&text).expect("JSON")), "{}", path.display());
        gate.register(&contract).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
        let warnings = gate.lint(&contract).expect("lint");
        assert!(warnings.is_empty(), "{}: {warnings:?}", path.display());
    }
    assert_eq!(gate.contracts().count(), 3);
    for entry in fs::read_dir(examples.join("outputs")).expect("outputs") {
        let path = entry.expect("an output").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let (agent, what) = name.split_once('.').expect("AGENT.WHAT.txt");
        let output = fs::read(&path).expect("an output");
        let verdict = gate.validate(&Request::from_bytes(agent, &output)).expect("a verdict");
        let expected = match what.split(['.', '-']).next() {
            Some("good") => "accepted",
            Some("refused") => "refused",
            Some("partial") => "partial",
            _ => "rejected",
        };
        assert_eq!(verdict.report.disposition.as_str(), expected, "{name}");
        assert!(!gate.describe(agent).expect("a description").is_empty());
    }
}
