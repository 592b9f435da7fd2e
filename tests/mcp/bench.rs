//! Measures the time of one call over a bare pipe and through the gate, and the cost of writing as much to the disk.

use std::{
    fs::{self, File},
    io::Write,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use serde_json::json;

use crate::{
    client::{Session, call, text},
    server,
};

/// The folder of journals. It is on the disk that the build is on.
const FOLDER: &str = "target/mcp/bench";

/// The sizes of results, and how often each is requested.
const SIZES: [(&str, usize, u64); 2] = [("1 KB", 1_000, 1_000), ("1 MB", 1_000_000, 100)];

/// Measures, and returns a table.
pub(crate) fn bench() -> Result<String> {
    let folder = Path::new(FOLDER);
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    let mut rows = vec![
        "| result | | p50 | p99 | added by the gate, p50 | aim | its processor time a call |".to_owned(),
        "| --- | --- | ---: | ---: | ---: | --- | ---: |".to_owned(),
    ];
    for ((name, bytes, calls), aim) in SIZES.into_iter().zip(["under 1 ms", "under 5 ms"]) {
        let mut bare = Session::start(None)?;
        let mut gated = Session::start(Some(&folder.join(format!("journal-{bytes}"))))?;
        let mut disk = File::create(folder.join(format!("disk-{bytes}")))?;
        let line = server::text(0, bytes);
        let mut times = [const { Vec::new() }; 3];
        let mut spent = 0.0;
        // The first tenth warms up. One of each in turn, so that all have the same neighbours.
        for number in 0..calls + calls / 10 {
            if number == calls / 10 {
                spent = gated.processor()?;
            }
            let took =
                [ask(&mut bare, number, bytes)?, ask(&mut gated, number, bytes)?, sync(&mut disk, line.as_bytes())?];
            if number >= calls / 10 {
                times.iter_mut().zip(took).for_each(|(times, took)| times.push(took));
            }
        }
        let spent = format!("{:.2} ms", (gated.processor()? - spent) * 1e3 / calls as f64);
        times.iter_mut().for_each(|times| times.sort());
        let [bare, gated, disk] = &times;
        let added = percentile(gated, 50).saturating_sub(percentile(bare, 50));
        rows.push(row(name, "a bare pipe", bare, ["", "", ""]));
        rows.push(row(name, "through the gate", gated, [&ms(added), aim, &spent]));
        rows.push(row(name, "`fdatasync` alone, after as many bytes", disk, ["", "", ""]));
    }
    Ok(rows.join("\n"))
}

/// Measures one call.
fn ask(session: &mut Session, number: u64, bytes: usize) -> Result<Duration> {
    let request = call(number, "echo", json!({ "number": number, "bytes": bytes }));
    let start = Instant::now();
    let answer = session.ask(&request)?;
    let took = start.elapsed();
    let expected = server::text(number as i64, bytes);
    ensure!(text(&answer) == expected, "{request} was answered with {} bytes", text(&answer).len());
    Ok(took)
}

/// Measures one durable write.
fn sync(disk: &mut File, line: &[u8]) -> Result<Duration> {
    let start = Instant::now();
    disk.write_all(line)?;
    disk.sync_data()?;
    Ok(start.elapsed())
}

fn row(name: &str, how: &str, times: &[Duration], [added, aim, spent]: [&str; 3]) -> String {
    let [half, most] = [50, 99].map(|percent| ms(percentile(times, percent)));
    format!("| {name} | {how} | {half} | {most} | {added} | {aim} | {spent} |")
}

/// Returns the percentile of sorted durations.
fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let at = (sorted.len() * percent).div_ceil(100).max(1) - 1;
    sorted.get(at).copied().unwrap_or_default()
}

fn ms(duration: Duration) -> String {
    format!("{:.2} ms", duration.as_secs_f64() * 1e3)
}
