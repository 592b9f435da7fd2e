//! Many calls at once through one gate: progress, cancellations and equal calls among them. None may be lost or answered twice, and
//! the gate's memory may not grow.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    io::BufRead,
    path::Path,
    process::ChildStdin,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, Receiver, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde_json::{Value, json};

use crate::{
    client::{Session, call, say, text},
    server,
};

/// The folder of the journal.
const FOLDER: &str = "target/mcp/load";

/// The number of calls, and how many of them run concurrently.
const CALLS: u64 = 10_000;
const AT_ONCE: usize = 8;

/// The longest time to wait for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// The most additional memory that the gate may occupy at the end compared with when a quarter of the calls was done,
/// in KiB.
const GROWTH: u64 = 8 * 1024;

/// Runs, and returns a table.
pub(crate) fn load() -> Result<String> {
    let folder = Path::new(FOLDER);
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    let mut rows = vec![
        "| | calls | a second, each quarter | equal calls that joined | cancelled | memory, at the start and after each quarter |".to_owned(),
        "| --- | ---: | --- | ---: | ---: | --- |".to_owned(),
    ];
    for (how, journal) in [("without the gate", None), ("through the gate", Some(folder.join("journal")))] {
        rows.push(run(how, Session::start(journal.as_deref())?)?);
    }
    Ok(rows.join("\n"))
}

/// The state that all callers share.
struct Shared {
    stdin: Mutex<ChildStdin>,
    /// The channels that wait for messages, by id or progress token.
    waiting: Mutex<HashMap<u64, Sender<Value>>>,
    /// The number of requests with each id, and of answers to it.
    answered: Mutex<HashMap<u64, u64>>,
    next: AtomicU64,
    cancelled: Mutex<Vec<u64>>,
}

fn run(how: &str, session: Session) -> Result<String> {
    let (mut process, stdin, mut stdout) = session.split();
    let mut memories = vec![process.memory()?];
    let shared = Shared {
        stdin: Mutex::new(stdin),
        waiting: Mutex::default(),
        answered: Mutex::default(),
        next: AtomicU64::new(0),
        cancelled: Mutex::default(),
    };
    let mut rates = Vec::new();
    let ran = thread::scope(|scope| -> Result<BTreeMap<u64, u64>> {
        let shared = &shared;
        let reader = scope.spawn(move || -> Result<()> {
            let mut line = String::new();
            while stdout.read_line(&mut line)? > 0 {
                shared.take(&line)?;
                line.clear();
            }
            Ok(())
        });
        let result = (|| {
            for quarter in 1..=4 {
                let start = Instant::now();
                let until = CALLS * quarter / 4;
                let callers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(move || shared.call_until(until))).collect();
                for caller in callers {
                    caller.join().unwrap_or_else(|_| Err(anyhow!("a caller panicked")))?;
                }
                rates.push(format!("{:.0}", CALLS as f64 / 4.0 / start.elapsed().as_secs_f64()));
                memories.push(process.memory()?);
            }
            // Cancelled calls may still be in flight.
            thread::sleep(Duration::from_millis(300));
            shared.ran()
        })();
        process.end();
        reader.join().unwrap_or_else(|_| Err(anyhow!("the reader panicked"))).and(result)
    })?;
    let joined = shared.judge(&ran)?;
    let (settled, end) = (memories.get(1).copied().unwrap_or_default(), memories.last().copied().unwrap_or_default());
    ensure!(end <= settled + GROWTH, "{how}: memory grew from {settled} to {end} KiB");
    let cancelled = shared.cancelled.lock().unwrap_or_else(PoisonError::into_inner).len();
    let memories: Vec<String> = memories.iter().map(|kib| format!("{:.1}", *kib as f64 / 1024.0)).collect();
    let (rates, memories) = (rates.join(", "), memories.join(", "));
    Ok(format!("| {how} | {CALLS} | {rates} | {joined} | {cancelled} | {memories} MiB |"))
}

impl Shared {
    /// Handles one line from the server.
    fn take(&self, line: &str) -> Result<()> {
        let message: Value = serde_json::from_str(line)?;
        let known = match message.get("id") {
            Some(id) => {
                let id = id.as_u64().with_context(|| format!("an id that nobody used: {line}"))?;
                *lock(&self.answered).entry(id).or_default() += 1;
                id
            }
            None => match message.pointer("/params/progressToken").and_then(Value::as_u64) {
                Some(token) => token,
                None => bail!("a notification that nobody wants: {line}"),
            },
        };
        if let Some(waiting) = lock(&self.waiting).get(&known) {
            // The client that cancelled may have disconnected.
            let _ = waiting.send(message);
        }
        Ok(())
    }

    /// Calls until this many calls were made.
    fn call_until(&self, until: u64) -> Result<()> {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= until {
                // Another quarter makes it.
                self.next.fetch_sub(1, Ordering::Relaxed);
                return Ok(());
            }
            self.one(number).with_context(|| format!("call {number}"))?;
        }
    }

    /// Makes one call, of the kind that its number selects.
    fn one(&self, number: u64) -> Result<()> {
        let expected = |bytes| server::text(number as i64, bytes);
        match number % 20 {
            0 => {
                let (id, answers) = self.ask("slow", json!({ "number": number, "ms": 8 }), true)?;
                let mut last = 0;
                let answer = loop {
                    let message = answers.recv_timeout(PATIENCE).context("no answer")?;
                    let Some(progress) = message.pointer("/params/progress").and_then(Value::as_u64) else {
                        break message;
                    };
                    ensure!(progress > last, "progress {progress} after {last}");
                    last = progress;
                };
                ensure!(last > 0, "no progress was told");
                ensure!(text(&answer) == expected(0), "{answer}");
                self.forget(id);
            }
            1 => {
                let (id, answers) = self.ask("slow", json!({ "number": number, "ms": 100 }), false)?;
                thread::sleep(Duration::from_millis(2));
                let params = json!({ "requestId": id, "reason": "load" });
                let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
                say(&mut lock(&self.stdin), &cancel)?;
                lock(&self.cancelled).push(id);
                // An answer may come or not: it is counted.
                let _ = answers.recv_timeout(Duration::from_millis(5));
                self.forget(id);
            }
            2 => {
                let arguments = || json!({ "number": number, "ms": 20 });
                let equal = [self.ask("slow", arguments(), false)?, self.ask("slow", arguments(), false)?];
                for (id, answers) in equal {
                    let answer = answers.recv_timeout(PATIENCE).context("no answer to one of two equal calls")?;
                    ensure!(text(&answer) == expected(0), "{answer}");
                    self.forget(id);
                }
            }
            _ => {
                let (id, answers) = self.ask("echo", json!({ "number": number, "bytes": 1000 }), false)?;
                let answer = answers.recv_timeout(PATIENCE).context("no answer")?;
                ensure!(text(&answer) == expected(1000), "{answer}");
                self.forget(id);
            }
        }
        Ok(())
    }

    /// Sends a call. Returns its id, and where messages about it arrive.
    fn ask(&self, tool: &str, arguments: Value, with_progress: bool) -> Result<(u64, Receiver<Value>)> {
        static IDS: AtomicU64 = AtomicU64::new(0);
        let id = IDS.fetch_add(1, Ordering::Relaxed);
        let mut request = call(id, tool, arguments);
        if with_progress && let Some(params) = request.get_mut("params").and_then(Value::as_object_mut) {
            params.insert("_meta".to_owned(), json!({ "progressToken": id }));
        }
        let (sender, receiver) = mpsc::channel();
        lock(&self.waiting).insert(id, sender);
        lock(&self.answered).insert(id, 0);
        say(&mut lock(&self.stdin), &request)?;
        Ok((id, receiver))
    }

    fn forget(&self, id: u64) {
        lock(&self.waiting).remove(&id);
    }

    /// Returns the number of times that each call ran, by its number, as the server reports it.
    fn ran(&self) -> Result<BTreeMap<u64, u64>> {
        let (_, answers) = self.ask("ran", json!({}), false)?;
        let answer = answers.recv_timeout(PATIENCE).context("no answer")?;
        Ok(serde_json::from_str(text(&answer))?)
    }

    /// Checks that nothing was lost or ran twice. Returns the number of equal calls that joined another.
    fn judge(&self, ran: &BTreeMap<u64, u64>) -> Result<u64> {
        let cancelled = lock(&self.cancelled);
        for (id, times) in &*lock(&self.answered) {
            let may_be_missing = cancelled.contains(id);
            ensure!(*times == 1 || (*times == 0 && may_be_missing), "request {id} was answered {times} times");
        }
        let mut joined = 0;
        for number in 0..CALLS {
            let times = ran.get(&number).copied().unwrap_or_default();
            let is_right = match number % 20 {
                1 => times <= 1,
                2 => (1..=2).contains(&times),
                _ => times == 1,
            };
            ensure!(is_right, "call {number} ran {times} times");
            joined += u64::from(number % 20 == 2 && times == 1);
        }
        Ok(joined)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
