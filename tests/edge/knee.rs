//! Finds how many requests a second are too many: they are sent at a rate, whether or not earlier ones were answered.

use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow, ensure};
use seamgate::Gate;
use serde_json::json;

use crate::{
    LIMITS,
    client::Connection,
    load::{self, Asked},
    machine,
    server::Server,
};

/// Connections that are kept. A request waits for one that is free, and its time counts from when it was due.
const CONNECTIONS: usize = 64;

/// The time for which each rate is held.
const HELD: Duration = Duration::from_secs(8);

/// The rates, in percent of what a few clients get who ask as soon as they are answered.
const RATES: [usize; 11] = [10, 25, 40, 50, 60, 70, 80, 90, 100, 120, 150];

/// A rate is too high if p99 is more than this many times the lowest p50, or where less than this part of it is
/// answered in its time.
const SLOWER: f64 = 20.0;
const ANSWERED: f64 = 0.98;

/// The part of the server that a sizing leaves free.
const SPARE: f64 = 0.4;

/// One rate, held.
struct Held {
    percent: usize,
    asked: f64,
    answered: f64,
    /// In ms.
    p50: f64,
    p99: f64,
    longest: f64,
    /// The server's time on the processor for a request, in ms.
    cpu: f64,
}

/// A kind of request and its measurements.
struct Load {
    what: &'static str,
    bytes: usize,
    held: Vec<Held>,
    /// The highest rate that was not too high.
    knee: usize,
    memory: u64,
}

/// Finds the knee for small, ordinary and long outputs, and writes the tables to a page.
pub(crate) fn find(gate: &Gate, page: &Path) -> Result<()> {
    let read =
        |name: &str| fs::read_to_string(Path::new("schemas/examples/outputs").join(name)).context(name.to_owned());
    let prose = "The queue has more issues than yesterday, and I looked at each of them before I ranked them. ";
    let long = format!("{}\n{}", prose.repeat(64 * 1024 / prose.len()), read("triage.good.txt")?);
    let outputs = [
        ("0.3 KB: an answer of a tool", "tool-result", read("tool-result.good.txt")?),
        ("2 KB: a list, an item of which is broken", "triage", read("triage.partial-one-broken.txt")?),
        ("64 KB: prose, and a list at its end", "triage", long),
    ];
    let mut loads = Vec::new();
    for (what, agent, output) in outputs {
        let request = json!({ "agent": agent, "output": output }).to_string();
        let answer = gate.call(&request)?.json;
        println!("{what}: {}", answer.chars().take(60).collect::<String>());
        loads.push(measure(what, output.len(), &[Asked { request, answer }])?);
    }
    let text = tables(&loads);
    println!("{text}");
    write(page, &text)
}

fn measure(what: &'static str, bytes: usize, asked: &[Asked]) -> Result<Load> {
    let mut server = Server::start(&LIMITS)?;
    load::run(&server, asked, 800, true)?;
    let most = load::run(&server, asked, 4000, true)?.throughput();
    let mut held = Vec::new();
    for percent in RATES {
        let rate = most * percent as f64 / 100.0;
        let one = hold(&server, asked, percent, rate)?;
        println!("{what}: {percent} %, {rate:.0} a second: p99 {:.1} ms", one.p99);
        held.push(one);
    }
    server.runs()?;
    let level = held.iter().map(|one| one.p50).fold(f64::INFINITY, f64::min);
    // Other work on the machine may disturb a lower rate.
    let knee = held.iter().rposition(|one| one.answered >= ANSWERED * one.asked && one.p99 <= SLOWER * level);
    let knee = knee.unwrap_or_default();
    Ok(Load { what, bytes, held, knee, memory: server.memory()? })
}

/// Asks at a rate for a while.
fn hold(server: &Server, asked: &[Asked], percent: usize, rate: f64) -> Result<Held> {
    let count = (rate * HELD.as_secs_f64()) as usize;
    let next = AtomicUsize::new(0);
    let cpu = server.cpu()?;
    let begun = Instant::now();
    let ask = || -> Result<Vec<f64>> {
        let mut connection = Connection::open(server.address)?;
        let mut latencies = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let (false, Some(Asked { request, answer })) = (number >= count, asked.get(number % asked.len().max(1)))
            else {
                return Ok(latencies);
            };
            let due = Duration::from_secs_f64(number as f64 / rate);
            thread::sleep(due.saturating_sub(begun.elapsed()));
            let response = connection.ask("POST", "/", request.as_bytes())?;
            latencies.push((begun.elapsed().saturating_sub(due)).as_secs_f64() * 1e3);
            ensure!(response.status == 200 && response.body == *answer, "{}: {}", response.status, response.body);
        }
    };
    let all: Vec<Result<Vec<f64>>> = thread::scope(|scope| {
        let clients: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(ask)).collect();
        let joined = clients.into_iter().map(|client| client.join());
        joined.map(|result| result.unwrap_or_else(|_| Err(anyhow!("a client panicked")))).collect()
    });
    let seconds = begun.elapsed().as_secs_f64();
    let mut latencies = all.into_iter().collect::<Result<Vec<_>>>()?.concat();
    latencies.sort_by(f64::total_cmp);
    let at = |percent: usize| latencies[(latencies.len() * percent).div_ceil(100).max(1) - 1];
    ensure!(!latencies.is_empty(), "a rate of {rate} a second asks nothing");
    Ok(Held {
        percent,
        asked: rate,
        answered: count as f64 / seconds,
        p50: at(50),
        p99: at(99),
        longest: at(100),
        cpu: (server.cpu()? - cpu).as_secs_f64() * 1e3 / count as f64,
    })
}

fn tables(loads: &[Load]) -> String {
    let mut text = format!(
        "Requests come at a rate for {} s, over {CONNECTIONS} connections that are kept. A latency counts from when a request was due. 100 % is what 8\n\
         clients get who ask as soon as they are answered. The knee, in bold, is the highest rate at which p99 is at most {SLOWER:.0} times the\n\
         lowest p50, and which is answered in its time. Each answer was compared byte for byte. Clients and server share {}.\n",
        HELD.as_secs(),
        machine()
    );
    for Load { what, held, knee, .. } in loads {
        text.push_str(&format!(
            "\n| {what} | a second | answered | p50 | p99 | longest | server's processor a request |\n"
        ));
        text.push_str("| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
        for (at, one) in held.iter().enumerate() {
            let bold = if at == *knee { "**" } else { "" };
            text.push_str(&format!(
                "| {bold}{} %{bold} | {bold}{:.0}{bold} | {:.0} | {:.1} ms | {bold}{:.1} ms{bold} | {:.1} ms | {:.2} ms |\n",
                one.percent, one.asked, one.answered, one.p50, one.p99, one.longest, one.cpu
            ));
        }
    }
    text.push_str(&format!(
        "\nCores for so many requests a second, {:.0} % of each left free: from the processor time at the knee. Memory is the server's, with {CONNECTIONS}\n\
         connections.\n\n| outputs of | processor a request | 100 a second | 1,000 a second | 10,000 a second | memory |\n\
         | --- | ---: | ---: | ---: | ---: | ---: |\n",
        SPARE * 100.0
    ));
    for Load { what, bytes, held, knee, memory } in loads {
        let cpu = held.get(*knee).map_or(0.0, |one| one.cpu);
        let cores = |rate: f64| format!("{:.1}", rate * cpu / 1e3 / (1.0 - SPARE));
        text.push_str(&format!(
            "| {what} ({bytes} bytes) | {cpu:.2} ms | {} | {} | {} | {} MiB |\n",
            cores(100.0),
            cores(1e3),
            cores(1e4),
            memory / 1024
        ));
    }
    text
}

/// Puts a text on a page, between its marks.
fn write(page: &Path, text: &str) -> Result<()> {
    let [begin, end] = ["<!-- service -->", "<!-- /service -->"];
    let whole = fs::read_to_string(page)?;
    let (before, rest) = whole.split_once(begin).with_context(|| format!("the page has no {begin}"))?;
    let (_, after) = rest.split_once(end).with_context(|| format!("the page has no {end}"))?;
    Ok(fs::write(page, format!("{before}{begin}\n\n{}\n\n{end}{after}", text.trim_end()))?)
}
