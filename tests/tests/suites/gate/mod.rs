//! `seamgate mcp` between a scripted client and scripted servers. A case is a folder in `gate`:
//!
//! - `profile.json`, and `lock.json` if the tools are pinned.
//! - `server.json`: the behaviour of the server, see `server.py`. With `servers.json`, there is a `server-NAME.json`
//!   for each server.
//! - `session.txt`: the client writes `> LINE`. The gate writes `< LINE`, which is compared byte for byte. `approve
//!   ARGUMENTS` and `shell COMMAND` run in the folder (`GATE` is the process id of the gate). `end` closes the client's
//!   output. `# stdio only: WHY` excludes the case over HTTP. Ids that the gate generates are written as `"OWN"`, and
//!   its `requestState`s as `"STATE-N"`. In a line of the client, `"OWN"` is the last id that the gate gave to the
//!   client, and `"OWN-N"` is the Nth.
//! - `journal.txt`: the contents of the journal afterwards, one or two words for each record, and the exit status.
//!   `errors.txt`: the messages to a person.
//!
//! Each session also runs over HTTP: the same messages arrive. Only the messages of one request have a fixed order. The
//! journal is the same.
//!
//! `BLESS=1` rewrites everything except for the client's lines.

mod raw;

use std::{
    env, fs,
    io::{BufRead, BufReader, Read, Write},
    net::{Shutdown, TcpStream},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread,
    time::Duration,
};

use anyhow::{Context, Result, anyhow, bail, ensure};
use seamgate_tests::{
    http::{self, Connection},
    suite::{Trial, expect, folders, trial},
};
use serde_json::Value;

/// The prefix of the gate's states.
const STATE: &str = "seamgate-state-";
/// The time to wait for a line.
const PATIENCE: Duration = Duration::from_secs(20);
/// The time without further messages after which the client continues.
const QUIET: Duration = Duration::from_millis(150);
/// The time for a message to arrive over HTTP before the next one is sent.
const ORDER: Duration = Duration::from_millis(30);

/// Returns a test for each session, one for the same session over HTTP, and one for each conversation in bytes.
pub(crate) fn trials() -> Result<Vec<Trial>> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("gate");
    let mut trials = Vec::new();
    for folder in folders(&cases)? {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !fs::read_to_string(folder.join("session.txt"))?.contains("# stdio only: ") {
            let folder = folder.clone();
            trials.push(trial(format!("http/{name}"), move || check(&folder, true)));
        }
        trials.push(trial(name, move || check(&folder, false)));
    }
    trials.extend(raw::trials(seamgate)?);
    Ok(trials)
}

/// A running session.
struct Session {
    child: Child,
    input: Option<Input>,
    lines: Receiver<String>,
    /// Over HTTP: the messages that have arrived but were not expected yet.
    came: Vec<String>,
    errors: Option<thread::JoinHandle<String>>,
    place: PathBuf,
    /// The ids that the gate gave to the client.
    own: Vec<String>,
    /// The states that the gate gave to the client and expects back.
    states: Vec<String>,
}

/// The transport between the client and the gate.
enum Input {
    Pipe(ChildStdin),
    Http(Client),
}

/// A client that uses HTTP. Messages from all of its streams go to the session.
struct Client {
    port: u16,
    /// The session header, after the session has begun.
    session: String,
    came: Sender<String>,
    /// The connections of requests without a session, by request id. Closing a connection cancels its request.
    open: Vec<(Value, TcpStream)>,
}

impl Client {
    /// Sends a message, and reads the answer on a thread.
    fn say(&mut self, line: &str) -> Result<()> {
        let message: Value = serde_json::from_str(line).unwrap_or_default();
        let version = message.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion").and_then(Value::as_str);
        let mut headers = self.session.clone();
        if let Some(version) = version {
            headers = format!("Mcp-Protocol-Version: {version}\r\n");
            if let Some(method) = message["method"].as_str() {
                headers.push_str(&format!("Mcp-Method: {method}\r\n"));
            }
            if let Some(name) = message["params"]["name"].as_str().or_else(|| message["params"]["uri"].as_str()) {
                headers.push_str(&format!("Mcp-Name: {name}\r\n"));
            }
        }
        if self.session.is_empty() && message["method"] == "notifications/cancelled" {
            let cancelled = &message["params"]["requestId"];
            let of = self.open.iter().find(|(id, _)| id == cancelled);
            return of.map_or(Ok(()), |(_, connection)| Ok(connection.shutdown(Shutdown::Both)?));
        }
        let mut connection = Connection::open(self.port)?;
        connection.ask(self.port, "POST", &headers, line)?;
        if version.is_some() {
            self.open.push((message["id"].clone(), connection.ending()?));
            let came = self.came.clone();
            thread::spawn(move || listen(&mut connection, &came, None));
            // The head arrives together with the answer. The gate receives the message earlier.
            thread::sleep(ORDER);
            return Ok(());
        }
        let head = connection.head()?;
        let is_first = head.headers.get("mcp-session-id").map(|id| format!("Mcp-Session-Id: {id}\r\n"));
        let came = self.came.clone();
        thread::spawn(move || listen(&mut connection, &came, Some(head)));
        if let Some(session) = is_first {
            let mut connection = Connection::open(self.port)?;
            connection.ask(self.port, "GET", &session, "")?;
            let head = connection.head()?;
            let came = self.came.clone();
            thread::spawn(move || listen(&mut connection, &came, Some(head)));
            self.session = session;
        }
        Ok(())
    }

    /// Ends the session, if there is one.
    fn end(&mut self) -> Result<()> {
        if self.session.is_empty() {
            return Ok(());
        }
        let mut connection = Connection::open(self.port)?;
        connection.ask(self.port, "DELETE", &self.session, "")?;
        connection.head().map(drop)
    }
}

/// Forwards the messages of a connection until the connection ends.
fn listen(connection: &mut Connection, came: &Sender<String>, head: Option<http::Head>) {
    let Some(head) = head.or_else(|| connection.head().ok()) else { return };
    // When a gate ends, it closes its connections.
    let _ = connection.body(&head, |piece| {
        if let Some(message) = http::message(piece) {
            let _ = came.send(message.to_owned());
        }
    });
}

fn seamgate() -> Result<PathBuf> {
    let test = env::current_exe()?;
    Ok(test.parent().and_then(Path::parent).context("target/PROFILE")?.join("seamgate"))
}

impl Session {
    fn start(folder: &Path, place: &Path, is_http: bool) -> Result<Self> {
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
        // With this trap, the gate gets an error when a file reaches its size limit, as if the disk were full, instead
        // of a signal.
        let mut command = Command::new("sh");
        command.args(["-c", "trap '' XFSZ; exec \"$@\"", "sh"]).arg(seamgate()?);
        command.current_dir(place).env_remove("RUST_LOG").env("USER", "anna").env("A_SECRET", "hunter2");
        command.args(["mcp", "-p", "gate.profile.json", "--journal", "run"]);
        if is_http {
            command.env(http::VARIABLE, http::TOKEN);
            command.args(["--listen", "127.0.0.1:0", "--token-env", http::VARIABLE]);
        }
        if folder.join("servers.json").exists() {
            command.args(["--servers", "servers.json"]);
        } else {
            command.args(["--", "python3", "-SEu", "server.py", "server.json"]);
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let (sender, lines) = mpsc::channel();
        let output = child.stdout.take().context("its output")?;
        let of_output = sender.clone();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if of_output.send(line).is_err() {
                    return;
                }
            }
        });
        let mut errors = BufReader::new(child.stderr.take().context("its errors")?);
        let input = match is_http {
            true => {
                let (port, _) = http::port(&mut errors)?;
                Some(Input::Http(Client { port, session: String::new(), came: sender, open: Vec::new() }))
            }
            false => child.stdin.take().map(Input::Pipe),
        };
        let errors = thread::spawn(move || {
            let mut text = String::new();
            let _ = errors.read_to_string(&mut text);
            text
        });
        Ok(Session {
            input,
            child,
            lines,
            came: Vec::new(),
            errors: Some(errors),
            place: place.to_owned(),
            own: Vec::new(),
            states: Vec::new(),
        })
    }

    fn next(&mut self, patience: Duration) -> Result<Option<String>> {
        match self.lines.recv_timeout(patience) {
            Ok(line) => {
                let id = serde_json::from_str::<Value>(&line).unwrap_or_default()["id"].as_str().map(str::to_owned);
                if let Some(id) = id.filter(|id| id.starts_with("seamgate-") && !self.own.contains(id)) {
                    self.own.push(id);
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

impl Session {
    /// Waits for a message. Other messages may arrive before it.
    fn expect(&mut self, expected: &str) -> Result<(), String> {
        let is_stateless = matches!(&self.input, Some(Input::Http(client)) if client.session.is_empty());
        loop {
            let is_it = |line: &String| line == expected || (is_stateless && alike(line) == alike(expected));
            if let Some(place) = self.came.iter().position(is_it) {
                self.came.remove(place);
                return Ok(());
            }
            match self.next(PATIENCE).map_err(|error| error.to_string())? {
                Some(line) => self.came.push(line),
                None => return Err(format!("nothing came in place of {expected}, but\n{}", self.came.join("\n"))),
            }
        }
    }

    /// Stops a gate. If it has a session, waits until the session has ended.
    fn end_gate(&self, is_stateless: bool) -> Result<()> {
        let run = only(&self.place.join("run"))?;
        let mut tries = 0..100;
        while !is_stateless && !run.join("ended.json").exists() && tries.next().is_some() {
            thread::sleep(Duration::from_millis(20));
        }
        Command::new("kill").arg(self.child.id().to_string()).status().map(drop).context("kill")
    }
}

/// Returns a message without white space, and without the request id that a server of the case echoes. Over HTTP
/// without a session, the gate chooses this id.
fn alike(message: &str) -> String {
    let text = serde_json::from_str::<Value>(message).unwrap_or_default().to_string();
    let quoted = r#"\"id\":"#;
    let Some((before, rest)) = text.split_once(quoted) else { return text };
    let end = rest.find(',').unwrap_or(rest.len());
    format!("{before}{quoted}ID{}", &rest[end..])
}

impl Drop for Session {
    /// Kills the gate of a failed case. Over HTTP, it would run forever.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Replaces the parts of a text that differ between runs.
fn stable(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("seamgate-") {
        let end = at + "seamgate-".len();
        let digits = rest[end..].bytes().take_while(u8::is_ascii_hexdigit).count();
        out.push_str(&rest[..at]);
        match (digits, rest[end + digits..].starts_with('-')) {
            // To a server.
            (16, true) => {
                let number = rest[end + 17..].bytes().take_while(u8::is_ascii_digit).count();
                out.push_str("OWN");
                rest = &rest[end + 17 + number..];
            }
            // To the client.
            (32, _) => {
                out.push_str("OWN");
                rest = &rest[end + 32..];
            }
            _ => {
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

fn check(folder: &Path, is_http: bool) -> Result<()> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(if is_http { "gate-http" } else { "gate" }).join(&name);
    let script = fs::read_to_string(folder.join("session.txt")).context("session.txt")?;
    let is_blessed = !is_http && env::var_os("BLESS").is_some();
    let mut session = Session::start(folder, &place, is_http)?;
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
                let last = session.own.last().map_or("OWN", String::as_str);
                let mut line = line.replace("\"OWN\"", &format!("\"{last}\""));
                for (number, own) in session.own.iter().enumerate() {
                    line = line.replace(&format!("\"OWN-{}\"", number + 1), &format!("\"{own}\""));
                }
                for (number, state) in session.states.iter().enumerate() {
                    line = line.replace(&format!("\"STATE-{}\"", number + 1), &format!("\"{STATE}{state}\""));
                }
                match input {
                    // A gate that has ended reads no input.
                    Input::Pipe(pipe) => drop(pipe.write_all(line.as_bytes()).and_then(|()| pipe.write_all(b"\n"))),
                    Input::Http(client) => client.say(&line).map_err(|error| wrong(format!("{error:#}")))?,
                }
            }
            ("<", expected) if is_http => session.expect(expected).map_err(wrong)?,
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
                // The call may not have arrived yet.
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
            ("end", _) => match session.input.take() {
                Some(Input::Http(mut client)) => {
                    client.end()?;
                    session.input = Some(Input::Http(client));
                }
                Some(Input::Pipe(_)) | None => {}
            },
            ("#" | "", _) => {}
            _ => bail!(wrong("must begin with >, <, approve, shell, end or #".to_owned())),
        }
        let is_next_quiet = steps.get(number + 1).is_none_or(|next| !next.starts_with("> "));
        if is_blessed && is_next_quiet && !step.starts_with('#') {
            // If no more messages arrive, everything that the next step needs has arrived.
            let mut patience = Duration::from_secs(5);
            while let Some(line) = session.next(patience)? {
                written.push_str(&format!("< {line}\n"));
                patience = QUIET * 3;
            }
        }
    }
    if let Some(Input::Http(mut client)) = session.input.take() {
        client.end()?;
        session.end_gate(client.session.is_empty())?;
    }
    let status = session.child.wait()?;
    if let Some(line) = session.came.first() {
        bail!("session.txt: the gate also wrote {line}");
    }
    if let Some(line) = session.next(QUIET)? {
        bail!("session.txt: the gate also wrote {line}");
    }
    let errors = session.errors.take().and_then(|errors| errors.join().ok()).context("its errors")?;
    if is_blessed {
        fs::write(folder.join("session.txt"), written)?;
    }
    let mut journal = journal(&only(&place.join("run"))?)?;
    if is_http {
        let expected = fs::read_to_string(folder.join("journal.txt"))?;
        let (expected, _) = expected.rsplit_once("exit ").context("journal.txt has an exit status")?;
        // Messages arrive one by one, so a record can be at another place if an answer came in the meantime.
        let sorted = |text: &str| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        ensure!(sorted(&journal) == sorted(expected), "the journal is\n{journal}\nand not\n{expected}");
        return Ok(());
    }
    journal.push_str(&format!("exit {}\n", status.code().map_or("by a signal".to_owned(), |code| code.to_string())));
    expect(folder, "journal.txt", "", &journal)?;
    if !errors.is_empty() || folder.join("errors.txt").exists() {
        expect(folder, "errors.txt", "", &stable(&errors))?;
    }
    Ok(())
}

/// Returns the only folder in a folder.
fn only(folder: &Path) -> Result<PathBuf> {
    let all = folders(folder)?;
    ensure!(all.len() == 1, "{} has {} sessions", folder.display(), all.len());
    all.into_iter().next().context("a session")
}

/// Returns the records of a journal, one line for each.
fn journal(run: &Path) -> Result<String> {
    // The records of a call are grouped and keep their order, because calls may be answered in any order.
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
