//! The gate over HTTP, served by `wasmtime serve` and asked by real requests: all cases, invalid requests, attacks, and
//! concurrent requests. `cargo xtask edge` builds the served component, installs the server, and runs this.

mod client;
mod knee;
mod load;
mod server;

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use seamgate::{Component, Fault, Gate, Limits, Options};
use seamgate_tests::{
    Case, cases,
    hostile::{self, Attack},
};
use serde::Deserialize;
use serde_json::{Value, json};

use client::{Connection, Response, ask, head};
use load::{Asked, CLIENTS, Run};
use server::{SERVED, Server};
use wit_parser::WorldKey;

/// The component to serve, without HTTP.
const BAKED: &str = "target/edge/gate.wasm";

/// This program's own folder.
const HERE: &str = "tests/edge";

/// The longest body that the edge reads.
const MAX_BODY: usize = 8 * 1024 * 1024;

/// The limits that `guest/edge/README.md` recommends: a gate's default limits. The fuel is one number for all requests,
/// the amount that a gate gives to one of 1.8 MB.
const LIMITS: [&str; 7] = [
    "-Wfuel=1000000000",
    "-Wtimeout=5s",
    "-Wmax-memory-size=67108864",
    "-Wmax-wasm-stack=524288",
    "--max-instance-reuse-count=1",
    "--max-concurrent-requests=64",
    "--max-concurrent-connections=512",
];

/// The number of requests over persistent connections, and over new ones.
const REQUESTS: [usize; 2] = [20_000, 4_000];

/// The most additional memory that the server may occupy at the end of a run compared with when a quarter of it was
/// done, in KiB.
const GROWTH: u64 = 8 * 1024;

fn main() -> Result<()> {
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))?;
    let component = Component::from_bytes(fs::read(BAKED)?);
    // Its limits are the server's.
    let limits = Limits::default().fuel(1_000_000_000).fuel_per_byte(0);
    let gate = Gate::with(Options::default().component(component).limits(limits))?;
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|part| part == "knee") {
        return knee::find(&gate, Path::new(&arguments.next().context("the page that gets the result")?));
    }
    only_http()?;
    let mut server = Server::start(&LIMITS)?;

    let cases = all_cases(&server, &gate)?;
    println!("{cases} requests of tests/cases: the same bytes, each with its status");
    let requests = other_requests(&server, &gate)?;
    println!("{requests} further requests, and what is none: each with its status");
    let (attacks, ended) = all_attacks(&mut server, &gate)?;
    println!(
        "{attacks} requests of tests/hostile: the same bytes, or no answer where the gate has none, {ended} times"
    );
    let limits = passed_limits(&gate)?;
    println!("{limits}");
    let examples = examples(&gate)?;
    let mut runs = Vec::new();
    for (requests, kept) in REQUESTS.into_iter().zip([true, false]) {
        // Before it counts, everything that is made once is made.
        load::run(&server, &examples, requests / 10, kept)?;
        let run = load::run(&server, &examples, requests, kept)?;
        println!("{requests} requests, {}: {:.0} s", run.how, run.seconds);
        server.runs()?;
        let (settled, end) = (run.memory[1], run.memory[4]);
        ensure!(end <= settled + GROWTH, "{}: the server grew from {settled} to {end} KiB", run.how);
        runs.push(run);
    }
    let table = table(&runs);
    println!("\n{table}");
    let asked = [cases, requests, attacks];
    fs::write(Path::new(HERE).join("README.md"), readme(asked, ended, &table, &limits))?;
    Ok(())
}

/// Checks that the served component can reach nothing but its request.
fn only_http() -> Result<()> {
    let decoded = wit_component::decode(&fs::read(SERVED)?)?;
    let wit_component::DecodedWasm::Component(resolve, world) = decoded else {
        anyhow::bail!("{SERVED} is no component");
    };
    let world = &resolve.worlds[world];
    let names = |items: &mut dyn Iterator<Item = &WorldKey>| -> Vec<String> {
        let mut names: Vec<String> = items.map(|key| resolve.name_world_key(key)).collect();
        names.iter_mut().for_each(|name| name.truncate(name.find('@').unwrap_or(name.len())));
        names.sort();
        names
    };
    let imports = names(&mut world.imports.keys());
    ensure!(imports == ["wasi:http/types", "wasi:io/error", "wasi:io/poll", "wasi:io/streams"], "imports: {imports:?}");
    let exports = names(&mut world.exports.keys());
    ensure!(exports == ["wasi:http/incoming-handler"], "exports: {exports:?}");
    Ok(())
}

/// Returns the status that an answer must have, by what it says.
fn status(answer: &str) -> Result<u16> {
    // The rest of it may be deeply nested.
    #[derive(Deserialize)]
    struct Answer {
        fault: Option<Word>,
    }
    #[derive(Deserialize)]
    struct Word {
        fault: String,
    }
    let answer: Answer = serde_json::from_str(answer)?;
    Ok(match answer.fault.as_ref().map(|word| word.fault.as_str()) {
        None => 200,
        Some("bad_request") => 400,
        Some("sealed") => 403,
        Some("unknown_agent") => 404,
        Some("bad_contract") => 422,
        Some(other) => anyhow::bail!("no status for {other}"),
    })
}

/// Compares a response with what the gate answers to the same request.
fn same(response: &Response, gate: &Gate, request: &str) -> Result<()> {
    let expected = gate.call(request)?.json;
    ensure!(response.body == expected, "not the same bytes:\n  {expected}\n  {}", response.body);
    let status = status(&expected)?;
    ensure!(response.status == status, "{} and not {status}: {expected}", response.status);
    let kind = response.header("content-type");
    ensure!(kind == Some("application/json"), "content-type: {kind:?}");
    Ok(())
}

fn all_cases(server: &Server, gate: &Gate) -> Result<usize> {
    let cases: Vec<Case> = cases()?.iter().flat_map(Case::attempts).collect();
    let mut connection = Connection::open(server.address)?;
    for case in &cases {
        let request = case.wire_request();
        let response = connection.ask("POST", "/", request.as_bytes()).with_context(|| case.name.clone())?;
        same(&response, gate, &request).with_context(|| case.name.clone())?;
    }
    Ok(cases.len())
}

/// Returns the outputs beside the example contracts, each judged by the contract that is served.
fn examples(gate: &Gate) -> Result<Vec<Asked>> {
    let mut examples = Vec::new();
    let mut files: Vec<_> = fs::read_dir("schemas/examples/outputs")?.collect::<std::io::Result<_>>()?;
    files.sort_by_key(fs::DirEntry::file_name);
    for file in files {
        let name = file.file_name().to_string_lossy().into_owned();
        let agent = name.split('.').next().unwrap_or_default();
        let output = String::from_utf8_lossy(&fs::read(file.path())?).into_owned();
        let request = json!({ "id": name, "agent": agent, "output": output }).to_string();
        let answer = gate.call(&request)?.json;
        ensure!(status(&answer)? == 200, "{name}: {answer}");
        examples.push(Asked { request, answer });
    }
    ensure!(!examples.is_empty(), "there are no examples");
    Ok(examples)
}

/// Returns a request with an output that holds a list of this many numbers, and a contract that accepts it.
fn numbers(count: usize) -> String {
    let output = vec!["1"; count].join(",");
    let contract = json!({
        "agent": "numbers",
        "schema": { "type": "array", "items": { "type": "integer" } },
        "caps": { "bytes": MAX_BODY, "array_items": 1_000_000 },
    });
    json!({ "contract": contract, "output": format!("[{output}]") }).to_string()
}

/// Sends requests for something else than a verdict, and invalid requests.
fn other_requests(server: &Server, gate: &Gate) -> Result<usize> {
    let mut asked = 0;
    // The answer of the gate, in its own words.
    let mut long = json!({ "agent": "triage", "output": "[".repeat(1000) }).to_string();
    long.push_str(&" ".repeat(MAX_BODY - long.len()));
    let requests = [
        "",
        "[]",
        "{\"output\":1}",
        "{\"agent\":\"triage\",\"output\":\"{\"",
        "{\"agent\":\"nobody\",\"output\":\"{}\"}",
        "{\"contract\":{},\"output\":\"{}\"}",
        "{\"op\":\"names\"}",
        "{\"op\":\"has\",\"agent\":\"triage\"}",
        "{\"op\":\"contract\",\"agent\":\"triage\"}",
        "{\"op\":\"describe\",\"agent\":\"tool-result\"}",
        "{\"op\":\"lint\",\"contract\":{\"agent\":\"a\",\"schema\":{}}}",
        "{\"op\":\"push\",\"agent\":\"triage\",\"chunk\":\"```json\\n{\"}",
        "{\"op\":\"merge\",\"agent\":\"triage\",\"reports\":[]}",
        "{\"op\":\"register\",\"contract\":{\"agent\":\"a\",\"schema\":{}}}",
        "{\"op\":\"seal\"}",
        // The caller may choose any `id`, so it is never a fault.
        "{\"id\":{\"fault\":{\"fault\":\"sealed\"}},\"op\":\"names\"}",
        "{\"id\":\",\\\"fault\\\":{\\\"fault\\\":\\\"sealed\\\"\",\"op\":\"names\"}",
        "{\"id\":[\"]\\\\\",{},[[\"\\\"\"]]],\"agent\":\"nobody\",\"output\":\"\"}",
        &numbers(100_000),
        &long,
    ];
    for request in requests {
        let shown: String = request.chars().take(80).collect();
        let response = ask(server.address, "POST", "/", request.as_bytes()).with_context(|| shown.clone())?;
        same(&response, gate, request).with_context(|| shown)?;
        asked += 1;
    }
    let names = "{\"op\":\"names\"}";
    same(&ask(server.address, "GET", "/", b"")?, gate, names).context("GET")?;
    same(&ask(server.address, "POST", "/?trace=1", names.as_bytes())?, gate, names).context("POST with a query")?;
    asked += 2;

    // Requests that only the edge answers: the method and path, the body, and the expected status, fault and message.
    let too_long = format!("content-length: {}\r\n", MAX_BODY + 1);
    let chunked = [b"10000\r\n".as_slice(), &[b' '; 0x10000], b"\r\n"].concat().repeat(MAX_BODY / 0x10000 + 1);
    let chunked = [head("POST", "/", "transfer-encoding: chunked\r\n"), chunked, b"0\r\n\r\n".to_vec()].concat();
    let bytes = [head("POST", "/", "content-length: 13\r\n"), b"{\"id\":\"\xc3\xa9\xff\xff\"}".to_vec()].concat();
    let own = [
        (bytes, 400, "bad_request", "the request is not UTF-8 at byte 9"),
        (head("PUT", "/", "content-length: 0\r\n"), 405, "bad_request", "method: must be POST"),
        (head("DELETE", "/", ""), 405, "bad_request", "method: must be POST"),
        (head("HACK", "/", ""), 405, "bad_request", "method: must be POST"),
        (head("POST", "/check", "content-length: 0\r\n"), 404, "bad_request", "path: must be \"/\""),
        (head("GET", "//", ""), 404, "bad_request", "path: must be \"/\""),
        // Nothing of it is sent.
        (head("POST", "/", &too_long), 413, "input_too_large", "the request has more than 8388608 bytes"),
        (chunked, 413, "input_too_large", "the request has more than 8388608 bytes"),
    ];
    for (request, status, fault, message) in own {
        let line = String::from_utf8_lossy(&request).lines().next().unwrap_or_default().to_owned();
        let mut connection = Connection::open(server.address)?;
        connection.send(&request)?;
        let response = connection.receive().with_context(|| format!("{line}: {message}"))?;
        let answer: Value = serde_json::from_str(&response.body).with_context(|| format!("{line}: {response:?}"))?;
        let said = answer["fault"]["message"].as_str().unwrap_or_default();
        let expected = response.status == status
            && answer["fault"]["fault"] == fault
            && said.contains(message)
            && answer["id"].is_null();
        ensure!(expected, "{line}: {response:?}");
        let allow = response.header("allow");
        ensure!(allow == (status == 405).then_some("GET, POST"), "{line}: allow: {allow:?}");
        asked += 1;
    }
    Ok(asked)
}

/// Sends all attacks of `tests/hostile`. If the gate has no verdict within its limits, the server must have none
/// either. Returns how many there were.
fn all_attacks(server: &mut Server, gate: &Gate) -> Result<(usize, usize)> {
    let attacks = hostile::attacks()?;
    let mut ended = 0;
    for attack in &attacks {
        let request = wire(attack);
        let mut connection = Connection::open(server.address)?;
        connection.send(&head("POST", "/", &format!("content-length: {}\r\n", request.len())))?;
        // A body that is too long is answered before it arrives.
        if request.len() <= MAX_BODY {
            connection.send(request.as_bytes())?;
        }
        let response = connection.receive().with_context(|| attack.name.clone())?;
        let expected = match gate.call(&request) {
            Ok(_) => {
                same(&response, gate, &request).with_context(|| attack.name.clone())?;
                continue;
            }
            Err(Fault::InputTooLarge { .. }) => 413,
            Err(_) => 500,
        };
        ensure!(response.status == expected, "{}: {} and not {expected}", attack.name, response.status);
        ended += 1;
    }
    server.runs()?;
    Ok((attacks.len(), ended))
}

/// Returns an attack as one request.
fn wire(attack: &Attack) -> String {
    match &attack.asked {
        hostile::Asked::Verdict { contract, output } => {
            format!("{{\"contract\":{contract},\"output\":{}}}", Value::from(output.as_str()))
        }
        hostile::Asked::Wire { request } => request.clone(),
    }
}

/// Exceeds each limit of the server with a request, and checks that the next request is answered as before. Returns the
/// results as a table.
fn passed_limits(gate: &Gate) -> Result<String> {
    let mut seen = "| limit | request | answer | longest of three |\n| --- | --- | --- | ---: |\n".to_owned();
    let mut limit = |flags: &[&str], what: &str, attack: &dyn Fn(&mut Connection) -> Result<()>| -> Result<()> {
        let mut server = Server::start(flags)?;
        // Three times: what is left behind by one would show in the next.
        let mut took = Duration::ZERO;
        let mut outcome = String::new();
        for _ in 0..3 {
            let start = Instant::now();
            let mut connection = Connection::open(server.address)?;
            attack(&mut connection)?;
            outcome = match connection.receive() {
                Ok(response) => response.status.to_string(),
                Err(_) => "the connection is closed".to_owned(),
            };
            ensure!(outcome != "200", "{what} was answered in spite of {}", flags.join(" "));
            took = took.max(start.elapsed());
            let names = "{\"op\":\"names\"}";
            same(&ask(server.address, "POST", "/", names.as_bytes())?, gate, names).context(what.to_owned())?;
        }
        server.runs()?;
        seen.push_str(&format!("| `{}` | {what} | {outcome} | {:.2} s |\n", flags.join(" "), took.as_secs_f64()));
        Ok(())
    };
    let post = |request: String| {
        move |connection: &mut Connection| {
            let length = format!("content-length: {}\r\n", request.len());
            connection.send(&[head("POST", "/", &length), request.clone().into_bytes()].concat())
        }
    };
    let doubling = wire(&hostile::named("fuel/reference-doubling-unevaluated")?);
    limit(&["-Wfuel=100000000"], "a schema of 2^40 steps", &post(doubling.clone()))?;
    limit(&["-Wtimeout=300ms"], "a schema of 2^40 steps", &post(doubling))?;
    limit(&["-Wmax-memory-size=8388608"], "a request of 6 MB", &post(numbers(3_000_000)))?;
    limit(&["-Wtimeout=1s"], "a body that never arrives", &|connection| {
        connection.send(&head("POST", "/", "content-length: 100\r\n"))
    })?;
    limit(&["-Wtimeout=1s"], "a body that breaks off", &|connection| {
        connection.send(&[head("POST", "/", "content-length: 100\r\n"), b"{\"id\"".to_vec()].concat())?;
        connection.end()
    })?;

    // Connections that say nothing hold nobody up, as long as there are others.
    let server = Server::start(&["-Wtimeout=1s", "--max-concurrent-connections=64"])?;
    let idle: Vec<Connection> = (0..60).map(|_| Connection::open(server.address)).collect::<Result<_>>()?;
    thread::sleep(Duration::from_millis(100));
    same(&ask(server.address, "GET", "/", b"")?, gate, "{\"op\":\"names\"}").context("beside idle connections")?;
    drop(idle);

    // More at once than are let in: they wait.
    let server = Server::start(&["--max-concurrent-requests=2"])?;
    load::run(&server, &examples(gate)?, 400, true).context("two requests at once")?;
    seen.push_str(&format!("| `--max-concurrent-requests=2` | {CLIENTS} clients at once | 200, for all | |\n"));
    Ok(seen)
}

fn table(runs: &[Run]) -> String {
    let mut table =
        "| | requests | a second | p50 | p99 | longest | server's memory, at the start and after each quarter |\n"
            .to_owned();
    table.push_str("| --- | ---: | ---: | ---: | ---: | ---: | --- |\n");
    for run in runs {
        let memory: Vec<String> = run.memory.iter().map(|kib| format!("{:.1}", *kib as f64 / 1024.0)).collect();
        table.push_str(&format!(
            "| {} | {} | {:.0} | {:.1} ms | {:.1} ms | {:.1} ms | {} MiB |\n",
            run.how,
            run.requests,
            run.throughput(),
            run.percentile(50),
            run.percentile(99),
            run.percentile(100),
            memory.join(", "),
        ));
    }
    table
}

/// Describes this machine and its load.
fn machine() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("unknown processor", |(_, model)| model);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    format!("{cores} × {model}, load {load}")
}

fn readme([cases, requests, attacks]: [usize; 3], ended: usize, table: &str, limits: &str) -> String {
    let machine = machine();
    let recommended = LIMITS.join("\n");
    format!(
        "# The gate over HTTP

`cargo xtask edge` writes this page. It composes `guest/edge` with a validator that holds `schemas/examples`. `wasmtime serve` serves
the result on loopback, and the test sends real requests. The served component imports only `wasi:http/types` and `wasi:io`. The
command builds the server from its crate; `tests/sources/wasmtime-cli` pins it by version and digest.

The server runs with these flags:

```
{recommended}
```

- All cases of `tests/cases`, {cases} requests: each body has the bytes of the library's answer, and its status.
- {requests} further requests: other operations, and bodies that are not requests. Each has its status, fault and message.
- All attacks of `tests/hostile`, {attacks} requests: the same bytes as from a gate with the same limits. Without an answer from
  the gate, the server gives none either: {ended} times the status is 500, or 413 for a request over 8 MiB.

## Under load

{CLIENTS} clients send the outputs of `schemas/examples/outputs` at the same time. No request may fail, and each answer must be right,
byte for byte. A run may take a minute. Memory is the server's resident set, at the start and after each quarter of the requests. The
run fails if it ends more than {} MiB over the first quarter. It includes what Wasmtime used to compile the component. Clients and server share {machine}.

{table}
## Exceeded limits

Each row has its own server, and three attempts. After each, the server answers the next request as before. A 500 is Wasmtime's, with
an HTML page as its body.

{limits}",
        GROWTH / 1024
    )
}
