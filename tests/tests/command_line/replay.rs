//! Recorded runs under another profile: `seamgate replay`, and the library that implements it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use seamgate::{FileJournal, Gate, Permit, Run};
use seamgate_kernel::Profile;
use seamgate_tests::runs::{RunCase, run_cases};
use seamgate_trace::{NotReplayed, replay};
use serde_json::{Value, json};

/// Returns an empty folder.
fn fresh(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("replay").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Writes the events of a case into the journal of a folder. Returns `false` if the case contains an event that a
/// journal cannot contain: one for a changed state, or one with artifacts.
pub(crate) fn play(case: &RunCase, gate: &Gate, agent: &str, folder: &Path) -> bool {
    let is_changed = |event: &Value| event.get("state").is_some() || event.get("again").is_some();
    if case.events.iter().any(is_changed) {
        return false;
    }
    let profile = Profile::compile(&case.profile).unwrap_or_else(|fault| panic!("{}", fault.message));
    let played = case
        .play(|state, event| seamgate_kernel::advance(&profile, state, event).map_err(|fault| fault.to_json()))
        .expect("played");
    if played.iter().any(|one| one.event.contains("\"artifacts\":")) {
        return false;
    }
    let mut run: Option<Run<'_, FileJournal>> = None;
    for one in played.iter().filter(|one| one.step.is_ok()) {
        match &mut run {
            Some(run) => drop(run.send_json(&one.event).expect("a step")),
            None => {
                let journal = FileJournal::create(folder).expect("a journal").without_sync();
                run = Some(Run::start_json(gate, journal, agent, &one.event).expect("started").0);
            }
        }
    }
    run.is_some()
}

#[test]
fn a_run_under_its_own_profile_is_decided_as_before() {
    let (mut replayed, mut calls) = (0, 0);
    for case in run_cases().expect("cases") {
        let mut gate = Gate::new().expect("a gate");
        let agent = gate.register_profile(&case.profile).expect("a profile").agent;
        let folder = fresh("own");
        if !play(&case, &gate, &agent, &folder) {
            continue;
        }
        let replay = match replay(&folder, &gate, &agent) {
            Err(NotReplayed::Child) => continue,
            replay => replay.unwrap_or_else(|error| panic!("{}: {error}", case.name)),
        };
        // Skips an edit of the profile, and the events that depend on it.
        if case.events.iter().any(|event| event["type"] == "profile") {
            continue;
        }
        assert!(replay.faults.is_empty() && replay.notes.is_empty(), "{}: {replay:?}", case.name);
        for call in &replay.calls {
            assert!(!call.differs(), "{}: {call:?}", case.name);
        }
        replayed += 1;
        calls += replay.calls.len();
    }
    println!("{replayed} runs, {calls} calls");
    assert!(replayed > 500 && calls > 500, "{replayed} runs, {calls} calls");
}

/// Runs the command line in a folder.
pub(crate) fn seamgate(arguments: &[&str], folder: &Path) -> Output {
    let test = std::env::current_exe().expect("this test");
    let programs = test.parent().and_then(Path::parent).expect("target/PROFILE");
    let cache = concat!(env!("CARGO_TARGET_TMPDIR"), "/user-cache");
    let mut command = Command::new(programs.join("seamgate"));
    command.args(arguments).current_dir(folder).env_remove("RUST_LOG").env("XDG_CACHE_HOME", cache);
    command.output().expect("seamgate, built by `cargo xtask build`")
}

/// Returns the profile of an agent that reads and writes files, with a permit for each tool.
fn files(read: &Value, write: &Value) -> String {
    json!({
        "agent": "files",
        "approvers": {"owner": [{"principal": "anna", "key": "A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg"}]},
        "tools": [
            {"name": "read", "effect": "read", "permit": read, "result": {"labels": ["untrusted"]}},
            {"name": "write", "effect": "effectful", "permit": write},
        ],
    })
    .to_string()
}

#[test]
fn each_change_of_a_decision_is_listed_with_its_reason() {
    let folder = fresh("changes");
    let (allow, ask, deny) = (json!("allow"), json!({"approval": {"by": ["owner"]}}), json!("deny"));
    let mut gate = Gate::new().expect("a gate");
    gate.register_profile(&files(&allow, &allow)).expect("a profile");
    let started = json!({"type": "started", "at": 1, "run": "r", "principal": "anna", "nonce": "0123456789abcdef"});
    let journal = FileJournal::create(folder.join("runs/one")).expect("a journal");
    let (mut run, _) = Run::start_json(&gate, journal, "files", &started.to_string()).expect("a run");
    for event in [
        json!({"type": "call", "at": 2, "tool": "read", "arguments": {}}),
        json!({"type": "tool_started", "at": 3, "call": "c1"}),
        json!({"type": "tool_result", "at": 4, "call": "c1", "returned": {"content": [{"type": "text", "text": "x"}]}}),
        json!({"type": "call", "at": 5, "tool": "write", "arguments": {"n": 1.50}}),
        json!({"type": "tool_started", "at": 6, "call": "c2"}),
        json!({"type": "tool_result", "at": 7, "call": "c2", "returned": {"content": []}}),
        json!({"type": "call", "at": 8, "tool": "drop", "arguments": {}}),
    ] {
        run.send_json(&event.to_string()).expect("a step");
    }
    drop(run);
    let profile = folder.join("new.profile.json");
    let replayed = |read: &Value, write: &Value, status: i32| {
        fs::write(&profile, files(read, write)).expect("written");
        let output = seamgate(&["replay", "runs", "-p", "new.profile.json"], &folder);
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(status), "{said}");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    assert_eq!(
        replayed(&allow, &allow, 0),
        "3 calls in 1 run, 0 decided differently\n             before  after\nruns              2      2\ndenied            1      1\n"
    );
    // The call ran, so the recorded answer is an approval.
    let asked = replayed(&ask, &ask, 1);
    assert!(asked.contains("c1 read  runs -> asks: \"read\" needs approval"), "{asked}");
    assert!(asked.contains("c2 write  runs -> asks: \"write\" needs approval"), "{asked}");
    let denied = replayed(&allow, &deny, 1);
    assert!(denied.contains("c2 write  runs -> denied: ") && !denied.contains("c1"), "{denied}");
    for (arguments, status, says) in [
        (&["replay", "nowhere", "-p", "new.profile.json"][..], 2, "there is no run in it"),
        (&["replay", "runs"], 2, "--profile"),
        (&["replay", "runs", "-p", "nothing.json"], 2, "nothing.json"),
    ] {
        let output = seamgate(arguments, &folder);
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(status), "{said}");
        assert!(said.contains(says), "{said}");
    }
    // A profile of another agent.
    fs::write(&profile, files(&allow, &allow).replace("\"files\"", "\"other\"")).expect("written");
    let output = seamgate(&["replay", "runs", "-p", "new.profile.json"], &folder);
    assert_eq!(output.status.code(), Some(5));
    assert!(String::from_utf8_lossy(&output.stderr).contains("left out: it is a run of \"files\""), "{output:?}");
}

#[test]
fn a_wider_profile_shows_what_would_run() {
    let folder = fresh("wider");
    let (allow, ask) = (json!("allow"), json!({"approval": {"by": ["owner"]}}));
    let mut gate = Gate::new().expect("a gate");
    gate.register_profile(&files(&allow, &ask)).expect("a profile");
    let started = json!({"type": "started", "at": 1, "run": "r", "principal": "anna", "nonce": "0123456789abcdef"});
    let (mut run, _) =
        Run::start_json(&gate, FileJournal::create(&folder).expect("a journal"), "files", &started.to_string())
            .expect("a run");
    for at in [2, 3] {
        let call = json!({"type": "call", "at": at, "tool": "write", "arguments": {"n": at}});
        run.send_json(&call.to_string()).expect("a step");
    }
    drop(run);
    let mut wider = Gate::new().expect("a gate");
    wider.register_profile(&files(&allow, &allow)).expect("a profile");
    let replay = replay(&folder, &wider, "files").expect("replayed");
    let decisions: Vec<_> = replay.calls.iter().map(|call| (call.before, call.after)).collect();
    assert_eq!(decisions, [(Permit::Approval, Some(Permit::Allow)), (Permit::Approval, Some(Permit::Allow))]);
    assert_eq!(replay.notes, [""; 0]);
}
