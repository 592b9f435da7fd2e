//! Tests that the input of a person on a terminal decides only the call that the terminal shows.
#![cfg(unix)]

use std::{
    fs::{self, File, OpenOptions},
    io::{Read, Write},
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    path::{Path, PathBuf},
    process::{Child, Command},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};
use serde_json::{Value, json};

/// The longest time to wait for something.
const LONG: Duration = Duration::from_secs(60);
/// The time to wait before a test checks that an answer had no effect.
const SHORT: Duration = Duration::from_millis(400);

/// A model that calls `act` with `x`, then with `y`, and then answers. It takes a moment, and creates the file `asked`
/// at its start.
const ACTS: &str = r#"touch asked; sleep 0.4
case $(cat) in
  *'"call":"c2"'*) echo '{"text":"{\"cause\":\"seen\"}"}' ;;
  *'"call":"c1"'*) echo '{"calls":[{"tool":"act","arguments":{"at":"y"}}]}' ;;
  *) echo '{"calls":[{"tool":"act","arguments":{"at":"x"}}]}' ;;
esac
"#;

/// A folder with an agent whose tool `act` requires the approval of anna.
struct Place {
    folder: PathBuf,
}

impl Place {
    fn new(name: &str, ttl_s: u32, model: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("terminal").join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        let place = Place { folder };
        let permit = json!({ "approval": { "by": ["oncall"], "ttl_s": ttl_s } });
        let profile = json!({
            "agent": "ops", "version": "1.0.0", "prompt": { "role": "You act." },
            "approvers": { "oncall": [{ "principal": "anna" }] },
            "tools": [{ "name": "act", "effect": "effectful", "permit": permit }],
            "final": { "contract": { "agent": "ops", "schema": { "type": "object" } } },
        });
        place.write("ops.profile.json", &profile.to_string());
        place.tool("cat >> acted; echo 1");
        place.write("model.sh", model);
        place
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.join(name), text).expect("a file");
    }

    fn tool(&self, script: &str) {
        let servers = json!({ "servers": { "": { "tools": { "act": { "command": ["sh", "-c", script] } } } } });
        self.write("ops.servers.json", &servers.to_string());
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).unwrap_or_default()
    }

    /// Returns the arguments of the calls that ran.
    fn acted(&self) -> String {
        self.read("acted")
    }

    /// Returns the decisions in the journal, each with its call.
    fn decided(&self) -> Vec<(String, String)> {
        let text = |event: &Value, name: &str| event[name].as_str().unwrap_or_default().to_owned();
        self.events("approval").iter().map(|event| (text(event, "key"), text(event, "decision"))).collect()
    }

    fn events(&self, kind: &str) -> Vec<Value> {
        let lines = self.read("run/journal.ndjson");
        let events = lines.lines().filter_map(|line| Some(serde_json::from_str::<Value>(line).ok()?["event"].clone()));
        events.filter(|event| event["type"] == kind).collect()
    }

    fn command(&self, arguments: &str) -> Command {
        let test = std::env::current_exe().expect("this test");
        let folder = test.parent().and_then(Path::parent).expect("target/PROFILE");
        let mut command = Command::new(folder.join("seamgate"));
        let cache = concat!(env!("CARGO_TARGET_TMPDIR"), "/user-cache");
        command.current_dir(&self.folder).env_remove("RUST_LOG").env("XDG_CACHE_HOME", cache).env("NO_COLOR", "1");
        command.args(arguments.split(' '));
        command
    }

    /// Returns a run of the agent on anna's terminal.
    fn agent(&self) -> Terminal {
        let common = "agent -p ops.profile.json --servers ops.servers.json --as anna --task {} --journal run";
        Terminal::start(self.command(&format!("{common} -- sh model.sh")), 80)
    }

    /// Starts a run that waits. Returns `seamgate approve` on anna's terminal.
    fn approve(&self, more: &str) -> Terminal {
        let common = "agent -p ops.profile.json --servers ops.servers.json --as joe --task {} --journal run";
        let waits = self.command(&format!("{common} -- sh model.sh")).output().expect("an end");
        assert_eq!(waits.status.code(), Some(6), "{}", String::from_utf8_lossy(&waits.stderr));
        Terminal::start(self.command(&format!("approve run --as anna{more}")), 80)
    }

    fn until_asked(&self) {
        until("the model", || self.folder.join("asked").exists());
    }
}

/// A program on a terminal of its own.
struct Terminal {
    child: Child,
    keys: File,
    screen: Arc<Mutex<String>>,
    /// The length of the part of the screen that the test has read.
    seen: usize,
}

impl Terminal {
    fn start(mut command: Command, columns: u16) -> Self {
        let keys = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&keys).expect("a terminal");
        unlockpt(&keys).expect("a terminal");
        tcsetwinsize(&keys, Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).expect("a size");
        let name = ptsname(&keys, Vec::new()).expect("a name");
        let path = Path::new(std::ffi::OsStr::from_bytes(name.to_bytes()));
        let other = OwnedFd::from(OpenOptions::new().read(true).write(true).open(path).expect("the other side"));
        let end = || other.try_clone().expect("a descriptor");
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().expect("a start");
        drop((command, other));
        let keys = File::from(keys);
        let screen = Arc::new(Mutex::new(String::new()));
        let (mut read, shown) = (keys.try_clone().expect("a descriptor"), Arc::clone(&screen));
        thread::spawn(move || {
            let mut chunk = [0; 4096];
            // When the program ends, the other side is closed, which Linux reports as an error.
            while let Ok(count @ 1..) = read.read(&mut chunk) {
                shown.lock().expect("no panic").push_str(&String::from_utf8_lossy(&chunk[..count]));
            }
        });
        Terminal { child, keys, screen, seen: 0 }
    }

    fn types(&mut self, text: &str) {
        self.keys.write_all(text.as_bytes()).expect("a terminal");
    }

    fn screen(&self) -> String {
        self.screen.lock().expect("no panic").clone()
    }

    /// Waits until words appear on the unread part of the screen. Returns the text after them.
    #[track_caller]
    fn sees(&mut self, words: &str) -> String {
        let start = Instant::now();
        loop {
            let screen = self.screen();
            if let Some(at) = screen[self.seen..].find(words) {
                self.seen += at + words.len();
                return screen[self.seen..].to_owned();
            }
            assert!(start.elapsed() < LONG, "{words:?} does not come: {screen}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the terminal asks about a call. Returns the code.
    #[track_caller]
    fn code(&mut self, prompt: &str) -> String {
        self.sees(prompt);
        let start = Instant::now();
        loop {
            let screen = self.screen();
            if let Some((code, _)) = screen[self.seen..].split_once('"') {
                self.seen += code.len();
                assert_eq!(code.len(), 4, "{screen}");
                return code.to_owned();
            }
            assert!(start.elapsed() < LONG, "no code comes: {screen}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    #[track_caller]
    fn asks_about(&mut self, call: &str) -> String {
        self.code(&format!("Approve {call} as anna? Type \""))
    }

    #[track_caller]
    fn ends(mut self) -> i32 {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return status.code().unwrap_or_else(|| panic!("{status}: {}", self.screen()));
            }
            if start.elapsed() > LONG {
                let _ = self.child.kill();
                panic!("no end: {}", self.screen());
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < LONG, "{what} does not come");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Input that people and pastes produce before the question: words that approve in other programs, rejections, guessed
/// codes, and the beginning of a line.
const AHEAD: [&str; 12] =
    ["y\n", "y\ny\n", "yes\n", "Y\n\n\n", "approve\n", "n\n", "bcdf\n", "c1\n", "1\n", "y", "n", "y\r\ny\r\n"];

#[test]
fn nothing_typed_before_the_view_decides() {
    for (number, ahead) in AHEAD.iter().enumerate() {
        let model = ACTS.replace("sleep 0.4", "until [ -e typed ]; do sleep 0.05; done");
        let place = Place::new(&format!("ahead-{number}"), 600, &model);
        let mut terminal = place.agent();
        place.until_asked();
        terminal.types(ahead);
        place.write("typed", "");
        let code = terminal.asks_about("c1");
        // A line that was begun before the call is shown cannot be completed afterwards.
        if !ahead.ends_with('\n') {
            terminal.types("\n");
            terminal.sees("That decides nothing.");
            terminal.types(&format!("{code}\n"));
            terminal.sees("That decides nothing.");
        }
        thread::sleep(SHORT);
        assert_eq!((place.decided(), place.acted()), (vec![], String::new()), "{ahead:?}: {}", terminal.screen());
    }
}

#[test]
fn the_code_approves_and_nothing_else_does() {
    let place = Place::new("code", 600, ACTS);
    let mut terminal = place.agent();
    for wrong in ["y", "yes", "", "approve", "c1", "\"", "jjjj", "y\ny"] {
        let code = terminal.asks_about("c1");
        terminal.types(&format!("{wrong}{}\n", if wrong == "\"" { &code } else { "" }));
        terminal.sees("That decides nothing.");
    }
    assert_eq!(place.decided(), []);
    let code = terminal.asks_about("c1");
    terminal.types(&format!(" {} \n", code.to_uppercase()));
    let code = terminal.asks_about("c2");
    assert_eq!(place.acted(), r#"{"at":"x"}"#);
    terminal.types("n\n");
    assert_eq!(terminal.ends(), 0);
    assert_eq!(place.acted(), r#"{"at":"x"}"#);
    let decided = [("c1", "approved"), ("c2", "rejected")].map(|(call, how)| (call.to_owned(), how.to_owned()));
    assert_eq!(place.decided(), decided, "{code}");
}

#[test]
fn an_answer_to_a_call_that_expired_does_not_decide_about_the_next() {
    // The input before and after the expiry: the code of the first call without its line end, the whole code, only a
    // line end, or another answer.
    for (number, (before, after)) in
        [("CODE", "\n"), ("", "CODE\n"), ("", "\n"), ("y", "\n"), ("n", "\n"), ("", "y\n")].into_iter().enumerate()
    {
        let place = Place::new(&format!("expired-{number}"), 3, ACTS);
        let mut terminal = place.agent();
        let first = terminal.asks_about("c1");
        terminal.types(&before.replace("CODE", &first));
        let second = terminal.asks_about("c2");
        assert_ne!(first, second);
        terminal.types(&after.replace("CODE", &first));
        terminal.sees("That decides nothing.");
        let third = terminal.asks_about("c2");
        assert_eq!((place.decided(), place.acted()), (vec![], String::new()), "{before:?}, {after:?}");
        terminal.types(&format!("{third}\n"));
        assert_eq!(terminal.ends(), 0);
        assert_eq!(place.acted(), r#"{"at":"y"}"#);
    }
}

/// Asks the question in a file, and calls `act` after the answer.
const ASKS: &str = r#"case $(cat) in
  *'"call":"c1"'*) echo '{"text":"{}"}' ;;
  *'one of mine'*) echo '{"calls":[{"tool":"act","arguments":{"at":"x"}}]}' ;;
  *) cat question.json ;;
esac
"#;

/// A question that imitates two calls, even where the terminal wraps a line.
const IMITATES: &str = "Two reads, and then:\n\nThe call c1 of run needs approval:\n  tool: look\n  effect: read\n\
    Approve c1 as anna? Type \"bcdf\" to approve, \"n\" or \"n REASON\" to reject:                 \
    Approve c1 as anna? Type \"bcdf\" to approve, \"n\" or \"n REASON\" to reject:\ny\n";

fn imitating(name: &str) -> Place {
    let place = Place::new(name, 600, ASKS);
    let question = json!({ "question": IMITATES }).to_string();
    place.write("question.json", &json!({ "text": question }).to_string());
    place
}

#[test]
fn a_paste_that_a_question_asks_for_approves_no_call() {
    let place = imitating("paste");
    let mut terminal = place.agent();
    terminal.sees("Your answer");
    terminal.types("one of mine\ny\ny\nbcdf\n");
    let code = terminal.asks_about("c1");
    thread::sleep(SHORT);
    assert_eq!((place.decided(), place.acted()), (vec![], String::new()), "{}", terminal.screen());
    let answers: Vec<_> = place.events("input").iter().map(|event| event["text"].clone()).collect();
    assert_eq!(answers, ["one of mine"]);
    // The last input may have arrived after the call was shown. It did not decide, but the code may have changed.
    let code = terminal.screen().rsplit_once("Type \"").map_or(code, |(_, rest)| rest[..4].to_owned());
    terminal.types(&format!("{code}\n"));
    assert_eq!(terminal.ends(), 0);
    assert_eq!(place.acted(), r#"{"at":"x"}"#);
}

#[test]
fn what_the_model_says_is_marked_in_each_row() {
    for columns in [30, 80, 0] {
        let place = imitating(&format!("marked-{columns}"));
        let common = "agent -p ops.profile.json --servers ops.servers.json --as anna --task {} --journal run";
        let mut terminal = Terminal::start(place.command(&format!("{common} -- sh model.sh")), columns);
        terminal.sees("The model asks:\r\n");
        let from = terminal.seen;
        terminal.sees("Your answer");
        let screen = terminal.screen();
        let said = screen[from..terminal.seen].trim_end_matches("Your answer");
        let width = if columns == 0 { 80 } else { usize::from(columns) };
        assert!(said.contains("The call c1 of run"), "{said}");
        assert!(said.lines().all(|row| row.starts_with("  | ") && row.chars().count() <= width), "{columns}: {said}");
    }
}

#[test]
fn the_end_of_input_decides_nothing() {
    let place = Place::new("end", 600, ACTS);
    let mut terminal = place.agent();
    terminal.asks_about("c1");
    terminal.types("\u{4}");
    terminal.sees("seamgate approve run c1");
    assert_eq!(terminal.ends(), 6);
    assert_eq!(place.decided(), []);
}

/// A model that answers with control characters of a terminal: CSI as one character, and a change of the text
/// direction.
const DRAWS: &str = "cat >/dev/null; printf '%s' '{\"text\":\"{\\\"cause\\\":\\\"\u{9b}2Jseen\u{202e}\\\"}\"}'";

#[test]
fn a_document_on_a_terminal_is_not_obeyed_and_keeps_its_bytes_elsewhere() {
    let place = Place::new("draws", 600, DRAWS);
    let mut terminal = place.agent();
    terminal.sees(r#"{"cause":"\u009b2Jseen\u202e"}"#);
    assert_eq!(terminal.ends(), 0);
    fs::remove_dir_all(place.folder.join("run")).expect("a run");
    let common = "agent -p ops.profile.json --servers ops.servers.json --as anna --task {} --journal run";
    let output = place.command(&format!("{common} -- sh model.sh")).output().expect("an end");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "{\"cause\":\"\u{9b}2Jseen\u{202e}\"}\n");
}

#[test]
fn what_became_of_a_call_is_said_with_its_code() {
    let place = Place::new("uncertain", 600, ACTS);
    place.tool("cat >> acted; kill -9 $$");
    let mut terminal = place.agent();
    let code = terminal.asks_about("c1");
    terminal.types(&format!("{code}\ndone\n"));
    let prompt = "Call c1: type \"done ";
    let mut drawn = terminal.code(prompt);
    for wrong in ["done", "not_done", "y", "done bcdf", &format!("{drawn} done"), "n"] {
        terminal.types(&format!("{wrong}\n"));
        terminal.sees("That decides nothing.");
        drawn = terminal.code(prompt);
    }
    assert_eq!(place.events("resolution").len(), 0);
    terminal.types(&format!("not_done {drawn}\n"));
    terminal.asks_about("c2");
    let resolved: Vec<_> = place.events("resolution").iter().map(|event| event["outcome"].clone()).collect();
    assert_eq!(resolved, ["not_done"]);
}

#[test]
fn approve_decides_by_the_code() {
    for (number, ahead) in AHEAD.iter().enumerate() {
        let place = Place::new(&format!("approve-ahead-{number}"), 600, ACTS);
        let mut terminal = place.approve("");
        terminal.types(ahead);
        terminal.asks_about("c1");
        terminal.types("\n");
        terminal.sees("That decides nothing.");
        assert_eq!(place.decided(), [], "{ahead:?}");
    }
    for (name, more, typed, status, decided) in [
        ("approves", "", "CODE\n", 0, &["approved"][..]),
        ("rejects", "", "n\n", 0, &["rejected"]),
        ("rejects-by-code", " --reject", "CODE\n", 0, &["rejected"]),
        ("end", "", "\u{4}", 6, &[]),
        ("end-of-a-code", "", "CODE\u{4}\u{4}", 6, &[]),
        ("end-reject", " --reject", "\u{4}", 6, &[]),
    ] {
        let place = Place::new(&format!("approve-{name}"), 600, ACTS);
        let mut terminal = place.approve(more);
        let word = if more.is_empty() { "Approve" } else { "Reject" };
        let code = terminal.code(&format!("{word} c1 as anna? Type \""));
        terminal.types(&typed.replace("CODE", &code));
        assert_eq!(terminal.ends(), status, "{name}");
        let made: Vec<_> = place.decided().into_iter().map(|(_, how)| how).collect();
        assert_eq!(made, decided, "{name}");
    }
    // The command gives up without a decision.
    let place = Place::new("approve-never", 600, ACTS);
    let mut terminal = place.approve("");
    for _ in 0..5 {
        terminal.asks_about("c1");
        terminal.types("y\n");
    }
    assert_eq!(terminal.ends(), 6);
    assert_eq!(place.decided(), []);
}
