//! A gate of `seamgate mcp` with a server, and a client that sends one request at a time.
#![cfg(unix)]

use std::{
    fs,
    io::{BufRead, BufReader, Lines, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

/// The rest of a server, which defines the names in `TOOLS` and the function `call`. `call` takes a name and arguments,
/// and returns one content block.
const LOOP: &str = r#"
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if m.get("method") == "initialize":
        r = dict(protocolVersion="2025-06-18", capabilities=dict(tools={}), serverInfo=dict(name="x", version="1"))
    elif m.get("method") == "tools/list":
        r = dict(tools=[dict(name=n, inputSchema=dict(type="object")) for n in TOOLS])
    elif m.get("method") == "tools/call":
        r = dict(content=[call(m["params"]["name"], m["params"]["arguments"])])
    else: continue
    print(json.dumps(dict(jsonrpc="2.0", id=m["id"], result=r)), flush=True)
"#;

/// A gate, its client, and the folder of both.
pub(crate) struct Served {
    pub(crate) folder: PathBuf,
    gate: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    count: u64,
}

impl Served {
    /// Starts a gate with a server, in a separate folder. `tools` is the Python code of the server before [`LOOP`].
    pub(crate) fn start(name: &str, tools: &str, profile: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("served").join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("server.py"), format!("{tools}{LOOP}")).expect("a file");
        fs::write(folder.join("x.profile.json"), profile).expect("a file");
        Served::open(folder)
    }

    /// Starts another gate in the same folder after this one has ended.
    pub(crate) fn again(self) -> Self {
        let folder = self.folder.clone();
        self.end();
        Served::open(folder)
    }

    fn open(folder: PathBuf) -> Self {
        let mut command =
            seamgate(&folder, &["mcp", "-p", "x.profile.json", "--journal", "runs", "--", "python3", "server.py"]);
        let stderr = fs::File::create(folder.join("stderr")).expect("a file");
        let mut gate = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr).spawn().expect("a gate");
        let input = gate.stdin.take().expect("a pipe");
        let lines = BufReader::new(gate.stdout.take().expect("a pipe")).lines();
        let mut served = Served { folder, gate, input, lines, count: 0 };
        let client = json!({"name": "x", "version": "1"});
        served.ask("initialize", json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}));
        writeln!(served.input, r#"{{"jsonrpc":"2.0","method":"notifications/initialized"}}"#).expect("a gate");
        served
    }

    /// Sends a request without waiting for its answer.
    pub(crate) fn send(&mut self, method: &str, params: Value) {
        self.count += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.count, "method": method, "params": params});
        writeln!(self.input, "{request}").expect("a gate");
    }

    /// Returns the next answer, for any request.
    pub(crate) fn answer(&mut self) -> Value {
        loop {
            let line = self.lines.next().expect("an answer").expect("a line");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            if message.get("id").is_some() && message.get("method").is_none() {
                return message;
            }
        }
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send(method, params);
        loop {
            let line = self.lines.next().expect("an answer").expect("a line");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            if message["id"] == self.count {
                return message;
            }
        }
    }

    /// Calls a tool. Returns the text, or the message of the error.
    pub(crate) fn call(&mut self, tool: &str) -> String {
        self.call_with(tool, &json!({}))
    }

    /// Calls a tool with arguments. Returns the text, or the message of the error.
    pub(crate) fn call_with(&mut self, tool: &str, arguments: &Value) -> String {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let text = answer["result"]["content"][0]["text"].as_str().or(answer["error"]["message"].as_str());
        text.expect("a text").to_owned()
    }

    pub(crate) fn tools(&mut self) -> Vec<String> {
        let answer = self.ask("tools/list", json!({}));
        let tools = answer["result"]["tools"].as_array().expect("tools").iter();
        tools.map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
    }

    pub(crate) fn wait_for(&self, said: &str) {
        let start = Instant::now();
        while !self.said().contains(said) {
            assert!(start.elapsed() < Duration::from_secs(60), "not said: {said:?} in {}", self.said());
            thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn said(&self) -> String {
        fs::read_to_string(self.folder.join("stderr")).expect("a text")
    }

    pub(crate) fn accept(&self, more: &[&str]) -> Output {
        seamgate(&self.folder, &[&["mcp", "accept", "runs"], more].concat()).output().expect("an end")
    }

    pub(crate) fn runs(&self) -> usize {
        fs::read_dir(self.folder.join("runs")).expect("a folder").count()
    }

    pub(crate) fn end(mut self) {
        drop(self.input);
        assert!(self.gate.wait().expect("an end").success());
    }
}

/// Returns a command that runs seamgate in a folder.
pub(crate) fn seamgate(folder: &Path, arguments: &[&str]) -> Command {
    let test = std::env::current_exe().expect("this test");
    let program = test.parent().and_then(Path::parent).expect("target/PROFILE").join("seamgate");
    let mut command = Command::new(program);
    command.current_dir(folder).env("USER", "anna").args(arguments);
    command
}
