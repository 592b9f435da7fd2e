use std::{
    collections::BTreeMap,
    fs,
    ops::Range,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

use serde_json::{Value, json};

use super::journal::{FileJournal, JournalReader, LineKind, Lines};
use super::*;

/// A kernel whose answers follow from its input: the state contains a digest of all events so far.
#[derive(Default)]
struct Script {
    calls: AtomicU64,
    /// A value that makes this kernel differ from others.
    salt: &'static str,
    component: &'static str,
    profile: &'static str,
    needs_for_ever: bool,
    /// The version that its states name. If empty, they name none.
    version: &'static str,
    /// The step at which it denies a call that it would otherwise approve.
    denies_at: u64,
    /// The step whose event it rejects.
    fails_at: u64,
}

impl Kernel for Script {
    fn advance(&self, agent: &str, state: Option<&str>, event: &str) -> Result<String, Fault> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let mut event: BTreeMap<String, Value> = serde_json::from_str(event).expect("an object");
        let artifacts = event.remove("artifacts").unwrap_or_default();
        let needs: Vec<String> =
            event.get("needs").map(|needs| serde_json::from_value(needs.clone()).expect("texts")).unwrap_or_default();
        for needed in &needs {
            match artifacts.get(needed) {
                Some(Value::String(text)) if !self.needs_for_ever => assert_eq!(digest(text.as_bytes()), *needed),
                // Asks for one artifact at a time, so the next round needs another.
                _ => return Ok(json!({"need": [needed]}).to_string()),
            }
        }
        if event["type"] == "bad" {
            return Err(bad_request("no such event"));
        }
        let state: Value = serde_json::from_str(state.unwrap_or("null")).expect("JSON");
        if !state.is_null() && state["component"].as_str().unwrap_or_default() != self.version {
            return Err(bad_request("another version made the state"));
        }
        let step = state["step"].as_u64().unwrap_or_default() + 1;
        if step == self.fails_at {
            return Err(bad_request("no such member"));
        }
        let before = state["seen"].as_str().unwrap_or_default();
        let seen = digest(format!("{}{agent}{before}{}", self.salt, json!(event)).as_bytes());
        let mut state = json!({"step": step, "seen": seen});
        if !self.version.is_empty() {
            state["component"] = json!(self.version);
        }
        let key = format!("r/{step}/0");
        let action = match event["type"].as_str() {
            Some("model_output") => {
                json!({"type": "execute", "key": key, "tool": "search", "arguments": "{\"n\":1.0}"})
            }
            _ => json!({"type": "ask_model", "key": key, "prompt": {"step": step, "for": event["type"]}}),
        };
        let wake = if step.is_multiple_of(2) { format!(r#","wake_at":{}"#, 1000 * step) } else { String::new() };
        let record = match event["type"].as_str() {
            Some("call") if self.denies_at == step => {
                json!({"type": "decision", "call": "c1", "tool": "search", "permit": "deny", "reasons": [{"code": "rule"}]})
            }
            Some("call") => json!({"type": "decision", "call": "c1", "tool": "search", "permit": "approval"}),
            _ => json!({"type": "note", "read": artifacts.as_object().map(|all| all.len())}),
        };
        Ok(format!(r#"{{"step":{step},"state":{state},"records":[{record}],"actions":[{action}]{wake}}}"#))
    }

    fn profile(&self, _: &str) -> Result<String, Fault> {
        Ok(format!("sha256:profile{}", self.profile))
    }

    fn component(&self) -> String {
        format!("sha256:component{}", self.component)
    }
}

/// A journal in memory. It shows that the trait requires nothing that only files can do.
#[derive(Default)]
struct Memory {
    lines: Vec<String>,
    blobs: BTreeMap<(&'static str, String), String>,
}

fn shelf(blob: Blob) -> &'static str {
    if blob == Blob::Artifact { "artifacts" } else { "states" }
}

impl Journal for Memory {
    fn name(&self) -> String {
        "memory".to_owned()
    }

    fn count(&self) -> u64 {
        self.lines.len() as u64
    }

    fn lines(&self, from: u64) -> Result<Lines<'_>, JournalError> {
        Ok(Box::new(self.lines.iter().skip(from as usize).cloned().map(Ok)))
    }

    fn append(&mut self, expected: u64, lines: &[String]) -> Result<(), JournalError> {
        if expected != self.count() {
            return Err(JournalError::Conflict { journal: self.name(), lines: expected });
        }
        self.lines.extend_from_slice(lines);
        Ok(())
    }

    fn put(&mut self, blob: Blob, digest: &str, text: &str) -> Result<(), JournalError> {
        self.blobs.insert((shelf(blob), digest.to_owned()), text.to_owned());
        Ok(())
    }

    fn get(&self, blob: Blob, digest: &str) -> Result<Option<String>, JournalError> {
        Ok(self.blobs.get(&(shelf(blob), digest.to_owned())).cloned())
    }
}

/// A folder that is removed at the end of a test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        Folder::below(&std::env::temp_dir(), name)
    }

    /// Returns a folder where writing is fast, if there is one, for tests that write tens of thousands of files.
    fn fast(name: &str) -> Self {
        let folder = Folder::below(Path::new("/dev/shm"), name);
        if fs::create_dir(&folder.0).is_ok() { folder } else { Folder::new(name) }
    }

    fn below(parent: &Path, name: &str) -> Self {
        let folder = parent.join(format!("test-of-journal-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        Folder(folder)
    }

    fn journal(&self) -> PathBuf {
        self.0.join("journal.ndjson")
    }

    fn artifacts(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.0.join("artifacts")).expect("artifacts");
        entries.map(|entry| entry.expect("an entry").path()).collect()
    }

    fn open<'g>(&self, kernel: &'g Script) -> Result<Run<'g, FileJournal>, StepError> {
        Run::open_on(kernel, FileJournal::open(&self.0)?)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const STARTED: &str = r#"{ "type": "started", "at": 1, "run": "r", "task": {"n": 1.50} }"#;

/// Returns events of each kind: with an inline value, with a long text, with long JSON, and with a result that looks
/// like a reference.
fn events() -> Vec<String> {
    let long = "é\n\u{1}\"".repeat(400);
    vec![
        STARTED.to_owned(),
        json!({"type": "model_output", "at": 2, "text": "short"}).to_string(),
        json!({"type": "tool_result", "at": 3, "text": long}).to_string(),
        json!({"type": "tool_result", "at": 4, "result": {"lines": [long, {"b": 1, "a": [1.0, null]}]}}).to_string(),
        json!({"type": "tool_result", "at": 5, "result": {"artifact": digest(long.as_bytes())}}).to_string(),
        json!({"type": "tick", "at": 6}).to_string(),
    ]
}

/// Plays a run of these events. Returns the state after each.
fn play(folder: &Folder, kernel: &Script, events: &[String]) -> Vec<String> {
    let journal = FileJournal::create(&folder.0).expect("a journal");
    let (mut run, actions) = Run::start_on(kernel, journal, "a", &events[0]).expect("started");
    assert!(actions.len() == 1 && actions[0].starts_with(r#"{"key":"r/1/0""#) && actions[0].contains(r#""ask_model""#));
    let mut states = vec![run.state().to_owned()];
    for event in &events[1..] {
        run.send_json(event).expect("sent");
        states.push(run.state().to_owned());
    }
    states
}

/// Returns the bytes of each line of a text, with its end.
fn lines(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut begin = 0;
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    ends.map(|end| std::mem::replace(&mut begin, end)..end).collect()
}

fn is_end(line: &[u8]) -> bool {
    serde_json::from_slice::<Value>(line).is_ok_and(|line| line.get("state").is_some())
}

fn text(error: &dyn std::error::Error) -> String {
    let texts = std::iter::successors(Some(error), |error| error.source()).map(ToString::to_string);
    texts.collect::<Vec<_>>().join(": ")
}

#[test]
fn the_lines_are_as_the_format_says() {
    let (folder, kernel) = (Folder::new("format"), Script::default());
    play(&folder, &kernel, &events());
    let bytes = fs::read(folder.journal()).expect("lines");
    let mut before = String::new();
    let mut kinds = Vec::new();
    for (n, line) in lines(&bytes).into_iter().enumerate() {
        let line = &bytes[line.start..line.end - 1];
        let read: Value = serde_json::from_slice(line).expect("JSON");
        assert_eq!((read["n"].as_u64(), read["before"].as_str()), (Some(n as u64), Some(before.as_str())));
        before = digest(line);
        kinds.push(
            read.as_object()
                .expect("an object")
                .keys()
                .find(|key| !matches!(key.as_str(), "n" | "before"))
                .expect("a kind")
                .clone(),
        );
        assert!(line.len() < 600);
        if let Some(prompt) = read["action"].get("prompt") {
            assert!(folder.0.join("artifacts").join(&prompt["artifact"].as_str().expect("a digest")[7..]).is_file());
        }
    }
    let step = ["event", "record", "action", "state"];
    assert_eq!(kinds[0], "run");
    assert!(kinds[1..].chunks(4).all(|kinds| kinds == step) && kinds.len() == 1 + 4 * events().len());
    let first = String::from_utf8_lossy(&bytes[lines(&bytes)[0].clone()]).into_owned();
    assert_eq!(
        first,
        r#"{"n":0,"before":"","run":{"journal":2,"run":"r","agent":"a","profile":"sha256:profile","component":"sha256:component"}}"#
            .to_owned()
            + "\n"
    );
    for artifact in folder.artifacts() {
        let text = fs::read(&artifact).expect("an artifact");
        assert_eq!(digest(&text)["sha256:".len()..], *artifact.file_name().expect("a name").to_string_lossy());
    }
    #[cfg(unix)]
    for path in [folder.0.clone(), folder.journal(), folder.0.join("artifacts"), folder.artifacts().remove(0)] {
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).expect("there").permissions());
        assert_eq!(mode & 0o077, 0, "{}", path.display());
    }
}

#[test]
fn a_journal_that_is_cut_at_any_byte_opens_with_its_whole_steps() {
    let (folder, kernel, events) = (Folder::fast("cut"), Script::default(), events());
    let states = play(&folder, &kernel, &events);
    let bytes = fs::read(folder.journal()).expect("lines");
    let all = lines(&bytes);
    let (mut cuts, mut torn) = (0, 0);
    for cut in 0..=bytes.len() {
        fs::write(folder.journal(), &bytes[..cut]).expect("written");
        let whole = all.iter().rposition(|line| line.end <= cut && is_end(&bytes[line.clone()]));
        let (count, end) = whole.map_or((0, 0), |at| (at + 1, all[at].end));
        let steps = all[..count].iter().filter(|line| is_end(&bytes[(*line).clone()])).count();
        let journal = FileJournal::open(&folder.0).unwrap_or_else(|error| panic!("cut at {cut}: {}", text(&error)));
        assert_eq!(journal.count(), count as u64, "cut at {cut}");
        let left = journal.torn().map_or((0, 0..0), |torn| (torn.bytes, torn.lines.clone()));
        let touched = all.iter().filter(|line| line.start < cut).count();
        let expected = if cut == end { (0, 0..0) } else { ((cut - end) as u64, count as u64..touched as u64) };
        assert_eq!(left, expected, "cut at {cut}");
        torn += u64::from(cut > end);
        // The truncated step is made again, with the same bytes.
        if steps == 0 {
            let journal = FileJournal::create(&folder.0).expect("nothing has begun");
            Run::start_on(&kernel, journal, "a", &events[0]).expect("started");
        } else {
            let mut run =
                Run::open_on(&kernel, journal).unwrap_or_else(|error| panic!("cut at {cut}: {}", text(&error)));
            assert_eq!((run.state(), run.step()), (states[steps - 1].as_str(), steps as u64));
            assert_eq!(run.wake_at(), (steps % 2 == 0).then_some(1000 * steps as u64));
            if let Some(event) = events.get(steps) {
                run.send_json(event).expect("sent");
            }
        }
        let now = fs::read(folder.journal()).expect("lines");
        assert!(bytes.starts_with(&now) && now.len() >= cut, "cut at {cut}");
        cuts += 1;
    }
    println!("{cuts} cuts of {} lines, {torn} in a step", all.len());
    assert!(torn > 1000);
}

#[test]
fn a_flipped_bit_is_an_error_that_names_its_line() {
    let (folder, kernel) = (Folder::fast("flip"), Script::default());
    play(&folder, &kernel, &events());
    let bytes = fs::read(folder.journal()).expect("lines");
    let all = lines(&bytes);
    let (mut flips, mut either) = (0, 0);
    for (n, line) in all.iter().enumerate() {
        for (at, bit) in line.clone().flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            fs::write(folder.journal(), &changed).expect("written");
            let place = || format!("bit {bit} of byte {at}, line {n}");
            let error = folder.open(&kernel).map(drop).expect_err(&place());
            flips += 1;
            match &error {
                StepError::Journal(JournalError::Line { line, .. }) if *line == n as u64 => {}
                // Nothing follows the last line, so it is not known which of the last two lines was changed.
                StepError::Journal(JournalError::Line { line, message, .. })
                    if *line == n as u64 + 1 && n + 2 == all.len() && message.contains("or the line before it is") =>
                {
                    either += 1;
                }
                StepError::Journal(JournalError::NotAJournal { .. } | JournalError::Newer { .. }) if n == 0 => {}
                _ => panic!("{}: {}", place(), text(&error)),
            }
            assert_eq!(fs::read(folder.journal()).expect("lines"), changed, "nothing is dropped");
        }
    }
    println!(
        "{flips} flips in {} lines; {either} in the last line but one, where the error names the last two",
        all.len()
    );
}

#[test]
fn a_changed_or_missing_artifact_is_an_error_that_names_it() {
    let (folder, kernel) = (Folder::fast("artifacts"), Script::default());
    play(&folder, &kernel, &events());
    let mut flips = 0;
    for path in folder.artifacts() {
        let name = format!("sha256:{}", path.file_name().expect("a name").to_string_lossy());
        let names = |folder: &Folder, place: &str| match folder.open(&kernel).map(drop).expect_err(place) {
            StepError::Journal(JournalError::Artifact { digest, .. }) => assert_eq!(digest, json(&name), "{place}"),
            error => panic!("{place}: {}", text(&error)),
        };
        let bytes = fs::read(&path).expect("an artifact");
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << (at % 8);
            fs::write(&path, changed).expect("written");
            names(&folder, &format!("{name}, byte {at}"));
            flips += 1;
        }
        fs::remove_file(&path).expect("removed");
        names(&folder, "missing");
        // Making the step again repairs the folder.
        let mut run = FileJournal::open(&folder.0).expect("lines");
        fs::write(&path, "damaged").expect("written");
        run.put(Blob::Artifact, &name, str::from_utf8(&bytes).expect("UTF-8")).expect("kept");
        assert_eq!(fs::read(&path).expect("an artifact"), bytes);
        folder.open(&kernel).map(drop).expect("whole");
    }
    let files = folder.artifacts();
    assert!(
        files.len() >= 8 && files.iter().all(|path| path.extension().is_none()),
        "no file of a half-written artifact"
    );
    println!("{flips} flips in {} artifacts", files.len());
}

#[test]
fn a_run_goes_on_from_its_last_checkpoint_or_from_the_first_event() {
    let kernel = Script::default();
    let mut memory = Memory::default();
    let (mut run, _) = Run::start_on(&kernel, memory, "a", STARTED).expect("started");
    for at in 2..=160 {
        run.send_json(&json!({"type": "tick", "at": at}).to_string()).expect("sent");
    }
    let state = run.state().to_owned();
    memory = run.journal;
    let states: Vec<_> = memory.blobs.keys().filter(|(shelf, _)| *shelf == "states").cloned().collect();
    assert_eq!(states.len(), 2);
    let open = |memory: Memory, replayed: u64| {
        kernel.calls.store(0, Ordering::Relaxed);
        let run = Run::open_on(&kernel, memory).map_err(|error| text(&error)).expect("opened");
        assert_eq!((run.state(), run.step(), kernel.calls.load(Ordering::Relaxed)), (state.as_str(), 160, replayed));
        run.journal
    };
    memory = open(memory, 32);
    // The last line is checked against the last step, although a checkpoint has its state.
    let end = memory.lines.iter().position(|line| line.contains(r#""state":{"step":128"#)).expect("step 128");
    let mut short = Memory { lines: memory.lines[..=end].to_vec(), blobs: memory.blobs.clone() };
    short.lines[end] = short.lines[end].replace("128000}", "928000}");
    let error = Run::open_on(&kernel, short).map(drop).expect_err("another time");
    assert!(text(&error).ends_with("the events up to it lead to another state now"), "{}", text(&error));
    // First, the state of step 128 is changed; then both states are removed.
    let of_128 = |key: &&(&str, String)| memory.blobs[*key].contains(r#""step":128"#);
    let last = states.iter().find(of_128).expect("step 128").clone();
    memory.blobs.insert(last, r#"{"step":128,"seen":""}"#.to_owned());
    memory = open(memory, 96);
    for key in states {
        memory.blobs.remove(&key);
    }
    open(memory, 160);
}

#[test]
fn a_run_goes_on_from_a_snapshot_without_its_lines() {
    let (kernel, events) = (Script::default(), events());
    let whole = {
        let (mut run, _) = Run::start_on(&kernel, Memory::default(), "a", &events[0]).expect("started");
        events[1..].iter().for_each(|event| drop(run.send_json(event).expect("sent")));
        run.journal.lines
    };
    let (run, _) = Run::start_on(&kernel, Memory::default(), "a", &events[0]).expect("started");
    let mut snapshot = run.snapshot();
    let mut lines = run.journal.lines;
    for event in &events[1..] {
        // The journal reports the right number of lines, but has none of their content.
        let journal = Memory { lines: vec![String::new(); lines.len()], ..Memory::default() };
        let mut run = Run::restore_on(&kernel, journal, &snapshot).expect("restored");
        assert_eq!(run.snapshot(), snapshot);
        run.send_json(event).expect("sent");
        snapshot = run.snapshot();
        lines.extend(run.journal.lines.drain(lines.len()..));
    }
    assert_eq!(lines, whole);

    let late = Memory { lines: whole, ..Memory::default() };
    let refused = |kernel: &Script, snapshot: &str| {
        let error = Run::restore_on(kernel, Memory::default(), snapshot).map(drop).expect_err(snapshot);
        text(&error)
    };
    for damaged in ["", "{}", "null", &snapshot[1..], &snapshot.replace("\"n\"", "\"m\"")] {
        assert_eq!(refused(&kernel, damaged), "memory: its snapshot is not as it was made");
    }
    let changed = snapshot.replace("\"seen\":\"sha256:", "\"seen\":\"sha255:");
    assert_eq!(refused(&kernel, &changed), "memory: its snapshot is changed: the state has another digest");
    let newer = snapshot.replace("\"journal\":2", "\"journal\":3");
    assert!(refused(&kernel, &newer).contains("it has format 3"));
    let other = Script { profile: "2", ..Script::default() };
    assert!(refused(&other, &snapshot).contains("the run has the profile sha256:profile,"));
    let other = Script { component: "2", ..Script::default() };
    assert_eq!(
        refused(&other, &snapshot),
        "memory: the run has the component sha256:component, and the gate has sha256:component2; \
         open its journal in place of the snapshot, which replays the run"
    );
    // The snapshot is older than the journal.
    let early = Run::start_on(&kernel, Memory::default(), "a", &events[0]).expect("started").0.snapshot();
    let mut run = Run::restore_on(&kernel, late, &early).expect("restored");
    let error = run.send_json(&events[1]).expect_err("a conflict");
    assert!(matches!(error, StepError::Journal(JournalError::Conflict { lines: 5, .. })), "{}", text(&error));
}

#[test]
fn another_writer_is_a_conflict_and_loses_nothing() {
    let (folder, kernel) = (Folder::new("conflict"), Script::default());
    play(&folder, &kernel, &events());
    let tick = |at: u64| json!({"type": "tick", "at": at}).to_string();
    let (mut one, mut two) = (folder.open(&kernel).expect("one"), folder.open(&kernel).expect("two"));
    one.send_json(&tick(10)).expect("sent");
    let state = two.state().to_owned();
    let error = two.send_json(&tick(11)).expect_err("a conflict");
    assert!(matches!(&error, StepError::Journal(JournalError::Conflict { lines: 25, .. })), "{}", text(&error));
    assert!(
        text(&error)
            .ends_with("another writer has changed it after line 25; open the run again, then send the event again")
    );
    assert_eq!(two.state(), state);
    let mut two = folder.open(&kernel).expect("two");
    assert_eq!(two.state(), one.state());
    two.send_json(&tick(11)).expect("sent");
    one.send_json(&tick(12)).expect_err("a conflict");

    // Another file of the same length.
    let mut bytes = fs::read(folder.journal()).expect("lines");
    let last = bytes.len() - 4;
    bytes[last] ^= 1;
    fs::write(folder.journal(), &bytes).expect("written");
    let error = two.send_json(&tick(13)).expect_err("a conflict");
    assert!(matches!(&error, StepError::Journal(JournalError::Conflict { .. })), "{}", text(&error));
    // A removed file.
    fs::remove_file(folder.journal()).expect("removed");
    two.send_json(&tick(13)).expect_err("no file");
    assert!(!folder.journal().exists());
}

#[test]
fn many_writers_append_each_step_once() {
    const WRITERS: u64 = 4;
    const EVENTS: u64 = 25;
    let (folder, kernel) = (Folder::new("race"), Script::default());
    play(&folder, &kernel, &events()[..1]);
    let conflicts = AtomicU64::new(0);
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (folder, kernel, conflicts) = (&folder, &kernel, &conflicts);
            scope.spawn(move || {
                for at in 0..EVENTS {
                    let event = json!({"type": "tick", "at": at, "writer": writer}).to_string();
                    while let Err(error) = folder.open(kernel).expect("opened").send_json(&event) {
                        assert!(matches!(error, StepError::Journal(JournalError::Conflict { .. })), "{}", text(&error));
                        conflicts.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let run = folder.open(&kernel).expect("opened");
    assert_eq!(run.step(), 1 + WRITERS * EVENTS);
    let lines: Vec<String> = run.journal().lines(0).expect("lines").map(|line| line.expect("a line")).collect();
    for writer in 0..WRITERS {
        let is_mine = |line: &&String| line.contains(&format!("\"writer\":{writer}"));
        assert_eq!(lines.iter().filter(is_mine).count() as u64, EVENTS);
    }
    println!("{} steps of {WRITERS} writers, {} conflicts", run.step(), conflicts.into_inner());
}

#[test]
fn a_lock_that_is_never_released_is_an_error() {
    let (folder, kernel) = (Folder::new("lock"), Script::default());
    play(&folder, &kernel, &events()[..2]);
    let mut run = folder.open(&kernel).expect("opened");
    let file = fs::File::options().append(true).open(folder.journal()).expect("the file");
    file.lock().expect("locked");
    let error = run.send_json(&events()[2]).expect_err("locked");
    assert!(matches!(&error, StepError::Journal(JournalError::Busy { .. })), "{}", text(&error));
    let error = FileJournal::open(&folder.0).expect_err("locked");
    assert!(matches!(&error, JournalError::Busy { .. }), "{}", text(&error));
    drop(file);
    run.send_json(&events()[2]).expect("sent");
}

#[test]
fn replay_comes_to_the_same_lines_or_names_the_first_other_one() {
    let (folder, kernel) = (Folder::new("replay"), Script::default());
    play(&folder, &kernel, &events());
    let expect = |kernel: Script, expected: &str| {
        let error = folder.open(&kernel).map(drop).expect_err(expected);
        assert!(text(&error).ends_with(expected), "{}", text(&error));
    };
    expect(
        Script { salt: "x", ..Script::default() },
        "line 5 (\"n\":4): the events up to it lead to another state now",
    );
    expect(
        Script { component: "2", salt: "x", ..Script::default() },
        "step 1 (`started`): this component comes to another state after it; the run has the component \
         sha256:component, and the gate has sha256:component2: go on with the seamgate that has the run's component \
         (`seamgate replay` shows which calls this one decides differently)",
    );
    expect(
        Script { profile: "2", ..Script::default() },
        "the run has the profile sha256:profile, and the gate has sha256:profile2; open it with what it began with",
    );
}

/// Returns a component with its own version, which decides as the default one does.
fn later(component: &'static str, version: &'static str) -> Script {
    Script { component, version, ..Script::default() }
}

/// Returns changed lines whose digests are those of the changed lines before them.
fn rechained<'l>(lines: impl IntoIterator<Item = &'l str>, change: impl Fn(&str) -> String) -> Vec<String> {
    let mut before = String::new();
    let rechain = |line| {
        let mut line = change(line);
        let at = line.find(r#""before":""#).expect("a chain") + 10;
        let end = at + line[at..].find('"').expect("its end");
        line.replace_range(at..end, &before);
        before = digest(line.as_bytes());
        line
    };
    lines.into_iter().map(rechain).collect()
}

/// Returns the text of a file with these lines.
fn with_ends(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Returns the kinds of the lines in a folder, by their first letters.
fn kinds(folder: &Folder) -> String {
    let text = fs::read_to_string(folder.journal()).expect("lines");
    let kind = |line: &str| {
        let line: BTreeMap<String, Value> = serde_json::from_str(line).expect("JSON");
        line.keys().find(|key| !matches!(key.as_str(), "n" | "before")).expect("a kind")[..1].to_owned()
    };
    text.lines().map(kind).collect()
}

#[test]
fn a_run_goes_on_under_another_component_that_decides_alike() {
    let (folder, events) = (Folder::new("upgrade"), events());
    let first = later("", "0.1.0");
    let states = play(&folder, &first, &events);
    let bytes = fs::read(folder.journal()).expect("lines");
    assert!(String::from_utf8_lossy(&bytes).contains(r#""component":"sha256:component","version":"0.1.0"}}"#));

    // Opening replays every event, and writes nothing.
    let second = later("2", "0.2.0");
    let mut run = folder.open(&second).expect("the same decisions");
    assert_eq!(second.calls.load(Ordering::Relaxed), events.len() as u64);
    assert_eq!(run.state(), states.last().expect("a state").replace("0.1.0", "0.2.0"));
    assert_eq!(run.changed_from(), Some("sha256:component"));
    assert_eq!(fs::read(folder.journal()).expect("lines"), bytes);
    // Until the change is written, the run still belongs to the first component.
    let snapshot = run.snapshot();
    let refused = Run::restore_on(&second, Memory::default(), &snapshot).map(drop).expect_err("not written yet");
    assert!(text(&refused).contains("open its journal in place of the snapshot"), "{}", text(&refused));
    folder.open(&first).expect("unchanged").send_json("[]").expect_err("a fault changes nothing");
    run.send_json(r#"{"type":"tick","at":7}"#).expect("sent");
    assert_eq!(run.changed_from(), None);
    let written = fs::read_to_string(folder.journal()).expect("lines");
    assert!(written.as_bytes().starts_with(&bytes));
    let change = written[bytes.len()..].lines().next().expect("a line");
    assert!(
        change.ends_with(r#""component":{"from":"sha256:component","to":"sha256:component2","version":"0.2.0"}}"#),
        "{change}"
    );
    assert_eq!(kinds(&folder), format!("r{}c{}", "eras".repeat(events.len()), "eras"));
    Run::restore_on(&second, Memory::default(), &run.snapshot()).expect("written");

    // Changes the component twice, and then back to the first. Each change replays everything before it.
    let mut state = run.state().to_owned();
    for (component, version, before) in [("3", "0.3.0", "0.2.0"), ("3", "0.3.0", "0.3.0"), ("", "0.1.0", "0.3.0")] {
        let kernel = later(component, version);
        let mut run = folder.open(&kernel).expect("the same decisions");
        assert_eq!(run.state(), state.replace(before, version));
        assert_eq!(run.changed_from().is_some(), before != version);
        run.send_json(r#"{"type":"tick","at":8}"#).expect("sent");
        state = run.state().to_owned();
    }
    assert_eq!(kinds(&folder), format!("r{}ceras{}ceras", "eras".repeat(events.len()), "ceraseras"));
    // Readers see the change before the event of its step.
    let steps: Vec<_> = JournalReader::open(&folder.0).expect("lines").map(|step| step.expect("whole")).collect();
    let changed: Vec<usize> =
        steps.iter().enumerate().filter(|(_, step)| step[0].kind == LineKind::Component).map(|(at, _)| at).collect();
    assert_eq!(changed, [events.len() + 1, events.len() + 2, events.len() + 4]);
    assert!(steps[changed[0]][0].json.starts_with(r#"{"from":"sha256:component""#));
}

#[test]
fn a_component_that_decides_a_step_differently_is_refused_with_that_step() {
    let (folder, first) = (Folder::new("differs"), later("", "0.1.0"));
    let mut events = events();
    events.push(r#"{"type":"call","at":7,"tool":"search","key":"r/7/0"}"#.to_owned());
    events.push(r#"{"type":"tick","at":8}"#.to_owned());
    play(&folder, &first, &events);
    let bytes = fs::read(folder.journal()).expect("lines");
    let refused = |kernel: Script, expected: &str| {
        let error = folder.open(&kernel).map(drop).expect_err(expected);
        assert!(matches!(&error, StepError::Journal(JournalError::Differs { .. })), "{}", text(&error));
        assert!(
            text(&error).contains(&format!("journal.ndjson: {expected}; the run has the component")),
            "{}",
            text(&error)
        );
        assert_eq!(fs::read(folder.journal()).expect("lines"), bytes);
    };
    refused(
        Script { denies_at: 7, ..later("2", "0.2.0") },
        "step 7 (`call` search, r/7/0): the run has `approval` for the call c1 search, this component decides `deny` (rule)",
    );
    refused(
        Script { fails_at: 8, ..later("2", "0.2.0") },
        "step 8 (`tick`): the run took it, this component does not: no such member",
    );
    refused(
        Script { salt: "x", ..later("2", "0.1.0") },
        "step 1 (`started`): this component comes to another state after it",
    );
    // A component whose states name no version, and one whose states named none.
    refused(
        Script { component: "2", ..Script::default() },
        "step 1 (`started`): this component comes to another state after it",
    );
    let error = folder.open(&Script { profile: "2", ..later("2", "0.2.0") }).map(drop).expect_err("another profile");
    assert!(matches!(error, StepError::Journal(JournalError::Other { what: "profile", .. })), "{}", text(&error));
    // Damage is reported under each component.
    fs::remove_file(folder.artifacts().remove(0)).expect("removed");
    let error = folder.open(&later("2", "0.2.0")).map(drop).expect_err("an artifact");
    assert!(matches!(error, StepError::Journal(JournalError::Artifact { .. })), "{}", text(&error));
}

#[test]
fn a_journal_of_the_first_format_goes_on_under_a_later_version() {
    let (folder, first) = (Folder::new("first-format"), later("", "0.1.0"));
    play(&folder, &first, &events());
    // The journal as the first format wrote it: without the version, and with matching digests.
    let text = fs::read_to_string(folder.journal()).expect("lines");
    let older = |line: &str| line.replace(r#""journal":2"#, r#""journal":1"#).replace(r#","version":"0.1.0""#, "");
    let older = with_ends(&rechained(text.lines(), older));
    fs::write(folder.journal(), &older).expect("written");
    folder.open(&first).expect("the same component");
    let second = later("2", "0.2.0");
    folder.open(&second).expect("opened").send_json(r#"{"type":"tick","at":9}"#).expect("sent");
    let now = fs::read_to_string(folder.journal()).expect("lines");
    assert!(now.starts_with(&older) && now.contains(r#""component":{"from":"#));
    folder.open(&second).expect("opened again");
}

#[test]
fn a_change_of_the_component_that_a_crash_cut_is_made_again() {
    let (folder, first, second) = (Folder::fast("cut-change"), later("", "0.1.0"), later("2", "0.2.0"));
    play(&folder, &first, &events());
    let before = fs::read(folder.journal()).expect("lines");
    folder.open(&second).expect("opened").send_json(r#"{"type":"tick","at":9}"#).expect("sent");
    let after = fs::read(folder.journal()).expect("lines");
    for cut in before.len()..after.len() {
        fs::write(folder.journal(), &after[..cut]).expect("written");
        let mut run = folder.open(&second).unwrap_or_else(|error| panic!("cut at {cut}: {}", text(&error)));
        assert_eq!(run.changed_from(), Some("sha256:component"), "cut at {cut}");
        run.send_json(r#"{"type":"tick","at":9}"#).expect("sent");
        assert_eq!(fs::read(folder.journal()).expect("lines"), after, "cut at {cut}");
        // The first component continues the run, too.
        fs::write(folder.journal(), &after[..cut]).expect("written");
        assert_eq!(folder.open(&first).expect("opened").changed_from(), None, "cut at {cut}");
    }
    // Each bit of the change is checked.
    let line = lines(&after).into_iter().find(|line| line.start == before.len()).expect("the change");
    for (at, bit) in line.flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let mut changed = after.clone();
        changed[at] ^= 1 << bit;
        fs::write(folder.journal(), &changed).expect("written");
        folder.open(&second).map(drop).expect_err("a changed bit");
    }
}

#[test]
fn a_change_names_the_component_that_the_run_had() {
    let (folder, first, second) = (Folder::new("forged"), later("", "0.1.0"), later("2", "0.2.0"));
    play(&folder, &first, &events()[..2]);
    folder.open(&second).expect("opened").send_json(r#"{"type":"tick","at":9}"#).expect("sent");
    let text = fs::read_to_string(folder.journal()).expect("lines");
    let forge = |change: &str, expected: &str| {
        let forged = rechained(text.lines(), |line| match line.find(r#""component":{"#) {
            Some(_) if line.contains(r#""from""#) => format!(r#"{{"n":9,"before":"",{change}}}"#),
            _ => line.to_owned(),
        });
        fs::write(folder.journal(), with_ends(&forged)).expect("written");
        let error = folder.open(&second).map(drop).expect_err(expected);
        assert!(self::text(&error).ends_with(expected), "{}", self::text(&error));
    };
    let other = "it is changed: it names no change from the component that the run has";
    forge(r#""component":{"from":"sha256:other","to":"sha256:component2","version":"0.2.0"}"#, other);
    forge(r#""component":{"to":"sha256:component2"}"#, other);
    forge(r#""component":7"#, other);
    // A version that the following states do not name.
    forge(
        r#""component":{"from":"sha256:component","to":"sha256:component2","version":"0.3.0"}"#,
        "the events up to it lead to another state now",
    );
}

#[test]
fn a_changed_run_goes_on_from_a_checkpoint_of_the_component_before() {
    let (first, second) = (later("", "0.1.0"), later("2", "0.2.0"));
    let (mut run, _) = Run::start_on(&first, Memory::default(), "a", STARTED).expect("started");
    for at in 2..=100 {
        run.send_json(&json!({"type": "tick", "at": at}).to_string()).expect("sent");
    }
    let mut run = Run::open_on(&second, run.journal).expect("the same decisions");
    assert_eq!(second.calls.load(Ordering::Relaxed), 100);
    run.send_json(r#"{"type":"tick","at":101}"#).expect("sent");
    let state = run.state().to_owned();
    second.calls.store(0, Ordering::Relaxed);
    let run = Run::open_on(&second, run.journal).expect("opened");
    assert_eq!((run.state(), second.calls.load(Ordering::Relaxed)), (state.as_str(), 101 - 64));
}

#[test]
fn a_process_of_the_component_before_does_not_follow_a_change() {
    let (folder, first, second) = (Folder::new("follow"), later("", "0.1.0"), later("2", "0.2.0"));
    play(&folder, &first, &events());
    let tick = |at: u64| json!({"type": "tick", "at": at}).to_string();
    let mut old = folder.open(&first).expect("opened");
    let (mut one, mut two) = (folder.open(&second).expect("one"), folder.open(&second).expect("two"));
    one.send_json(&tick(10)).expect("sent");
    // Another process with the new component takes over the change that was written.
    assert!(matches!(two.send_json(&tick(11)), Err(StepError::Journal(JournalError::Conflict { .. }))));
    assert_eq!(two.changed_from(), Some("sha256:component"));
    let mut two = folder.open(&second).expect("two");
    assert_eq!((two.changed_from(), two.state()), (None, one.state()));
    two.send_json(&tick(11)).expect("sent");
    assert!(matches!(old.send_json(&tick(12)), Err(StepError::Journal(JournalError::Conflict { .. }))));
    let error = old.catch_up().map(drop).expect_err("another component");
    assert!(text(&error).ends_with("another process went on with it: open it again"), "{}", text(&error));
    // After it is opened again, it replays what the other process decided.
    assert_eq!(folder.open(&first).expect("opened").changed_from(), Some("sha256:component2"));
}

/// Derives all steps of a run again with a kernel, or returns the first error.
fn derive(kernel: &Script, lines: &[String], blobs: &BTreeMap<(&'static str, String), String>) -> Result<u64, String> {
    let journal = Memory { lines: lines.to_vec(), blobs: blobs.clone() };
    let (first, rest) = lines.split_first().expect("a run");
    let mut derivation = Derivation::begin_on(kernel, journal, first).map_err(|error| error.to_string())?;
    for step in rest.split_inclusive(|line| line.contains(r#","state":{"#)) {
        derivation.step(step).map_err(|error| error.to_string())?;
    }
    Ok(derivation.steps())
}

#[test]
fn a_run_that_changed_its_component_is_derived_again_by_the_last_one() {
    let (one, two, three) = (later("", "0.1.0"), later("2", "0.2.0"), later("3", "0.2.0"));
    let (mut run, _) = Run::start_on(&one, Memory::default(), "a", STARTED).expect("started");
    for event in &events()[1..] {
        run.send_json(event).expect("sent");
    }
    let mut journal = run.journal;
    for (kernel, at) in [(&two, 10), (&three, 11), (&two, 12), (&one, 13), (&one, 14)] {
        let mut run = Run::open_on(kernel, journal).expect("the same decisions");
        run.send_json(&json!({"type": "tick", "at": at}).to_string()).expect("sent");
        journal = run.journal;
    }
    let Memory { mut lines, blobs } = journal;
    let changed = |lines: &[String], from: &str, to: &str| {
        rechained(lines.iter().map(String::as_str), |line| line.replace(from, to))
    };
    let steps = events().len() as u64 + 5;
    for kernel in [&one, &two, &three] {
        assert_eq!(derive(kernel, &lines, &blobs), Ok(steps), "{}", kernel.component);
    }
    // A component with other decisions, or with states that differ in more than the version.
    let denies = Script { denies_at: 7, ..later("4", "0.3.0") };
    let salted = Script { salt: "x", ..later("4", "0.3.0") };
    assert_eq!(derive(&denies, &lines, &blobs), Ok(steps));
    assert!(derive(&salted, &lines, &blobs).expect_err("other states").contains("does not follow from the events"));
    // The version of a component is compared with its states: in the first line, and in each change.
    for (kernel, named) in [(&one, "0.1.0"), (&two, "0.2.0")] {
        let member = format!(r#""version":"{named}""#);
        let lines = changed(&lines, &member, r#""version":"9.9""#);
        let error = derive(kernel, &lines, &blobs).expect_err("another version");
        let expected = format!("it names 9.9 of the kernel, and its component has {named}");
        assert!(error == expected || error.contains("does not follow from the events"), "{error}");
    }
    let lied = changed(&lines[..5], r#""version":"0.1.0""#, r#""version":"9.9""#);
    let error = derive(&one, &lied, &blobs).expect_err("another version");
    assert_eq!(error, "it names 9.9 of the kernel, and its component has 0.1.0");
    let bare = changed(&lines[..5], r#","version":"0.1.0""#, "");
    let error = derive(&one, &bare, &blobs).expect_err("no version");
    assert_eq!(error, "it names no version of the kernel, and its component has 0.1.0");
    // A change must name the component before it, and begin a step.
    let other = changed(&lines, r#"{"from":"sha256:component2""#, r#"{"from":"sha256:other""#);
    let error = derive(&one, &other, &blobs).expect_err("another component");
    assert!(error.ends_with(CHANGED_CHANGE), "{error}");
    let twice = lines.iter().position(|line| line.contains(r#"{"from":"#)).expect("a change");
    lines.insert(twice, lines[twice].clone());
    derive(&one, &changed(&lines, "", ""), &blobs).expect_err("two changes");
}

#[test]
fn a_step_gets_the_artifacts_that_it_needs() {
    let (folder, kernel) = (Folder::new("need"), Script::default());
    let events = events();
    play(&folder, &kernel, &events);
    let mut run = folder.open(&kernel).expect("opened");
    let long = serde_json::from_str::<Value>(&events[2]).expect("JSON")["text"].as_str().expect("text").to_owned();
    let json_text = serde_json::from_str::<Value>(&events[3]).expect("JSON")["result"].to_string();
    let whole = "the whole result, of which the event has the head".repeat(100);
    assert_eq!(run.keep(&whole).expect("kept"), digest(whole.as_bytes()));
    run.send_json(r#"{"type":"tool_failed","message":"no such host"}"#).expect("sent");
    let texts = ["short", long.as_str(), json_text.as_str(), whole.as_str(), "no such host"];
    let needs: Vec<String> = texts.iter().map(|text| digest(text.as_bytes())).collect();
    let event = json!({"type": "tick", "at": 9, "needs": needs}).to_string();
    run.send_json(&event).expect("sent");
    let bytes = fs::read_to_string(folder.journal()).expect("lines");
    let last: Vec<&str> = bytes.lines().rev().take(4).collect();
    assert!(last[2].ends_with(r#""record":{"read":5,"type":"note"}}"#), "{}", last[2]);
    assert!(!last[3].contains("artifacts"), "{}", last[3]);
    assert_eq!(folder.open(&kernel).expect("opened").state(), run.state());

    let missing = digest(b"nobody kept this");
    let state = run.state().to_owned();
    for needed in [missing.as_str(), "sha256:../../../../etc/passwd", "\u{1b}[2J"] {
        let error = run.send_json(&json!({"type": "tick", "needs": [needed]}).to_string()).expect_err(needed);
        assert!(text(&error).ends_with(&format!("the artifact {} is missing", json(&needed))), "{}", text(&error));
    }
    let endless = Script { needs_for_ever: true, ..Script::default() };
    let mut run = Run { kernel: &endless, ..run };
    let error = run.send_json(&event).expect_err("an endless need");
    assert!(text(&error).ends_with("invalid step: it needs artifacts that it has"), "{}", text(&error));
    assert_eq!(run.state(), state);
    assert_eq!(fs::read_to_string(folder.journal()).expect("lines"), bytes);
}

#[test]
fn a_fault_is_never_appended() {
    let (folder, kernel) = (Folder::new("fault"), Script::default());
    for bad in [r#"{"type":"bad","run":"r"}"#, r#"{"type":"started"}"#, "", "[]", "{\"type\":\"started\",\"run\":\"r\""]
    {
        let journal = FileJournal::create(&folder.0).expect("a journal");
        let started = Run::start_on(&kernel, journal, "a", bad).map(drop);
        assert!(matches!(started.expect_err(bad), StepError::Fault(Fault::BadRequest { .. })), "{bad}");
        assert!(!folder.journal().exists());
    }
    play(&folder, &kernel, &events());
    let (mut run, bytes) = (folder.open(&kernel).expect("opened"), fs::read(folder.journal()).expect("lines"));
    let state = run.state().to_owned();
    for bad in [r#"{"type":"bad"}"#, "", "null", r#"{"type":"tick","\u0061rtifacts":{}}"#, "{\"type\":\"tick\"}}"] {
        let error = run.send_json(bad).expect_err(bad);
        assert!(matches!(error, StepError::Fault(Fault::BadRequest { .. })), "{bad}: {}", text(&error));
        assert_eq!((run.state(), fs::read(folder.journal()).expect("lines")), (state.as_str(), bytes.clone()));
    }
    run.send_json(&events()[5]).expect("sent");
}

#[test]
fn what_is_no_journal_is_said_and_left_alone() {
    let (folder, kernel) = (Folder::new("other"), Script::default());
    let open = |expected: &str| {
        let error = folder.open(&kernel).map(drop).expect_err(expected);
        assert!(text(&error).ends_with(expected), "{}", text(&error));
    };
    open("it has no journal.ndjson: name the folder of a run");
    fs::create_dir_all(&folder.0).expect("a folder");
    open("it has no journal.ndjson: name the folder of a run");
    let other = "its first line is changed, or it is not the journal of a run: name the folder of a run";
    for file in ["hello\n", "hello", "{\"event\":\"begin\",\"run\":1}\n", "\u{feff}", "{\"n\":1", "[", "{}\n", "\n"] {
        fs::write(folder.journal(), file).expect("written");
        open(other);
        FileJournal::create(&folder.0).map(drop).expect_err(file);
        assert_eq!(fs::read_to_string(folder.journal()).expect("the file"), file);
    }
    fs::write(folder.journal(), "{\"n\":0,\"before\":\"\",\"run\":{\"journal\":3,\"new\":true}}\nnew\n")
        .expect("written");
    open("it has format 3, and this seamgate knows up to 2; use a later version of seamgate");
    fs::remove_file(folder.journal()).expect("removed");
    // Longer than any line.
    fs::File::create(folder.journal()).expect("a file").set_len(70 << 20).expect("longer");
    open("it has more than 67108864 bytes");
    fs::write(folder.journal(), "").expect("written");
    open("the run has not begun, as no step is whole; start it");
    play(&folder, &kernel, &events());
    let again = FileJournal::create(&folder.0).expect_err("a run is there");
    assert!(text(&again).ends_with("it has a run already; open that one, or start in another place"));
    let opened = FileJournal::open(&folder.0).expect("lines");
    let error = Run::start_on(&kernel, opened, "a", STARTED).map(drop).expect_err("a run is there");
    assert!(matches!(error, StepError::Journal(JournalError::Exists { .. })));
    // Zeros where a file system had not yet written.
    let mut bytes = fs::read(folder.journal()).expect("lines");
    let whole = bytes.len();
    bytes.extend_from_slice(br#"{"n":25,"before":""#);
    bytes.resize(bytes.len() + 5000, 0);
    fs::write(folder.journal(), &bytes).expect("written");
    assert_eq!(FileJournal::open(&folder.0).expect("lines").torn().expect("torn").bytes, (bytes.len() - whole) as u64);
    // Complete steps after a missing line are not dropped.
    let text = String::from_utf8(bytes[..whole].to_vec()).expect("UTF-8");
    let without: String =
        text.split_inclusive('\n').enumerate().filter(|(n, _)| *n != 7).map(|(_, line)| line).collect();
    fs::write(folder.journal(), without).expect("written");
    open("line 8 (\"n\":7): it is changed, or a line is missing before it: its \"n\" is 8");
}

#[cfg(unix)]
#[test]
fn a_pipe_in_place_of_a_file_is_refused_at_once() {
    let (folder, kernel) = (Folder::new("pipe"), Script::default());
    play(&folder, &kernel, &events());
    let artifact = folder.artifacts().remove(0);
    let bytes = fs::read(&artifact).expect("an artifact");
    for path in [artifact.clone(), folder.journal()] {
        fs::remove_file(&path).expect("removed");
        assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo").success());
        let error = folder.open(&kernel).map(drop).expect_err("a pipe");
        assert!(text(&error).ends_with("must be a regular file"), "{}", text(&error));
        if path == artifact {
            fs::remove_file(&path).expect("removed");
            fs::write(&path, &bytes).expect("written");
        }
    }
}

#[cfg(unix)]
fn child(name: &str, folder: &Path, prepare: impl FnOnce(&Path) -> Command) -> Command {
    let mut child = prepare(&std::env::current_exe().expect("this test"));
    child.args(["--exact", &format!("run::tests::{name}"), "--nocapture"]).env("SEAMGATE_TEST_CHILD", folder);
    child
}

/// Runs a test again in a child process with fewer resources. The child gets the folder.
#[cfg(unix)]
fn in_child(name: &str, folder: &Path, prepare: impl FnOnce(&Path) -> Command) {
    let output = child(name, folder, prepare).output().expect("started");
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[cfg(unix)]
#[test]
fn a_writer_that_is_killed_loses_no_step_that_it_told() {
    use std::io::{BufRead, BufReader, Write};
    let kernel = Script::default();
    let event = |at: u64| json!({"type": "tool_result", "at": at, "text": format!("{at} ").repeat(600)}).to_string();
    if let Some(folder) = std::env::var_os("SEAMGATE_TEST_CHILD").map(PathBuf::from) {
        let mut run = Run::open_on(&kernel, FileJournal::open(&folder).expect("lines")).expect("opened");
        let mut out = std::fs::File::create("/dev/stdout").expect("an output");
        loop {
            run.send_json(&event(run.step())).expect("sent");
            writeln!(out, "step {}", run.step()).expect("told");
        }
    }
    let folder = Folder::fast("killed");
    play(&folder, &kernel, &events());
    let (mut told, mut more, mut torn) = (0, 0, 0);
    for round in 0..30 {
        let mut child =
            child("a_writer_that_is_killed_loses_no_step_that_it_told", &folder.0, |program| Command::new(program))
                .stdout(std::process::Stdio::piped())
                .spawn()
                .expect("started");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines().map_while(Result::ok);
        let mut last = 0;
        let mut steps = lines.by_ref().filter_map(|line| line.strip_prefix("step ")?.parse::<u64>().ok());
        for step in steps.by_ref().take(1 + round % 7) {
            last = step;
        }
        thread::sleep(std::time::Duration::from_micros(37 * round as u64));
        child.kill().expect("killed");
        last = steps.last().unwrap_or(last);
        child.wait().expect("ended");
        let run = folder.open(&kernel).unwrap_or_else(|error| panic!("{}", text(&error)));
        assert!(last > told && (last..=last + 1).contains(&run.step()), "told {last}, has {}", run.step());
        torn += u64::from(run.journal().torn().is_some());
        more += u64::from(run.step() > last);
        told = last;
    }
    println!("{told} steps told in 30 killed processes; {more} more were whole, {torn} torn");
}

#[cfg(unix)]
#[test]
fn a_full_disk_adds_nothing_and_loses_nothing() {
    let kernel = Script::default();
    let event = |at: u64| json!({"type": "tool_result", "at": at, "text": "x".repeat(900)}).to_string();
    if let Some(folder) = std::env::var_os("SEAMGATE_TEST_CHILD").map(PathBuf::from) {
        let mut run = Run::open_on(&kernel, FileJournal::open(&folder).expect("lines")).expect("opened");
        for at in 0.. {
            let (state, bytes) = (run.state().to_owned(), fs::read(folder.join("journal.ndjson")).expect("lines"));
            let Err(error) = run.send_json(&event(at)) else { continue };
            let said = text(&error);
            assert!(said.contains("cannot append to") && said.contains("; no step was added: make room"), "{said}");
            assert_eq!(run.state(), state);
            assert_eq!(fs::read(folder.join("journal.ndjson")).expect("lines"), bytes);
            assert!(at > 2, "some fit");
            // No step is torn, and the next attempt fails in the same way.
            assert_eq!(text(&run.send_json(&event(at)).expect_err("still full")), said);
            return;
        }
    }
    let folder = Folder::new("full");
    play(&folder, &kernel, &events());
    in_child("a_full_disk_adds_nothing_and_loses_nothing", &folder.0, |program| {
        // The limit on file size applies, and exceeding it is an error instead of a signal.
        let mut shell = Command::new("sh");
        shell.args(["-c", r#"trap "" XFSZ; ulimit -f 24; exec "$0" "$@""#]).arg(program);
        shell
    });
    let mut run = folder.open(&kernel).expect("opened");
    assert!(run.journal().torn().is_none());
    run.send_json(&event(9)).expect("there is room again");
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_can_be_read_and_not_appended_to() {
    use std::os::unix::{fs::PermissionsExt, process::CommandExt};
    let kernel = Script::default();
    if let Some(folder) = std::env::var_os("SEAMGATE_TEST_CHILD").map(PathBuf::from) {
        let mut run = Run::open_on(&kernel, FileJournal::open(&folder).expect("lines")).expect("opened");
        let state = run.state().to_owned();
        let advice = "; this user needs the right to do so, or another folder: ";
        for event in [&events()[5], &events()[2]] {
            let said = text(&run.send_json(event).expect_err("read-only"));
            assert!(
                said.contains("/journal.ndjson") && said.contains(advice) || said.contains("/artifacts/"),
                "{said}"
            );
            assert_eq!(run.state(), state);
        }
        let said = text(&FileJournal::create(folder.join("new")).expect_err("read-only"));
        assert!(said.contains("cannot make the folder") && said.contains(advice), "{said}");
        return;
    }
    let folder = Folder::new("read-only");
    play(&folder, &kernel, &events());
    let bytes = fs::read(folder.journal()).expect("lines");
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
    for path in folder.artifacts().iter().chain([&folder.journal()]) {
        mode(path, 0o444);
    }
    mode(&folder.0.join("artifacts"), 0o555);
    mode(&folder.0, 0o555);
    in_child("a_read_only_folder_can_be_read_and_not_appended_to", &folder.0, |program| {
        let mut child = Command::new(program);
        // The superuser may write anywhere.
        if rustix::process::geteuid().is_root() {
            child.uid(65534).gid(65534);
        }
        child
    });
    mode(&folder.0, 0o755);
    mode(&folder.0.join("artifacts"), 0o755);
    assert_eq!(fs::read(folder.journal()).expect("lines"), bytes);
}
