//! `seamgate serve`: its counters match the journals, and only authorized principals can read and decide.
#![cfg(unix)]

use std::{
    collections::BTreeMap,
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    process::Child,
    time::Duration,
};

use seamgate_runner::run_dir::{Decision, SigningKey};
use serde_json::{Value, json};

use super::served::{Served, seamgate};

pub(crate) const TOKEN: &str = "0123456789abcdef0123";

/// Three tools. `fail` returns an error.
const TOOLS: &str = r#"
TOOLS = ["read", "send", "fail"]
def call(name, arguments): return dict(type="text", text="x" if name == "fail" else str(arguments))
"#;

/// A server for a folder of runs. It is stopped when the value is dropped.
pub(crate) struct Site {
    pub(crate) process: Child,
    port: u16,
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Site {
    pub(crate) fn start(folder: &Path) -> Self {
        Site::start_with(folder, &[], &[])
    }

    /// Starts a server with more arguments and environment variables. Its standard error is written to `serve.log`.
    pub(crate) fn start_with(folder: &Path, more: &[&str], variables: &[(&str, &str)]) -> Self {
        let log = folder.join("serve.log");
        let arguments = ["serve", "--runs", "runs", "--listen", "127.0.0.1:0", "--token-env", "T"];
        let mut command = seamgate(folder, &[&arguments[..], more].concat());
        let stderr = fs::File::create(&log).expect("a file");
        let mut process =
            command.env("T", TOKEN).envs(variables.iter().copied()).stderr(stderr).spawn().expect("a process");
        for _ in 0..600 {
            let said = fs::read_to_string(&log).expect("a log");
            let port = said.split_once("http://127.0.0.1:").and_then(|(_, rest)| rest.split_once('/'));
            if let Some(port) = port.and_then(|(port, _)| port.parse().ok()) {
                return Site { process, port };
            }
            assert!(process.try_wait().expect("a status").is_none(), "{said}");
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("no port in the log");
    }

    /// Sends a request unchanged, and returns the status and the body. `{port}` stands for the port.
    fn raw(&self, head: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a limit");
        let head = head.replace("{port}", &self.port.to_string());
        write!(stream, "{head}Connection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len()).expect("written");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        (head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status"), body.to_owned())
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost:{{port}}\r\nAuthorization: Bearer {TOKEN}\r\n");
        self.raw(&head, body)
    }

    pub(crate) fn get(&self, path: &str) -> String {
        let (status, body) = self.ask("GET", path, "");
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.get(path)).expect("JSON")
    }

    /// Waits until some calls wait for approval, and returns them.
    pub(crate) fn waiting(&self, count: usize) -> Vec<Value> {
        for _ in 0..600 {
            let all = self.json("/api/waiting")["all"].as_array().expect("a list").clone();
            if all.len() == count {
                return all;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("{count} calls do not wait: {}", self.get("/api/waiting"));
    }
}

/// Returns the values of a counter, by the values of its labels in the order of the label names.
pub(crate) fn counter(metrics: &str, name: &str) -> BTreeMap<Vec<String>, u64> {
    let lines = metrics.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix("_total{"));
    let of_line = |line: &str| {
        let (labels, value) = line.rsplit_once("} ").expect("a value");
        let mut labels: Vec<(String, String)> = labels
            .split("\",")
            .map(|label| label.split_once("=\"").expect("a label"))
            .map(|(name, value)| (name.to_owned(), value.trim_end_matches('"').to_owned()))
            .collect();
        labels.sort();
        (labels.into_iter().map(|(_, value)| value).collect(), value.parse().expect("a number"))
    };
    lines.map(of_line).collect()
}

/// Returns the counts from the journals: decisions by agent, tool and permit, and endings of calls by outcome.
fn counted(runs: &Path) -> (BTreeMap<Vec<String>, u64>, BTreeMap<String, u64>) {
    let (mut decisions, mut ends) = (BTreeMap::new(), BTreeMap::new());
    for run in fs::read_dir(runs).expect("a folder").flatten() {
        for line in fs::read_to_string(run.path().join("journal.ndjson")).unwrap_or_default().lines() {
            let line: Value = serde_json::from_str(line).expect("JSON");
            let record = &line["record"];
            let word = |name: &str| record[name].as_str().unwrap_or_default().to_owned();
            match record["type"].as_str() {
                Some("decision") => {
                    let is_known = record.get("effect").is_some();
                    let tool =
                        if is_known { format!("{}/{}", word("server"), word("tool")) } else { "(unknown)".to_owned() };
                    *decisions.entry(vec!["team".to_owned(), tool, word("permit")]).or_default() += 1;
                }
                Some("observation") => *ends.entry(word("status")).or_default() += 1,
                Some("settled") => *ends.entry(word("code")).or_default() += 1,
                _ => {}
            }
        }
    }
    (decisions, ends)
}

fn profile(key: &str) -> String {
    let tool = |name: &str, effect: &str, permit: Value| json!({"name": name, "server": "s", "effect": effect, "permit": permit});
    json!({
        "agent": "team",
        "approvers": {"owner": [{"principal": "anna", "key": key}, {"principal": "ben"}]},
        "servers": {"s": {"methods": []}},
        "tools": [
            tool("read", "read", json!("allow")),
            tool("fail", "read", json!("deny")),
            tool("send", "effectful", json!({"approval": {"by": ["owner"]}})),
        ],
    })
    .to_string()
}

/// Returns a signed decision about a call. `digest` replaces the digest of the call.
fn signed(key: &SigningKey, call: &Value, decision: &str, principal: &str, digest: Option<&str>) -> String {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let (run, call_key) = (text(&call["run"]), text(&call["ask"]["key"]));
    let digest = digest.map_or_else(|| text(&call["ask"]["digest"]), str::to_owned);
    let exp = call["ask"]["expires"].as_u64().expect("a time").div_ceil(1000);
    let claims = Decision { run: &run, key: &call_key, digest: &digest, decision, principal, exp };
    let token = key.sign(&claims).expect("a token");
    json!({"name": call["name"], "token": token}).to_string()
}

fn new_key(folder: &Path, name: &str) -> (String, SigningKey) {
    let file = folder.join(name);
    let _ = fs::remove_file(&file);
    let public = SigningKey::create(&file).expect("a key");
    (public, SigningKey::read(&file).expect("the key"))
}

#[test]
fn metrics_are_what_the_journals_say_and_signed_decisions_count() {
    let keys = Path::new(env!("CARGO_TARGET_TMPDIR")).join("serve-keys");
    fs::create_dir_all(&keys).expect("a folder");
    let (public, key) = new_key(&keys, "anna");
    let (_, other) = new_key(&keys, "other");
    let mut served = Served::start("serve", TOOLS, &profile(&public));
    let site = Site::start(&served.folder);

    for n in 0..50 {
        served.call_with("read", &json!({"n": n}));
        if n % 5 == 0 {
            served.call_with("fail", &json!({"n": n}));
            served.call_with(&format!("no\"tool\\{n}"), &json!({}));
        }
    }
    for to in ["ann@example.com", "<img src=x onerror=alert(1)>\u{202e}", "third"] {
        served.send("tools/call", json!({"name": "send", "arguments": {"to": to}}));
    }
    let waiting = site.waiting(3);
    let shown = site.json("/api/runs")["all"][0].clone();
    assert_eq!((&shown["agent"], &shown["waiting"]), (&json!("team"), &json!(3)), "{shown}");

    // Another key, digest, principal or run, and a principal without a key, cannot decide.
    let call = &waiting[0];
    let lies = [
        (signed(&other, call, "approved", "anna", None), 403),
        (signed(&key, call, "approved", "anna", Some(&format!("sha256:{}", "0".repeat(64)))), 403),
        (signed(&key, call, "approved", "ben", None), 403),
        (signed(&key, call, "maybe", "anna", None), 403),
        (signed(&key, call, "approved", "anna", None).replace(call["name"].as_str().expect("a name"), "../x"), 409),
        (json!({"name": call["name"], "token": "a.b.c"}).to_string(), 403),
        (json!({"name": call["name"], "token": "x".repeat(40_000)}).to_string(), 413),
        (json!({"name": call["name"]}).to_string(), 400),
        ("{".to_owned(), 400),
    ];
    for (body, expected) in &lies {
        let (status, answer) = site.ask("POST", "/api/decisions", body);
        assert_eq!(status, *expected, "{answer}");
    }
    assert_eq!(site.waiting(3).len(), 3);

    // One call is approved, and a second decision about it is too late. Another call is rejected.
    let approved = signed(&key, call, "approved", "anna", None);
    let (status, answer) = site.ask("POST", "/api/decisions", &approved);
    assert_eq!((status, answer.as_str()), (200, r#"{"decision":"approved","principal":"anna"}"#));
    let (status, _) = site.ask("POST", "/api/decisions", &signed(&key, &waiting[1], "rejected", "anna", None));
    assert_eq!(status, 200);
    site.waiting(1);
    let (status, answer) = site.ask("POST", "/api/decisions", &approved);
    assert!(matches!(status, 403 | 409), "{answer}");
    let texts = [served.answer(), served.answer()].map(|answer| answer.to_string());
    assert!(texts.iter().any(|text| text.contains("ann@example.com")), "{texts:?}");

    let metrics = site.get("/metrics");
    let (decisions, ends) = counted(&served.folder.join("runs"));
    assert_eq!(counter(&metrics, "seamgate_decisions"), decisions, "{metrics}");
    let mut results = BTreeMap::new();
    for (labels, value) in counter(&metrics, "seamgate_results") {
        *results.entry(labels[2].clone()).or_default() += value;
    }
    assert_eq!(results, ends, "{metrics}");
    assert!(decisions.values().sum::<u64>() > 70 && ends["ok"] == 51, "{decisions:?} {ends:?}");
    let approvals = counter(&metrics, "seamgate_approvals");
    let expected =
        [("approved", 1), ("rejected", 1)].map(|(word, count)| (vec![word.to_owned(), "team".to_owned()], count));
    assert_eq!(approvals, BTreeMap::from(expected), "{metrics}");
    assert!(metrics.contains("seamgate_approvals_waiting{gen_ai_agent_name=\"team\"} 1\n"), "{metrics}");
    assert!(metrics.ends_with("# EOF\n") && !metrics.contains("no\\\"tool"), "{metrics}");
    let name = shown["name"].as_str().expect("a name");
    assert!(site.get(&format!("/api/trace?run={name}")).contains("read (read): allowed"));

    // A server that starts later has the same counts. It also finds runs in subfolders, where hooks put them.
    let folder = served.folder.clone();
    served.end();
    let runs = folder.join("runs");
    fs::create_dir_all(runs.join("session")).expect("a folder");
    fs::rename(runs.join(name), runs.join("session").join(name)).expect("moved");
    let later = Site::start(&folder);
    assert_eq!(counter(&later.get("/metrics"), "seamgate_decisions"), decisions);
    assert_eq!(later.json("/api/runs")["all"][0]["name"], json!(format!("session/{name}")));

    // When runs are removed, counters keep their values, and gauges do not.
    fs::remove_dir_all(runs.join("session")).expect("removed");
    let metrics = later.get("/metrics");
    assert_eq!(counter(&metrics, "seamgate_decisions"), decisions);
    assert!(!metrics.contains("seamgate_runs_under_way{") && metrics.contains("seamgate_journals 0\n"), "{metrics}");
}

#[test]
fn only_who_may_ask_gets_an_answer() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("serve-guard");
    fs::create_dir_all(folder.join("runs/not-a-run")).expect("a folder");
    let site = Site::start(&folder);
    let with =
        |host: &str, more: &str, path: &str| site.raw(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{more}"), "");
    let token = format!("Authorization: Bearer {TOKEN}\r\n");
    for path in ["/metrics", "/api/runs", "/api/waiting", "/api/trace?run=.", "/other"] {
        assert_eq!(with("127.0.0.1:{port}", "", path).0, 401, "{path}");
        assert_eq!(with("127.0.0.1:{port}", "Authorization: Bearer 0123456789abcdef0124\r\n", path).0, 401, "{path}");
        assert_eq!(with("evil.example:{port}", &token, path).0, 403, "{path}");
        assert_eq!(
            with("127.0.0.1:{port}", &format!("{token}Origin: https://evil.example\r\n"), path).0,
            403,
            "{path}"
        );
    }
    let statuses = [
        ("GET", "/", 200),
        ("GET", "/page.js", 200),
        ("GET", "/page.css", 200),
        ("GET", "/metrics", 200),
        ("GET", "/api/runs", 200),
        ("GET", "/other", 404),
        ("POST", "/metrics", 405),
        ("GET", "/api/decisions", 405),
        ("GET", "/api/trace", 400),
        ("GET", "/api/trace?run=..%2F..%2Fetc", 404),
        ("GET", "/api/trace?run=not-a-run", 404),
        ("GET", "/api/trace?run=%ff", 400),
    ];
    for (method, path, expected) in statuses {
        let (status, body) = site.ask(method, path, "");
        assert_eq!(status, expected, "{method} {path}: {body}");
    }
}

#[test]
fn what_cannot_be_served_is_an_error() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let site = Site::start(&{
        let folder = folder.join("serve-taken");
        fs::create_dir_all(folder.join("runs")).expect("a folder");
        folder
    });
    let taken = format!("127.0.0.1:{}", site.port);
    let cases: [(&[&str], i32); 5] = [
        (&["serve"], 2),
        (&["serve", "--runs", "missing"], 2),
        (&["serve", "--runs", ".", "--listen", "0.0.0.0:7778"], 2),
        (&["serve", "--runs", ".", "--listen", "127.0.0.1:0", "--token-env", "NO_SUCH_VARIABLE"], 2),
        (&["serve", "--runs", ".", "--listen", &taken], 5),
    ];
    for (arguments, status) in cases {
        let output = seamgate(folder, arguments).output().expect("an end");
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
