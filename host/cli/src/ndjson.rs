//! `seamgate check --ndjson`: one request a line in, one answer a line out, in order, in constant memory.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, BufRead, BufReader, BufWriter, IsTerminal, Read, Write},
    path::Path,
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread,
};

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use seamgate::{Fault, Gate, Limits, Usage};
use serde::Deserialize;

use crate::{
    gate,
    status::{Status, Unwritten},
};

/// Requests that are read ahead for each worker: enough to keep it busy, few enough to stay small.
const READ_AHEAD: usize = 4;

/// A request and its place in the order.
struct Line {
    number: usize,
    text: Vec<u8>,
    /// It was longer than the gate takes; `text` is its beginning.
    too_long: Option<usize>,
}

struct Answered {
    number: usize,
    text: String,
    status: Status,
}

pub(crate) fn run(contracts: Option<&Path>, file: Option<&Path>, jobs: Option<u16>) -> Result<Status> {
    let gate = match contracts {
        Some(contracts) => gate::open(contracts)?,
        None => Gate::new()?,
    };
    let input: Box<dyn Read + Send> = match file {
        Some(path) => Box::new(fs::File::open(path).with_context(|| format!("{}", path.display()))?),
        None => Box::new(io::stdin()),
    };
    let jobs =
        jobs.map_or_else(|| thread::available_parallelism().map_or(1, |processors| processors.get()), usize::from);
    let bar = progress(file);

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
            scope.spawn(move || work(gate, &lines, &to_writer));
        }
        // The channels end when those who write to them do.
        drop((lines, to_writer));
        let written = write(answers, &window, &bar);
        window.close();
        bar.finish_and_clear();
        let status = written?;
        match reader.join() {
            Ok(read) => read.map(|()| status),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Bounds how far reading is ahead of writing, so that one slow request does not fill the memory with answers to the
/// ones behind it.
struct Window {
    state: Mutex<(usize, bool)>,
    moved: Condvar,
    size: usize,
}

impl Window {
    fn new(size: usize) -> Self {
        Window { state: Mutex::new((0, false)), moved: Condvar::new(), size }
    }

    /// Wait until a line may be read; false where nothing is written any more.
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

/// Read lines until the end, or until nobody wants them.
fn read(input: Box<dyn Read + Send>, to_workers: &SyncSender<Line>, window: &Window) -> Result<()> {
    let limit = Limits::default().output_bytes;
    let mut input = BufReader::new(input);
    for number in 0.. {
        let mut text = Vec::new();
        // A line's end is not a part of it; one byte more than is taken shows that it is too long.
        let read = (&mut input).take(limit as u64 + 1).read_until(b'\n', &mut text).context("standard input")?;
        if read == 0 {
            break;
        }
        let mut too_long = None;
        if text.last() != Some(&b'\n') && text.len() > limit {
            let rest = skip_line(&mut input).context("standard input")?;
            too_long = Some(text.len() + rest);
            text.clear();
        }
        while let Some(b'\n' | b'\r') = text.last() {
            text.pop();
        }
        let line = Line { number, text, too_long };
        if !window.enter() || to_workers.send(line).is_err() {
            break;
        }
    }
    Ok(())
}

/// Pass over the rest of a line; how long it was.
pub(crate) fn skip_line(input: &mut impl BufRead) -> io::Result<usize> {
    let mut skipped = 0;
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(skipped);
        }
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let length = end.map_or(buffer.len(), |end| end + 1);
        input.consume(length);
        if end.is_some() {
            return Ok(skipped + length - 1);
        }
        skipped += length;
    }
}

fn work(gate: &Gate, lines: &Mutex<Receiver<Line>>, to_writer: &SyncSender<Answered>) {
    loop {
        let line = lines.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(line) = line else {
            return;
        };
        let number = line.number;
        let (text, status) = answer(gate, line);
        if to_writer.send(Answered { number, text, status }).is_err() {
            return;
        }
    }
}

fn answer(gate: &Gate, line: Line) -> (String, Status) {
    let limit = Limits::default().output_bytes;
    if let Some(bytes) = line.too_long {
        return fault("null", &Fault::InputTooLarge { bytes, limit, more: false });
    }
    let text = match String::from_utf8(line.text) {
        Ok(text) => text,
        Err(error) => {
            let message = format!("request: is not UTF-8: the byte at {} is not", error.utf8_error().valid_up_to());
            let violations = Vec::new();
            return fault("null", &Fault::BadRequest { message, violations });
        }
    };
    match gate.call(&text) {
        Ok(answer) => {
            let Usage { fuel, memory, component, .. } = &answer.usage;
            let usage = format!(",\"usage\":{{\"fuel\":{fuel},\"memory\":{memory},\"component\":\"{component}\"}}}}");
            let status = status(&answer.json);
            let mut text = answer.json;
            // Only verdicts tell what they took.
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

/// The `id` of a request that was not answered by the component.
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

/// What an answer means to a script.
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

/// Write answers in the order of their requests; the worst of them is the status.
fn write(answers: Receiver<Answered>, window: &Window, bar: &ProgressBar) -> Result<Status> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    let mut worst = Status::Accepted;
    loop {
        // What was answered is written before anything is waited for.
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
            worst = worst_of(worst, answer.status);
            window.leave();
            bar.inc(1);
            next += 1;
        }
    }
    out.flush().map_err(Unwritten::from)?;
    Ok(worst)
}

fn worst_of(one: Status, other: Status) -> Status {
    let rank = |status| match status {
        Status::Fault => 4,
        Status::Rejected => 3,
        Status::Partial => 2,
        Status::Refused => 1,
        _ => 0,
    };
    if rank(other) > rank(one) { other } else { one }
}

/// A bar on a terminal, where it is not in the way of the answers.
fn progress(file: Option<&Path>) -> ProgressBar {
    if !io::stderr().is_terminal() || io::stdout().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    let name = file.map_or("standard input".to_owned(), |file| file.display().to_string());
    bar.set_message(crate::picture::safe(&name));
    let template = "{spinner} {human_pos} requests from {msg} in {elapsed} ({per_sec})";
    bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar
}
