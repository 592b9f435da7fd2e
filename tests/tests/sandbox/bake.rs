//! Baked components: the same verdicts as without baking, the same bytes each time, and code that is kept safely.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::PathBuf,
};

use seamgate::{BakeError, Component, Disposition, Fault, Gate, Limits, Options, Request};
use seamgate_tests::cases;
use serde_json::value::RawValue;

const GREETER: &str = r#"{"agent":"greeter","schema":{"type":"object","required":["greeting"]}}"#;
const COUNTER: &str = r#"{"agent":"counter","schema":{"type":"integer"}}"#;

fn bake(contracts: &[&str]) -> Component {
    Component::builtin().bake(contracts, &Limits::default()).expect("a baked component")
}

/// Returns a folder of this test's own, empty.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Returns a gate of a component whose code is kept nowhere.
fn gate(component: Component) -> Gate {
    Gate::with(Options::default().component(component).cache(None)).expect("a gate")
}

/// Returns the contract with another agent's name, so that any number of them can be registered at once.
fn renamed(contract: &str, agent: &str) -> String {
    let mut members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(contract).expect("an object");
    members.insert("agent".to_owned(), RawValue::from_string(format!("\"{agent}\"")).expect("JSON"));
    serde_json::to_string(&members).expect("JSON")
}

#[test]
fn every_case_has_the_same_verdict_baked() {
    let cases = cases().expect("cases");
    // Contracts that some case is refused for are not for baking.
    let mut agents: HashMap<&str, String> = HashMap::new();
    for case in &cases {
        if seamgate_core::Contract::compile(&case.contract).is_ok() && !agents.contains_key(case.contract.as_str()) {
            agents.insert(&case.contract, format!("agent-{}", agents.len()));
        }
    }
    let contracts: Vec<String> = agents.iter().map(|(contract, agent)| renamed(contract, agent)).collect();
    let texts: HashMap<&str, &String> = agents.values().map(String::as_str).zip(&contracts).collect();
    let limits = Limits::default();
    let baked = gate(Component::builtin().bake(&contracts, &limits).expect("a baked component"));
    let plain = Gate::new().expect("a gate");
    let mut compared = 0;
    for case in &cases {
        let Some(agent) = agents.get(case.contract.as_str()) else {
            continue;
        };
        let request = case.request(agent);
        let json = |verdict: Result<seamgate::Verdict, Fault>| match verdict {
            Ok(verdict) => verdict.report.to_json(),
            Err(fault) => fault.to_json(),
        };
        let expected = json(plain.validate_with(texts[agent.as_str()], &request));
        assert_eq!(json(baked.validate(&request)), expected, "{}", case.name);
        compared += 1;
    }
    assert!(compared >= 200, "only {compared} cases were compared");
}

#[test]
fn the_same_contracts_give_the_same_bytes() {
    let baked = bake(&[GREETER, COUNTER]);
    assert_eq!(baked.digest(), bake(&[COUNTER, GREETER, COUNTER]).digest());
    let mut gate = gate(baked);
    let inspection = gate.inspect().expect("an inspection");
    let agents: Vec<&str> = inspection.agents.iter().map(|info| info.agent.as_str()).collect();
    assert_eq!(agents, ["counter", "greeter"]);
    assert!(inspection.imports.is_empty(), "{:?}", inspection.imports);
    assert!(inspection.sealed);
    assert!(matches!(gate.register(GREETER), Err(Fault::Sealed { .. })), "a sealed registry takes no contract");
}

#[test]
fn a_baked_gate_serves_more_threads_than_it_has_slots() {
    let component = bake(&[GREETER, COUNTER]);
    let gate = Gate::with(Options::default().component(component).slots(2).cache(None)).expect("a gate");
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let gate = &gate;
            scope.spawn(move || {
                for number in 0..100 {
                    let text = (thread * 1000 + number).to_string();
                    let report = gate.validate(&Request::new("counter", &text)).expect("a verdict").report;
                    assert_eq!(report.output.as_deref(), Some(text.as_str()));
                    let report = gate.validate(&Request::new("greeter", &text)).expect("a verdict").report;
                    assert_eq!(report.disposition, Disposition::Rejected);
                }
            });
        }
    });
}

#[test]
fn hostile_contracts_are_faults_within_the_limits() {
    let description = "x".repeat(10 * 1024 * 1024);
    let hostile = [
        (r#"{"agent":"a","schema":{"pattern":"^((?:ab|c){1,1000}){1,1000}$"}}"#.to_owned(), "bad_contract"),
        (r#"{"agent":"a","schema":{"$ref":"https://elsewhere.example/"}}"#.to_owned(), "bad_contract"),
        (format!(r#"{{"agent":"a","schema":{{"description":"{description}"}}}}"#), "bad_contract"),
    ];
    for (contract, code) in &hostile {
        match Component::builtin().bake(&[GREETER, contract], &Limits::default()) {
            Err(BakeError::Contract { index: 1, fault, .. }) => assert_eq!(fault.code(), *code, "{fault}"),
            other => panic!("{}: {:?}", &contract[..60], other.map(|component| component.digest().to_owned())),
        }
    }
}

/// Chains of references that double: each schema is compiled once, and each is asked about a value once.
#[test]
fn references_that_double_cost_what_they_would_alone() {
    let doubling: Vec<String> = (0..60)
        .map(|level| {
            format!(
                "\"d{level}\":{{\"allOf\":[{{\"$ref\":\"#/$defs/d{0}\"}},{{\"$ref\":\"#/$defs/d{0}\"}}]}}",
                level + 1
            )
        })
        .collect();
    let contract = format!(
        r##"{{"agent":"a","schema":{{"$ref":"#/$defs/d0","$defs":{{{},"d60":{{"type":"string"}}}}}}}}"##,
        doubling.join(",")
    );
    let gate = gate(bake(&[&contract]));
    let disposition = |output: &str| gate.validate(&Request::new("a", output)).expect("a verdict").report.disposition;
    assert_eq!(disposition("\"text\""), Disposition::Accepted);
    assert_eq!(disposition("1"), Disposition::Rejected);
}

#[cfg(unix)]
mod cache {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    /// Checks that a gate of a component whose code is kept in a folder reaches a verdict.
    fn answers(component: &Component, folder: &std::path::Path) {
        let options = Options::default().component(component.clone()).cache(Some(folder.to_owned()));
        let verdict = Gate::with(options).expect("a gate").validate(&Request::new("counter", "1"));
        assert_eq!(verdict.expect("a verdict").report.disposition, Disposition::Accepted);
    }

    /// Returns the only file in a folder.
    fn only(folder: &std::path::Path) -> PathBuf {
        let mut files = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path());
        let file = files.next().expect("a file");
        assert_eq!(files.next(), None);
        file
    }

    #[test]
    fn code_is_kept_and_what_is_not_to_be_trusted_is_made_anew() {
        let component = bake(&[COUNTER]);
        let folder = folder("cache").join("private");
        answers(&component, &folder);
        let file = only(&folder);
        assert_eq!(fs::metadata(&folder).expect("a folder").mode() & 0o777, 0o700);
        assert_eq!(fs::metadata(&file).expect("a file").mode() & 0o777, 0o600);
        let code = fs::read(&file).expect("the code");
        let number = fs::metadata(&file).expect("a file").ino();

        // As it is, it is loaded, and stays the file that it was.
        answers(&component, &folder);
        assert_eq!(fs::metadata(&file).expect("a file").ino(), number, "the code was made anew");

        let made_anew = |why: &str| {
            answers(&component, &folder);
            assert!(fs::symlink_metadata(&file).expect("a file").is_file(), "{why}");
            assert_eq!(fs::metadata(&file).expect("a file").mode() & 0o777, 0o600, "{why}");
            assert!(fs::read(&file).expect("the code") == code, "{why}: the file is not what it was");
        };
        for at in [0, code.len() / 3, code.len() - 1] {
            let mut damaged = code.clone();
            damaged[at] ^= 1;
            fs::write(&file, damaged).expect("written");
            made_anew("damaged");
        }
        for length in [0, 10, code.len() / 2, code.len() - 1] {
            fs::write(&file, &code[..length]).expect("written");
            made_anew("truncated");
        }
        fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).expect("permissions");
        made_anew("writable by others");
        let elsewhere = folder.with_file_name("elsewhere");
        fs::rename(&file, &elsewhere).expect("moved");
        symlink(&elsewhere, &file).expect("a link");
        made_anew("a link");

        // Another component's code under this one's name.
        let other = folder.with_file_name("other");
        answers(&bake(&[COUNTER, GREETER]), &other);
        fs::copy(only(&other), &file).expect("copied");
        made_anew("foreign");

        // In a folder that others can write to nothing is loaded, and nothing kept.
        fs::write(&file, b"theirs").expect("written");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).expect("permissions");
        answers(&component, &folder);
        assert_eq!(fs::read(&file).expect("the file"), b"theirs");
    }

    #[test]
    fn where_nothing_can_be_kept_everything_works() {
        let nowhere = folder("nowhere").join("file");
        fs::write(&nowhere, b"in the way").expect("written");
        answers(&bake(&[COUNTER]), &nowhere);
        answers(&bake(&[COUNTER]), &nowhere.join("below"));
    }
}

#[test]
fn a_baked_profile_decides_as_it_does_by_itself() {
    let cases: Vec<_> = seamgate_tests::calls::call_cases().expect("calls");
    let cases: Vec<_> = cases.into_iter().filter(|case| case.name.starts_with("results/")).collect();
    let source = &cases[0].profile;
    let profile = seamgate_kernel::Profile::compile(source).expect("a profile");
    let baked = Component::builtin().bake_with(&[] as &[&str], &[source], &Limits::default()).expect("baked");
    let gate = gate(baked);
    for case in &cases {
        let result = case.result.as_deref().expect("a result");
        let (decision, observation) = (
            seamgate_kernel::permit(&profile, &case.facts, &case.call).expect("a decision"),
            seamgate_kernel::observe(&profile, &case.facts, &case.call, result).expect("an observation"),
        );
        let surface = seamgate_kernel::surface(&profile, &case.facts, None).expect("a surface");
        assert_eq!(gate.permit("sre-rca", &case.facts, &case.call).expect("a decision").json, decision);
        assert_eq!(gate.observe("sre-rca", &case.facts, &case.call, result).expect("an observation").json, observation);
        assert_eq!(gate.surface("sre-rca", &case.facts, None).expect("a surface").json, surface);
    }
}
