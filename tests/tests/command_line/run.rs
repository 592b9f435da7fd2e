//! Tests `seamgate run` from the viewpoint of a script and an agent: the feedback to the agent, exit statuses, all
//! kinds of endings, and journals.
#![cfg(unix)]

use std::{
    convert::Infallible,
    error::Error,
    fs,
    io::{self, Write, pipe},
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::{
        LazyLock,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use seamgate::{Fault, Finish, Gate, Limits, Outcome, Produced, Request, RunError, Stop};
use serde_json::Value;

/// The timeout of an operation.
const LONG: Duration = Duration::from_secs(60);

const GREETER: &str = r#"{"agent": "greeter", "retry": {"limit": 2}, "schema": {"type": "object",
    "required": ["greeting"], "properties": {"greeting": {"type": "string"}}, "additionalProperties": false}}"#;

/// The beginning of every agent script. It records in `log` the attempts that this session starts.
const SCRIPT: &str = r#"N=$SEAMGATE_ATTEMPT; F=$SEAMGATE_FINISH_FILE; echo start $N >>log
hello() { echo '{"greeting": "hello"}'; }; third() { case $N in 1) echo 1 ;; 2) echo {} ;; *) hello ;; esac; }; "#;

/// The output for `hello`.
const PRINTED: &str = "{\"greeting\":\"hello\"}\n";

/// A folder with contracts in which `seamgate run` runs, and a mark that identifies the processes of its agents.
struct Place {
    folder: PathBuf,
    mark: String,
    /// The shell command that runs before `seamgate`.
    setup: &'static str,
}

/// The result of a session.
struct Done {
    status: Option<i32>,
    out: String,
    err: String,
    /// The attempts that the session started.
    asked: Vec<u64>,
}

impl Done {
    #[track_caller]
    fn is(&self, status: i32, out: &str, asked: &[u64]) -> &Self {
        assert_eq!((self.status, self.out.as_str(), &*self.asked), (Some(status), out, asked), "{}", self.err);
        self
    }

    #[track_caller]
    fn says(&self, words: &str) -> &Self {
        assert!(self.err.contains(words), "{words}: {}", self.err);
        self
    }
}

impl Place {
    fn new(name: &str) -> Self {
        // This name does not match the folders of runs. Otherwise, another `seamgate run` on this machine would remove
        // the folder as a leftover.
        let mark = format!("test-of-run-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(&mark);
        fs::create_dir_all(&folder).expect("a folder");
        symlink(concat!(env!("CARGO_MANIFEST_DIR"), "/../schemas/examples"), folder.join("examples")).expect("a link");
        let place = Place { folder, mark, setup: ":" };
        place.write("greeter.contract.json", GREETER);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).expect(name);
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_default()
    }

    fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).expect("UTF-8")
    }

    /// Returns the command `seamgate run` with these arguments, which must not contain spaces, and with the agent's own
    /// arguments.
    fn command(&self, arguments: &str, agent: &[&str]) -> Command {
        // The binary of this build is beside the folder of the tests.
        let test = std::env::current_exe().expect("this test");
        let binary = test.parent().and_then(Path::parent).expect("target/PROFILE").join("seamgate");
        // The program replaces the shell and keeps its process id.
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("{}; exec \"$0\" run \"$@\"", self.setup)).arg(binary);
        command.args(arguments.split_whitespace()).args(agent).current_dir(&self.folder).env_remove("RUST_LOG");
        command.env("XDG_CACHE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/user-cache"));
        command.env("TMPDIR", &self.folder).env("MARK", &self.mark);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn seamgate(&self, arguments: &[&str]) -> Output {
        let test = std::env::current_exe().expect("this test");
        let binary = test.parent().and_then(Path::parent).expect("target/PROFILE").join("seamgate");
        let mut command = Command::new(binary);
        command.args(arguments).current_dir(&self.folder).env_remove("RUST_LOG").output().expect("an end")
    }

    /// Returns a journal in the format of `seamgate trace`.
    fn trace(&self, journal: &str) -> String {
        let output = self.seamgate(&["trace", journal]);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// Returns the command for an agent that is a script. It uses the greeter's contract unless the arguments name
    /// another one.
    fn greeter(&self, arguments: &str, script: &str) -> Command {
        drop(fs::remove_file(self.path("log")));
        let contract = if arguments.contains("-c ") { "" } else { "-c greeter.contract.json " };
        self.command(&format!("{contract}{arguments}"), &["--", "sh", "-c", &format!("{SCRIPT}{script}")])
    }

    /// Waits until the command and all processes of its agent have ended. Kills the command after the timeout.
    fn done(&self, child: Child) -> Done {
        let (pid, (ended, end)) = (child.id(), mpsc::channel::<()>());
        let guard = thread::spawn(move || {
            if end.recv_timeout(LONG) == Err(RecvTimeoutError::Timeout) {
                send("KILL", pid);
            }
        });
        let Output { status, stdout, stderr } = child.wait_with_output().expect("an end");
        drop(ended);
        guard.join().expect("watched");
        self.assert_gone();
        let [out, err] = [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Done { status: status.code(), out, err, asked: self.log() }
    }

    fn run_with(&self, prompt: &[u8], mut command: Command) -> Done {
        let mut child = command.stdin(Stdio::piped()).spawn().expect("sh");
        let (mut stdin, prompt) = (child.stdin.take().expect("piped"), prompt.to_vec());
        // The agent may ignore its input.
        let writer = thread::spawn(move || drop(stdin.write_all(&prompt)));
        let done = self.done(child);
        writer.join().expect("written");
        done
    }

    fn run(&self, arguments: &str, script: &str) -> Done {
        self.run_with(b"", self.greeter(arguments, script))
    }

    /// Returns the attempts that the last session started.
    fn log(&self) -> Vec<u64> {
        self.text("log").lines().filter_map(|line| line.strip_prefix("start ")?.parse().ok()).collect()
    }

    fn await_start(&self, attempt: u64) {
        let start = Instant::now();
        while !self.log().contains(&attempt) {
            assert!(start.elapsed() < LONG, "attempt {attempt} was not started");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Returns the complete lines of the journal.
    fn journal(&self) -> Vec<Value> {
        let bytes = self.read("journal");
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let lines = bytes[..whole].split_inclusive(|byte| *byte == b'\n');
        let lines: Vec<Value> = lines.map(|line| serde_json::from_slice(line).expect("JSON")).collect();
        static SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
            let schema = serde_json::from_str(include_str!("../../../schemas/journal.schema.json")).expect("JSON");
            jsonschema::options().should_validate_formats(true).build(&schema).expect("a schema")
        });
        // One test fills a file with padding lines.
        for line in lines.iter().filter(|line| line["event"] != "pad") {
            let errors: Vec<String> = SCHEMA.iter_errors(line).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{line}: {errors:?}");
        }
        lines
    }

    /// Summarizes the journal: events and their attempts.
    fn events(&self) -> Vec<String> {
        let word = |line: &Value| format!("{} {}", line["event"].as_str().unwrap_or_default(), line["attempt"]);
        self.journal().iter().map(word).collect()
    }

    /// Summarizes the journal without the events that may be repeated.
    fn results(&self) -> Vec<String> {
        self.events().into_iter().filter(|event| !event.starts_with("start ")).collect()
    }

    /// Asserts that all processes with the mark end soon.
    fn assert_gone(&self) {
        let start = Instant::now();
        while let Some(process) = self.living() {
            let told = ["cmdline", "status"].map(|file| fs::read_to_string(process.join(file)).unwrap_or_default());
            assert!(start.elapsed() < Duration::from_secs(10), "{}: {told:#?}", self.mark);
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Returns a process with the mark. Finds none on systems other than Linux.
    fn living(&self) -> Option<PathBuf> {
        let entry = format!("MARK={}", self.mark).into_bytes();
        let mut processes = fs::read_dir("/proc").into_iter().flatten().flatten().map(|process| process.path());
        let environment = |process: &PathBuf| fs::read(process.join("environ")).unwrap_or_default();
        processes.find(|process| environment(process).split(|byte| *byte == 0).any(|variable| variable == entry))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !thread::panicking() {
            drop(fs::remove_dir_all(&self.folder));
        }
    }
}

fn send(signal: &str, pid: u32) {
    Command::new("kill").args([&format!("-{signal}"), &pid.to_string()]).status().expect("kill");
}

const RESULTS: [&str; 7] =
    ["begin null", "attempt 1", "decision 1", "attempt 2", "decision 2", "attempt 3", "decision 3"];

#[test]
fn feedback_comes_by_three_ways() {
    let place = Place::new("feedback");
    let script = r#"cat >in.$N; printf %s "$SEAMGATE_FEEDBACK" >variable.$N; cp "$SEAMGATE_FEEDBACK_FILE" file.$N
        [ $N = 1 ] && echo {} || hello"#;
    for (prompt, before) in [("", ""), ("Greet me.", "Greet me.\n\n")] {
        let done = place.run_with(prompt.as_bytes(), place.greeter("", script));
        done.is(0, PRINTED, &[1, 2]).says("attempt 1 of 3: rejected, 1 violation");
        assert_eq!(["in.1", "variable.1", "file.1"].map(|name| place.text(name)), [prompt, "", ""]);
        let feedback = place.text("variable.2");
        assert!(feedback.contains("must have member \"greeting\""), "{feedback}");
        assert_eq!(place.text("file.2"), feedback);
        assert_eq!(place.text("in.2"), format!("{before}{feedback}\n"));
    }
}

#[test]
fn an_agent_reads_its_last_output() {
    let place = Place::new("output");
    let script = r#"cat >in.$N; cat "$SEAMGATE_OUTPUT_FILE" >output.$N
        [ $N = 1 ] && printf '{"greeting":\377}' || hello"#;
    let last = b"{\"greeting\":\xff}";
    for (arguments, shown) in [("", &b""[..]), ("--show-output", &b"Your last output:\n{\"greeting\":\xff}\n\n"[..])] {
        place.run_with(b"Greet me.\n", place.greeter(arguments, script)).is(0, PRINTED, &[1, 2]);
        assert_eq!(["output.1", "output.2"].map(|name| place.read(name)), [&b""[..], &last[..]]);
        assert_eq!(place.text("in.1"), "Greet me.\n");
        let second = place.read("in.2");
        assert!(second.starts_with(&[b"Greet me.\n\n", shown].concat()), "{}", String::from_utf8_lossy(&second));
        assert!(second.len() > b"Greet me.\n\n".len() + shown.len(), "the feedback follows");
    }
}

#[test]
fn an_agent_that_fails_runs_again() {
    let place = Place::new("retries");
    // The first attempt is invalid, and the second fails once.
    let script = r#"case $N in
          1) echo {} ;;
          *) [ -e failed ] && hello || { echo half; touch failed; exit 7; } ;;
        esac"#;
    let done = place.run("--journal journal --retries 2", script);
    done.is(0, PRINTED, &[1, 2, 2])
        .says("attempt 2 of 3: the agent failed: exit status: 7; running it again in 1 s, retry 1 of 2");
    assert_eq!(
        place.events(),
        [
            "begin null",
            "start 1",
            "attempt 1",
            "decision 1",
            "start 2",
            "failure 2",
            "start 2",
            "attempt 2",
            "decision 2"
        ]
    );
    assert_eq!(place.journal()[5]["exit"], 7);
    // The journal as `seamgate trace` shows it.
    let shown = place.trace("journal");
    for words in [
        "run 1 of greeter\n",
        "attempt 1: rejected; 3 bytes",
        "must have member \"greeting\"",
        "asked again",
        "attempt 2: the agent failed: exit status: 7; 5 bytes",
        "attempt 2: accepted; ",
        "ended: accepted, exit status 0",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    // Each failure counts, and an agent that cannot be started is not started again.
    let done = place.run("--retries 1", "exit 9");
    done.is(5, "", &[1, 1]).says("attempt 1 of 3: the agent failed: exit status: 9");
    let start = Instant::now();
    let missing = place.command("-c greeter.contract.json --retries 9", &["--", "./no-such-agent"]);
    assert_ne!(place.run_with(b"", missing).status, Some(0));
    assert!(start.elapsed() < LONG);
    place.run("--retries 21", "hello").is(2, "", &[]);
}

#[test]
fn a_signal_ends_the_wait_for_a_failed_agent() {
    let place = Place::new("retries-signal");
    let mut command = place.greeter("--retries 9", "exit 9");
    let child = command.spawn().expect("sh");
    place.await_start(1);
    thread::sleep(Duration::from_millis(300));
    let pid = child.id();
    send("INT", pid);
    let done = place.done(child);
    assert_eq!((done.status, done.out.as_str()), (Some(130), ""), "{}", done.err);
}

#[test]
fn what_is_no_journal_of_attempts_is_not_shown() {
    let place = Place::new("trace");
    place.run("--journal journal", "hello").is(0, PRINTED, &[1]);
    let whole = place.text("journal");
    place.write("journal", format!("{whole}not of it\n{{\"event\":\"later\"}}\n{whole}"));
    let output = place.seamgate(&["trace", "journal"]);
    assert_eq!(output.status.code(), Some(5));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("line 5: not a line of the journal") && told.contains("line 6"), "{told}");
    assert_eq!(String::from_utf8_lossy(&output.stdout).matches("ended: accepted").count(), 2);
    place.write("notes", "my notes\n");
    for (arguments, why) in [
        (&["trace", "notes"][..], "not a line of a journal"),
        (&["trace", "journal", "--html", "page.html"], "shown as text only"),
    ] {
        let output = place.seamgate(arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(why), "{output:?}");
    }
}

#[test]
fn what_three_attempts_gave_is_put_together_and_printed_once() {
    let place = Place::new("triage");
    let run = |more| {
        let arguments = format!("-c examples/triage.contract.json --journal journal {more}");
        place.run_with(b"What is urgent?", place.greeter(&arguments, "exec sh examples/agents/triage.sh"))
    };
    let first = run("");
    first.is(0, &first.out, &[1, 2, 3]);
    assert_eq!(first.out.lines().count(), 1);
    let document: Value = serde_json::from_str(&first.out).expect("JSON");
    let items = document["recommendations"].as_array().expect("items");
    let ids: Vec<_> = items.iter().filter_map(|item| item["id"].as_str()).collect();
    assert_eq!(ids, ["AUTH-210", "HOOK-31", "PAY-88", "DOC-5"]);
    assert_eq!(document["summary"], "Sign-in fails for some users, and webhooks arrive twice.");
    let events = place.events();
    let expected = (1..=3).flat_map(|n| ["start", "attempt", "decision"].map(|event| format!("{event} {n}")));
    assert_eq!(events[0], "begin null");
    assert!(events[1..].iter().cloned().eq(expected), "{events:?}");

    run("--resume").is(0, &first.out, &[]);
    assert_eq!(place.events(), events);
}

/// For each ending: the contract and further arguments, the agent's script, the exit status, the number of attempts,
/// and a part of the error output.
const ENDS: &[(&str, &str, i32, usize, &str)] = &[
    ("greeter", r#"echo "{\"$N\": 1}""#, 1, 3, "the contract's 'retry.limit' allows no more"),
    ("greeter", "echo {}", 1, 2, "two attempts in a row had the same violations"),
    ("greeter", ":", 1, 2, "must contain JSON"),
    ("greeter", r#"printf '{"greeting": "\377"}'"#, 1, 2, "UTF-8"),
    ("greeter", r#"printf '\0{"greeting": "\0"}'"#, 1, 2, "there is no output"),
    ("examples/triage", "cat examples/outputs/triage.partial-one-broken.txt", 3, 2, "--allow-partial prints"),
    ("examples/triage --allow-partial", "cat examples/outputs/triage.partial-one-broken.txt", 0, 2, "in quarantine"),
    (
        "examples/triage",
        "cat examples/outputs/triage.partial-trailing-comma.txt",
        3,
        1,
        "the output is complete with repaired syntax",
    ),
    (
        "examples/triage --allow-partial",
        "cat examples/outputs/triage.partial-trailing-comma.txt",
        0,
        1,
        "with repaired syntax",
    ),
    ("examples/cited-answer", "cat examples/outputs/cited-answer.refused.txt", 4, 1, "the agent declined"),
    ("greeter", "echo refusal >$F; echo No.", 4, 1, "the agent declined"),
    ("greeter", "echo content_filter >$F; echo {}", 1, 1, "another attempt cannot help"),
    ("greeter", r#"echo length >$F; echo '{"greeting": "hel'"#, 1, 1, "another attempt cannot help"),
    ("greeter", "echo tool_use >$F; hello", 0, 1, ""),
    ("greeter", "echo Refusal >$F; echo No.", 4, 1, "the agent declined"),
    ("greeter", "echo SAFETY >$F; echo {}", 1, 1, "another attempt cannot help"),
    ("greeter", r#"echo MAX_TOKENS >$F; echo '{"greeting": "hel'"#, 1, 1, "another attempt cannot help"),
    ("greeter", "echo bored >$F; hello", 5, 1, "\"bored\": must be stop, length, refusal, content_filter"),
    ("greeter", "rm $F; hello", 5, 1, "SEAMGATE_FINISH_FILE: "),
    ("greeter", "hello; exit 7", 5, 1, "the agent failed: exit status: 7"),
    ("greeter", "ulimit -c 0; hello; kill -SEGV $$", 5, 1, "the agent failed: signal: 11"),
    ("greeter", "sleep 100 & kill -KILL 0", 5, 1, "the agent failed: signal: 9"),
    ("greeter", "yes", 5, 1, "the agent wrote more than 8388608 bytes"),
    ("greeter", "trap '' PIPE TERM; while :; do yes; done 2>/dev/null", 5, 1, "wrote more than 8388608 bytes"),
    ("greeter --timeout 1", "hello; sleep 100", 5, 1, "did not exit within 1 s"),
    ("greeter --timeout 1", "trap '' TERM; while :; do sleep 1; done", 5, 1, "did not exit within 1 s"),
    ("greeter --timeout 1", "(trap '' TERM; sleep 100; :) & sleep 100", 5, 1, "did not exit within 1 s"),
    ("greeter --timeout 1", "sleep 100 & kill -STOP 0", 5, 1, "did not exit within 1 s"),
    ("greeter --timeout 1", "hello; exec >&-; sleep 100", 5, 1, "closed its output and did not exit within 1 s"),
    ("greeter", "hello; exec >&-; sleep 0.2", 0, 1, ""),
    ("greeter", "sleep 100 & hello", 0, 1, ""),
    ("greeter", "setsid sleep 3 & hello", 0, 1, ""),
    ("greeter", "exec 3<&0; (trap '' TERM; sleep 100) <&3 & hello", 0, 1, ""),
];

/// An attempt with a verdict keeps this verdict on `--resume`, and the agent is not called again. An attempt without a
/// verdict is repeated.
#[test]
fn each_end_has_its_status_and_leaves_no_process() {
    let end = |number: usize, (arguments, script, status, attempts, said): (&str, &str, i32, usize, &str)| {
        let place = Place::new(&format!("end-{number}"));
        let (contract, more) = arguments.split_once(' ').unwrap_or((arguments, ""));
        let start = Instant::now();
        let mut out = None;
        for (resume, attempts) in [("", attempts), ("--resume", if status == 5 { attempts } else { 0 })] {
            let done = place.run(&format!("-c {contract}.contract.json --journal journal {more} {resume}"), script);
            let same = out.get_or_insert_with(|| done.out.clone());
            assert_eq!(same.is_empty(), status != 0, "{script}: {same}");
            done.is(status, same, &[1, 2, 3][..attempts]).says(if attempts == 0 { "" } else { said });
        }
        // Up to two attempts of one second, each with two seconds of grace. All cases run in parallel.
        assert!(start.elapsed() < Duration::from_secs(30), "{script}: {:?}", start.elapsed());
    };
    thread::scope(|scope| {
        for (number, case) in ENDS.iter().enumerate() {
            scope.spawn(move || end(number, *case));
        }
    });
}

#[test]
fn mistakes_of_the_caller_have_status_2() {
    let place = Place::new("usage");
    for (arguments, agent, said) in [
        ("-c greeter.contract.json", &["--", "no-such-agent"][..], "cannot run no-such-agent: No such file"),
        ("-c greeter.contract.json", &["--", "/dev/null"], "cannot run /dev/null: Permission denied"),
        ("-c greeter.contract.json", &["--"], "<CMD>"),
        ("-c greeter.contract.json", &[], "<CMD>"),
        ("-c missing.contract.json", &["--", "true"], "missing.contract.json"),
        ("-c examples", &["--", "true"], "name one with --agent"),
        ("-c greeter.contract.json --resume", &["--", "true"], "--journal"),
        ("-c greeter.contract.json --keep-outputs", &["--", "true"], "--journal"),
        ("-c greeter.contract.json --timeout 0", &["--", "true"], "--timeout"),
        ("-c greeter.contract.json --journal missing/journal", &["--", "true"], "the journal missing/journal"),
    ] {
        place.run_with(b"", place.command(arguments, agent)).is(2, "", &[]).says(said);
    }
}

#[test]
fn a_large_prompt_need_not_be_read_and_one_that_is_too_large_is_refused() {
    let place = Place::new("prompt");
    let run = |bytes, script| place.run_with(&vec![b'x'; bytes], place.greeter("", script));
    run(5 << 20, "hello").is(0, PRINTED, &[1]);
    run(8 << 20, "wc -c >count; hello").is(0, PRINTED, &[1]);
    run((8 << 20) + 1, "hello")
        .is(2, "", &[])
        .says("the prompt on standard input is too long; the limit is 8388608 bytes");
    assert_eq!(place.text("count").trim(), "8388608");
}

#[test]
fn a_signal_ends_the_agent_and_the_run_can_be_gone_on_with() {
    let script = "[ $N = 1 ] && exec echo 1; hello; [ -e go ] || { sleep 100 & sleep 100; }";
    // Signals that were already ignored when these tests started stay ignored, for example SIGINT in background jobs of
    // a shell.
    let own = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = own.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    for (signal, status) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        if ignored >> (status - 129) & 1 == 1 {
            println!("SIG{signal} is ignored here");
            continue;
        }
        let place = Place::new(signal);
        let child = place.greeter("--journal journal", script).spawn().expect("sh");
        place.await_start(2);
        send(signal, child.id());
        place.done(child).is(status, "", &[1, 2]);
        assert!(place.read("journal").ends_with(b"\n"));
        assert_eq!(place.events(), ["begin null", "start 1", "attempt 1", "decision 1", "start 2"]);
        place.write("go", "");
        place.run("--journal journal --resume", script).is(0, PRINTED, &[2]);
        assert_eq!(place.results(), RESULTS[..5]);
    }
}

/// `nohup` relies on this.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_was_ignored_at_start_stays_ignored() {
    let mut place = Place::new("nohup");
    place.setup = "trap '' HUP";
    let script = "until [ -e go ]; do sleep 0.01; done; hello";
    let child = place.greeter("", script).spawn().expect("sh");
    place.await_start(1);
    send("HUP", child.id());
    thread::sleep(Duration::from_millis(100));
    place.write("go", "");
    place.done(child).is(0, PRINTED, &[1]);
}

#[test]
fn a_journal_that_was_cut_anywhere_is_gone_on_with() {
    let place = Place::new("cut");
    // The journal does not have to exist.
    place.run("--journal journal --resume", "third").is(0, PRINTED, &[1, 2, 3]);
    let whole = place.read("journal");
    assert_eq!(place.results(), RESULTS);
    let mut start = 0;
    for line in whole.split_inclusive(|byte| *byte == b'\n') {
        for cut in [start, start + 1, start + line.len() / 2, start + line.len() - 1] {
            place.write("journal", &whole[..cut]);
            let has = |attempt: &u64| place.events().contains(&format!("attempt {attempt}"));
            let missing: Vec<u64> = (1..=3).filter(|attempt| !has(attempt)).collect();
            place.run("--journal journal --resume", "third").is(0, PRINTED, &missing);
            assert_eq!(place.results(), RESULTS, "cut at {cut}");
        }
        start += line.len();
    }
}

/// This also works if the journal ends within a character.
#[test]
fn a_journal_that_was_cut_in_a_character_is_gone_on_with() {
    let place = Place::new("cut-character");
    let script = r#"echo '{"greeting": "héllo"}'"#;
    let first = place.run("--journal journal", script);
    let mut journal = place.read("journal");
    let attempt = journal.windows(3).rposition(|bytes| bytes == "hé".as_bytes()).expect("the output");
    journal.truncate(attempt + 2);
    place.write("journal", journal);
    place.run("--journal journal --resume", script).is(0, &first.out, &[1]);
}

/// A file that does not begin as a journal belongs to the user, and a run with a missing line cannot be reconstructed.
/// The command writes to neither.
#[test]
fn what_is_no_journal_or_lacks_a_line_is_an_error() {
    let place = Place::new("no-journal");
    place.run("--journal journal", "third").is(0, PRINTED, &[1, 2, 3]);
    let journal = place.text("journal");
    let lines: Vec<&str> = journal.split_inclusive('\n').collect();
    let without = |line: usize| [&lines[..line], &lines[line + 1..]].concat().concat();
    let mut damaged = without(2);
    damaged.insert_str(lines[0].len() + lines[1].len(), &lines[2].replace("\"event\"", "\"evnt\""));
    for (text, line) in [
        ("notes of mine".to_owned(), 1),
        ("notes of mine\n".to_owned(), 1),
        (format!("notes of mine\n{journal}"), 1),
        (journal.replacen('\n', "\n{\"event\":\"attempt\",\"run\":1}\n", 1), 2),
        // Without its first line, its first verdict, or the run of its first decision.
        (without(0), 2),
        (without(2), 3),
        (damaged, 4),
        (
            journal.replacen("\"event\":\"decision\"", "\"event\":\"decision\",\"x\":\"\"", 1).replacen(
                "\"run\":1,\"attempt\":2",
                "\"run\":2,\"attempt\":2",
                2,
            ),
            6,
        ),
    ] {
        place.write("journal", &text);
        for resume in ["--resume", ""] {
            let done = place.run(&format!("--journal journal {resume}"), "hello");
            done.is(2, "", &[]).says(&format!("the journal journal: line {line} is not a line of a journal"));
            assert_eq!(place.text("journal"), text);
        }
    }
}

/// An agent may append any text to its journal, with or without a line end, and may then end or be killed. No verdict
/// is lost, and the run names the lines that it skips.
#[test]
fn text_that_an_agent_appends_to_the_journal_stops_nothing() {
    for (number, text) in [
        "hello",
        "hello\\n",
        "\\n",
        "\\n\\n",
        "{",
        "{}",
        "{}\\n",
        "[1",
        "{\"event\":1}\\n",
        "{\"ev",
        "\\377\\376",
        "\\000\\000\\n",
    ]
    .into_iter()
    .enumerate()
    {
        let place = Place::new(&format!("appended-{number}"));
        let appends = format!("printf '{text}' >>journal;");
        // The agent ends normally, and the verdicts are kept.
        let script = format!("[ -e quiet ] || {{ {appends} }}; third");
        place.run("--journal journal", &script).is(0, PRINTED, &[1, 2, 3]).says("another program changed the journal");
        let done = place.run("--journal journal --resume", &script);
        done.is(0, PRINTED, &[]).says("belongs to no run, and is skipped");
        // The agent fails after it has appended the text.
        fs::remove_file(place.path("journal")).expect("removed");
        let killed = format!("[ -e quiet ] || [ $N = 1 ] || {{ {appends} exit 7; }}; third");
        place.run("--journal journal", &killed).is(5, "", &[1, 2]);
        place.write("quiet", "");
        let done = place.run("--journal journal --resume", &killed);
        done.is(0, PRINTED, &[2, 3]).says("line ");
        let done = place.run("--journal journal --resume", &killed);
        done.is(0, PRINTED, &[]);
    }
}

/// The same test if `seamgate` was also killed before it could write anything after the text.
#[test]
fn text_at_the_end_of_a_journal_stops_nothing() {
    let place = Place::new("tail");
    place.run("--journal journal", "third").is(0, PRINTED, &[1, 2, 3]);
    let journal = place.text("journal");
    let first: usize = journal.split_inclusive('\n').take(4).map(str::len).sum();
    for (tail, cut_off) in [
        (&b"hello"[..], false),
        (b"{}", false),
        (b"\xff\xfe", false),
        (b"\0\0\0", false),
        (b"{\"event\":\"att", true),
        (b"{", true),
    ] {
        place.write("journal", [&journal.as_bytes()[..first], tail].concat());
        let done = place.run("--journal journal --resume", "third");
        let what = if cut_off { "is incomplete, and removed" } else { "belongs to no run, and is skipped" };
        done.is(0, PRINTED, &[2, 3]).says(&format!("the journal journal: line 5 {what}"));
        assert_eq!(place.read("journal")[first..].starts_with(&[tail, b"\n"].concat()), !cut_off);
        place.run("--journal journal --resume", "third").is(0, PRINTED, &[]);
    }
}

#[test]
fn a_journal_that_was_there_is_its_owners_alone_too() {
    for mode in [0o644, 0o666, 0o640, 0o604, 0o620, 0o600] {
        let place = Place::new(&format!("mode-{mode:o}"));
        place.write("journal", "");
        for arguments in ["--journal journal", "--journal journal --resume"] {
            fs::set_permissions(place.path("journal"), fs::Permissions::from_mode(mode)).expect("set");
            let done = place.run(arguments, "hello");
            let is_told = done.err.contains("other users could read or write");
            assert_eq!((done.status, is_told), (Some(0), mode != 0o600), "{}", done.err);
            let now = fs::metadata(place.path("journal")).expect("a journal").permissions().mode();
            assert_eq!(now & 0o777, 0o600);
        }
    }
}

/// Something else is in the place of a raw output. The command neither writes through it nor waits for it.
#[test]
fn what_is_planted_where_outputs_are_kept_is_not_followed() {
    for kind in ["ln -s victim", "ln -s missing", "ln -s /dev/full", "ln victim", "mkfifo", "cp victim"] {
        let place = Place::new(&format!("planted-{}", kind.replace([' ', '/'], "-")));
        place.write("victim", "mine");
        let script = format!("{kind} journal.run-1.attempt-1.txt; hello");
        place.run("--journal journal --keep-outputs", &script).is(0, PRINTED, &[1]);
        assert_eq!((place.text("victim").as_str(), place.path("missing").exists()), ("mine", false), "{kind}");
        let kept = fs::symlink_metadata(place.path("journal.run-1.attempt-1.txt")).expect("kept");
        assert!(kept.is_file() && kept.permissions().mode() & 0o777 == 0o600, "{kind}");
        assert_eq!(place.text("journal.run-1.attempt-1.txt"), "{\"greeting\": \"hello\"}\n");
    }
}

/// The component determines the verdicts, so a run must use a single component.
#[test]
fn another_component_does_not_go_on_with_a_run() {
    let place = Place::new("component");
    place.run("--journal journal", "hello").is(0, PRINTED, &[1]);
    let digest = seamgate::Component::builtin().digest().to_owned();
    let lines = place.journal();
    assert_eq!(lines[0]["component"], *digest);
    assert_eq!(lines[2]["usage"]["component"], *digest);
    let other = format!("sha256:{}", "0".repeat(64));
    // A journal of an earlier version does not name a component.
    let member = format!("\"component\":\"{digest}\",");
    let journal = place.text("journal");
    for was in [journal.replace(&digest, &other), journal.replacen(&member, "", 1)] {
        place.write("journal", &was);
        let done = place.run("--journal journal --resume", "hello");
        done.is(5, "", &[]).says("its last run used another component, ");
        assert_eq!(place.text("journal"), was);
    }
    place.write("journal", journal.replace(&digest, &other));
    place.run("--journal journal", "hello").is(0, PRINTED, &[1]);
}

/// The folders in which agents and `seamgate` exchange files. Folders of killed runs are removed, and those of live
/// runs are kept.
#[cfg(target_os = "linux")]
#[test]
fn folders_of_killed_runs_are_removed_by_the_next() {
    let place = Place::new("left-over");
    let folders = || {
        let entries = fs::read_dir(&place.folder).expect("a folder").map(|entry| entry.expect("an entry"));
        let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.retain(|name| name.starts_with("seamgate-run-") || name.starts_with(".tmp"));
        names.sort();
        names
    };
    // A file and a link whose names look like such folders.
    fs::create_dir(place.path("precious")).expect("a folder");
    place.write("precious/file", "mine");
    symlink("precious", place.path("seamgate-run-link")).expect("a link");
    place.write("seamgate-run-file", "mine");
    let others = folders();
    let waits = "echo $SEAMGATE_FEEDBACK_FILE >there; until [ -e go ]; do sleep 0.01; done; hello";
    // A second run that uses the same temporary folder but has its own mark.
    let beside = Place::new("beside");
    let going_on = beside.greeter("", waits).env("TMPDIR", &place.folder).spawn().expect("sh");
    beside.await_start(1);
    let with_one = folders().len();
    assert_eq!(with_one, others.len() + 1);
    for signal in ["KILL", "TERM", "INT"] {
        for _ in 0..5 {
            let mut child = place.greeter("", "exec sleep 100").spawn().expect("sh");
            place.await_start(1);
            send(signal, child.id());
            child.wait().expect("an end");
        }
        // A signal that can be caught leaves no folder. After five kills, only the folder of the last killed run
        // remains.
        assert_eq!(folders().len(), with_one + usize::from(signal == "KILL"), "{signal}: {:?}", folders());
        place.run("", "hello").is(0, PRINTED, &[1]);
        assert_eq!(folders().len(), with_one, "{signal}: {:?}", folders());
    }
    assert!(Path::new(beside.text("there").trim()).exists(), "the folder of the run that goes on is still there");
    beside.write("go", "");
    beside.done(going_on).is(0, PRINTED, &[1]);
    assert_eq!(folders(), others);
    assert_eq!(place.text("precious/file"), "mine");
}

#[test]
fn what_is_another_run_is_not_gone_on_with() {
    let place = Place::new("another");
    place.write("stricter.contract.json", GREETER.replace("2", "1"));
    place.write("other.contract.json", GREETER.replace("\"greeter\"", "\"other\""));
    place.run_with(b"Hi.", place.greeter("--journal journal", "hello")).is(0, PRINTED, &[1]);
    let journal = place.read("journal");
    for (more, script, prompt, what) in [
        ("-c stricter.contract.json", "hello", "Hi.", "contract"),
        ("-c other.contract.json", "hello", "Hi.", "agent"),
        ("", "echo {}", "Hi.", "command"),
        ("", "hello", "Hi!", "standard input"),
    ] {
        let command = place.greeter(&format!("{more} --journal journal --resume"), script);
        let said = format!("its last run had another {what};");
        place.run_with(prompt.as_bytes(), command).is(2, "", &[]).says(&said);
        assert_eq!(place.read("journal"), journal);
    }
    // Without `--resume`, the command starts the next run in the same file.
    place.run("--journal journal", "hello").is(0, PRINTED, &[1]);
    assert_eq!(place.journal().iter().filter(|line| line["run"] == 2).count(), 4);
}

#[test]
fn two_runs_do_not_write_one_journal() {
    let place = Place::new("two");
    let script = "until [ -e go ]; do sleep 0.01; done; hello";
    let first = place.greeter("--journal journal", script).spawn().expect("sh");
    place.await_start(1);
    for resume in ["--resume", ""] {
        let arguments = format!("-c greeter.contract.json --journal journal {resume}");
        let second = place.command(&arguments, &["--", "touch", "started"]).output().expect("sh");
        assert_eq!((second.status.code(), second.stdout.len()), (Some(2), 0));
        assert!(String::from_utf8_lossy(&second.stderr).contains("another run is writing"));
    }
    assert!(!place.path("started").exists());
    place.write("go", "");
    place.done(first).is(0, PRINTED, &[1]);
    assert_eq!(place.results(), RESULTS[..3]);
}

#[test]
fn raw_outputs_are_kept_beside_the_journal_or_not_at_all() {
    let place = Place::new("raw");
    let secret = format!("{} the key is swordfish", "x".repeat(5000));
    place.write("secret", format!("{secret}\n{{\"{secret}\": \"{secret}\", \"greeting\": [\"{secret}\"]}}"));
    let script = r#"case $N in 1) cat secret ;; 2) printf '\377\0x' ;; *) printf half; exit 7 ;; esac"#;
    for (run, keep) in [(1, ""), (2, "--keep-outputs")] {
        place.run(&format!("--journal journal {keep}"), script).is(5, "", &[1, 2, 3]);
        assert!(!place.text("journal").contains("swordfish"));
        for (attempt, output) in [(1, place.read("secret")), (2, b"\xff\0x".to_vec()), (3, b"half".to_vec())] {
            let name = format!("journal.run-{run}.attempt-{attempt}.txt");
            assert_eq!(place.read(&name), if keep.is_empty() { Vec::new() } else { output });
        }
    }
    for name in ["journal", "journal.run-2.attempt-1.txt"] {
        let mode = fs::metadata(place.path(name)).expect(name).permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name} is for its owner alone");
    }
}

#[test]
fn a_journal_that_cannot_be_written_is_a_fault_and_keeps_whole_lines() {
    let mut place = Place::new("journal-full");
    // The size limit of a file is 8 MiB. The journal has room for two lines and a part of the third.
    place.setup = "trap '' XFSZ; ulimit -f 16384";
    let script = r#"printf '{"greeting": "%09000d"}'"#;
    let pad = format!("{{\"event\":\"pad\",\"time\":\"{:24}\",\"run\":0,\"text\":\"", "2026-03-12T00:00:00.000Z");
    let room = "x".repeat((8 << 20) - pad.len() - 3 - 2000);
    place.write("journal", format!("{pad}{room}\"}}\n"));
    place.run("--journal journal", script).is(5, "", &[1]).says("seamgate: cannot write the journal journal: ");
    assert!(place.read("journal").ends_with(b"\n"));
    assert_eq!(place.events()[1..], ["begin null", "start 1"]);
    place.setup = ":";
    let printed = format!("{{\"greeting\":\"{:09000}\"}}\n", 0);
    place.run("--journal journal --resume", script).is(0, &printed, &[1]);
}

#[cfg(target_os = "linux")]
mod kills {
    use std::{
        collections::BTreeMap,
        io::{PipeReader, PipeWriter, Read},
        os::unix::process::ExitStatusExt,
    };

    use seamgate_tests::Random;

    use super::*;

    const PIPE: usize = 64 << 10;

    /// Returns a pipe with room for this many bytes. After that, a writer blocks.
    fn pipe_with(room: usize) -> (PipeReader, PipeWriter) {
        let (reader, mut writer) = pipe().expect("a pipe");
        writer.write_all(&vec![0; PIPE - room]).expect("room");
        (reader, writer)
    }

    /// A run that is killed at any time continues correctly: judged attempts are not repeated, and the printed output
    /// is correct.
    #[test]
    fn two_hundred_kills_lose_nothing_and_repeat_nothing() {
        let (place, arguments) = (Place::new("kills"), "--journal journal --resume");
        let right = format!("{{\"greeting\":\"{}\"}}\n", "x".repeat(6000));
        place.write("right", &right);
        let script = "case $N in 1) echo 1 ;; 2) echo {} ;; 3) cat right ;; esac; sleep 0.005; echo end $N >>log";
        let start = Instant::now();
        place.run(arguments, script).is(0, &right, &[1, 2, 3]);
        let (whole, mut random) = (start.elapsed().as_micros() as usize, Random(5));
        fs::remove_file(place.path("journal")).expect("removed");

        let mut phases = BTreeMap::<&str, u32>::new();
        let (mut kills, mut runs, mut lost, mut parts) = (0, 0, 0, 0);
        while kills < 200 || !place.journal().is_empty() {
            let (had, how) = (place.events(), random.below(3));
            // In some rounds, nobody reads standard error. The command then blocks while it writes, and is killed
            // during this write, which is otherwise too short to hit.
            let [room, more] = if how == 0 && kills < 200 { [0, 10] } else { [PIPE, PIPE] };
            let (stderr, (mut reader, stdout)) = (pipe_with(room), pipe_with(more));
            let session = place.greeter(arguments, script).stdout(stdout).stderr(stderr.1).spawn();
            let mut child = session.expect("sh");
            let lines = had.len() + 1 + random.below(4);
            let has = |lines| place.read("journal").iter().filter(|byte| **byte == b'\n').count() >= lines;
            match how {
                _ if kills == 200 => drop(child.wait()),
                // Immediately, before the command has written anything.
                _ if kills < 3 => {}
                // As soon as the command has written something. This interval is short, too.
                1 => while !has(lines) && child.try_wait().expect("a child").is_none() {},
                _ => thread::sleep(Duration::from_micros(random.below(whole) as u64)),
            }
            child.kill().expect("killed");
            let status = child.wait().expect("an end");
            place.assert_gone();
            drop(stderr.0);

            let (mut out, events) = (Vec::new(), place.events());
            reader.read_to_end(&mut out).expect("what was printed");
            let (out, started) = (&out[PIPE - more..], place.log());
            let accepted = place.journal().iter().any(|line| line["status"] == 0);
            assert!(out.is_empty() || (accepted && right.as_bytes().starts_with(out)), "{events:?}: {}", out.len());
            let attempt = |attempt: &u64| format!("attempt {attempt}");
            assert!(!started.iter().any(|number| had.contains(&attempt(number))), "{had:?}: {started:?}");
            if status.signal().is_some() {
                kills += 1;
                let phase = match events.last().and_then(|event| event.split(' ').next()) {
                    None | Some("begin") => "1 before all",
                    Some("start") => "2 asked",
                    Some("attempt") => "3 judged",
                    Some(_) => ["4 decided to ask again", "5 decided to print"][usize::from(accepted)],
                };
                *phases.entry(phase).or_default() += 1;
                let ended = |number: &u64| place.text("log").contains(&format!("end {number}"));
                lost += started.iter().filter(|number| ended(number) && !events.contains(&attempt(number))).count();
                parts += u32::from(!out.is_empty());
            } else {
                runs += 1;
                assert_eq!((status.code(), out), (Some(0), right.as_bytes()));
                assert_eq!(place.results(), RESULTS);
                fs::remove_file(place.path("journal")).expect("removed");
            }
        }
        let left = fs::read_dir(&place.folder).expect("a folder").flatten();
        let left = left.filter(|entry| entry.file_name().to_string_lossy().starts_with("seamgate-run-")).count();
        assert_eq!(left, 0, "folders are left over");
        println!("a run takes {} ms; {kills} kills, {runs} runs that ended: {phases:?}", whole / 1000);
        println!("{lost} attempts had ended and were not judged, {parts} outputs were printed in part");
        assert_eq!(phases.len(), 5);
    }

    #[test]
    fn a_kill_while_the_agent_is_started_leaves_no_process() {
        let (place, mut random) = (Place::new("start"), Random(6));
        for _ in 0..200 {
            drop(fs::remove_file(place.path("journal")));
            let stderr = pipe_with(0);
            let mut child = place.greeter("--journal journal", "hello").stderr(stderr.1).spawn().expect("sh");
            while !place.events().contains(&"start 1".to_owned()) {}
            thread::sleep(Duration::from_micros(random.below(4000) as u64));
            child.kill().expect("killed");
            child.wait().expect("an end");
            place.assert_gone();
        }
    }
}

/// An output that cannot be printed is not lost: the next session prints it.
#[test]
fn an_output_that_cannot_be_printed_is_a_fault() {
    let place = Place::new("stdout");
    let (reader, writer) = pipe().expect("a pipe");
    drop(reader);
    let mut sinks = vec![(141, "", Stdio::from(writer))];
    if cfg!(target_os = "linux") {
        let full = fs::File::options().write(true).open("/dev/full").expect("/dev/full");
        sinks.push((5, "seamgate: cannot write standard output: ", full.into()));
    }
    for (status, said, stdout) in sinks {
        drop(fs::remove_file(place.path("journal")));
        let done = place.done(place.greeter("--journal journal", "hello").stdout(stdout).spawn().expect("sh"));
        done.is(status, "", &[1]);
        assert!(done.err.starts_with(said) && done.err.is_empty() == said.is_empty(), "{}", done.err);
        place.run("--journal journal --resume", "hello").is(0, PRINTED, &[]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_said_does_not_change_the_status() {
    let place = Place::new("stderr");
    let full = fs::File::options().write(true).open("/dev/full").expect("/dev/full");
    place.done(place.greeter("", "third").stderr(full).spawn().expect("sh")).is(0, PRINTED, &[1, 2, 3]);
}

#[test]
fn files_of_the_agents_that_are_none_do_not_hold_it_up() {
    let place = Place::new("fifos");
    // Each attempt has its own files.
    for (file, status, attempts) in [("SEAMGATE_FINISH_FILE", 5, &[1][..]), ("SEAMGATE_FEEDBACK_FILE", 1, &[1, 2])] {
        place.run("--timeout 2", &format!("rm ${file}; mkfifo ${file}; echo {{}}")).is(status, "", attempts);
    }
}

/// `/dev/full` is rejected for the same reason: it can be read without end and would exhaust memory.
#[test]
fn a_journal_that_is_no_file_is_refused() {
    let place = Place::new("no-file");
    assert!(Command::new("mkfifo").arg(place.path("journal")).status().expect("mkfifo").success());
    place.run("--journal journal", "hello").is(2, "", &[]);
}

/// The same for evidence. A run resumes only with the evidence that it began with.
#[test]
fn an_agent_is_held_to_the_evidence_and_told_what_is_not_supported() {
    let place = Place::new("evidence");
    place.write("a.contract.json", r#"{"agent": "a", "schema": true, "evidence": {"claims": "$.claims[*]"}}"#);
    place.write("seen.json", r#"[{"id": "log", "text": "matches: 128"}]"#);
    place.write("others.json", "[]");
    let agent = r#"n=182; test -n "$SEAMGATE_FEEDBACK" && n=128
        echo '{"claims":[{"text":"'$n' errors","evidence":[{"id":"log","quote":"matches: 128"}]}]}'"#;
    let run = |arguments: &str| place.run(&format!("-c a.contract.json --journal journal {arguments}"), agent);
    run("").is(5, "", &[]).says("$.evidence must be there");
    assert!(!place.path("journal").exists());
    let printed =
        "{\"claims\":[{\"text\":\"128 errors\",\"evidence\":[{\"id\":\"log\",\"quote\":\"matches: 128\"}]}]}\n";
    run("--evidence seen.json").is(0, printed, &[1, 2]).says("must not say \"182\"");
    run("--evidence others.json --resume").is(2, "", &[]).says("another evidence");
}

/// No agent is called in vain: a missing list is reported before the agent starts and before the journal is created.
#[test]
fn an_agent_is_not_asked_where_a_list_is_lacking() {
    let place = Place::new("lists");
    let rule = r#"{"path": "$.team", "list": "teams"}"#;
    let contract = |rule: &str| format!(r#"{{"agent": "a", "schema": true, "allow": [{rule}]}}"#);
    place.write("a.contract.json", contract(rule));
    place.write("b.contract.json", contract(&rule.replace('}', r#", "optional": true}"#)));
    place.write("core", "core\n");
    let run = |arguments: &str| place.run(&format!("--journal journal {arguments}"), r#"echo '{"team": "core"}'"#);
    run("-c a.contract.json").is(5, "", &[]).says("$.lists must have the list \"teams\", which 'allow'");
    run("-c a.contract.json --list others=core").is(2, "", &[]).says("known lists: \"teams\"");
    run("-c a.contract.json --list teams=core --list teams=core").is(2, "", &[]).says("give each list once");
    assert!(!place.path("journal").exists());
    let printed = "{\"team\":\"core\"}\n";
    run("-c a.contract.json --list teams=core").is(0, printed, &[1]);
    run("-c b.contract.json").is(0, printed, &[1]);

    let mut gate = Gate::new().expect("a gate");
    gate.register(&contract(rule)).expect("registered");
    assert_eq!(gate.contract("a").expect("a contract").lists, ["teams"]);
    let lacking = gate.attempts(&Request::new("a", "{}").list("others", ["core"]));
    assert!(matches!(lacking.map(drop), Err(seamgate::Fault::BadRequest { .. })));
    let asked = gate.retry(&Request::new("a", ""), |_| -> Result<Produced, String> { panic!("nobody is asked") });
    assert!(matches!(asked, Err(RunError::Fault(seamgate::Fault::BadRequest { .. }))));
    assert!(gate.session(&Request::new("a", "")).is_err());
    let report = gate.validate(&Request::new("a", "1").list("teams", ["core"])).expect("a verdict").report;
    assert!(matches!(gate.merge(&[report], &Request::new("a", "")).map(drop), Err(seamgate::Fault::BadRequest { .. })));
}

#[test]
fn what_is_printed_of_a_journal_is_valid_now() {
    let place = Place::new("replayed");
    let contract = r#"{"agent": "a", "schema": true, "allow": [{"path": "$.team", "list": "teams"}]}"#;
    for (name, text) in [("a.contract.json", contract), ("core", "core\n"), ("web", "web\n")] {
        place.write(name, text);
    }
    let run = |list, more| {
        let arguments = format!("-c a.contract.json --list teams={list} --journal journal {more}");
        place.run(&arguments, r#"echo '{"team": "core"}'"#)
    };
    run("core", "").is(0, "{\"team\":\"core\"}\n", &[1]);
    let journal = place.text("journal");
    for (list, replaced) in [("web", "core"), ("core", "nobody")] {
        let output = r#""output":{"team":"core"}"#;
        assert!(journal.contains(output));
        place.write("journal", journal.replace(output, &output.replace("core", replaced)));
        let done = run(list, "--resume");
        assert_eq!((done.status == Some(0), done.out.as_str()), (false, ""), "{}", done.err);
    }
}

/// Runs retries with the triage contract. `produce` returns the answer of each attempt.
fn run<E: Into<Box<dyn Error + Send + Sync>>>(
    mut produce: impl FnMut(usize, Option<&str>) -> Result<Produced, E>,
) -> Result<Outcome, RunError> {
    let examples = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../schemas/examples"));
    let mut gate = Gate::new().expect("a gate");
    gate.register(&seamgate::read_contract(&examples.join("triage.contract.json")).expect("read")).expect("registered");
    let mut attempt = 0;
    gate.retry(&Request::new("triage", ""), |feedback| {
        attempt += 1;
        produce(attempt, feedback)
    })
}

#[test]
fn the_library_asks_as_the_command_does() {
    let agent = concat!(env!("CARGO_MANIFEST_DIR"), "/../schemas/examples/agents/triage.sh");
    let outcome = run(|attempt, feedback| {
        assert_eq!(feedback.is_some(), attempt > 1);
        let mut command = Command::new("sh");
        command.arg(agent).env("SEAMGATE_ATTEMPT", attempt.to_string()).stdin(Stdio::null());
        command.output().map(|output| Produced::from(output.stdout))
    });
    let outcome = outcome.expect("an outcome");
    assert_eq!((outcome.stop, outcome.attempts), (Stop::Accepted, 3));
    let document: Value = serde_json::from_str(outcome.output().expect("an output")).expect("JSON");
    assert_eq!(document["recommendations"].as_array().map(Vec::len), Some(4));

    let partial = include_str!("../../../schemas/examples/outputs/triage.partial-one-broken.txt");
    let repaired = include_str!("../../../schemas/examples/outputs/triage.partial-trailing-comma.txt");
    for (output, finish, stop, attempts) in [
        ("no JSON", Finish::Stop, Stop::Repeated, 2),
        (partial, Finish::Stop, Stop::Repeated, 2),
        (repaired, Finish::Stop, Stop::NotRetryable, 1),
        ("{\"#\": 1}", Finish::Unknown, Stop::Limit, 3),
        ("{\"#\": 1}", Finish::ContentFilter, Stop::NotRetryable, 1),
        ("I had rather not.", Finish::Refusal, Stop::Refused, 1),
    ] {
        let answer = |attempt: usize, _: Option<&str>| {
            Ok::<_, Infallible>(Produced::from(output.replace('#', &attempt.to_string())).finish(finish))
        };
        let outcome = run(answer).expect("an outcome");
        assert_eq!((outcome.stop, outcome.attempts, outcome.output()), (stop, attempts, None), "{output}");
    }
}

#[test]
fn the_library_tells_an_error_of_the_producer_from_a_fault() {
    let mut asked = 0;
    let error = run(|attempt, _| {
        asked = attempt;
        if attempt == 1 { Ok(Produced::from("{}")) } else { Err(io::Error::other("out of credit")) }
    });
    let error = error.expect_err("the producer failed");
    assert!(matches!(&error, RunError::Producer(error) if error.is::<io::Error>()) && asked == 2, "{error:?}");
    assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("out of credit"));
    let limit = Limits::default().output_bytes;
    let fault = run(|_, _| Ok::<_, Infallible>(Produced::from(vec![b' '; limit + 1])));
    let too_large = |fault: &Fault| matches!(fault, Fault::InputTooLarge { bytes, .. } if *bytes == limit + 1);
    assert!(matches!(&fault, Err(RunError::Fault(fault)) if too_large(fault)), "{fault:?}");
}
