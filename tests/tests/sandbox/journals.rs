//! Runs of the library, with journals in folders: every case of `tests/runs`, and long runs. A run that is reopened
//! before each event produces the same bytes.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use seamgate::{Action, Event, FileJournal, Gate, JournalError, Record, Run, StepError, digest};
use seamgate_kernel::Profile;
use seamgate_tests::runs::{Played, member, run_cases};
use serde_json::{Value, json, value::RawValue};

/// A folder that is deleted with the value.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("seamgate-journals-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        Folder(folder)
    }

    fn lines(&self) -> String {
        fs::read_to_string(self.0.join("journal.ndjson")).unwrap_or_default()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn gate(profile: &str) -> Gate {
    let mut gate = Gate::new().expect("a gate");
    gate.register_profile(profile).expect("a profile");
    gate
}

/// Sends an event, which may be the first one.
fn send<'g>(
    gate: &'g Gate,
    folder: &Path,
    run: &mut Option<Run<'g, FileJournal>>,
    event: &str,
) -> Result<Vec<String>, StepError> {
    if let Some(run) = run {
        return run.send_json(event);
    }
    let agent = gate.profiles().next().expect("a profile").agent.clone();
    let (started, actions) = Run::start_json(gate, FileJournal::create(folder)?, &agent, event)?;
    *run = Some(started);
    Ok(actions)
}

fn key_of_first(actions: &[String]) -> String {
    serde_json::from_str::<Action>(&actions[0]).expect("an action").key().to_owned()
}

/// Returns the last step of each event, because earlier steps only request artifacts. The event is the one that was
/// sent first.
fn last_of_each(played: Vec<Played>) -> Vec<Played> {
    let mut all: Vec<Played> = Vec::new();
    for one in played {
        let event: Value = serde_json::from_str(&one.event).expect("JSON");
        match all.last_mut().filter(|_| event.get("artifacts").is_some()) {
            Some(last) => last.step = one.step,
            None => all.push(one),
        }
    }
    all
}

#[test]
fn each_case_comes_to_its_steps_also_if_it_is_interrupted_before_each_event() {
    let mut gates: BTreeMap<String, Gate> = BTreeMap::new();
    let (mut events, mut opened) = (0, 0);
    // The library supplies artifacts and states itself, so a run does not receive those of a case.
    let brings = |event: &Value| event.get("artifacts").is_some() || event.get("state").is_some();
    for case in run_cases().expect("cases") {
        if case.events.iter().any(brings) {
            continue;
        }
        let name = &case.name;
        let profile = Profile::compile(&case.profile).unwrap_or_else(|fault| panic!("{name}: {}", fault.message));
        let natively = |state: Option<&str>, event: &str| {
            seamgate_kernel::advance(&profile, state, event).map_err(|fault| fault.to_json())
        };
        let played = last_of_each(case.play(natively).unwrap_or_else(|error| panic!("{name}: {error:#}")));
        let gate = &*gates.entry(case.profile.clone()).or_insert_with(|| gate(&case.profile));
        let (straight, again) = (Folder::new("straight"), Folder::new("again"));
        let (mut run, mut other) = (None, None);
        for (index, one) in played.iter().enumerate() {
            let place = || format!("{name}, event {}", index + 1);
            events += 1;
            let before = straight.lines();
            let sent = send(gate, &straight.0, &mut run, &one.event);
            let step = match &one.step {
                Ok(step) => serde_json::from_str::<Value>(step).expect("JSON"),
                Err(fault) => {
                    let sent = sent.map(drop).expect_err(&place());
                    assert!(matches!(&sent, StepError::Fault(is) if is.to_json() == *fault), "{}: {sent}", place());
                    assert_eq!(straight.lines(), before, "{}", place());
                    continue;
                }
            };
            if step.get("need").is_some() {
                let sent = sent.map(drop).expect_err(&place());
                assert!(matches!(sent, StepError::Journal(JournalError::Artifact { .. })), "{}: {sent}", place());
                continue;
            }
            let actions = sent.unwrap_or_else(|error| panic!("{}: {error}", place()));
            let step = one.step.as_ref().expect("a step");
            let expected: Vec<Box<RawValue>> =
                serde_json::from_str(&member(step, "actions").expect("actions")).expect("a list");
            assert!(
                actions.iter().map(|action| action.as_str()).eq(expected.iter().map(|one| one.get())),
                "{}",
                place()
            );
            let now = run.as_ref().expect("started");
            assert_eq!(now.state(), member(step, "state").expect("a state"), "{}", place());
            let wake_at: Value = serde_json::from_str::<Value>(step).expect("JSON")["wake_at"].clone();
            assert_eq!(now.wake_at(), wake_at.as_u64(), "{}", place());

            // The other run is closed and reopened before each event.
            if other.take().is_some() {
                let journal = FileJournal::open(&again.0).expect("a journal");
                other = Some(Run::open(gate, journal).unwrap_or_else(|error| panic!("{}: {error}", place())));
                opened += 1;
            }
            let same =
                send(gate, &again.0, &mut other, &one.event).unwrap_or_else(|error| panic!("{}: {error}", place()));
            assert_eq!(same, actions, "{}", place());
            assert_eq!(again.lines(), straight.lines(), "{}", place());
        }
        prompts_are_kept_under_their_digests(&straight);
    }
    println!("{events} events, {opened} interruptions");
    assert!(opened > 20);
}

/// Checks that each line names a prompt by its digest, and that the prompt is stored under this digest.
fn prompts_are_kept_under_their_digests(folder: &Folder) {
    for line in folder.lines().lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        if line["action"]["type"] == "ask_model" {
            let kept = line["action"]["prompt"]["artifact"].as_str().expect("a digest");
            let prompt = fs::read(folder.0.join("artifacts").join(&kept["sha256:".len()..])).expect("a prompt");
            assert_eq!(digest(&prompt), kept);
        }
    }
}

/// Plays a run with this many calls, each with a result of about 1,500 visible bytes. Returns the key of the last
/// `ask_model`.
fn look_often<'g>(gate: &'g Gate, folder: &Path, run: &mut Option<Run<'g, FileJournal>>, calls: u64) -> String {
    let started = json!({"type": "started", "at": 1_790_000_000_000_u64, "run": "r1", "principal": "anna", "nonce": "c0ffee00c0ffee00",
        "mode": "operate", "task": {"service": "payment-api", "env": "prod"}, "lists": {"services": ["payment-api"]}});
    let mut key = key_of_first(&send(gate, folder, run, &started.to_string()).expect("started"));
    for call in 1..=calls {
        let at = 1_790_000_000_000_u64 + call * 1000;
        let output = json!({"type": "model_output", "at": at, "key": key,
            "calls": [{"tool": "search_logs", "arguments": {"service": "payment-api", "since": format!("{call}m")}}]});
        let execute = send(gate, folder, run, &output.to_string()).expect("sent");
        let id: Value = serde_json::from_str(&execute[0]).expect("JSON");
        assert_eq!(id["type"], "execute", "{id}");
        let words = format!("DB timeout after {call} s ").repeat(60);
        let result = json!({"type": "tool_result", "at": at + 1, "call": id["call"], "result": {"confidence": "high",
            "lines": [{"timestamp": "2026-09-21T10:00:00Z", "message": words}], "until": "2026-09-21T14:13:20Z"}});
        key = key_of_first(&send(gate, folder, run, &result.to_string()).expect("sent"));
    }
    key
}

/// Returns the profile of the cases, with a budget for many calls and a state of this many bytes.
fn roomy(state_bytes: u64) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("runs/loop/profile.json");
    let mut profile: Value = serde_json::from_str(&fs::read_to_string(path).expect("a profile")).expect("JSON");
    profile["budget"] =
        json!({"steps": 60, "tool_calls": 60, "tokens": 10_000_000, "ms": 86_400_000, "state_bytes": state_bytes});
    profile.to_string()
}

#[test]
fn an_answer_cites_what_left_the_state_and_the_journal_has_it() {
    let (gate, folder) = (gate(&roomy(16384)), Folder::new("need"));
    let mut run = None;
    let key = look_often(&gate, &folder.0, &mut run, 12);
    let lines = folder.lines();
    assert!(lines.contains(r#""type":"cut","from":"state""#), "something left the state");
    let answer = |words: &str| {
        let answer = json!({"cause": "The database timed out.", "not_checked": "Deployments.", "claims": [{"text": words,
            "confidence": "high", "limitations": [], "evidence": [{"id": "search_logs#c1", "quote": words}]}]});
        json!({"type": "model_output", "at": 1_790_000_090_000_u64, "key": key, "text": answer.to_string()}).to_string()
    };
    // Without the artifact, the step fails and nothing is lost.
    let first = lines.lines().find(|line| line.contains(r#""type":"tool_result""#)).expect("a result");
    let first: Value = serde_json::from_str(first).expect("JSON");
    let path = folder.0.join("artifacts").join(&first["event"]["result"]["artifact"].as_str().expect("a digest")[7..]);
    let text = fs::read(&path).expect("an artifact");
    fs::remove_file(&path).expect("removed");
    let mut run = run.expect("started");
    let error = run.send_json(&answer("DB timeout after 1 s")).map(drop).expect_err("no artifact");
    assert!(matches!(error, StepError::Journal(JournalError::Artifact { .. })), "{error}");
    assert_eq!(folder.lines(), lines);
    fs::write(&path, text).expect("written");
    let actions = run.send_json(&answer("DB timeout after 1 s")).expect("sent");
    let finish: Value = serde_json::from_str(&actions[0]).expect("JSON");
    assert_eq!((finish["type"].as_str(), finish["status"].as_str()), (Some("finish"), Some("final")), "{finish}");
    assert!(!folder.lines().contains(r#""artifacts":"#));
    // Replay needs the artifact again, because there is no checkpoint after so few steps.
    assert!(!folder.0.join("states").exists());
    let again = Run::open(&gate, FileJournal::open(&folder.0).expect("a journal")).expect("opened");
    assert_eq!((again.state(), again.step()), (run.state(), 26));
}

#[test]
fn a_long_run_goes_on_from_a_checkpoint() {
    let (gate, folder) = (gate(&roomy(1 << 20)), Folder::new("long"));
    let mut run = None;
    look_often(&gate, &folder.0, &mut run, 40);
    let run = run.expect("started");
    assert_eq!(run.step(), 81);
    let open = || {
        let begin = std::time::Instant::now();
        let again = Run::open(&gate, FileJournal::open(&folder.0).expect("a journal")).expect("opened");
        assert_eq!((again.state(), again.wake_at()), (run.state(), run.wake_at()));
        begin.elapsed()
    };
    let with = open();
    fs::remove_dir_all(folder.0.join("states")).expect("checkpoints");
    println!("81 steps, {} bytes: opened in {with:?}, without checkpoints in {:?}", folder.lines().len(), open());
    // A profile with another digest belongs to another run.
    let other = roomy(1 << 20).replace("Finds the cause", "Looks for the cause");
    let error = Run::open(&self::gate(&other), FileJournal::open(&folder.0).expect("a journal")).map(drop);
    let error = error.expect_err("another profile");
    assert!(matches!(error, StepError::Journal(JournalError::Other { what: "profile", .. })), "{error}");
}

/// Returns an event without the members that the library adds.
fn own(event: &str) -> Value {
    let mut event: Value = serde_json::from_str(event).expect("JSON");
    event.as_object_mut().expect("an object").remove("artifacts");
    event
}

#[test]
fn words_of_a_run_are_read_and_written_again_byte_for_byte() {
    let (mut events, mut records, mut actions) = (0, 0, 0);
    let list = |step: &str, name: &str| -> Vec<Box<RawValue>> {
        member(step, name).map(|list| serde_json::from_str(&list).expect("a list")).unwrap_or_default()
    };
    for case in run_cases().expect("cases") {
        let name = &case.name;
        let profile = Profile::compile(&case.profile).unwrap_or_else(|fault| panic!("{name}: {}", fault.message));
        let natively = |state: Option<&str>, event: &str| {
            seamgate_kernel::advance(&profile, state, event).map_err(|fault| fault.to_json())
        };
        for one in case.play(natively).unwrap_or_else(|error| panic!("{name}: {error:#}")) {
            let Ok(step) = &one.step else { continue };
            let event = own(&one.event);
            let read: Event = serde_json::from_value(event.clone()).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(serde_json::to_value(&read).expect("JSON"), event, "{name}");
            events += 1;
            for record in list(step, "records") {
                let read: Record = serde_json::from_str(record.get()).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(serde_json::to_string(&read).expect("JSON"), record.get(), "{name}");
                records += 1;
            }
            for action in list(step, "actions") {
                let read: Action = serde_json::from_str(action.get()).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(serde_json::to_string(&read).expect("JSON"), action.get(), "{name}");
                actions += 1;
            }
        }
    }
    println!("{events} events, {records} records, {actions} actions");
    assert!(events > 1000 && records > 1000 && actions > 500);
}
