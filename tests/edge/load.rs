//! Many requests on loopback: none may fail, and the server's memory may not grow.

use std::{
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, anyhow, ensure};

use crate::{
    client::{Connection, Response},
    server::Server,
};

/// The number of concurrent clients.
pub(crate) const CLIENTS: usize = 8;

/// A run that takes longer has failed. Four runs take 25 s on two idle cores.
const DEADLINE: Duration = Duration::from_secs(60);

/// A request, and the body that must come back.
pub(crate) struct Asked {
    pub(crate) request: String,
    pub(crate) answer: String,
}

/// The result of a run.
pub(crate) struct Run {
    pub(crate) how: &'static str,
    pub(crate) requests: usize,
    pub(crate) seconds: f64,
    /// In order, in seconds.
    latencies: Vec<f64>,
    /// The server's memory when each quarter was done, in KiB; before them, at the start.
    pub(crate) memory: Vec<u64>,
}

impl Run {
    pub(crate) fn throughput(&self) -> f64 {
        self.requests as f64 / self.seconds
    }

    /// Returns the latency in ms that this percentage of requests does not exceed.
    pub(crate) fn percentile(&self, percent: usize) -> f64 {
        let at = (self.latencies.len() * percent).div_ceil(100).max(1) - 1;
        self.latencies.get(at).copied().unwrap_or_default() * 1e3
    }
}

/// Sends this many requests, over persistent connections or over a new one each.
pub(crate) fn run(server: &Server, asked: &[Asked], requests: usize, kept: bool) -> Result<Run> {
    let how = if kept { "connections kept" } else { "a connection each" };
    let start = Instant::now();
    let mut latencies = Vec::with_capacity(requests);
    let mut memory = vec![server.memory()?];
    for _ in 0..4 {
        let clients: Vec<Result<Vec<f64>>> = thread::scope(|scope| {
            let clients: Vec<_> = (0..CLIENTS)
                .map(|client| scope.spawn(move || ask(server, asked, client, requests / 4 / CLIENTS, kept, start)))
                .collect();
            let joined = clients.into_iter().map(|client| client.join());
            joined.map(|result| result.unwrap_or_else(|_| Err(anyhow!("a client panicked")))).collect()
        });
        for client in clients {
            latencies.extend(client?);
        }
        memory.push(server.memory()?);
    }
    let seconds = start.elapsed().as_secs_f64();
    latencies.sort_by(f64::total_cmp);
    Ok(Run { how, requests: latencies.len(), seconds, latencies, memory })
}

/// Runs one client. Returns the latency of each response.
fn ask(
    server: &Server,
    asked: &[Asked],
    client: usize,
    requests: usize,
    kept: bool,
    start: Instant,
) -> Result<Vec<f64>> {
    let mut connection = None;
    let mut latencies = Vec::with_capacity(requests);
    for number in 0..requests {
        ensure!(start.elapsed() < DEADLINE, "not done after {} s", DEADLINE.as_secs());
        let Some(Asked { request, answer }) = asked.get((client + number) % asked.len().max(1)) else { break };
        let asked = Instant::now();
        let mut used = match connection.take() {
            Some(connection) => connection,
            None => Connection::open(server.address)?,
        };
        let Response { status, body, .. } = used.ask("POST", "/", request.as_bytes())?;
        latencies.push(asked.elapsed().as_secs_f64());
        ensure!(status == 200 && body == *answer, "{request}\nwas answered with {status} {body}\nand not {answer}");
        connection = kept.then_some(used);
    }
    Ok(latencies)
}
