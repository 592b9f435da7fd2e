//! Data that `seamgate serve` sends to other servers: metrics and traces as OTLP, and notifications as signed webhooks.
#![cfg(unix)]

use std::{
    collections::BTreeMap,
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::Command,
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{
    serve::{Site, counter},
    served::{Served, seamgate},
};

const TOOLS: &str = r#"
TOOLS = ["read", "send"]
def call(name, arguments): return dict(type="text", text=str(arguments))
"#;

/// The timeout for expected requests.
const LIMIT: Duration = Duration::from_secs(60);

/// A request that a server received.
#[derive(Debug)]
struct Got {
    path: String,
    headers: BTreeMap<String, String>,
    body: String,
}

/// Serves one request for each connection, first with these statuses and then with 200. Returns a receiver of the
/// requests.
fn receiver(listener: TcpListener, statuses: &'static [u16]) -> Receiver<Got> {
    let (sender, got) = channel();
    thread::spawn(move || {
        let mut statuses = statuses.iter();
        for stream in listener.incoming() {
            let Some(request) = request(stream.expect("a connection"), *statuses.next().unwrap_or(&200)) else {
                continue;
            };
            if sender.send(request).is_err() {
                return;
            }
        }
    });
    got
}

fn request(mut stream: TcpStream, status: u16) -> Option<Got> {
    let mut bytes = Vec::new();
    let end = loop {
        let mut piece = [0; 4096];
        let length = stream.read(&mut piece).ok().filter(|length| *length > 0)?;
        bytes.extend_from_slice(&piece[..length]);
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).expect("ASCII");
    let mut lines = head.lines();
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers["content-length"].parse().expect("a number");
    let mut body = bytes.split_off(end + 4);
    let rest = body.len();
    body.resize(length, 0);
    stream.read_exact(&mut body[rest..]).ok()?;
    write!(stream, "HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").ok()?;
    Some(Got { path, headers, body: String::from_utf8(body).expect("UTF-8") })
}

fn listener() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    (listener, url)
}

fn profile() -> String {
    let tool = |name: &str, effect: &str, permit: Value| json!({"name": name, "server": "s", "effect": effect, "permit": permit});
    let approval = json!({"approval": {"by": ["owner"]}});
    json!({
        "agent": "team",
        "approvers": {"owner": [{"principal": "anna"}]},
        "servers": {"s": {"methods": []}},
        "tools": [tool("read", "read", json!("allow")), tool("send", "effectful", approval)],
    })
    .to_string()
}

/// Returns the data points of a pushed metric, by the values of their attributes in the order of the attribute names.
fn points(pushed: &Value, name: &str, kind: &str) -> BTreeMap<Vec<String>, Value> {
    let metrics = pushed["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().expect("metrics");
    let metric = metrics.iter().find(|metric| metric["name"] == name);
    let points = metric.map_or(&[][..], |metric| metric[kind]["dataPoints"].as_array().expect("points"));
    let of_point = |point: &Value| {
        let word = |value: &Value| value.as_str().expect("a text").to_owned();
        let attributes = point["attributes"].as_array().expect("attributes").iter();
        let mut labels: Vec<_> =
            attributes.map(|pair| (word(&pair["key"]), word(&pair["value"]["stringValue"]))).collect();
        labels.sort();
        (labels.into_iter().map(|(_, value)| value).collect(), point.clone())
    };
    points.iter().map(of_point).collect()
}

#[test]
fn collector_gets_what_metrics_say_and_the_traces_of_runs_that_end() {
    let mut served = Served::start("push-otlp", TOOLS, &profile());
    let (socket, url) = listener();
    // No thread accepts connections yet, so the first requests fail.
    let otlp = format!("{url}/");
    let variables = [("OTEL_METRIC_EXPORT_INTERVAL", "200"), ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=a%20b,x-other=c")];
    let site = Site::start_with(&served.folder, &["--otlp", &otlp], &variables);
    for n in 0..20 {
        served.call_with("read", &json!({"n": n}));
        served.call_with(&format!("no tool {n}"), &json!({}));
    }
    let got = receiver(socket, &[503, 503, 429]);
    let metrics = site.get("/metrics");
    let decisions = counter(&metrics, "seamgate_decisions");
    assert_eq!(decisions.values().sum::<u64>(), 40, "{metrics}");
    let start = Instant::now();
    let pushed = loop {
        assert!(start.elapsed() < LIMIT, "the collector does not get all decisions");
        let request = got.recv_timeout(LIMIT).expect("a request");
        assert_eq!(request.path, "/v1/metrics");
        assert_eq!((&*request.headers["x-key"], &*request.headers["content-type"]), ("a b", "application/json"));
        let pushed: Value = serde_json::from_str(&request.body).expect("JSON");
        let counts: BTreeMap<Vec<String>, u64> = points(&pushed, "seamgate_decisions", "sum")
            .into_iter()
            .map(|(labels, point)| (labels, point["asInt"].as_str().expect("a text").parse().expect("a number")))
            .collect();
        if counts == decisions {
            break pushed;
        }
    };
    let durations = points(&pushed, "gen_ai.execute_tool.duration", "histogram");
    let point = &durations[&vec!["team".to_owned(), "s/read".to_owned()]];
    let line = "gen_ai_execute_tool_duration_seconds_sum{gen_ai_agent_name=\"team\",gen_ai_tool_name=\"s/read\"} ";
    let sum = metrics.lines().find_map(|found| found.strip_prefix(line)).expect("a sum");
    assert_eq!(point["count"], "20");
    assert!((point["sum"].as_f64().expect("a number") - sum.parse::<f64>().expect("a number")).abs() < 1e-9, "{point}");
    let buckets = point["bucketCounts"].as_array().expect("counts").iter();
    let all: u64 = buckets.map(|count| count.as_str().expect("a text").parse::<u64>().expect("a number")).sum();
    assert_eq!((all, point["explicitBounds"].as_array().map(Vec::len)), (20, Some(14)), "{point}");
    assert_eq!(points(&pushed, "seamgate_journals", "gauge")[&Vec::new()]["asInt"], "1");

    let folder = served.folder.clone();
    served.end();
    let start = Instant::now();
    let trace = loop {
        assert!(start.elapsed() < LIMIT, "the trace does not come");
        let request = got.recv_timeout(LIMIT).expect("a request");
        if request.path == "/v1/traces" {
            break request.body;
        }
    };
    let run = fs::read_dir(folder.join("runs")).expect("a folder").flatten().next().expect("a run").path();
    let file = folder.join("spans.json");
    let arguments = ["trace", run.to_str().expect("UTF-8"), "--otlp", file.to_str().expect("UTF-8")];
    assert!(seamgate(&folder, &arguments).status().expect("an end").success());
    assert_eq!(trace.trim(), fs::read_to_string(file).expect("spans").trim());
    let said = fs::read_to_string(folder.join("serve.log")).expect("a log");
    assert_eq!(said.matches("--otlp: metrics: ").count(), 2, "a failure and the end of it are told once: {said}");
    assert_eq!(site.get("/metrics").lines().last(), Some("# EOF"));
}

#[test]
fn webhook_has_a_signature_and_no_arguments() {
    let mut served = Served::start("push-webhook", TOOLS, &profile());
    let (socket, url) = listener();
    let got = receiver(socket, &[500, 200]);
    let url = format!("{url}/hook");
    let key = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let secret = format!("whsec_{key}");
    let more = ["--webhook", &url, "--page-url", "https://approve.example.com/", "--webhook-secret-env", "S"];
    let site = Site::start_with(&served.folder, &more, &[("S", &secret)]);
    served.send("tools/call", json!({"name": "send", "arguments": {"to": "ann@example.com"}}));
    let waiting = site.waiting(1);
    let [first, second] = [(); 2].map(|()| got.recv_timeout(LIMIT).expect("a notice"));
    assert_eq!(first.path, "/hook");
    assert_eq!(first.headers["webhook-id"], second.headers["webhook-id"], "a retry has the same id");
    assert_eq!(first.body, second.body);
    for notice in [&first, &second] {
        let header = |name: &str| notice.headers[name].clone();
        let check = "import base64, hashlib, hmac, sys; key, signed = sys.argv[1:]; \
                     print('v1,' + base64.b64encode(hmac.new(base64.b64decode(key), signed.encode(), hashlib.sha256).digest()).decode())";
        let signed = format!("{}.{}.{}", header("webhook-id"), header("webhook-timestamp"), notice.body);
        let output = Command::new("python3").args(["-c", check, key, &signed]).output().expect("a signature");
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), header("webhook-signature"));
    }
    let notice: Value = serde_json::from_str(&second.body).expect("JSON");
    let (data, call) = (&notice["data"], &waiting[0]);
    assert_eq!(notice["type"], "approval.waiting");
    let expected = json!({
        "run": call["run"],
        "name": call["name"],
        "agent": "team",
        "tool": "s/send",
        "key": call["ask"]["key"],
        "expires": call["ask"]["expires"],
        "page": "https://approve.example.com/",
    });
    assert_eq!(*data, expected);
    assert!(!second.body.contains("ann@example.com"), "{}", second.body);
    // Each call causes one notification.
    assert!(got.recv_timeout(Duration::from_secs(5)).is_err());
    served.send("tools/call", json!({"name": "send", "arguments": {"to": "ben@example.com"}}));
    let third = got.recv_timeout(LIMIT).expect("a notice");
    assert_ne!(third.headers["webhook-id"], first.headers["webhook-id"]);
    served.end();
}

#[test]
fn wrong_addresses_and_secrets_are_usage_errors() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let long = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    // Arguments, environment variables, and the expected error.
    type Case<'c> = (&'c [&'c str], &'c [(&'c str, &'c str)], &'c str);
    let cases: [Case; 7] = [
        (&["--otlp", "http://collector.example.com:4318"], &[], "http is for this machine only"),
        (&["--otlp", "127.0.0.1:4318"], &[], "--otlp"),
        (&["--otlp", "http://127.0.0.1:4318"], &[("OTEL_EXPORTER_OTLP_HEADERS", "key")], "NAME=VALUE"),
        (&["--otlp", "http://127.0.0.1:4318"], &[("OTEL_METRIC_EXPORT_INTERVAL", "1")], "milliseconds"),
        (&["--webhook", "http://127.0.0.1:1/"], &[], "SEAMGATE_WEBHOOK_SECRET must have"),
        (&["--webhook", "ftp://127.0.0.1/"], &[("SEAMGATE_WEBHOOK_SECRET", long)], "--webhook"),
        (&["--page-url", "https://a.example/"], &[], "--webhook"),
    ];
    for (more, variables, expected) in cases {
        let arguments = [&["serve", "--runs", ".", "--listen", "127.0.0.1:0"][..], more].concat();
        let output = seamgate(folder, &arguments).envs(variables.iter().copied()).output().expect("an end");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{more:?}: {said}");
        assert!(said.contains(expected), "{more:?}: {said}");
    }
}
