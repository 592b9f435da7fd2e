//! A profile that is edited while `seamgate mcp` serves: what it forbids holds at once, and what it allows after `seamgate mcp accept`.
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

/// A server with two tools, which say that they ran.
const SERVER: &str = r#"
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if m.get("method") == "initialize":
        r = dict(protocolVersion="2025-06-18", capabilities=dict(tools={}), serverInfo=dict(name="x", version="1"))
    elif m.get("method") == "tools/list":
        r = dict(tools=[dict(name=n, inputSchema=dict(type="object")) for n in ("look", "act")])
    elif m.get("method") == "tools/call":
        r = dict(content=[dict(type="text", text="ran " + m["params"]["name"])])
    else: continue
    print(json.dumps(dict(jsonrpc="2.0", id=m["id"], result=r)), flush=True)
"#;

/// A gate, its client, and the folder of both.
struct Served {
    folder: PathBuf,
    gate: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    count: u64,
}

impl Served {
    fn start(name: &str, permits: [&str; 2]) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("edited-profile").join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("server.py"), SERVER).expect("a file");
        edit(&folder, permits, "");
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

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.count += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.count, "method": method, "params": params});
        writeln!(self.input, "{request}").expect("a gate");
        loop {
            let line = self.lines.next().expect("an answer").expect("a line");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            if message["id"] == self.count {
                return message;
            }
        }
    }

    /// Calls a tool. Returns the text, or the message of the error.
    fn call(&mut self, tool: &str) -> String {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": {}}));
        let text = answer["result"]["content"][0]["text"].as_str().or(answer["error"]["message"].as_str());
        text.expect("a text").to_owned()
    }

    fn tools(&mut self) -> Vec<String> {
        let answer = self.ask("tools/list", json!({}));
        let tools = answer["result"]["tools"].as_array().expect("tools").iter();
        tools.map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
    }

    fn wait_for(&self, said: &str) {
        let start = Instant::now();
        while !self.said().contains(said) {
            assert!(start.elapsed() < Duration::from_secs(60), "not said: {said:?} in {}", self.said());
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn said(&self) -> String {
        fs::read_to_string(self.folder.join("stderr")).expect("a text")
    }

    fn accept(&self, more: &[&str]) -> Output {
        seamgate(&self.folder, &[&["mcp", "accept", "runs"], more].concat()).output().expect("an end")
    }

    fn runs(&self) -> usize {
        fs::read_dir(self.folder.join("runs")).expect("a folder").count()
    }

    fn end(mut self) {
        drop(self.input);
        assert!(self.gate.wait().expect("an end").success());
    }
}

fn seamgate(folder: &Path, arguments: &[&str]) -> Command {
    let test = std::env::current_exe().expect("this test");
    let program = test.parent().and_then(Path::parent).expect("target/PROFILE").join("seamgate");
    let mut command = Command::new(program);
    command.current_dir(folder).env("USER", "anna").args(arguments);
    command
}

fn edit(folder: &Path, [look, act]: [&str; 2], more: &str) {
    let text = format!(
        r#"{{"agent": "x", "tools": [
            {{"name": "look", "effect": "read", "permit": "{look}"}},
            {{"name": "act", "effect": "read", "permit": "{act}"}}
        ]}}{more}"#
    );
    fs::write(folder.join("x.profile.json"), text).expect("a file");
}

#[test]
fn what_an_edit_forbids_is_denied_at_once_and_what_it_allows_waits_for_a_person() {
    let mut served = Served::start("both", ["allow", "deny"]);
    assert_eq!(served.tools(), ["look"]);
    assert_eq!(served.call("look"), "ran look");

    edit(&served.folder, ["deny", "allow"], "");
    assert_eq!(served.call("look"), "Unknown tool: look");
    assert_eq!(served.call("act"), "Unknown tool: act");
    assert_eq!(served.tools(), Vec::<String>::new());
    assert!(served.said().contains("to let it allow more, if it does: seamgate mcp accept runs/"), "{}", served.said());

    let undecided = served.accept(&[]);
    let told = String::from_utf8_lossy(&undecided.stderr).into_owned();
    assert!(undecided.status.code() == Some(2) && told.contains("accept with --yes"), "{told}");
    let accepted = served.accept(&["--yes"]);
    let shown = String::from_utf8_lossy(&accepted.stdout).into_owned();
    assert!(accepted.status.success(), "{accepted:?}");
    for line in [r#"/tools/look/permit: was "allow""#, r#"/tools/act/permit: is  "allow""#] {
        assert!(shown.contains(line), "{shown}");
    }
    served.wait_for("is accepted; the session goes on in runs/");
    assert_eq!(served.tools(), ["act"]);
    assert_eq!(served.call("act"), "ran act");
    assert_eq!(served.runs(), 2);
    let nothing = served.accept(&["--yes"]);
    assert!(String::from_utf8_lossy(&nothing.stdout).contains("as the run began with it"), "{nothing:?}");
    served.end();
}

#[test]
fn a_word_for_one_text_accepts_no_other() {
    let mut served = Served::start("other-text", ["allow", "deny"]);
    edit(&served.folder, ["allow", "allow"], " ");
    assert_eq!(served.call("act"), "Unknown tool: act");
    assert!(served.accept(&["--yes"]).status.success());
    // The gate takes the word before it sees the edit, or refuses it for the other text: in no case does `look` lose its denial.
    edit(&served.folder, ["deny", "allow"], "  ");
    assert_eq!(served.call("look"), "Unknown tool: look");
    served.end();
}

#[test]
fn white_space_changes_nothing_and_an_invalid_edit_leaves_the_profile_before() {
    let mut served = Served::start("invalid", ["allow", "deny"]);
    assert_eq!(served.call("look"), "ran look");
    edit(&served.folder, ["allow", "deny"], "\n");
    assert_eq!(served.call("look"), "ran look");
    assert!(!served.said().contains("was edited"), "{}", served.said());
    edit(&served.folder, ["allow", "deny"], "}");
    served.wait_for("the profile before the edit holds");
    assert_eq!(served.call("look"), "ran look");
    edit(&served.folder, ["sometimes", "deny"], "");
    served.wait_for("$.tools[0].permit must be");
    assert_eq!(served.call("look"), "ran look");
    served.end();
}
