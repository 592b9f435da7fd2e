//! Scripts: each line is an action of a client, a server or a person, and the core runs with the real kernel. A script
//! is a file in `gate-core`:
//!
//! - `profile JSON`: the profile without its agent. `servers NAME …`: the servers, unless there is only one with the
//!   name `s`.
//! - `session TOOL …`: a session begins, and each server lists these tools. `stateless TOOL …`: the same without a
//!   session.
//! - `> LINE`: the client writes a line. `< LINE`: the gate writes to the client.
//! - `NAME> LINE`: the server writes a line. `NAME< LINE`: the gate writes to the server. `NAME ends`: the server's
//!   process ends, and starts again when the gate requests it.
//! - `approve`, `reject`: a person decides about the last ask. `end`: the client ends.
//! - `wait MS`: time passes. `later MS`: time passes, and the gate notices it with the next line.
//! - `! TEXT`: a person reads the text. `run WORD`: the journal's entry for a call. `# TEXT`: a comment.
//!
//! `N* ` before a line repeats it. In a line of the client, `[NAME: VALUE] ` before the message is a header, and `[] `
//! means that the client sends no headers over HTTP. Without either, the client writes to standard input. `OWN` is the
//! last id that the gate gave to the client, and `STATE` is the last state. `\r`, `\u85` and `\u2028` between two `~`
//! stand for the characters. `BLESS=1` rewrites the lines of the gate.

use std::{env, fs, path::Path};

use seamgate::{Action, EventKind, Gate, Record};
use seamgate_mcp::core::{Core, Effect, Input, Message, Outcome, Policy, Times, UpstreamId};
use seamgate_tests::Random;
use seamgate_world::{Kernel, Real};
use serde_json::{Value, json};

/// The time at which a script begins.
const BEGINNING: u64 = 1_790_000_000_000;

/// A core that a script controls.
struct Session<'g> {
    core: Core,
    kernel: Real<'g>,
    now: u64,
    names: Vec<String>,
    /// The lines for the gate's actions since the last line of the script.
    came: Vec<String>,
    own: String,
    state: String,
    is_over: bool,
}

impl<'g> Session<'g> {
    fn new(gate: &'g Gate, profile: &str, names: Vec<String>) -> Self {
        let times = Times { start: 60_000, grace: 10_000 };
        Session {
            core: Core::new(names.clone(), Policy::read(profile), times, "secret"),
            kernel: Real::start(gate, BEGINNING),
            now: BEGINNING,
            names,
            came: Vec::new(),
            own: String::new(),
            state: String::new(),
            is_over: false,
        }
    }

    fn handle(&mut self, input: Input) {
        self.core.handle(self.now, input);
        self.drain();
        while self.kernel.wake_at().is_some_and(|at| at <= self.now) {
            let (records, actions) = self.kernel.tick(self.now);
            self.take(&records);
            self.core.handle(self.now, Input::CaughtUp(records, actions));
            self.drain();
        }
    }

    /// Adds lines for the journal's records of calls.
    fn take(&mut self, records: &[Record]) {
        for record in records {
            match record {
                Record::Decision(record) => {
                    self.came.push(format!("run decision {} {} {}", record.call, record.tool, record.permit.as_str()));
                }
                Record::Joined(_) => self.came.push("run joined".to_owned()),
                Record::Observation(record) => {
                    self.came.push(format!("run observation {} {}", record.call, record.status.as_str()));
                }
                Record::Settled(record) => {
                    self.came.push(format!("run settled {} {}", record.call, record.code.as_str()));
                }
                _ => {}
            }
        }
    }

    fn drain(&mut self) {
        while let Some(effect) = self.core.poll() {
            match effect {
                Effect::ToDownstream(message) => {
                    if let Message::Request { id, .. } = &message {
                        self.own = id.as_str().to_owned();
                    }
                    let line = message.to_line();
                    if let Some((_, rest)) = line.split_once("\"requestState\":") {
                        self.state = rest.split(['}', ',']).next().unwrap_or_default().to_owned();
                    }
                    self.came.push(format!("< {line}"));
                }
                Effect::ToUpstream(server, message, secrets) => {
                    let secrets: String =
                        secrets.iter().map(|secret| format!(" with {} at {}", secret.name, secret.at)).collect();
                    self.came.push(format!("{}< {}{secrets}", self.names[server.0], message.to_line()));
                }
                Effect::Start(server) => {
                    self.came.push(format!("{} starts", self.names[server.0]));
                    self.core.handle(self.now, Input::UpstreamStarted(server));
                }
                Effect::Close(server) => self.came.push(format!("{} is closed", self.names[server.0])),
                Effect::Stop(server) => self.came.push(format!("{} is stopped", self.names[server.0])),
                Effect::Send(event) => {
                    let outcome = self.kernel.step(self.now, &event, &mut Random(0));
                    match &outcome {
                        Outcome::Done { records, .. } => self.take(records),
                        Outcome::Refused(fault) => self.came.push(format!("run refuses: {fault}")),
                    }
                    if let EventKind::ToolStarted(event) = &*event {
                        self.came.push(format!("run started {}", event.call));
                    }
                    self.core.handle(self.now, Input::Step(outcome));
                }
                Effect::KeepArtifact(text) => self.kernel.keep(&text),
                Effect::ReadArtifact(digest) => {
                    let text = self.kernel.artifact(&digest);
                    self.core.handle(self.now, Input::Artifact(text));
                }
                Effect::Warn(text) => self.came.push(format!("! {text}")),
                Effect::AskPerson(tool, key) => self.came.push(format!("! {tool} {key} waits for approval")),
                Effect::End(end) => {
                    self.came.push(format!("the session ends: {end:?}"));
                    self.is_over = true;
                }
            }
        }
    }

    /// Begins a session, or requests the list of tools without a session.
    fn begin(&mut self, tools: &[&str], is_stateless: bool) {
        let tool = |name: &&str| json!({"name": name, "inputSchema": {"type": "object"}});
        let tools: Vec<Value> = tools.iter().map(tool).collect();
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
        });
        let mut ask = |method: &str, params: Value, result: Value| {
            let line = json!({"jsonrpc": "2.0", "id": method, "method": method, "params": params});
            self.handle(Input::Downstream(&line.to_string(), None));
            for place in 0..self.names.len() {
                let before = format!("{}< ", self.names[place]);
                let asked = self.came.iter().filter_map(|line| line.strip_prefix(&before));
                let asked: Vec<Value> = asked.filter_map(|line| serde_json::from_str(line).ok()).collect();
                if let Some(id) = asked.iter().rfind(|line| line["method"] == method).map(|line| line["id"].clone()) {
                    let line = json!({"jsonrpc": "2.0", "id": id, "result": result});
                    self.handle(Input::Upstream(UpstreamId(place), &line.to_string()));
                }
            }
        };
        if is_stateless {
            return ask("tools/list", json!({"_meta": meta}), json!({"tools": tools}));
        }
        let result = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}});
        ask("initialize", json!({"capabilities": {"elicitation": {}}}), result);
        ask("tools/list", json!({}), json!({"tools": tools}));
    }

    /// Performs the action of a script line. Returns `false` for all other lines, such as those of the gate.
    fn act(&mut self, line: &str) -> bool {
        let (times, line) = match line.split_once("* ") {
            Some((times, line)) if times.parse::<usize>().is_ok() => (times.parse().unwrap_or(1), line),
            _ => (1, line),
        };
        for _ in 0..times {
            if !self.act_once(line) {
                return false;
            }
        }
        true
    }

    fn act_once(&mut self, line: &str) -> bool {
        let words: Vec<&str> = line.split(' ').collect();
        let server = |name: &str| self.names.iter().position(|own| own == name).map(UpstreamId);
        match words[..] {
            ["session", ref tools @ ..] | ["stateless", ref tools @ ..] => {
                self.begin(tools, words[0] == "stateless");
                // The cases test only what follows.
                self.came.clear();
            }
            ["wait", ms] => {
                let until = self.now + ms.parse::<u64>().expect("milliseconds");
                // The gate wakes up in the meantime.
                while let Some(at) = self.core.wake_at().filter(|at| *at < until && !self.is_over) {
                    assert!(at > self.now, "the gate wants to be woken at a time that has passed");
                    self.now = at;
                    self.handle(Input::Tick);
                }
                self.now = until;
                self.handle(Input::Tick);
            }
            ["later", ms] => self.now += ms.parse::<u64>().expect("milliseconds"),
            ["approve" | "reject"] => {
                let (records, actions) = self.kernel.decide(self.now, line == "approve").expect("an ask");
                assert!(!actions.iter().any(|action| matches!(action, Action::Finish(_))));
                self.take(&records);
                self.core.handle(self.now, Input::CaughtUp(records, actions));
                self.drain();
            }
            ["end"] => self.handle(Input::DownstreamEnded),
            [">", ..] => {
                let mut rest = &line[2..];
                // `[]`: the client uses HTTP but sends no headers.
                let mut headers = None::<Vec<(String, String)>>;
                while let Some((header, message)) = rest.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
                    let headers = headers.get_or_insert_default();
                    if !header.is_empty() {
                        let (name, value) = header.split_once(": ").expect("NAME: VALUE");
                        headers.push((name.to_owned(), value.to_owned()));
                    }
                    rest = message;
                }
                let line = filled(rest).replace("\"OWN\"", &self.own).replace("\"STATE\"", &self.state);
                self.handle(Input::Downstream(&line, headers.as_deref()));
            }
            [name, "ends"] if let Some(own) = server(name) => {
                self.handle(Input::UpstreamEnded(own, "the server ended"));
            }
            [name, ..] if let Some(own) = name.strip_suffix('>').and_then(server) => {
                self.handle(Input::Upstream(own, &filled(&line[name.len() + 1..])));
            }
            _ => return false,
        }
        true
    }
}

/// Returns a line with its placeholders replaced by the characters.
fn filled(line: &str) -> String {
    line.replace("~\\r~", "\r").replace("~\\u85~", "\u{85}").replace("~\\u2028~", "\u{2028}")
}

/// Plays a script, and returns it with the actual lines of the gate.
fn played(script: &str) -> String {
    let setting = |name: &str| script.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    let mut profile: Value = serde_json::from_str(setting("profile").expect("a profile")).expect("JSON");
    profile["agent"] = json!("gate");
    let profile = profile.to_string();
    let mut gate = Gate::new().expect("a gate");
    gate.register_profile(&profile).unwrap_or_else(|fault| panic!("{fault}"));
    let names = setting("servers").unwrap_or("s").split(' ').map(str::to_owned).collect();
    let mut session = Session::new(&gate, &profile, names);
    let mut out = String::new();
    for line in script.lines() {
        let is_kept = line.is_empty() || ["#", "profile ", "servers "].iter().any(|word| line.starts_with(word));
        if session.act(line) || is_kept {
            out.push_str(line);
            out.push('\n');
        }
        let mut came = std::mem::take(&mut session.came).into_iter().peekable();
        while let Some(line) = came.next() {
            let mut times = 1;
            while came.next_if_eq(&line).is_some() {
                times += 1;
            }
            if times > 1 {
                out.push_str(&format!("{times}* "));
            }
            out.push_str(&line.replace('\r', "\\r"));
            out.push('\n');
        }
    }
    out
}

#[test]
fn each_script_is_played_as_it_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("gate-core");
    let mut wrong = Vec::new();
    for file in fs::read_dir(&folder).expect("scripts") {
        let path = file.expect("a script").path();
        let script = fs::read_to_string(&path).expect("a script");
        let played = played(&script);
        if env::var_os("BLESS").is_some() {
            fs::write(&path, &played).expect("to write the script");
        } else if played != script {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let differs = played.lines().zip(script.lines()).find(|(is, should)| is != should);
            wrong.push(format!("{name}: {differs:?}\n{played}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn questions_of_a_server_that_the_client_does_not_answer_are_bounded() {
    let profile = r#"{"agent": "gate", "tools": [], "servers": {"s": {"methods": ["elicitation/create"]}}}"#;
    let mut gate = Gate::new().expect("a gate");
    gate.register_profile(profile).unwrap_or_else(|fault| panic!("{fault}"));
    let mut session = Session::new(&gate, profile, vec!["s".to_owned()]);
    session.begin(&[], false);
    session.came.clear();
    for id in 0..1100 {
        session.act(&format!(r#"s> {{"jsonrpc":"2.0","id":{id},"method":"elicitation/create","params":{{}}}}"#));
    }
    let count = |before: &str| session.came.iter().filter(|line| line.starts_with(before)).count();
    assert_eq!((count("< "), count("s< ")), (1024, 76));
}
