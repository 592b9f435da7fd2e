//! Counts the documents that several threads judge, which the programs of some engines answer: for `threads` it is
//! `{"one": …, "two": …}`, documents a second by one thread and by two.

use std::{
    fs,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use anyhow::Result;
use serde_json::{Value, json};

use crate::protocol::Plan;

/// One thread and two take turns: the machine is not always the same.
const TURNS: usize = 4;
const TURN: Duration = Duration::from_millis(150);

/// Documents below this, in bytes, are judged: with larger ones it hardly shows what a fresh instance costs.
pub const SMALL: usize = 4096;

/// Returns the documents below this many bytes, each with the number of its set.
pub fn documents(plan: &Plan, below: usize) -> Result<Vec<(usize, Vec<u8>)>> {
    let mut documents = Vec::new();
    for document in &plan.documents {
        let bytes = fs::read(&document.path)?;
        if bytes.len() < below && plan.sets[document.set].refused.is_none() {
            documents.push((document.set, bytes));
        }
    }
    Ok(documents)
}

/// Judges documents by one thread and by two. `judge` gets the number of a set and a document.
pub fn throughput(documents: &[(usize, Vec<u8>)], judge: impl Fn(usize, &[u8]) + Sync) -> Value {
    let mut judged = [0; 2];
    let mut seconds = [0.0; 2];
    for _ in 0..TURNS {
        for threads in [1, 2] {
            let (count, elapsed) = turn(documents, threads, &judge);
            judged[threads - 1] += count;
            seconds[threads - 1] += elapsed.as_secs_f64();
        }
    }
    json!({ "one": judged[0] as f64 / seconds[0], "two": judged[1] as f64 / seconds[1] })
}

fn turn(documents: &[(usize, Vec<u8>)], threads: usize, judge: &(impl Fn(usize, &[u8]) + Sync)) -> (usize, Duration) {
    let judged = AtomicUsize::new(0);
    let start = Instant::now();
    std::thread::scope(|scope| {
        for first in 0..threads {
            let judged = &judged;
            scope.spawn(move || {
                // Each thread begins at its own place.
                let from = documents.len() * first / threads;
                let mut count = 0;
                for (set, bytes) in documents.iter().cycle().skip(from) {
                    if start.elapsed() > TURN {
                        break;
                    }
                    judge(*set, bytes);
                    count += 1;
                }
                judged.fetch_add(count, Ordering::Relaxed);
            });
        }
    });
    (judged.into_inner(), start.elapsed())
}
