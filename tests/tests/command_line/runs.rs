//! `seamgate runs` on folders of real runs.
#![cfg(unix)]

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Output,
    time::{Duration, Instant},
};

use seamgate::{FileJournal, Gate, Run};
use serde_json::{Value, json};

use crate::replay::seamgate;

const PROFILE: &str = r#"{"agent": "x", "approvers": {"owner": [{"principal": "anna"}]},
    "tools": [
        {"name": "look", "effect": "read", "permit": "allow"},
        {"name": "act", "effect": "effectful", "permit": {"approval": {"by": ["owner"], "ttl_s": 3600}}},
        {"name": "never", "effect": "effectful", "permit": "deny"}
    ],
    "final": {"contract": {"agent": "x", "schema": {"const": "done"}}}}"#;

const DAY: u64 = 24 * 60 * 60 * 1000;

fn now() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    u64::try_from(now.as_millis()).expect("a time")
}

/// A folder of runs that the library creates with arbitrary times.
struct Archive {
    folder: PathBuf,
    gate: Gate,
}

impl Archive {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("runs").join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("runs")).expect("a folder");
        let mut gate = Gate::new().expect("a gate");
        gate.register_profile(PROFILE).expect("a profile");
        Archive { folder, gate }
    }

    fn path(&self, run: &str) -> PathBuf {
        self.folder.join("runs").join(run)
    }

    /// Begins a run.
    fn begin(&self, name: &str, at: u64) -> Run<'_, FileJournal> {
        let started = json!({"type": "started", "at": at, "run": format!("id-{name}"), "principal": "joe",
            "nonce": "c0ffee00c0ffee00"});
        let journal = FileJournal::create(self.path(name)).expect("a journal").without_sync();
        Run::start_json(&self.gate, journal, "x", &started.to_string()).expect("started").0
    }

    /// Records a run that calls a tool of each kind and then ends.
    fn ended(&self, name: &str, at: u64) {
        let mut run = self.begin(name, at);
        let mut send = |event: Value| run.send_json(&event.to_string()).unwrap_or_else(|error| panic!("{error}"));
        for tool in ["look", "never"] {
            send(json!({"type": "call", "at": at + 1000, "tool": tool, "arguments": {"of": tool}}));
        }
        send(json!({"type": "tool_started", "at": at + 2000, "call": "c1"}));
        send(json!({"type": "tool_result", "at": at + 3000, "call": "c1", "result": {"found": 1}, "duration_ms": 7}));
        send(json!({"type": "cancelled", "at": at + 4000, "principal": "joe"}));
    }

    /// Records a run whose call waits for approval.
    fn waiting(&self, name: &str, at: u64) {
        let mut run = self.begin(name, at);
        let call = json!({"type": "call", "at": at + 1000, "tool": "act", "arguments": {}});
        run.send_json(&call.to_string()).expect("a call");
    }

    fn seamgate(&self, arguments: &[&str]) -> Output {
        seamgate(arguments, &self.folder)
    }

    #[track_caller]
    fn prints(&self, arguments: &[&str], status: i32) -> String {
        let output = self.seamgate(arguments);
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    fn names(&self) -> Vec<String> {
        let inside = fs::read_dir(self.folder.join("runs")).expect("a folder");
        let mut names: Vec<String> =
            inside.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

#[test]
fn runs_are_listed_the_newest_last() {
    let (archive, now) = (Archive::new("listed"), now());
    archive.ended("b", now - 3 * DAY);
    archive.waiting("a", now - 1000);
    archive.waiting("session", now - DAY);
    fs::write(archive.path("session").join("ended.json"), "{}").expect("written");
    drop(archive.begin("c", now - 2 * DAY));
    // A name with terminal control characters, and folders that are not runs.
    archive.ended("d\u{1b}[31m\nred", now - 4 * DAY);
    symlink(archive.path("b"), archive.path("link")).expect("a link");
    fs::create_dir_all(archive.path("notes")).expect("a folder");
    let table = archive.prints(&["runs", "ls", "runs"], 0);
    assert!(!table.contains('\u{1b}') && table.lines().count() == 6, "{table}");
    let cells: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    let column = |number: usize| cells[2..].iter().map(|row| row[number]).collect::<Vec<_>>();
    assert_eq!(column(0), ["b", "c", "session", "a"]);
    assert_eq!(column(1), ["x"; 4]);
    assert_eq!(column(2), ["cancelled", "running", "ended", "waiting"]);
    assert_eq!(
        (column(5), column(6), column(7)),
        (vec!["6", "1", "2", "2"], vec!["2", "0", "1", "1"], vec!["0", "0", "0", "1"])
    );
    let listed: Vec<Value> = serde_json::from_str(&archive.prints(&["runs", "ls", "runs", "--json"], 0)).expect("JSON");
    assert_eq!(listed[0]["name"], "d\u{1b}[31m\nred");
    assert_eq!(listed[1]["run"], "id-b");
    assert_eq!(listed[1]["began"], now - 3 * DAY);
    let bytes: u64 = ["journal", "artifacts", "states", "children", "other"]
        .iter()
        .map(|part| listed[1]["size"][part].as_u64().expect("a size"))
        .sum();
    assert_eq!(listed[1]["bytes"], bytes);
    let journal = fs::metadata(archive.path("b").join("journal.ndjson")).expect("a journal").len();
    assert_eq!(listed[1]["size"]["journal"], journal);
}

#[test]
fn a_run_is_shown_with_its_children_and_its_sizes() {
    let (archive, now) = (Archive::new("shown"), now());
    archive.ended("parent", now - DAY);
    archive.ended("parent/children/c4", now - DAY);
    let shown = archive.prints(&["runs", "show", "runs/parent"], 0);
    for line in [
        "folder      runs/parent",
        "run         id-parent",
        "agent       x",
        "state       cancelled",
        "steps       6",
        "calls       2, 0 waiting",
        "child       c4",
    ] {
        assert!(shown.lines().any(|is| is == line), "{line}: {shown}");
    }
    let shown: Value =
        serde_json::from_str(&archive.prints(&["runs", "show", "runs/parent", "--json"], 0)).expect("JSON");
    assert_eq!(shown["components"], json!([archive.gate.component().digest()]));
    assert_eq!(shown["children"], json!(["c4"]));
    assert!(shown["size"]["children"].as_u64() > Some(1000), "{shown}");
    // A torn run does not count as broken, but a damaged run does.
    let path = archive.path("parent").join("journal.ndjson");
    let text = fs::read_to_string(&path).expect("lines");
    fs::write(&path, &text[..text.len() - 20]).expect("written");
    let torn = archive.seamgate(&["runs", "show", "runs/parent"]);
    let said = String::from_utf8_lossy(&torn.stderr).into_owned();
    assert!(torn.status.success() && said.contains("the last step is torn"), "{torn:?}");
    fs::write(&path, text.replacen("\"at\":1", "\"at\":2", 1)).expect("written");
    let broken = archive.seamgate(&["runs", "ls", "runs"]);
    assert_eq!(broken.status.code(), Some(5), "{broken:?}");
    assert!(String::from_utf8_lossy(&broken.stdout).contains("broken"), "{broken:?}");
}

#[test]
fn each_call_is_a_row_with_its_decision_and_its_end() {
    let (archive, now) = (Archive::new("rows"), now());
    archive.ended("one", now - DAY);
    archive.ended("one/children/c9", now - DAY);
    archive.waiting("two", now - 1000);
    let text = archive.prints(&["runs", "export", "runs"], 0);
    let rows: Vec<BTreeMap<String, Value>> =
        text.lines().map(|line| serde_json::from_str(line).expect("a row")).collect();
    let of = |row: usize, names: &[&str]| names.iter().map(|name| rows[row][*name].clone()).collect::<Vec<_>>();
    assert_eq!(rows.len(), 5, "{text}");
    assert_eq!(
        of(0, &["folder", "run", "agent", "principal", "call", "tool", "effect", "decision", "last_decision"]),
        ["one", "id-one", "x", "joe", "c1", "look", "read", "allow", "allow"]
    );
    assert_eq!(
        of(0, &["decided_at", "started_at", "ended_at", "outcome", "duration_ms", "result_bytes", "asked_at"]),
        [
            json!(now - DAY + 1000),
            json!(now - DAY + 2000),
            json!(now - DAY + 3000),
            json!("ok"),
            json!(7),
            json!(11),
            Value::Null
        ]
    );
    assert_eq!(of(1, &["call", "tool", "decision", "outcome"]), ["c2", "never", "deny", "denied"]);
    assert_eq!(rows[0]["arguments"], r#"{"of":"look"}"#);
    assert_eq!(of(2, &["folder", "run"]), ["one/children/c9", "id-one/children/c9"]);
    assert_eq!(
        of(4, &["folder", "decision", "asked_at", "approver", "outcome"]),
        [json!("two"), json!("approval"), json!(now), Value::Null, Value::Null]
    );
    // All rows have the same columns.
    assert!(rows.iter().all(|row| row.keys().eq(rows[0].keys())));
}

#[test]
fn only_runs_that_have_ended_are_deleted() {
    let (archive, now) = (Archive::new("pruned"), now());
    for days in [40, 30, 20, 10] {
        archive.ended(&format!("ended-{days}"), now - days * DAY);
    }
    archive.waiting("waiting", now - 1000);
    drop(archive.begin("running", now - 50 * DAY));
    drop(archive.begin("session", now - 60 * DAY));
    fs::write(archive.path("session").join("ended.json"), "{}").expect("written");
    archive.ended("broken", now - 70 * DAY);
    let journal = archive.path("broken").join("journal.ndjson");
    let text = fs::read_to_string(&journal).expect("lines");
    fs::write(&journal, text.replacen("joe", "eve", 1)).expect("written");
    fs::write(archive.folder.join("runs/stores.ndjson"), "").expect("written");
    let outside = archive.folder.join("outside");
    fs::create_dir_all(&outside).expect("a folder");
    fs::write(outside.join("kept"), "kept").expect("written");
    symlink(&outside, archive.path("ended-40").join("link")).expect("a link");
    symlink(archive.path("ended-40"), archive.path("link")).expect("a link");
    let all = archive.names();

    let plan = archive.prints(&["runs", "prune", "runs", "--older-than", "15d", "--keep", "2", "--dry-run"], 0);
    assert_eq!(archive.names(), all);
    assert!(
        plan.contains("would delete runs/session  ended,") && plan.contains("would delete runs/ended-40  cancelled,"),
        "{plan}"
    );
    assert!(plan.contains("would delete 3 runs, "), "{plan}");
    assert!(plan.ends_with("; kept 5 runs: 2 among the newest, 1 broken, 1 under way, 1 waiting\n"), "{plan}");

    let done = archive.prints(&["runs", "prune", "runs", "--older-than", "15d", "--keep", "2"], 0);
    assert_eq!(done, plan.replace("would delete", "deleted"));
    assert_eq!(archive.names(), ["broken", "ended-10", "ended-20", "link", "running", "stores.ndjson", "waiting"]);
    assert_eq!(fs::read_to_string(outside.join("kept")).expect("outside"), "kept");

    // A broken run is deleted if it is named. A run that is under way is kept.
    let named = archive.prints(&["runs", "prune", "runs/broken", "--older-than", "0s"], 0);
    assert!(named.starts_with("deleted runs/broken  broken,"), "{named}");
    let named = archive.prints(&["runs", "prune", "runs/running", "--older-than", "0s"], 0);
    assert!(named.starts_with("deleted 0 runs, 0 bytes; kept 1 run: 1 under way"), "{named}");
    // The oldest runs are deleted until the rest fits.
    let bytes = |run: &str| {
        let shown = archive.prints(&["runs", "show", &format!("runs/{run}"), "--json"], 0);
        serde_json::from_str::<Value>(&shown).expect("JSON")["bytes"].as_u64().expect("bytes")
    };
    let most = ["ended-10", "running", "waiting"].map(bytes).iter().sum::<u64>().to_string();
    let fits = archive.prints(&["runs", "prune", "runs", "--max-bytes", &most], 0);
    assert!(fits.starts_with("deleted runs/ended-20  cancelled,"), "{fits}");
    assert_eq!(archive.names(), ["ended-10", "link", "running", "stores.ndjson", "waiting"]);
}

#[test]
fn a_run_that_a_process_has_open_stays() {
    let (archive, now) = (Archive::new("open"), now());
    archive.ended("run", now - 40 * DAY);
    let lock = fs::File::create(archive.path("run").join("agent.lock")).expect("a file");
    lock.lock().expect("locked");
    let kept = archive.prints(&["runs", "prune", "runs", "--older-than", "1d"], 0);
    assert_eq!(kept, "deleted 0 runs, 0 bytes; kept 1 run: 1 open in a process\n");
    drop(lock);
    let gone = archive.prints(&["runs", "prune", "runs", "--older-than", "1d"], 0);
    assert!(gone.contains("deleted 1 run,"), "{gone}");
}

#[test]
fn an_interrupted_deletion_leaves_no_run() {
    let (archive, now) = (Archive::new("interrupted"), now());
    // The layout of hooks: a folder of runs in a folder.
    for name in ["one", "two"] {
        archive.ended(&format!("harness/{name}"), now - 40 * DAY);
        archive.ended(&format!("harness/{name}/children/c1"), now - 40 * DAY);
        fs::rename(archive.path("harness").join(name), archive.path("harness").join(format!(".pruned-{name}")))
            .expect("renamed");
    }
    let two = archive.path("harness/.pruned-two");
    fs::rename(two.join("journal.ndjson"), two.join("pruned.ndjson")).expect("renamed");
    archive.ended("harness/three", now - 60_000);
    for (arguments, words) in [
        (&["runs", "ls", "runs"][..], "harness/three"),
        (&["trace", "runs/harness"], "three"),
        (&["approve", "runs/harness", "--json"], "[]"),
    ] {
        let shown = archive.prints(arguments, 0);
        assert!(shown.contains(words) && !shown.contains("pruned"), "{arguments:?}: {shown}");
    }
    let output = archive.seamgate(&["runs", "prune", "runs", "--older-than", "1d"]);
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("deleted the rest of 2 runs whose deletion was interrupted"), "{said}");
    let left: Vec<_> =
        fs::read_dir(archive.path("harness")).expect("a folder").flatten().map(|one| one.file_name()).collect();
    assert_eq!(left, ["three"]);
    // When the last run is deleted, the folder of its session is deleted, too.
    archive.prints(&["runs", "prune", "runs", "--older-than", "0s"], 0);
    assert!(archive.names().is_empty());
}

/// Lists, exports and deletes 10,000 runs.
#[test]
#[ignore = "takes a minute: `cargo xtask ci thorough` runs this"]
fn ten_thousand_runs() {
    let (archive, now) = (Archive::new("many"), now());
    archive.ended("first", now - 40 * DAY);
    let files: Vec<(PathBuf, Vec<u8>)> = fs::read_dir(archive.path("first"))
        .expect("a folder")
        .flatten()
        .filter(|entry| entry.path().is_file())
        .map(|entry| (entry.file_name().into(), fs::read(entry.path()).expect("a file")))
        .collect();
    for number in 0..9_999 {
        let run = archive.path(&format!("run-{number}"));
        fs::create_dir(&run).expect("a folder");
        for (name, bytes) in &files {
            fs::write(run.join(name), bytes).expect("written");
        }
    }
    let timed = |arguments: &[&str]| -> (String, Duration) {
        let begin = Instant::now();
        let text = archive.prints(arguments, 0);
        (text, begin.elapsed())
    };
    let (listed, ls) = timed(&["runs", "ls", "runs"]);
    assert_eq!(listed.lines().count(), 10_001);
    let (rows, export) = timed(&["runs", "export", "runs"]);
    assert_eq!(rows.lines().count(), 20_000);
    let (pruned, prune) = timed(&["runs", "prune", "runs", "--older-than", "1d", "--keep", "10"]);
    assert!(pruned.contains("deleted 9990 runs"), "{}", &pruned[pruned.len() - 200..]);
    println!("10,000 runs: ls {ls:?}, export {export:?}, prune {prune:?}");
}
