//! `seamgate mcp --listen` and clients that send arbitrary bytes. A case is a file in `gate-http`. Each case has its
//! own gate:
//!
//! - `post BODY`, `get` and `delete` send a request with the required headers, and with the headers of the preceding
//!   `with HEADER` lines.
//! - `> LINE` sends a line unchanged, and `body TEXT` sends a text. `TOKEN` and `PORT` stand for those of the gate,
//!   `SESSION` for the last session that it created, `OWN` for its last id, `LENGTH` for the length of the next body,
//!   `\r` and `\n` for the characters, and `{*a*20*}` for twenty letters `a`.
//! - `new` opens another connection, and `use N` returns to the Nth. `close` closes a connection. `wait SECONDS` waits.
//! - `read` reads an answer, and `read N` reads its head and N pieces of its stream. `ends` expects the end of the
//!   connection.
//! - `< LINE` is a line of the answer. `! LINE`, at the end, is a message to a person.
//!
//! `BLESS=1` rewrites the lines that begin with `<` or `!`.

use std::{
    env, fs,
    io::{BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use seamgate_tests::{
    http::{self, Connection, Head, TOKEN, VARIABLE},
    suite::{Trial, trial},
};

/// The headers of an answer that are shown in addition to its status.
const SHOWN: [&str; 8] = [
    "allow",
    "connection",
    "content-type",
    "location",
    "mcp-session-id",
    "retry-after",
    "set-cookie",
    "www-authenticate",
];

/// Returns the trials of all files.
pub(crate) fn trials(seamgate: fn() -> Result<PathBuf>) -> Result<Vec<Trial>> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("gate-http");
    let mut trials = Vec::new();
    for entry in fs::read_dir(cases)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "txt") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            trials.push(trial(format!("raw/{name}"), move || check(&path, seamgate)));
        }
    }
    Ok(trials)
}

/// A gate, and the connections of a case to it.
struct Talk {
    gate: Child,
    port: u16,
    connections: Vec<Connection>,
    used: usize,
    /// For each connection, the head of the answer whose stream is being read.
    heads: Vec<Option<Head>>,
    session: String,
    /// The last id that the gate gave a client.
    own: String,
    with: String,
}

fn check(path: &Path, seamgate: fn() -> Result<PathBuf>) -> Result<()> {
    let script = fs::read_to_string(path)?;
    let folder = path.parent().context("a folder")?;
    let name = path.file_stem().unwrap_or_default();
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gate-raw").join(name);
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place)?;
    fs::copy(folder.join("profile.json"), place.join("gate.profile.json"))?;
    fs::copy(folder.join("server.json"), place.join("server.json"))?;
    fs::copy(folder.with_file_name("gate").join("server.py"), place.join("server.py"))?;
    let mut command = Command::new(seamgate()?);
    command.current_dir(&place).env_remove("RUST_LOG").env("USER", "anna").env(VARIABLE, TOKEN);
    command.args(["mcp", "-p", "gate.profile.json", "--listen", "127.0.0.1:0", "--token-env", VARIABLE]);
    command.args(["--journal", "run", "--", "python3", "-SEu", "server.py", "server.json"]);
    let mut gate = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let mut errors = BufReader::new(gate.stderr.take().context("its errors")?);
    let (port, _) = http::port(&mut errors)?;
    let mut talk = Talk {
        gate,
        port,
        connections: vec![Connection::open(port)?],
        used: 0,
        heads: vec![None],
        session: String::new(),
        own: String::new(),
        with: String::new(),
    };
    let taken = talk.take_all(&script);
    talk.end();
    let mut written = taken?;
    let mut told = String::new();
    errors.read_to_string(&mut told)?;
    ensure!(!told.contains(TOKEN), "the gate tells its token: {told}");
    for run in fs::read_dir(place.join("run")).into_iter().flatten() {
        let journal = fs::read_to_string(run?.path().join("journal.ndjson"))?;
        ensure!(!journal.contains(TOKEN), "the journal has the token");
    }
    for line in told.lines() {
        written.push_str(&format!("! {}\n", super::stable(line).replace(&format!(":{port}"), ":PORT")));
    }
    if env::var_os("BLESS").is_some() {
        return Ok(fs::write(path, written)?);
    }
    ensure!(written == script, "{} differs (BLESS=1 writes it again). It is now:\n{written}", path.display());
    Ok(())
}

impl Drop for Talk {
    fn drop(&mut self) {
        self.end();
    }
}

impl Talk {
    /// Stops the gate, so that it stops its servers.
    fn end(&mut self) {
        // After a process has ended, another process may get its id.
        if matches!(self.gate.try_wait(), Ok(None)) {
            let _ = Command::new("kill").arg(self.gate.id().to_string()).status();
            let _ = self.gate.wait();
        }
    }

    /// Takes all steps. Returns the script with the actual answers.
    fn take_all(&mut self, script: &str) -> Result<String> {
        let mut written = String::new();
        let steps: Vec<&str> = script.lines().filter(|line| !line.starts_with(['<', '!'])).collect();
        for (number, step) in steps.iter().enumerate() {
            written.push_str(step);
            written.push('\n');
            let body = steps[number..].iter().find_map(|step| step.strip_prefix("body "));
            let came = self.take(step, body).with_context(|| format!("step {}: {step}", number + 1))?;
            written.push_str(&came);
        }
        Ok(written)
    }

    fn take(&mut self, step: &str, body: Option<&str>) -> Result<String> {
        let (word, rest) = step.split_once(' ').unwrap_or((step, ""));
        let text = self.filled(rest, body)?;
        let connection = &mut self.connections[self.used];
        match word {
            "#" | "" => {}
            ">" => connection.send(format!("{text}\r\n").as_bytes())?,
            "body" => connection.send(text.as_bytes())?,
            "with" => self.with.push_str(&format!("{text}\r\n")),
            "post" | "get" | "delete" => {
                let with = std::mem::take(&mut self.with);
                connection.ask(self.port, &word.to_ascii_uppercase(), &with, &text)?;
            }
            "new" => {
                self.connections.push(Connection::open(self.port)?);
                self.heads.push(None);
                self.used = self.connections.len() - 1;
            }
            "use" => self.used = text.parse::<usize>()? - 1,
            "close" => {
                self.connections[self.used] = Connection::open(self.port)?;
                self.heads[self.used] = None;
            }
            "wait" => thread::sleep(Duration::from_secs_f64(text.parse()?)),
            "read" => return self.read(text.parse().ok()),
            "ends" => ensure!(connection.ends()?, "something comes in place of the end"),
            _ => bail!("no such step"),
        }
        Ok(String::new())
    }

    /// Reads an answer, or this many pieces of its stream.
    fn read(&mut self, pieces: Option<usize>) -> Result<String> {
        let connection = &mut self.connections[self.used];
        let mut came = String::new();
        let head = match self.heads[self.used].take() {
            Some(head) => head,
            None => {
                let head = connection.head()?;
                came.push_str(&format!("< {}", head.status));
                for name in SHOWN {
                    if let Some(value) = head.headers.get(name) {
                        came.push_str(&format!("; {name}: {value}"));
                    }
                }
                came.push('\n');
                head
            }
        };
        if let Some(session) = head.headers.get("mcp-session-id") {
            self.session = session.clone();
        }
        let own = &mut self.own;
        let mut tell = |piece: &str| {
            for line in piece.trim_end().lines() {
                let id = line.split('"').find(|part| {
                    let digits = part.strip_prefix("seamgate-").filter(|digits| digits.len() == 32);
                    digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
                });
                if let Some(id) = id {
                    id.clone_into(own);
                }
                came.push_str(&format!("< {}\n", super::stable(line)));
            }
        };
        match pieces {
            None => connection.body(&head, tell)?,
            Some(pieces) => {
                for _ in 0..pieces {
                    match connection.piece()? {
                        Some(piece) => tell(&piece),
                        None => bail!("the stream ends"),
                    }
                }
                self.heads[self.used] = Some(head);
            }
        }
        let came = came.replace(&format!(":{}", self.port), ":PORT");
        Ok(if self.session.is_empty() { came } else { came.replace(&self.session, "SESSION") })
    }

    /// Replaces the placeholders of a text.
    fn filled(&self, text: &str, body: Option<&str>) -> Result<String> {
        let mut text = text.replace("PORT", &self.port.to_string()).replace("TOKEN", TOKEN);
        text = text.replace("SESSION", &self.session);
        text = text.replace("\"OWN\"", &format!("\"{}\"", self.own));
        if let (true, Some(body)) = (text.contains("LENGTH"), body) {
            text = text.replace("LENGTH", &self.filled(body, None)?.len().to_string());
        }
        while let Some((before, rest)) = text.split_once("{*") {
            let (repeated, after) = rest.split_once("*}").context("*}")?;
            let (piece, times) = repeated.rsplit_once('*').context("{*TEXT*TIMES*}")?;
            text = format!("{before}{}{after}", piece.repeat(times.parse()?));
        }
        Ok(text.replace("\\r", "\r").replace("\\n", "\n"))
    }
}
