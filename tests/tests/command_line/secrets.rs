//! Secrets of tools: no value reaches the client, the model, the journal or the terminal, even if the server writes it
//! everywhere.
#![cfg(unix)]

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::json;

/// A server that stores its input in a file and writes it everywhere, in several forms.
const ECHO: &str = r#"
import json, sys, urllib.parse
def say(m): print(json.dumps(dict(jsonrpc="2.0", **m)), flush=True)
schema = dict(type="object", properties=dict(password=dict(type="string")))
for line in sys.stdin:
    m = json.loads(line)
    if m.get("method") == "initialize":
        r = dict(protocolVersion="2025-06-18", capabilities=dict(tools={}, logging={}), serverInfo=dict(name="x", version="1"))
    elif m.get("method") == "tools/list":
        r = dict(tools=[dict(name="login", description="Logs in.", inputSchema=schema)])
    elif m.get("method") == "tools/call":
        p = m["params"]["arguments"]["password"]
        open("got", "w").write(p)
        print("log:", p, file=sys.stderr, flush=True)
        print("x" * 2040, p, file=sys.stderr, flush=True)
        print("no JSON:", p, flush=True)
        say(dict(method="notifications/message", params=dict(level="info", data=p)))
        texts = [p, json.dumps({p: p}), json.dumps(json.dumps(p)), urllib.parse.quote(p)]
        r = dict(content=[dict(type="text", text=t) for t in texts], structuredContent={p: p})
    else: continue
    say(dict(id=m["id"], result=r))
"#;

const VALUE: &str = "p\u{e4}ss \"w/0rd\\";

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("secrets").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("server.py"), ECHO).expect("a file");
    let secrets = json!({"shop": {"env": "SHOP_PASSWORD"}});
    let servers = json!({"secrets": secrets, "servers": {"s": {"mcp": {"command": ["python3", "server.py"]}}}});
    fs::write(folder.join("servers.json"), servers.to_string()).expect("a file");
    folder
}

fn profile(more: &serde_json::Value) -> String {
    let mut profile = json!({
        "agent": "x",
        "tools": [{"name": "login", "server": "s", "effect": "effectful", "permit": "allow",
            "secrets": [{"path": "$.password", "names": ["shop"]}]}],
        "servers": {"s": {"methods": ["logging/*", "notifications/*"]}},
    });
    for (name, value) in more.as_object().expect("members") {
        profile[name] = value.clone();
    }
    profile.to_string()
}

/// Runs seamgate with lines on its standard input.
fn run(folder: &Path, arguments: &[&str], value: Option<&str>, input: &str) -> Output {
    let test = std::env::current_exe().expect("this test");
    let binaries = test.parent().and_then(Path::parent).expect("target/PROFILE");
    let mut command = Command::new(binaries.join("seamgate"));
    let cache = concat!(env!("CARGO_TARGET_TMPDIR"), "/user-cache");
    command.current_dir(folder).env_remove("RUST_LOG").env("XDG_CACHE_HOME", cache).args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).env_remove("SHOP_PASSWORD");
    // Services and containers set none of these variables. The user name then comes from the account.
    for name in ["USER", "LOGNAME", "USERNAME"] {
        command.env_remove(name);
    }
    if let Some(value) = value {
        command.env("SHOP_PASSWORD", value);
    }
    let mut child = command.spawn().expect("a process");
    // A gate that does not start does not read its input.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    child.wait_with_output().expect("an end")
}

/// Returns the text of all files below a folder, except for those of the server.
fn written(folder: &Path) -> String {
    let mut all = String::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        match entry.path() {
            path if path.is_dir() => all.push_str(&written(&path)),
            path if path.ends_with("got") || path.ends_with("server.py") => {}
            path => all.push_str(&String::from_utf8_lossy(&fs::read(path).expect("a file"))),
        }
    }
    all
}

#[track_caller]
fn assert_hidden(folder: &Path, output: &Output) {
    assert_eq!(fs::read_to_string(folder.join("got")).expect("the server was called"), VALUE);
    let all = [
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
        written(folder),
    ];
    for text in all {
        // The parts that are the same in every escaped form.
        for part in ["ss \"w/0rd", "w/0rd", "p\u{e4}ss", "ss%20%22w", "w\\/0rd", "\\u00e4ss"] {
            assert!(!text.contains(part), "{part}: {text}");
        }
        assert!(text.contains("secret:shop"), "{text}");
    }
}

#[test]
fn gate_hides_what_a_server_echoes() {
    let folder = folder("gate");
    fs::write(folder.join("x.profile.json"), profile(&json!({}))).expect("a file");
    let client = json!({"name": "x", "version": "1"});
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    let call = json!({"name": "login", "arguments": {"password": "secret:shop"}});
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call}),
    ];
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let arguments = ["mcp", "-p", "x.profile.json", "--servers", "servers.json", "--journal", "runs"];
    let output = run(&folder, &arguments, Some(VALUE), &input);
    assert_hidden(&folder, &output);
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains(r#"Logs in.\n\nSecrets: write \"secret:shop\" in $.password"#), "{told}");
    for (value, error) in [(None, "SHOP_PASSWORD"), (Some("short"), "6 to 4096 bytes")] {
        let output = run(&folder, &arguments, value, &input);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(error) && said.contains("\"shop\""), "{said}");
        assert!(!said.contains("short"), "{said}");
    }
    let arguments = ["mcp", "-p", "x.profile.json", "--", "python3", "server.py"];
    let said = run(&folder, &arguments, Some(VALUE), &input).stderr;
    assert!(String::from_utf8_lossy(&said).contains("servers file"), "{}", String::from_utf8_lossy(&said));
}

/// A model that calls `login`, and answers after the result.
const MODEL: &str = r#"
import sys
asked = sys.stdin.read()
open("prompt", "a").write(asked)
if '"call":"c1"' in asked: print('{"text":"{\\"cause\\":\\"done\\"}"}')
else: print('{"calls":[{"id":"a","tool":"login","arguments":{"password":"secret:shop"}}]}')
"#;

#[test]
fn agent_hides_what_a_server_echoes() {
    let folder = folder("agent");
    fs::write(folder.join("model.py"), MODEL).expect("a file");
    let schema = json!({"type": "object", "required": ["cause"]});
    let more = json!({"prompt": {"role": "You log in."}, "budget": {"steps": 6, "tool_calls": 6},
        "final": {"contract": {"agent": "x", "schema": schema}}});
    fs::write(folder.join("x.profile.json"), profile(&more)).expect("a file");
    let arguments = ["agent", "-p", "x.profile.json", "--servers", "servers.json", "--task", "{}", "--journal", "run"];
    let arguments = [&arguments[..], &["--", "python3", "model.py"]].concat();
    let output = run(&folder, &arguments, Some(VALUE), "");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fs::read_to_string(folder.join("got")).expect("the server was called"), VALUE);
    let texts = [written(&folder), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()];
    for text in texts {
        for part in ["w/0rd", "p\u{e4}ss", "ss%20%22w", "\\u00e4ss"] {
            assert!(!text.contains(part), "{part}: {text}");
        }
    }
    assert!(fs::read_to_string(folder.join("prompt")).expect("a prompt").contains("secret:shop"));
    let said = run(&folder, &arguments, None, "").stderr;
    assert!(String::from_utf8_lossy(&said).contains("SHOP_PASSWORD"), "{}", String::from_utf8_lossy(&said));
}
