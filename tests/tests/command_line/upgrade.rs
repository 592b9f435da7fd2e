//! Runs that continue under another component: one that decides identically, and one that does not.
#![cfg(unix)]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Output,
};

use seamgate::{FileJournal, Gate, Journal, JournalReader, LineKind, Run, digest};
use seamgate_tests::{
    other::{OTHER, other_gate},
    runs::run_cases,
};
use serde_json::{Value, value::RawValue};

use crate::replay::{play, seamgate};

/// Returns an empty folder.
fn fresh(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("upgrade").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn journal(folder: &Path) -> String {
    fs::read_to_string(folder.join("journal.ndjson")).expect("lines")
}

#[test]
fn each_case_goes_on_under_another_component_and_back() {
    let (mut runs, mut steps) = (0, 0);
    for case in run_cases().expect("cases") {
        let name = &case.name;
        let (mut gate, mut other) = (Gate::new().expect("a gate"), other_gate());
        let agent = gate.register_profile(&case.profile).expect("a profile").agent;
        other.register_profile(&case.profile).expect("a profile");
        let folder = fresh("case");
        if !play(&case, &other, &agent, &folder) {
            continue;
        }
        let before = journal(&folder);
        let open = |gate| {
            let journal = FileJournal::open(&folder).expect("lines").without_sync();
            Run::open(gate, journal).unwrap_or_else(|error| panic!("{name}: {error}"))
        };
        let mut at = 0;
        for line in before.lines() {
            let line: Value = serde_json::from_str(line).expect("JSON");
            at = line["event"]["at"].as_u64().unwrap_or_default().max(at);
        }
        let tick = format!(r#"{{"type":"tick","at":{at}}}"#);
        let was = open(&other);
        assert_eq!(was.changed_from(), None, "{name}");
        for gate in [&gate, &other, &gate] {
            let (mut run, mut follower) = (open(gate), open(gate));
            assert!(run.changed_from().is_some() && run.step() >= was.step(), "{name}");
            run.send_json(&tick).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(open(gate).state(), run.state(), "{name}");
            // Another process adopts the change together with the step.
            follower.catch_up().unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!((follower.changed_from(), follower.state()), (None, run.state()), "{name}");
        }
        let after = journal(&folder);
        assert!(after.starts_with(&before), "{name}");
        assert_eq!(after.matches(r#""component":{"from":"#).count(), 3, "{name}");
        (runs, steps) = (runs + 1, steps + was.step());
    }
    println!("{runs} runs of {steps} steps went on under another component, and back");
    assert!(runs > 100);
}

/// A run of `seamgate agent` that waits for the approval of one call.
struct Waiting {
    folder: PathBuf,
}

impl Waiting {
    fn new(name: &str) -> Self {
        let waiting = Waiting { folder: fresh(name) };
        let write = |name: &str, text: &str| fs::write(waiting.folder.join(name), text).expect("written");
        write(
            "x.profile.json",
            r#"{"agent": "x", "prompt": {"role": "You act."}, "approvers": {"owner": [{"principal": "anna"}]},
                "tools": [{"name": "act", "effect": "effectful", "permit": {"approval": {"by": ["owner"], "ttl_s": 3600}}}],
                "final": {"contract": {"agent": "x", "schema": {"const": "done"}}}}"#,
        );
        write(
            "x.lock.json",
            r#"{"servers": {"": {"tools": [{"name": "act", "description": "Act.", "inputSchema": {"type": "object"}}]}}}"#,
        );
        write("x.servers.json", r#"{"servers": {"": {"tools": {"act": {"command": ["sh", "act.sh"]}}}}}"#);
        write("act.sh", "cat > /dev/null; echo ran >> ran.txt; echo '{}'");
        write(
            "model.sh",
            r#"case $(cat) in
                *'"call":"c1"'*) echo '{"text": "\"done\""}' ;;
                *) echo '{"calls": [{"tool": "act", "arguments": {}}]}' ;;
            esac"#,
        );
        let arguments = ["agent", "-p", "x.profile.json", "--servers", "x.servers.json", "--journal", "runs/run1"];
        let begun = waiting.seamgate(&[&arguments[..], &["--as", "joe", "--", "sh", "model.sh"]].concat());
        assert_eq!(begun.status.code(), Some(6), "{begun:?}");
        waiting
    }

    fn run(&self) -> PathBuf {
        self.folder.join("runs/run1")
    }

    fn seamgate(&self, arguments: &[&str]) -> Output {
        seamgate(arguments, &self.folder)
    }

    /// Rewrites the journal with the other component.
    fn made_by_other(&self) {
        let mut reader = JournalReader::open(&self.run()).expect("a journal");
        let mut events = Vec::new();
        while let Some(step) = reader.next() {
            for line in step.expect("a step").iter().filter(|line| line.kind == LineKind::Event) {
                events.push(reader.whole(&line.json).expect("an event"));
            }
        }
        fs::remove_file(self.run().join("journal.ndjson")).expect("removed");
        let mut gate = other_gate();
        let profile = seamgate::read_profile(&self.folder.join("x.profile.json")).expect("a profile");
        gate.register_profile(&profile).expect("a profile");
        let journal = FileJournal::create(self.run()).expect("a journal");
        let (mut run, _) = Run::start_json(&gate, journal, "x", &events[0]).expect("started");
        for event in &events[1..] {
            run.send_json(event).expect("a step");
        }
    }

    /// Changes lines of the journal and recomputes the dependent digests. The result is the journal of a component with
    /// other decisions.
    fn rewrite(&self, change: impl Fn(&str) -> String) {
        let mut before = String::new();
        let mut all = String::new();
        for line in journal(&self.run()).lines() {
            let mut line = change(line);
            let at = line.find(r#""before":""#).expect("a chain") + 10;
            let end = at + line[at..].find('"').expect("its end");
            line.replace_range(at..end, &before);
            before = digest(line.as_bytes());
            all.push_str(&line);
            all.push('\n');
        }
        fs::write(self.run().join("journal.ndjson"), all).expect("written");
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_run_of_another_component_is_approved_and_goes_on() {
    let waiting = Waiting::new("approved");
    waiting.made_by_other();
    let other = OTHER.digest();
    assert!(journal(&waiting.run()).contains(other));
    let listed = waiting.seamgate(&["approve", "runs", "--json"]);
    assert_eq!(listed.status.code(), Some(6), "{listed:?}");

    let resumed = waiting.seamgate(&["agent", "--resume", "runs/run1"]);
    assert_eq!(resumed.status.code(), Some(6), "{resumed:?}");
    let notice = format!(
        "seamgate: this version has another component than runs/run1, and decides all of its steps alike; it goes on (before: {other})"
    );
    assert!(said(&resumed).contains(&notice), "{}", said(&resumed));
    assert!(journal(&waiting.run()).contains(&format!(r#""component":{{"from":"{other}","to":"#)));

    let approved = waiting.seamgate(&["approve", "runs/run1", "--as", "anna", "--yes"]);
    assert!(approved.status.success(), "{approved:?}");
    let ended = waiting.seamgate(&["agent", "--resume", "runs/run1"]);
    assert!(ended.status.success() && ended.stdout == b"\"done\"\n", "{ended:?}");
    assert!(!said(&ended).contains("another component"), "{}", said(&ended));
    assert_eq!(fs::read_to_string(waiting.folder.join("ran.txt")).expect("the effect"), "ran\n");

    let trace = waiting.seamgate(&["trace", "runs/run1"]);
    let shown = String::from_utf8_lossy(&trace.stdout).into_owned();
    assert!(trace.status.success(), "{trace:?}");
    for words in ["another component decides from here on; it decided all earlier steps alike", other] {
        assert!(shown.contains(words), "{shown}");
    }
    let html = waiting.seamgate(&["trace", "runs/run1", "--html", "trace.html"]);
    assert!(html.status.success(), "{html:?}");
    let show = waiting.seamgate(&["runs", "show", "runs/run1"]);
    let shown = String::from_utf8_lossy(&show.stdout).into_owned();
    assert!(show.status.success() && shown.matches("\ncomponent   sha256:").count() == 2, "{shown}");
}

#[test]
fn an_approval_alone_carries_a_run_over() {
    let waiting = Waiting::new("alone");
    waiting.made_by_other();
    let approved = waiting.seamgate(&["approve", "runs/run1", "--as", "anna", "--yes"]);
    assert!(approved.status.success(), "{approved:?}");
    let ended = waiting.seamgate(&["agent", "--resume", "runs/run1"]);
    assert!(ended.status.success(), "{ended:?}");
}

#[test]
fn a_run_of_a_component_that_decided_differently_stays_as_it_is() {
    let waiting = Waiting::new("differs");
    let digest = Gate::new().expect("a gate").component().digest().to_owned();
    let other = format!("sha256:{}", "1".repeat(64));
    waiting.rewrite(|line| match line.contains(r#""type":"decision""#) {
        true => line.replace(r#""permit":"approval""#, r#""permit":"deny""#),
        false => line.replace(&format!(r#""component":"{digest}""#), &format!(r#""component":"{other}""#)),
    });
    let before = journal(&waiting.run());
    assert!(before.contains(&other) && before.contains(r#""permit":"deny""#));
    let expected = format!(
        "): the run has `deny` (permit) for the call c1 act, this component decides `approval` (permit); the run has the component \
         {other}, and the gate has {digest}: go on with the seamgate that has the run's component (`seamgate replay` shows which \
         calls this one decides differently)"
    );
    for arguments in [
        &["agent", "--resume", "runs/run1"][..],
        &["approve", "runs/run1", "--as", "anna", "--yes"],
        &["approve", "runs"],
    ] {
        let refused = waiting.seamgate(arguments);
        let text = said(&refused);
        assert!(text.contains("runs/run1/journal.ndjson: step 2 (`model_output` run-"), "{text}");
        assert!(text.contains(&expected), "{text}\n{expected}");
        match arguments.len() {
            // In a folder of runs, the run is skipped.
            2 => assert!(text.contains("seamgate: skipped runs/run1"), "{text}"),
            _ => assert_eq!(refused.status.code(), Some(5), "{text}"),
        }
        assert_eq!(journal(&waiting.run()), before);
    }
    assert!(!waiting.folder.join("ran.txt").exists());
}

#[test]
fn a_run_of_another_version_goes_on_if_its_states_differ_only_by_that() {
    let waiting = Waiting::new("version");
    let mut gate = Gate::new().expect("a gate");
    let profile = seamgate::read_profile(&waiting.folder.join("x.profile.json")).expect("a profile");
    gate.register_profile(&profile).expect("a profile");
    let run = Run::open(&gate, FileJournal::open(waiting.run()).expect("lines")).expect("opened");
    // The state after each step, with the version that another component would write.
    let version = run
        .state()
        .split(r#""component":""#)
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .expect("a version")
        .to_owned();
    let lines: Vec<String> = run.journal().lines(0).expect("lines").map(|line| line.expect("a line")).collect();
    let mut states = Vec::new();
    let mut state: Option<String> = None;
    let mut reader = JournalReader::open(&waiting.run()).expect("a journal");
    while let Some(step) = reader.next() {
        for line in step.expect("a step").iter().filter(|line| line.kind == LineKind::Event) {
            let event = reader.whole(&line.json).expect("an event");
            let answer = gate.advance("x", state.as_deref(), &event).expect("a step").json;
            let made: BTreeMap<String, Box<RawValue>> = serde_json::from_str(&answer).expect("JSON");
            state = Some(made["state"].get().to_owned());
            states.extend(state.clone());
        }
    }
    assert_eq!(states.last().map(String::as_str), Some(run.state()));
    let component = gate.component().digest().to_owned();
    drop(run);
    let digests: Vec<(String, String)> = states
        .iter()
        .map(|state| {
            let older = state.replacen(&format!(r#""component":"{version}""#), r#""component":"0.0.9""#, 1);
            (digest(state.as_bytes()), digest(older.as_bytes()))
        })
        .collect();
    waiting.rewrite(|line| {
        let line = line
            .replace(&format!(r#""component":"{component}""#), &format!(r#""component":"sha256:{}""#, "1".repeat(64)))
            .replace(&format!(r#""version":"{version}""#), r#""version":"0.0.9""#);
        digests.iter().fold(line, |line, (own, older)| line.replace(own, older))
    });
    assert_eq!(journal(&waiting.run()).lines().count(), lines.len());
    let approved = waiting.seamgate(&["approve", "runs/run1", "--as", "anna", "--yes"]);
    assert!(approved.status.success(), "{approved:?}");
    let ended = waiting.seamgate(&["agent", "--resume", "runs/run1"]);
    assert!(ended.status.success(), "{ended:?}");
    assert!(journal(&waiting.run()).contains(&format!(r#","version":"{version}"}}}}"#)));
}
