//! `seamgate check --ndjson`: reads one request a line, writes one answer a line, in order, in constant memory.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, BufRead, BufReader, BufWriter, IsTerminal, Read, Write},
    path::Path,
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread,
    time::Instant,
};

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use seamgate::{Fault, Gate, Instance, Limits, Usage};
use serde::Deserialize;

use crate::{
    console::say,
    contracts,
    error::Unwritten,
    input::{self, skip_line},
    safe::safe,
    status::{Status, Sum},
};

/// Requests to read ahead for each worker: enough to keep it busy, few enough to save memory.
const READ_AHEAD: usize = 4;

/// A request and its place in the order.
struct Line {
    number: usize,
    text: Vec<u8>,
    /// Its length, if that is over the limit. `text` is then empty.
    too_long: Option<usize>,
}

struct Answered {
    number: usize,
    text: String,
    status: Status,
}

pub(crate) fn run(contracts: Option<&Path>, file: Option<&Path>, jobs: usize, warm: bool) -> Result<Status> {
    let gate = match contracts {
        Some(contracts) => contracts::open(contracts)?,
        None => Gate::new()?,
    };
    let input: Box<dyn Read + Send> = match file {
        Some(path) => Box::new(fs::File::open(path).with_context(|| format!("cannot read {}", path.display()))?),
        None => Box::new(io::stdin()),
    };
    let bar = progress(file);
    let start = Instant::now();

    let (to_workers, lines) = sync_channel(jobs * READ_AHEAD);
    let (to_writer, answers) = sync_channel(jobs * READ_AHEAD);
    let window = Arc::new(Window::new(jobs * READ_AHEAD * 2));
    let lines = Arc::new(Mutex::new(lines));
    thread::scope(|scope| {
        let reader_window = Arc::clone(&window);
        let reader = scope.spawn(move || read(input, &to_workers, &reader_window));
        for _ in 0..jobs {
            let (lines, to_writer) = (Arc::clone(&lines), to_writer.clone());
            let gate = &gate;
            scope.spawn(move || work(gate, warm, &lines, &to_writer));
        }
        // A channel ends when its last sender is dropped.
        drop((lines, to_writer));
        let written = write(answers, &window, &bar);
        window.close();
        bar.finish_and_clear();
        let sum = written?;
        match reader.join() {
            Ok(read) => read?,
            Err(panic) => std::panic::resume_unwind(panic),
        }
        say(&format!("seamgate: {} in {:.1} s", sum.told("request"), start.elapsed().as_secs_f64()));
        Ok(sum.worst())
    })
}

/// Bounds how far reading is ahead of writing. Otherwise one slow request would fill the memory with later answers.
struct Window {
    state: Mutex<(usize, bool)>,
    moved: Condvar,
    size: usize,
}

impl Window {
    fn new(size: usize) -> Self {
        Window { state: Mutex::new((0, false)), moved: Condvar::new(), size }
    }

    /// Wait until the reader may read a line. False if nothing is written any more.
    fn enter(&self) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.0 >= self.size && !state.1 {
            state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.0 += 1;
        !state.1
    }

    fn leave(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).0 -= 1;
        self.moved.notify_one();
    }

    fn close(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).1 = true;
        self.moved.notify_all();
    }
}

/// Read lines until the end, or until the workers stop.
fn read(input: Box<dyn Read + Send>, to_workers: &SyncSender<Line>, window: &Window) -> Result<()> {
    let limit = Limits::default().output_bytes;
    let mut input = BufReader::new(input);
    let mut number = 0;
    // Blank lines are answered once a request follows: at the end they are no requests.
    let mut blank = 0_u64;
    loop {
        let mut text = Vec::new();
        // The line end is not a part of the request. One byte more than the limit shows that a line is too long.
        let read =
            (&mut input).take(limit as u64 + 1).read_until(b'\n', &mut text).context("cannot read the requests")?;
        if read == 0 {
            break;
        }
        let mut too_long = None;
        if text.last() != Some(&b'\n') && text.len() > limit {
            let rest = skip_line(&mut input).context("cannot read the requests")?;
            too_long = Some(text.len() + rest);
            text.clear();
        }
        while let Some(b'\n' | b'\r') = text.last() {
            text.pop();
        }
        if too_long.is_none() && text.trim_ascii().is_empty() {
            blank += 1;
            continue;
        }
        let empty = (0..std::mem::take(&mut blank)).map(|_| (Vec::new(), None));
        for (text, too_long) in empty.chain([(text, too_long)]) {
            if !window.enter() || to_workers.send(Line { number, text, too_long }).is_err() {
                return Ok(());
            }
            number += 1;
        }
    }
    Ok(())
}

fn work(gate: &Gate, warm: bool, lines: &Mutex<Receiver<Line>>, to_writer: &SyncSender<Answered>) {
    let mut instance = warm.then(|| gate.instance());
    loop {
        let line = lines.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(line) = line else {
            return;
        };
        let number = line.number;
        let (text, status) = answer(gate, instance.as_mut(), line);
        if to_writer.send(Answered { number, text, status }).is_err() {
            return;
        }
    }
}

fn answer(gate: &Gate, instance: Option<&mut Instance<'_>>, line: Line) -> (String, Status) {
    let limit = Limits::default().output_bytes;
    if let Some(bytes) = line.too_long {
        return fault("null", &Fault::InputTooLarge { bytes, limit, more: false });
    }
    let text = match String::from_utf8(line.text) {
        Ok(text) => text,
        Err(error) => {
            let message = format!("the request is not UTF-8 at byte {}", error.utf8_error().valid_up_to());
            let violations = Vec::new();
            return fault("null", &Fault::BadRequest { message, violations });
        }
    };
    let answer = match instance {
        Some(instance) => instance.answer(&text),
        None => gate.call(&text),
    };
    match answer {
        Ok(answer) => {
            let Usage { fuel, memory, component, .. } = &answer.usage;
            let usage = format!(",\"usage\":{{\"fuel\":{fuel},\"memory\":{memory},\"component\":\"{component}\"}}}}");
            let status = status(&answer.json);
            let mut text = answer.json;
            // Only verdicts have a usage.
            if status != Status::Fault && text.pop().is_some() {
                text.push_str(&usage);
            }
            (text, status)
        }
        Err(error) => fault(&id(&text), &error),
    }
}

fn fault(id: &str, fault: &Fault) -> (String, Status) {
    (format!("{{\"id\":{id},\"fault\":{}}}", fault.to_json()), Status::Fault)
}

/// The `id` of a request that the component did not answer.
fn id(request: &str) -> String {
    #[derive(Deserialize)]
    struct Identified<'r> {
        #[serde(borrow)]
        id: &'r serde_json::value::RawValue,
    }
    match serde_json::from_str::<Identified>(request) {
        Ok(Identified { id }) => id.get().to_owned(),
        Err(_) => "null".to_owned(),
    }
}

/// The exit status for an answer.
fn status(answer: &str) -> Status {
    #[derive(Deserialize)]
    struct Answer {
        report: Option<Report>,
        fault: Option<serde::de::IgnoredAny>,
    }
    #[derive(Deserialize)]
    struct Report {
        disposition: String,
    }
    match serde_json::from_str(answer) {
        Ok(Answer { fault: None, report }) => match report.as_ref().map(|report| report.disposition.as_str()) {
            Some("rejected") => Status::Rejected,
            Some("partial") => Status::Partial,
            Some("refused") => Status::Refused,
            _ => Status::Accepted,
        },
        _ => Status::Fault,
    }
}

/// Write answers in the order of their requests, and count them.
fn write(answers: Receiver<Answered>, window: &Window, bar: &ProgressBar) -> Result<Sum> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    let mut sum = Sum::default();
    loop {
        // Write all answers that are there before waiting for more.
        let answer = match answers.try_recv() {
            Ok(answer) => answer,
            Err(_) => {
                out.flush().map_err(Unwritten::from)?;
                match answers.recv() {
                    Ok(answer) => answer,
                    Err(_) => break,
                }
            }
        };
        waiting.insert(answer.number, answer);
        while let Some(answer) = waiting.remove(&next) {
            writeln!(out, "{}", answer.text).map_err(Unwritten::from)?;
            sum.add(answer.status);
            bar.set_message(sum.told("request"));
            window.leave();
            bar.inc(1);
            next += 1;
        }
    }
    out.flush().map_err(Unwritten::from)?;
    Ok(sum)
}

/// A progress bar, if standard error is a terminal and the answers go elsewhere.
fn progress(file: Option<&Path>) -> ProgressBar {
    if !io::stderr().is_terminal() || io::stdout().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    bar.set_prefix(safe(&input::name(file)));
    let template = "{spinner} {prefix}: {msg} in {elapsed} ({per_sec})";
    bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar
}
