//! The contracts of the targets, compiled once.

use std::sync::OnceLock;

use seamgate_core::Contract;

/// A contract, and a variant for a text that consists only of a document.
pub struct Pair {
    /// The text of the contract.
    pub text: String,
    /// The contract that judges the text.
    pub contract: Contract,
    /// The contract that judges the output again, without fences, repair and prose.
    pub again: Contract,
    /// The path of the contract's items as a JSON Pointer, if it has items.
    pub items: Option<&'static str>,
}

const ANY: &str = r#""schema":{}"#;

const LIST: &str = r##""schema":{"type":"object","required":["list"],"properties":{"date":{"type":"string"},
    "list":{"type":"array","items":{"type":"object","required":["id"],"additionalProperties":false,"properties":{
    "id":{"type":"string","pattern":"^[a-z]+$"},"size":{"type":"integer","minimum":0},"tags":{"type":"array",
    "uniqueItems":true,"items":{"enum":["a","b","c"]}}}}}}},"items":{"path":"$.list[*]"##;

/// All forms of `extract`, which specifies the place of the document.
const EXTRACTS: [&str; 16] = [
    r#""extract":{}"#,
    r#""extract":{"select":"first"}"#,
    r#""extract":{"select":"only"}"#,
    r#""extract":{"select":"first_valid"}"#,
    r#""extract":{"select":"last_valid","markers":["json",""]}"#,
    r#""extract":{"embedded":true}"#,
    r#""extract":{"embedded":true,"raw_json":false,"select":"first"}"#,
    r#""extract":{"embedded":true,"markers":[],"select":"last_valid"}"#,
    r#""extract":{"markers":["report-json","json"],"raw_json":false}"#,
    r#""extract":{"embedded":"single","untagged":false}"#,
    r#""extract":{"embedded":"single","raw_json":false,"select":"only"}"#,
    r#""extract":{"markers":["json"],"untagged":true,"select":"first"}"#,
    r#""extract":{"embedded":true,"ignore":[]}"#,
    r#""extract":{"embedded":true,"ignore":["think","a"],"select":"first_valid"}"#,
    r#""extract":{"within":"answer"}"#,
    r#""extract":{"within":"answer","embedded":true,"select":"first"}"#,
];

/// Caps that small texts exceed.
const SMALL: &str = r#""caps":{"bytes":200,"depth":4,"string_bytes":12,"array_items":4,"object_members":3}"#;

/// Returns contracts with all forms of `extract`, and any schema.
pub fn extract() -> &'static [Pair] {
    static PAIRS: OnceLock<Vec<Pair>> = OnceLock::new();
    PAIRS.get_or_init(|| {
        let repairs = ["", r#","repair":"syntax""#];
        let each = EXTRACTS.iter().flat_map(|extract| repairs.map(|repair| format!("{ANY},{extract}{repair}")));
        each.map(|members| pair(&members, None)).collect()
    })
}

/// Returns contracts for the whole text, with any schema and the widest caps.
pub fn parse() -> &'static [Pair] {
    static PAIRS: OnceLock<Vec<Pair>> = OnceLock::new();
    PAIRS.get_or_init(|| {
        vec![pair(&format!(r#"{ANY},"extract":{{"markers":[],"ignore":[]}},"caps":{{"depth":128}}"#), None)]
    })
}

/// Returns contracts that repair syntax.
pub fn repair() -> &'static [Pair] {
    static PAIRS: OnceLock<Vec<Pair>> = OnceLock::new();
    PAIRS.get_or_init(|| {
        let each = [
            format!(r#"{ANY},"repair":"syntax","extract":{{"markers":[]}}"#),
            format!(r#"{ANY},"repair":"syntax""#),
            format!(r#"{ANY},"repair":"syntax","extract":{{"markers":[]}},{SMALL}"#),
        ];
        each.iter().map(|members| pair(members, None)).collect()
    })
}

/// Returns contracts for lists of items.
pub fn items() -> &'static [Pair] {
    static PAIRS: OnceLock<Vec<Pair>> = OnceLock::new();
    PAIRS.get_or_init(|| {
        let list = [
            format!(r#"{LIST}"}}"#),
            format!(r#"{LIST}"}},"repair":"syntax""#),
            format!(r#"{LIST}","max":2}}"#),
            format!(r#"{LIST}","max":2}},"repair":"syntax","unknown_members":"strip","extract":{{"embedded":true}}"#),
            format!(r#"{LIST}"}},{SMALL}"#),
            format!(r#"{LIST}","key":"id"}}"#),
            format!(r#"{LIST}","key":"id"}},"repair":"syntax","unknown_members":"strip""#),
            format!(r#"{LIST}"}},"allow":[{{"path":"$.list[*].id","values":["a","b","ab"]}}],"refusal":"$.no""#),
        ];
        let root = [
            r#""schema":{"type":"array","items":{"type":"integer"}},"items":{"path":"$[*]"}"#,
            r#""schema":{"items":{"type":"integer"},"uniqueItems":true},"items":{"path":"$[*]"},"repair":"syntax""#,
            r#""jtd":{"elements":{"properties":{"id":{"type":"string"},"n":{"type":"uint8"}}}},"items":{"path":"$[*]"}"#,
        ];
        let nested = r#""schema":{},"items":{"path":"$.a[1].l[*]","schema":{"type":["string","object"]}}"#;
        let list = list.iter().map(|members| pair(members, Some("/list")));
        let root = root.iter().map(|members| pair(members, Some("")));
        list.chain(root).chain([pair(nested, Some("/a/1/l"))]).collect()
    })
}

/// Returns all of the contracts above.
pub fn all() -> Vec<&'static Pair> {
    [extract(), parse(), repair(), items()].into_iter().flatten().collect()
}

/// Creates a pair from the contract's members other than the agent.
fn pair(members: &str, items: Option<&'static str>) -> Pair {
    let text = format!(r#"{{"agent":"a",{members}}}"#);
    let mut again: serde_json::Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    again["extract"] = serde_json::json!({ "markers": [] });
    again["repair"] = "none".into();
    let compile = |text: &str| Contract::compile(text).unwrap_or_else(|fault| panic!("{text}: {}", fault.to_json()));
    Pair { contract: compile(&text), again: compile(&again.to_string()), text, items }
}
