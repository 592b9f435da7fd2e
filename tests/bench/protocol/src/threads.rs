//! Counts the documents that several threads judge. The programs of some engines answer `threads` with `{"one": …,
//! "two": …}`, the documents per second with one thread and with two.

use std::{
    fs,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use anyhow::Result;
use serde_json::{Value, json};

use crate::protocol::Plan;

/// The number of turns of one thread and of two threads. They alternate, because the load of the machine varies.
const TURNS: usize = 4;
const TURN: Duration = Duration::from_millis(150);

/// The size in bytes below which documents are judged. With larger documents, the cost of a fresh instance is hardly
/// visible.
pub const SMALL: usize = 4096;

/// Returns the documents below this many bytes, each with the index of its set.
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

/// Judges documents with one thread and with two. `judge` receives the index of a set and a document.
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
                // Each thread starts at a different document.
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
