//! Invalid tool definitions. Each disables or hides its own tool, and no other.

use seamgate_kernel::{Profile, Registry, advance, permit, project};
use seamgate_tests::Random;
use serde_json::{Value, json};

/// Returns invalid definitions of the tool `odd`, each with a part of the expected reason.
fn invalid() -> Vec<(String, &'static str)> {
    let property =
        |schema: &str| format!(r#"{{"name":"odd","inputSchema":{{"type":"object","properties":{{"x":{schema}}}}}}}"#);
    let whole = |schema: &str| format!(r#"{{"name":"odd","inputSchema":{schema}}}"#);
    vec![
        (property(r#"{"pattern":"["}"#), "$.inputSchema.properties.x.pattern"),
        (property(r#"{"minimum":0,"exclusiveMinimum":true}"#), "$.inputSchema.properties.x.exclusiveMinimum"),
        (property(r#"{"type":"any"}"#), "$.inputSchema.properties.x.type"),
        (property(r#"{"type":"STRING"}"#), "$.inputSchema.properties.x.type"),
        (property(r#"{"type":"string","required":true}"#), "$.inputSchema.properties.x.required"),
        (property(r#"{"minLength":-1}"#), "$.inputSchema.properties.x.minLength"),
        (property(r##"{"$ref":"#/$defs/None"}"##), "$.inputSchema.properties.x"),
        (property(r#"{"$ref":"https://example.com/s.json"}"#), "$.inputSchema.properties.x"),
        (whole(r#"{"$schema":"https://example.com/dialect"}"#), "$.inputSchema"),
        (whole(r#"{"properties":"none"}"#), "$.inputSchema.properties"),
        (whole(r#"{"required":null}"#), "$.inputSchema.required"),
        (whole("null"), "$.inputSchema must be a JSON Schema"),
        (whole("[]"), "$.inputSchema must be a JSON Schema"),
        (whole(r#""a text""#), "$.inputSchema must be a JSON Schema"),
        (r#"{"name":"odd","parameters":{"type":"int"}}"#.to_owned(), "$.parameters.type"),
        // These definitions cannot be parsed.
        (whole(&format!("{}{}", r#"{"not":"#.repeat(200), "true".to_owned() + &"}".repeat(200))), "nested at most"),
        (r#"{"name":"odd","title":1,"title":2}"#.to_owned(), "$"),
        (r#"{"name":"odd","title":"\ud800"}"#.to_owned(), "$.title"),
    ]
}

/// Entries of a list that belong to no tool of a profile.
const STRANGERS: [&str; 12] = [
    "null",
    "1",
    r#""text""#,
    "[[]]",
    "{}",
    r#"{"name":null}"#,
    r#"{"name":""}"#,
    r#"{"name":"docs/search"}"#,
    r#"{"name":"get weather"}"#,
    r#"{"name":"-x"}"#,
    r#"{"name":"\ud800"}"#,
    r#"{"name":"x","name":"y"}"#,
];

const GOOD: &str = r#"{"name":"good","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}"#;

fn profile(odd: Option<&str>) -> String {
    let pinned = odd.map(|definition| format!(r#","definition":{definition}"#)).unwrap_or_default();
    format!(
        r#"{{"agent":"gate","tools":[{{"name":"good","server":"s","effect":"read","permit":"allow","definition":{GOOD}}},{{"name":"odd","server":"s","effect":"read","permit":"allow"{pinned}}},{{"name":"free","server":"s","effect":"read","permit":"allow"}}]}}"#
    )
}

fn parsed(answer: Result<String, seamgate_core::Fault>, what: &str) -> Value {
    let answer = answer.unwrap_or_else(|fault| panic!("{what}\n{}", fault.to_json()));
    serde_json::from_str(&answer).expect("JSON")
}

fn started(profile: &Profile) -> String {
    let started = json!({"type": "started", "at": 1, "run": "r1", "principal": "anna", "nonce": "c0ffee00c0ffee00"});
    parsed(advance(profile, None, &started.to_string()), "started")["state"].to_string()
}

#[test]
fn an_invalid_definition_disables_its_tool_and_no_other() {
    let facts = json!({"run": "r1", "principal": "anna", "at": 1, "nonce": "c0ffee00c0ffee00"}).to_string();
    for (definition, place) in invalid() {
        let text = profile(Some(&definition));
        let info =
            Registry::default().register(&text).unwrap_or_else(|fault| panic!("{definition}\n{}", fault.to_json()));
        assert_eq!(info.disabled.len(), 1, "{definition}");
        assert_eq!(info.disabled[0].tool, "s/odd");
        assert!(info.disabled[0].message.contains(place), "{definition}\n{}", info.disabled[0].message);
        let profile = Profile::compile(&text).unwrap_or_else(|fault| panic!("{}", fault.to_json()));
        let lint = profile.lint(&text);
        assert!(lint.iter().any(|warning| warning.code == "invalid_definition"), "{definition}");
        assert!(!profile.describe().contains("odd"), "{definition}");
        let call = |tool: &str| {
            let call = json!({"key": "c1", "tool": tool, "arguments": {}}).to_string();
            parsed(permit(&profile, &facts, &call), &definition)
        };
        assert_eq!(call("good")["permit"], "allow");
        let denied = call("odd");
        assert_eq!(denied["reasons"][0]["code"], "invalid_definition", "{definition}");
        assert!(denied["message"].to_string().contains("is disabled"), "{denied}");
        assert!(!denied["allowed"].to_string().contains("odd"), "{denied}");
    }
}

#[test]
fn a_list_with_an_invalid_definition_hides_its_tool_and_no_other() {
    let text = profile(None);
    let profile = Profile::compile(&text).unwrap_or_else(|fault| panic!("{}", fault.to_json()));
    let state = started(&profile);
    for (definition, place) in invalid() {
        let event = format!(
            r#"{{"type":"tools_listed","at":2,"listed":{{"servers":{{"s":{{"tools":[{definition},{GOOD},{{"name":"free"}}]}}}}}}}}"#
        );
        let step = parsed(advance(&profile, Some(&state), &event), &definition);
        let record = &step["records"][0];
        assert_eq!(record["tools"], json!(["s/good", "s/free"]), "{definition}\n{record}");
        assert_eq!(record["hidden"][0]["code"], "invalid_definition", "{definition}");
        assert!(record["hidden"][0]["message"].to_string().contains(place), "{definition}\n{record}");
    }
}

/// Returns JSON of any kind, including text that a strict parser rejects.
fn soup(random: &mut Random, depth: usize) -> String {
    match random.below(if depth == 0 { 6 } else { 9 }) {
        0 => "null".to_owned(),
        1 => random.one(&["true", "false"]).to_owned(),
        2 => random.one(&["0", "-1", "1e400", "123456789012345678901234567890"]).to_owned(),
        3 => format!("\"{}\"", random.one(&["", "object", "string", "any", "\\u0000", "\\udfff", "#/$defs/a", "["])),
        4 => "{}".to_owned(),
        5 => {
            let depth = random.below(300);
            format!("{}{}", "[".repeat(depth + 1), "]".repeat(depth + 1))
        }
        6 => {
            let items: Vec<String> = (0..random.below(4)).map(|_| soup(random, depth - 1)).collect();
            format!("[{}]", items.join(","))
        }
        _ => {
            const NAMES: [&str; 14] = [
                "type",
                "properties",
                "required",
                "items",
                "$ref",
                "$schema",
                "pattern",
                "enum",
                "name",
                "inputSchema",
                "outputSchema",
                "x",
                "$defs",
                "minimum",
            ];
            let members: Vec<String> = (0..random.below(5))
                .map(|_| format!("\"{}\":{}", random.one(&NAMES), soup(random, depth - 1)))
                .collect();
            format!("{{{}}}", members.join(","))
        }
    }
}

#[test]
fn no_list_of_definitions_is_refused_because_of_one() {
    let text = profile(None);
    let profile = Profile::compile(&text).unwrap_or_else(|fault| panic!("{}", fault.to_json()));
    let state = started(&profile);
    let invalid = invalid();
    let mut random = Random(7);
    for round in 0..3000 {
        let mut tools = vec![GOOD.to_owned(), r#"{"name":"free"}"#.to_owned()];
        for _ in 0..random.below(6) {
            let odd = match random.below(3) {
                0 => random.one(&invalid).0,
                1 => random.one(&STRANGERS).to_owned(),
                _ => format!(r#"{{"name":"odd","inputSchema":{}}}"#, soup(&mut random, 4)),
            };
            tools.insert(random.below(tools.len() + 1), odd);
        }
        let event = format!(
            r#"{{"type":"tools_listed","at":2,"listed":{{"servers":{{"s":{{"tools":[{}]}}}}}}}}"#,
            tools.join(",")
        );
        let step = parsed(advance(&profile, Some(&state), &event), &format!("round {round}: {event}"));
        parsed(project(&profile, &format!("{{\"event\":{event}}}"), "model"), &event);
        let record = &step["records"][0];
        let shown: Vec<&str> = record["tools"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .filter(|tool| *tool != "s/odd")
            .collect();
        assert_eq!(shown, ["s/good", "s/free"], "round {round}: {event}\n{record}");
        for hidden in record["hidden"].as_array().into_iter().flatten() {
            let has_message = hidden["message"].as_str().is_some_and(|message| message.len() <= 512);
            assert!(hidden["code"] != "invalid_definition" || has_message, "{hidden}");
        }
    }
}

/// Events that are as deep as the reader allows, and deeper. Every event that a run accepts has a view.
#[test]
fn an_event_that_a_run_takes_has_a_view() {
    let profile = Profile::compile(&profile(None)).unwrap_or_else(|fault| panic!("{}", fault.to_json()));
    let state = started(&profile);
    let mut taken = 0;
    for depth in 80..110 {
        let value = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let event = format!(r#"{{"type":"context","at":2,"name":"n","value":{value}}}"#);
        if advance(&profile, Some(&state), &event).is_ok() {
            taken += 1;
            for audience in ["model", "ui", "user", "audit", "eval"] {
                parsed(project(&profile, &format!("{{\"event\":{event}}}"), audience), &event);
            }
        }
    }
    assert_eq!(taken, 96 - 80);
}
