//! Continues a run to its end, as a person or a script would, even if its processes are killed.

use std::{collections::BTreeMap, process::Command};

use serde_json::Value;

use super::{
    journal::Lines,
    place::{Done, Place, done},
};

/// The most processes that a run may need.
const MAX_PROCESSES: usize = 60;

/// Runs a process. Returns `None` if it was killed.
pub(super) type Runs<'r> = dyn FnMut(Command) -> Option<Done> + 'r;

/// Starts a run, or continues one that has a journal: resumes, approves and resolves until the run ends. Returns its
/// document.
#[track_caller]
pub(super) fn to_its_end(place: &Place, script: &str, runs: &mut Runs) -> Value {
    let mut command = next(place, script);
    for _ in 0..MAX_PROCESSES {
        let Some(ended) = runs(command) else {
            command = next(place, script);
            continue;
        };
        match ended.status {
            Some(0) => return ended.document(),
            Some(6) => {}
            status => panic!("{status:?} in {}: {}{}", place.folder.display(), ended.out, ended.err),
        }
        command = match uncertain(&ended) {
            Some(call) => place.resume(&format!("--resolve {call}={}", what_became(place, &call))),
            None => {
                if let Some(Done { status, err, .. }) = runs(place.approve("anna", "")) {
                    // An approval that is already recorded is not requested again.
                    assert!(status == Some(0) || err.contains("waits for approval"), "{status:?}: {err}");
                }
                place.resume("")
            }
        };
    }
    panic!("the run does not end: {}", place.folder.display());
}

/// Runs a script to its end without an interruption. Returns its document.
#[track_caller]
pub(super) fn to_its_end_at_once(place: &Place, script: &str) -> Value {
    to_its_end(place, script, &mut |command| Some(done(command)))
}

/// Starts again if the journal is empty. Otherwise, resumes.
fn next(place: &Place, script: &str) -> Command {
    if place.journal().whole().0.is_empty() {
        let _ = std::fs::remove_dir_all(place.run());
        return place.start(script);
    }
    place.resume("")
}

/// Returns the call whose outcome a person must report.
fn uncertain(ended: &Done) -> Option<String> {
    let (_, rest) = ended.err.split_once("--resolve ")?;
    rest.split_once('=').map(|(call, _)| call.to_owned())
}

/// Returns the outcome of a call, according to the ledger.
fn what_became(place: &Place, call: &str) -> &'static str {
    let key = format!("{}/{call}", id(&place.journal()));
    if place.restarts().contains(&key) { "done" } else { "not_done" }
}

/// Returns the run's id.
pub(super) fn id(journal: &Lines) -> String {
    journal.0.first().and_then(|line| line["run"]["run"].as_str()).unwrap_or_default().to_owned()
}

/// Returns the number of times that each call ran, by its key.
pub(super) fn ran(place: &Place) -> BTreeMap<String, usize> {
    let lines = ["calls.ndjson", "ledger.ndjson"].into_iter().flat_map(|name| place.lines(name));
    let keys = lines.filter_map(|line| line["key"].as_str().map(str::to_owned));
    keys.fold(BTreeMap::new(), |mut ran, key| {
        *ran.entry(key).or_default() += 1;
        ran
    })
}

/// Returns the keys of the calls whose results are in the journal of the run or of its child.
pub(super) fn finished(place: &Place) -> Vec<String> {
    let journals = [place.journal(), Lines::read(&place.run().join("children/c1"))];
    let finished = journals.map(|journal| {
        let (run, journal) = (id(&journal), journal.whole());
        journal.calls("tool_result").map(|call| format!("{run}/{call}")).collect::<Vec<_>>()
    });
    finished.concat()
}

/// Checks that each restart was approved before it started.
#[track_caller]
pub(super) fn nothing_is_unapproved(place: &Place) {
    let journal = place.journal().whole();
    let run = id(&journal);
    for key in place.restarts() {
        let call = key.strip_prefix(&format!("{run}/")).expect("a key of this run").to_owned();
        let approval = journal.of("event", "approval").find(|(_, event)| event["key"] == call);
        let started = journal.of("event", "tool_started").find(|(_, event)| event["call"] == call);
        match (approval, started) {
            (Some((approval, _)), Some((started, _))) => assert!(approval < started, "{key}"),
            (approval, started) => panic!("{key}: {approval:?}, {started:?}"),
        }
    }
}

/// Checks that the documents are equal. If a call was requested twice, later calls have other numbers, and the
/// comparison ignores the numbers.
#[track_caller]
pub(super) fn same(place: &Place, document: &Value, whole: &Value) {
    let journal = place.journal();
    let restarts = journal.decisions("restart_service").filter(|decision| decision["permit"] == "allow");
    let mut calls: Vec<_> = restarts.map(|decision| decision["call"].clone()).collect();
    calls.dedup();
    if calls.len() > 1 {
        assert_eq!(without_numbers(document), without_numbers(whole), "{}", place.folder.display());
    } else {
        assert_eq!(document, whole, "{}", place.folder.display());
    }
}

fn without_numbers(document: &Value) -> String {
    let text = document.to_string();
    let parts = text.split("#c").map(|part| part.trim_start_matches(|digit: char| digit.is_ascii_digit()));
    parts.collect::<Vec<_>>().join("#")
}
