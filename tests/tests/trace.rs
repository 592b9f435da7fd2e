//! `seamgate trace` and `seamgate why`: runs of `tests/runs`, played into folders, as a person, a browser, a collector and a
//! script see them. What the text and OTLP look like stands in `tests/trace`, and `cargo xtask bless` writes it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use seamgate::{FileJournal, Gate, Run};
use seamgate_kernel::Profile;
use seamgate_tests::{
    runs::{RunCase, run_cases},
    suite::expect,
};
use serde_json::{Value, json};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The binary of this build: beside the folder of the tests.
fn seamgate(arguments: &[&str]) -> Output {
    let test = std::env::current_exe().expect("this test");
    let folder = test.parent().and_then(Path::parent).expect("target/PROFILE");
    let cache = concat!(env!("CARGO_TARGET_TMPDIR"), "/user-cache");
    let mut command = Command::new(folder.join("seamgate"));
    command.args(arguments).current_dir(traces()).env_remove("RUST_LOG").env("XDG_CACHE_HOME", cache);
    command.output().expect("seamgate, built by `cargo xtask build`")
}

/// Where runs are played. They stay there until the next time, for a look at them.
fn traces() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("trace");
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// A folder for one run, empty.
fn fresh(name: &str) -> PathBuf {
    let folder = traces().join(name);
    let _ = fs::remove_dir_all(&folder);
    folder
}

fn case(name: &str) -> RunCase {
    run_cases().expect("cases").into_iter().find(|case| case.name == name).expect("a case of this name")
}

/// Play a case into a folder, with the profile beside the journal, where `agent.json` names it.
fn play(case: &RunCase, folder: &Path) {
    let profile = Profile::compile(&case.profile).unwrap_or_else(|fault| panic!("{}", fault.message));
    let played = case
        .play(|state, event| seamgate_kernel::advance(&profile, state, event).map_err(|fault| fault.to_json()))
        .expect("played");
    let mut gate = Gate::new().expect("a gate");
    let agent = gate.register_profile(&case.profile).expect("a profile").agent;
    let mut run: Option<Run<'_, FileJournal>> = None;
    for one in played {
        match &mut run {
            Some(run) => drop(run.send(&one.event).expect("a step")),
            None => {
                let journal = FileJournal::create(folder).expect("a journal");
                run = Some(Run::start(&gate, journal, &agent, &one.event).expect("started").0);
            }
        }
    }
    fs::write(folder.join("agent.json"), r#"{"profile": "agent.profile.json"}"#).expect("written");
    fs::write(folder.join("agent.profile.json"), &case.profile).expect("written");
}

fn played(name: &str, folder: &str) -> PathBuf {
    let folder = fresh(folder);
    play(&case(name), &folder);
    folder
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

fn is_status(output: &Output, status: i32) {
    assert_eq!(output.status.code(), Some(status), "{}\n{}", out(output), err(output));
}

/// A run with a child in its folder.
fn with_child(name: &str) -> PathBuf {
    let folder = played("delegation/packet", name);
    let lines = fs::read_to_string(folder.join("journal.ndjson")).expect("a journal");
    let delegate = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).find_map(|line| {
        let action = line.get("action")?;
        (action["type"] == "delegate").then(|| action.clone())
    });
    let delegate = delegate.expect("a delegate");
    let mut child = case("child/answer");
    child.events[0]["run"] = delegate["run"].clone();
    let key = delegate["key"].as_str().expect("a key");
    let mut parts = key.rsplit('/');
    let (n, step) = (parts.next().expect("n"), parts.next().expect("a step"));
    play(&child, &folder.join("children").join(format!("{step}-{n}")));
    folder
}

#[test]
fn look() {
    let run = played("projections/run", "run");
    let family = with_child("family");
    for folder in [&run, &family] {
        let text = seamgate(&["trace", folder.to_str().expect("UTF-8")]);
        println!("{}\n{}", out(&text), err(&text));
        is_status(&text, 0);
    }
}
