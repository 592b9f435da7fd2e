//! `seamgate mcp` between a scripted client and scripted servers. A case is a folder in `gate`:
//!
//! - `profile.json`, and `lock.json` where the tools are pinned.
//! - `server.json`: what the server does, see `server.py`. With `servers.json`, `server-NAME.json` for each.
//! - `session.txt`: `> LINE` the client writes; `< LINE` the gate writes, held to it byte for byte; `approve ARGUMENTS` and `shell COMMAND` run in the
//!   folder (`GATE` is the gate's process); `end` closes the client's output. Ids that the gate makes are written as `"OWN"`, and its `requestState`s as `"STATE-N"`.
//! - `journal.txt`: what the journal has then, a word or two for each record, and the exit status. `errors.txt`: what a person is told.
//!
//! `BLESS=1` writes all but the client's lines again.

use std::{
    env, fs,
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitCode, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::Duration,
};

use anyhow::{Context, Result, anyhow, bail, ensure};
use seamgate_tests::suite::{expect, folders, run, trial};
use serde_json::Value;

/// What the gate's states begin with.
const STATE: &str = "seamgate-state-";
/// So long a line is waited for.
const PATIENCE: Duration = Duration::from_secs(20);
/// So long nothing more may come before the client goes on.
const QUIET: Duration = Duration::from_millis(150);

fn main() -> Result<ExitCode> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("gate");
    let trials = folders(&cases)?.into_iter().map(|folder| {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        trial(name, move || check(&folder))
    });
    Ok(run(trials.collect()))
}

/// A session that is under way.
struct Session {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: thread::JoinHandle<String>,
    place: PathBuf,
    /// The last id that the gate made.
    own: Option<String>,
    /// The states that the gate gave the client to come back with.
    states: Vec<String>,
}

fn seamgate() -> Result<PathBuf> {
    let test = env::current_exe()?;
    Ok(test.parent().and_then(Path::parent).context("target/PROFILE")?.join("seamgate"))
}

impl Session {
    fn start(folder: &Path, place: &Path) -> Result<Self> {
        let _ = fs::remove_dir_all(place);
        fs::create_dir_all(place)?;
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let name = match name.as_str() {
                "profile.json" => "gate.profile.json",
                "lock.json" => "gate.lock.json",
                other => other,
            };
            fs::copy(&path, place.join(name))?;
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("gate/server.py");
        fs::copy(script, place.join("server.py"))?;
        // A file that may not grow is an error for the gate, as a full disk is, and no signal.
        let mut command = Command::new("sh");
        command.args(["-c", "trap '' XFSZ; exec \"$@\"", "sh"]).arg(seamgate()?);
        command.current_dir(place).env_remove("RUST_LOG").env("USER", "anna").env("A_SECRET", "hunter2");
        command.args(["mcp", "-p", "gate.profile.json", "--journal", "run"]);
        if folder.join("servers.json").exists() {
            command.args(["--servers", "servers.json"]);
        } else {
            command.args(["--", "python3", "-SEu", "server.py", "server.json"]);
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let (sender, lines) = mpsc::channel();
        let output = child.stdout.take().context("its output")?;
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut errors = child.stderr.take().context("its errors")?;
        let errors = thread::spawn(move || {
            let mut text = String::new();
            let _ = errors.read_to_string(&mut text);
            text
        });
        Ok(Session {
            input: child.stdin.take(),
            child,
            lines,
            errors,
            place: place.to_owned(),
            own: None,
            states: Vec::new(),
        })
    }

    fn next(&mut self, patience: Duration) -> Result<Option<String>> {
        match self.lines.recv_timeout(patience) {
            Ok(line) => {
                let id = serde_json::from_str::<Value>(&line).unwrap_or_default()["id"].as_str().map(str::to_owned);
                if let Some(id) = id.filter(|id| id.starts_with("seamgate-")) {
                    self.own = Some(id);
                }
                let mut line = stable(&line);
                if let Some(at) = line.find(STATE).map(|at| at + STATE.len()) {
                    let state = line[at..].chars().take_while(char::is_ascii_hexdigit).collect::<String>();
                    if !self.states.contains(&state) {
                        self.states.push(state.clone());
                    }
                    let number = self.states.iter().position(|known| *known == state).unwrap_or_default() + 1;
                    line = line.replace(&format!("{STATE}{state}"), &format!("STATE-{number}"));
                }
                Ok(Some(line))
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Ok(None),
        }
    }
}

/// A text in which what differs from run to run does not.
fn stable(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("seamgate-") {
        let end = at + "seamgate-".len();
        let digits = rest[end..].bytes().take_while(u8::is_ascii_hexdigit).count();
        out.push_str(&rest[..at]);
        match digits == 16 && rest[end + 16..].starts_with('-') {
            true => {
                let number = rest[end + 17..].bytes().take_while(u8::is_ascii_digit).count();
                out.push_str("OWN");
                rest = &rest[end + 17 + number..];
            }
            false => {
                out.push_str("seamgate-");
                rest = &rest[end..];
            }
        }
    }
    let text = out + rest;
    // The folder of the session.
    let text = match text.find("run/20") {
        Some(at) if text.len() >= at + 29 && text[at + 4 + 20..].starts_with('-') => {
            let rest = stable(&text[at + 29..]);
            format!("{}run/SESSION{rest}", &text[..at])
        }
        _ => text,
    };
    // The run's id.
    match text.find("run: run-").map(|at| at + "run: run-".len()) {
        Some(at) if text[at..].bytes().take_while(u8::is_ascii_hexdigit).count() == 16 => {
            format!("{}ID{}", &text[..at], &text[at + 16..])
        }
        _ => text,
    }
}

fn check(folder: &Path) -> Result<()> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gate").join(&name);
    let script = fs::read_to_string(folder.join("session.txt")).context("session.txt")?;
    let is_blessed = env::var_os("BLESS").is_some();
    let mut session = Session::start(folder, &place)?;
    let mut written = String::new();
    let steps: Vec<&str> = script.lines().collect();
    for (number, step) in steps.iter().enumerate() {
        if is_blessed && step.starts_with("< ") {
            continue;
        }
        written.push_str(step);
        written.push('\n');
        let wrong = |what: String| anyhow!("session.txt, line {}: {what}", number + 1);
        match step.split_once(' ').unwrap_or((step, "")) {
            (">", line) => {
                let input = session.input.as_mut().context("the client has ended")?;
                let mut line = match (line.contains("\"OWN\""), &session.own) {
                    (true, Some(own)) => line.replace("OWN", own),
                    _ => line.to_owned(),
                };
                for (number, state) in session.states.iter().enumerate() {
                    line = line.replace(&format!("\"STATE-{}\"", number + 1), &format!("\"{STATE}{state}\""));
                }
                // A gate that has ended reads nothing.
                let _ = input.write_all(line.as_bytes()).and_then(|()| input.write_all(b"\n"));
            }
            ("<", expected) => {
                let line =
                    session.next(PATIENCE)?.ok_or_else(|| wrong(format!("nothing came in place of {expected}")))?;
                ensure!(line == expected, wrong(format!("the gate wrote\n{line}\nand not\n{expected}")));
            }
            ("approve", arguments) => {
                let decide = || {
                    let mut command = Command::new(seamgate()?);
                    command.current_dir(&session.place).env("USER", "anna").arg("approve").args(arguments.split(' '));
                    Ok::<_, anyhow::Error>(command.output()?)
                };
                // The call may still be on its way.
                let mut output = decide()?;
                for _ in 0..20 {
                    if output.status.success() {
                        break;
                    }
                    thread::sleep(QUIET);
                    output = decide()?;
                }
                let said = String::from_utf8_lossy(&output.stderr);
                ensure!(output.status.success(), wrong(format!("not decided: {said}")));
            }
            ("shell", command) => {
                let status = Command::new("sh")
                    .current_dir(&session.place)
                    .env("SEAMGATE", seamgate()?)
                    .env("GATE", session.child.id().to_string())
                    .env("USER", "anna")
                    .args(["-c", command])
                    .status()?;
                ensure!(status.success(), wrong(format!("{status}")));
            }
            ("end", _) => drop(session.input.take()),
            ("#" | "", _) => {}
            _ => bail!(wrong("must begin with >, <, approve, shell, end or #".to_owned())),
        }
        let is_next_quiet = steps.get(number + 1).is_none_or(|next| !next.starts_with("> "));
        if is_blessed && is_next_quiet && !step.starts_with('#') {
            // What the next step needs has come when nothing comes any more.
            let mut patience = Duration::from_secs(5);
            while let Some(line) = session.next(patience)? {
                written.push_str(&format!("< {line}\n"));
                patience = QUIET * 3;
            }
        }
    }
    drop(session.input.take());
    let status = session.child.wait()?;
    if let Some(line) = session.next(QUIET)? {
        bail!("session.txt: the gate also wrote {line}");
    }
    let errors = session.errors.join().map_err(|_| anyhow!("its errors"))?;
    if is_blessed {
        fs::write(folder.join("session.txt"), written)?;
    }
    let mut journal = journal(&only(&place.join("run"))?)?;
    journal.push_str(&format!("exit {}\n", status.code().map_or("by a signal".to_owned(), |code| code.to_string())));
    expect(folder, "journal.txt", "", &journal)?;
    if !errors.is_empty() || folder.join("errors.txt").exists() {
        expect(folder, "errors.txt", "", &stable(&errors))?;
    }
    Ok(())
}

/// The only folder in a folder.
fn only(folder: &Path) -> Result<PathBuf> {
    let all = folders(folder)?;
    ensure!(all.len() == 1, "{} has {} sessions", folder.display(), all.len());
    all.into_iter().next().context("a session")
}

/// What a journal has, a line for each record.
fn journal(run: &Path) -> Result<String> {
    // Those of one call together, in their order: calls are answered in any.
    let mut all: Vec<(usize, String)> = Vec::new();
    for line in fs::read_to_string(run.join("journal.ndjson")).unwrap_or_default().lines() {
        let line: Value = serde_json::from_str(line)?;
        let Some(record) = line.get("record") else { continue };
        let word = |name: &str| record[name].as_str().unwrap_or_default().to_owned();
        let told = match word("type").as_str() {
            "decision" => {
                let codes: Vec<&str> =
                    record["reasons"].as_array().into_iter().flatten().filter_map(|one| one["code"].as_str()).collect();
                format!("{} {} {} {}", word("call"), word("tool"), word("permit"), codes.join(" "))
            }
            "observation" => {
                let limits: Vec<&str> =
                    record["limitations"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                let changed = if record.get("returned").is_some() { "changed" } else { "" };
                format!("{} {} {} {changed} {}", word("call"), word("tool"), word("status"), limits.join(" "))
            }
            "settled" => format!("{} {} {}", word("call"), word("tool"), word("code")),
            "message" => {
                let changed = if record.get("document").is_some() { "changed" } else { "" };
                format!("{} {} {} {changed}", word("from"), word("method"), word("permit"))
            }
            "surface" => {
                let list = |name: &str| {
                    let all = record[name].as_array().into_iter().flatten();
                    let name = |one: &Value| {
                        one.as_str()
                            .map(str::to_owned)
                            .or_else(|| Some(format!("{}:{}", one["tool"].as_str()?, one["code"].as_str()?)))
                    };
                    all.filter_map(name).collect::<Vec<_>>().join(" ")
                };
                format!("[{}] hidden [{}]", list("tools"), list("hidden"))
            }
            _ => word("code"),
        };
        let call = word("call").strip_prefix('c').and_then(|number| number.parse().ok()).unwrap_or_default();
        all.push((call, format!("{} {told}", word("type")).trim_end().replace("  ", " ")));
    }
    all.sort_by_key(|(call, _)| *call);
    Ok(all.into_iter().map(|(_, line)| line + "\n").collect())
}
