//! `allow` fails closed: every API rejects exactly those requests that omit a list that the contract requires.

use std::collections::{BTreeMap, BTreeSet};

use seamgate_core::{
    Attempt, Contract, Fault, FaultCode, Finish, NamedList, Registry, Report, Request, Session, call, merge, validate,
};
use seamgate_tests::Random;
use serde_json::{Map, Value, json};

/// The number of contracts, each with several requests.
const CONTRACTS: usize = 5_000;
const REQUESTS: usize = 4;

const NAMES: [&str; 6] = ["teams", "users", "", "a \"b\"", "é\n", "teams2"];
const PATHS: [&str; 4] = ["$.team", "$.list[*].id", "$.list[*]", "$"];

const OUTPUTS: [&str; 6] = [
    r#"{"team":"core","list":[{"id":"core"},{"id":"nobody"}]}"#,
    r#"{"team":"nobody"}"#,
    r#""core""#,
    r#"{"team":"core","list":[{"id":"#,
    "no JSON",
    "",
];

/// A contract with some rules, the lists that a request must contain, and the lists that the contract names.
struct Generated {
    text: String,
    required: BTreeSet<&'static str>,
    named: BTreeSet<&'static str>,
    rules: Vec<Value>,
}

fn generate(random: &mut Random) -> Generated {
    let (mut rules, mut required, mut named) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for _ in 0..random.below(5) {
        let path = random.one(&PATHS);
        if random.chance(25) {
            rules.push(json!({"path": path, "values": ["core", "web"]}));
            continue;
        }
        let name = random.one(&NAMES);
        let mut rule = json!({"path": path, "list": name});
        let optional = random.chance(40);
        if optional || random.chance(30) {
            rule["optional"] = json!(optional);
        }
        named.insert(name);
        if !optional {
            required.insert(name);
        }
        rules.push(rule);
    }
    let mut contract = json!({"agent": "a", "schema": true, "allow": rules});
    if random.chance(50) {
        contract["items"] = json!({"path": "$.list[*]", "schema": true});
    }
    if random.chance(30) {
        contract["repair"] = json!("syntax");
    }
    Generated { text: contract.to_string(), required, named, rules }
}

/// Returns some of the lists, and sometimes one that no contract names.
fn lists(random: &mut Random) -> Vec<NamedList> {
    let often = random.one(&[20, 60, 90]);
    let mut names: Vec<&str> = NAMES.into_iter().filter(|_| random.chance(often)).collect();
    if random.chance(20) {
        names.push("of no rule");
    }
    let of = |name: &str, random: &mut Random| {
        let values = ["core", "web", "x"].into_iter().filter(|_| random.chance(60)).map(str::to_owned).collect();
        NamedList { name: name.to_owned(), values }
    };
    names.into_iter().map(|name| of(name, random)).collect()
}

/// Returns every list.
fn all() -> Vec<NamedList> {
    NAMES.into_iter().map(|name| NamedList { name: name.to_owned(), values: vec!["core".to_owned()] }).collect()
}

/// Checks that the fault names the missing lists and says how to correct the request.
fn explains(fault: &Fault, lacking: &[&str], contract: &Generated) {
    assert_eq!(fault.code, FaultCode::BadRequest);
    assert_eq!(fault.violations.len(), lacking.len(), "{}", fault.to_json());
    assert_eq!(fault.message, format!("request: $.lists {}", fault.violations[0].message));
    for (violation, name) in fault.violations.iter().zip(lacking) {
        let asks = |rule: &&Value| rule["list"] == *name && rule["optional"] != true;
        let rule = contract.rules.iter().find(asks).expect("a rule that asks for it");
        let path = rule["path"].as_str().expect("a path");
        assert_eq!((violation.path.as_str(), violation.keyword.as_str()), ("$.lists", "request"));
        let begins = format!("must have the list {}, ", Value::from(*name));
        assert!(violation.message.starts_with(&begins), "{}", violation.message);
        assert!(violation.message.contains(&format!(" asks for at {path}. ")), "{}", violation.message);
        for right in ["--list NAME=FILE", "\"optional\": true"] {
            assert!(violation.message.contains(right), "{}", violation.message);
        }
    }
}

/// If no list is missing, checks that the notes name the inert checks, provided that validation reached them.
fn inert(report: &Report, contract: &Generated, lists: &[NamedList], output: &str) {
    let told = report.notes.iter().filter(|note| note.contains("was not checked: the request has no list")).count();
    let sent = |name: &Value| lists.iter().any(|list| *name == list.name.as_str());
    let inert = contract.rules.iter().filter(|rule| rule["optional"] == true && !sent(&rule["list"])).count();
    match serde_json::from_str::<Value>(output) {
        Ok(_) => assert_eq!(told, inert, "{}", report.to_json()),
        Err(_) => assert!(told == 0 || told == inert, "{}", report.to_json()),
    }
}

/// Checks that every API returns the same result. Returns this result, a report or a fault.
fn ways(registry: &mut Registry, contract: &Generated, lists: &[NamedList], output: &str) -> Result<Report, Fault> {
    let compiled = Contract::compile(&contract.text).expect("a contract");
    let request = Request { agent: "a".to_owned(), output, lists: lists.to_vec(), ..Request::default() };
    let judged = validate(&compiled, &request);
    assert_eq!(registry.validate(&request), judged);
    let streamed = Session::open(&compiled, lists.to_vec(), None).and_then(|mut session| {
        session.push(&compiled, output)?;
        session.finish(&compiled, Finish::Unknown, None)
    });
    assert_eq!(streamed, judged);
    let opened = registry.session("a", lists.to_vec(), None);
    assert_eq!(opened.map(drop).map_err(|fault| fault.to_json()), judged.clone().map(drop).map_err(|f| f.to_json()));

    let expected = |judged: &Result<Report, Fault>| match judged {
        Ok(report) => format!("{{\"id\":null,\"report\":{}}}", report.to_json()),
        Err(fault) => format!("{{\"id\":null,\"fault\":{}}}", fault.to_json()),
    };
    let named: Map<String, Value> = lists.iter().map(|list| (list.name.clone(), json!(list.values))).collect();
    let by_agent = json!({"agent": "a", "output": output, "lists": named});
    let inline: Value = serde_json::from_str(&contract.text).expect("JSON");
    let by_contract = json!({"contract": inline, "output": output, "lists": named});
    assert_eq!(call(registry, &by_agent.to_string()), expected(&judged));
    assert_eq!(call(registry, &by_contract.to_string()), expected(&judged));

    // `merge` requires the same lists, even if the reports were made with all lists.
    let complete = validate(&compiled, &Request { lists: all(), ..request }).expect("a report");
    for times in [1, 2] {
        let attempts: Vec<Attempt> = (0..times).map(|_| Attempt::from(&complete)).collect();
        let merged = merge(&compiled, &attempts, lists.to_vec(), None);
        assert_eq!(merged.is_err(), judged.is_err());
        let reports: Vec<Value> =
            (0..times).map(|_| serde_json::from_str(&complete.to_json()).expect("JSON")).collect();
        let request = json!({"op": "merge", "agent": "a", "reports": reports, "lists": named});
        let answer = call(registry, &request.to_string());
        match (&merged, &judged) {
            (Err(fault), Err(expected)) => {
                assert_eq!(fault.to_json(), expected.to_json());
                assert_eq!(answer, format!("{{\"id\":null,\"fault\":{}}}", fault.to_json()));
            }
            _ => assert!(answer.starts_with("{\"id\":null,\"report\":"), "{answer}"),
        }
    }
    judged
}

#[test]
fn a_list_that_is_lacking_is_a_fault_everywhere_and_nothing_else_is() {
    let mut random = Random(11);
    let mut counted: BTreeMap<&str, usize> = BTreeMap::new();
    for _ in 0..CONTRACTS {
        let contract = generate(&mut random);
        let mut registry = Registry::new();
        let info = registry.register(&contract.text).expect("a contract");
        assert_eq!(info.lists, contract.named.iter().copied().collect::<Vec<_>>());
        for _ in 0..REQUESTS {
            let (lists, output) = (lists(&mut random), random.one(&OUTPUTS));
            let sent: BTreeSet<&str> = lists.iter().map(|list| list.name.as_str()).collect();
            let lacking: Vec<&str> = contract.required.iter().copied().filter(|name| !sent.contains(name)).collect();
            let what = match ways(&mut registry, &contract, &lists, output) {
                Err(fault) => {
                    explains(&fault, &lacking, &contract);
                    "faults"
                }
                Ok(report) => {
                    assert!(lacking.is_empty(), "{lacking:?} are lacking: {}", report.to_json());
                    inert(&report, &contract, &lists, output);
                    "reports"
                }
            };
            *counted.entry(what).or_default() += 1;
        }
    }
    println!("{counted:?}");
    assert!(counted.values().all(|count| *count > CONTRACTS * REQUESTS / 10), "{counted:?}");
}

/// The size of the fault is bounded, and its text is printable, for any number of missing lists and for any names.
#[test]
fn what_is_said_of_lists_is_bounded() {
    let name = |number: usize| format!("{number}\u{202e}{}", "x\u{1b}\"".repeat(100));
    let path = |number: usize| format!("$.{}{number}[*]", "é".repeat(500));
    let rule = |number: usize| json!({"path": path(number), "list": name(number)});
    let contract = json!({"agent": "a", "schema": true, "allow": (0..1_000).map(rule).collect::<Vec<_>>()});
    let contract = Contract::compile(&contract.to_string()).expect("a contract");
    let lists = (0..1_000).map(|number| NamedList { name: format!("{}{number}", name(number)), values: Vec::new() });
    let fault = validate(&contract, &Request { lists: lists.collect(), ..Request::default() }).expect_err("a fault");
    assert_eq!(fault.violations.len(), 100);
    let json = fault.to_json();
    assert!(json.len() < 200_000, "{} bytes", json.len());
    assert!(!json.contains(['\u{202e}', '\u{1b}']));
    for violation in &fault.violations {
        assert!(violation.message.ends_with("\"optional\": true in that rule"), "{}", violation.message);
    }
}
