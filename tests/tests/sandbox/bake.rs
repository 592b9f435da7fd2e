//! Baked components: they return the same verdicts as without baking, baking is reproducible, and compiled code is
//! cached safely.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::PathBuf,
    sync::LazyLock,
};

use seamgate::{BakeError, Component, Disposition, Fault, Gate, Limits, Options, Request};
use seamgate_tests::{
    calls::{CallCase, call_cases},
    cases,
    fixture::{Fixture, ended, fixtures, unknown},
};
use serde_json::value::RawValue;

const GREETER: &str = r#"{"agent":"greeter","schema":{"type":"object","required":["greeting"]}}"#;
const COUNTER: &str = r#"{"agent":"counter","schema":{"type":"integer"}}"#;

/// The component for all tests that need no special one. Compiling it takes many seconds, so its code is cached.
static BAKED: LazyLock<Component> = LazyLock::new(|| {
    let results = results();
    let component = Component::builtin()
        .bake_with(&[GREETER, COUNTER, &doubling()], &[&results[0].profile], &Limits::default())
        .expect("a baked component");
    folder("baked");
    kept(&component, 1);
    component
});

/// Returns a gate for a component whose code is cached beside that of [`BAKED`].
fn kept(component: &Component, slots: u32) -> Gate {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("baked");
    Gate::with(Options::default().component(component.clone()).slots(slots).cache(Some(folder))).expect("a gate")
}

/// Returns the calls of the group `results`, which share a profile.
fn results() -> Vec<CallCase> {
    let cases = call_cases().expect("calls");
    cases.into_iter().filter(|case| case.name.starts_with("results/")).collect()
}

/// Returns an empty folder for this test.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Returns a gate for a component without a cache.
fn gate(component: Component) -> Gate {
    Gate::with(Options::default().component(component).cache(None)).expect("a gate")
}

/// Returns the contract with another agent name, so that many contracts can be registered in one gate.
fn renamed(contract: &str, agent: &str) -> String {
    let mut members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(contract).expect("an object");
    members.insert("agent".to_owned(), RawValue::from_string(format!("\"{agent}\"")).expect("JSON"));
    serde_json::to_string(&members).expect("JSON")
}

#[test]
fn every_case_has_the_same_verdict_baked() {
    let cases = cases().expect("cases");
    // Contracts that the core rejects cannot be baked.
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
    let bake = |contracts| Component::builtin().bake(contracts, &Limits::default()).expect("a baked component");
    assert_eq!(bake(&[GREETER, COUNTER]).digest(), bake(&[COUNTER, GREETER, COUNTER]).digest());
    let mut gate = kept(&BAKED, 1);
    let inspection = gate.inspect().expect("an inspection");
    let agents: Vec<&str> = inspection.agents.iter().map(|info| info.agent.as_str()).collect();
    assert_eq!(agents, ["counter", "doubling", "greeter"]);
    assert!(inspection.imports.is_empty(), "{:?}", inspection.imports);
    assert!(inspection.sealed);
    assert!(matches!(gate.register(GREETER), Err(Fault::Sealed { .. })), "a sealed registry takes no contract");
}

#[test]
fn a_baked_gate_serves_more_threads_than_it_has_slots() {
    let gate = kept(&BAKED, 2);
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

/// Returns a contract with chains of references that double at each level.
fn doubling() -> String {
    let doubling: Vec<String> = (0..60)
        .map(|level| {
            format!(
                "\"d{level}\":{{\"allOf\":[{{\"$ref\":\"#/$defs/d{0}\"}},{{\"$ref\":\"#/$defs/d{0}\"}}]}}",
                level + 1
            )
        })
        .collect();
    format!(
        r##"{{"agent":"doubling","schema":{{"$ref":"#/$defs/d0","$defs":{{{},"d60":{{"type":"string"}}}}}}}}"##,
        doubling.join(",")
    )
}

/// Each schema is compiled once, and is evaluated once for a value.
#[test]
fn references_that_double_cost_what_they_would_alone() {
    let gate = kept(&BAKED, 1);
    let disposition = |output| gate.validate(&Request::new("doubling", output)).expect("a verdict").report.disposition;
    assert_eq!(disposition("\"text\""), Disposition::Accepted);
    assert_eq!(disposition("1"), Disposition::Rejected);
}

#[cfg(unix)]
mod cache {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    /// Returns a component that compiles in milliseconds. The cache does not depend on the component's size.
    fn small() -> Fixture {
        let mut fixtures = fixtures().expect("components").into_iter();
        fixtures.find(|fixture| fixture.name == "report-accepts-nothing").expect("report-accepts-nothing.wat")
    }

    /// Checks that a gate for that component works with a cache in this folder.
    fn runs(small: &Fixture, folder: &std::path::Path) {
        let component = Component::from_bytes(small.wasm.clone());
        let gate = Gate::with(Options::default().component(component).cache(Some(folder.to_owned())));
        let ended = ended(&gate.expect("a gate"), "validate");
        assert!(small.expected.contains(&("validate".to_owned(), ended.clone())), "{ended}");
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
        let component = small();
        let folder = folder("cache").join("private");
        runs(&component, &folder);
        let file = only(&folder);
        assert_eq!(fs::metadata(&folder).expect("a folder").mode() & 0o777, 0o700);
        assert_eq!(fs::metadata(&file).expect("a file").mode() & 0o777, 0o600);
        let code = fs::read(&file).expect("the code");
        let number = fs::metadata(&file).expect("a file").ino();

        // Unchanged code is loaded, and its file is not replaced.
        runs(&component, &folder);
        assert_eq!(fs::metadata(&file).expect("a file").ino(), number, "the code was made anew");

        let made_anew = |why: &str| {
            runs(&component, &folder);
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

        // The code of another component under the name of this one.
        let other = folder.with_file_name("other");
        runs(&Fixture { wasm: unknown(&component.wasm), ..small() }, &other);
        fs::copy(only(&other), &file).expect("copied");
        made_anew("foreign");

        // If other users can write to the folder, no code is loaded from it or stored in it.
        fs::write(&file, b"theirs").expect("written");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).expect("permissions");
        runs(&component, &folder);
        assert_eq!(fs::read(&file).expect("the file"), b"theirs");
    }

    #[test]
    fn where_nothing_can_be_kept_everything_works() {
        let nowhere = folder("nowhere").join("file");
        fs::write(&nowhere, b"in the way").expect("written");
        let small = small();
        runs(&small, &nowhere);
        runs(&small, &nowhere.join("below"));
    }
}

#[test]
fn a_baked_profile_decides_as_it_does_by_itself() {
    let cases = results();
    let profile = seamgate_kernel::Profile::compile(&cases[0].profile).expect("a profile");
    let gate = kept(&BAKED, 1);
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
