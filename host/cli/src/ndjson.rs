//! `seamgate check --ndjson`: reads one request per line and writes one answer per line, in order, in constant memory.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    fs,
    io::{self, BufRead, BufReader, BufWriter, IsTerminal, Read, Write},
    path::Path,
    sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel},
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use seamgate::{Fault, Gate, Instance, Limits, Usage};
use seamgate_text::{escape_terminal, is_log_json, say, warn};
use serde::Deserialize;

use crate::{
    codes, contracts,
    error::{FaultError, Unwritten},
    input::{self, skip_line},
    status::{Status, Sum},
    textfile::{Textfile, Words, Worker},
};

/// The number of batches to read ahead for each worker: enough to keep it busy, few enough to save memory.
const READ_AHEAD: usize = 4;

/// The maximum number of requests in a batch, and the number of bytes that ends a batch. Passing requests on one by one
/// took a fifth of the time, in the kernel's scheduler. A batch also ends if the next request has not arrived yet, so
/// that a slow producer gets each answer at once.
const BATCH_REQUESTS: usize = 32;
const BATCH_BYTES: usize = 64 * 1024;

/// The interval at which the file of `--metrics` is written.
const INTERVAL: Duration = Duration::from_secs(5);

/// A sequence of requests or answers, and its position in the order.
struct Batch<T> {
    number: usize,
    of: Vec<T>,
}

struct Line {
    text: Vec<u8>,
    /// The length of the request if it exceeds the limit. `text` is then empty.
    too_long: Option<usize>,
}

struct Answer {
    text: String,
    status: Status,
}

/// The options of `--ndjson`.
pub(crate) struct Options<'a> {
    pub(crate) contracts: Option<&'a Path>,
    pub(crate) jobs: usize,
    pub(crate) warm: bool,
    /// The file for counts.
    pub(crate) metrics: Option<&'a Path>,
}

pub(crate) fn run(file: Option<&Path>, options: &Options) -> Result<Status> {
    let &Options { contracts, jobs, warm, metrics } = options;
    let gate = match contracts {
        Some(contracts) => contracts::open(contracts)?,
        None => Gate::new()?,
    };
    let metrics = metrics.map(|path| Textfile::open(path, words(&gate)?, jobs)).transpose()?;
    let metrics = metrics.as_ref();
    let input: Box<dyn Read + Send> = match file {
        Some(path) => Box::new(fs::File::open(path).with_context(|| format!("cannot read {}", path.display()))?),
        None => Box::new(io::stdin()),
    };
    let bar = progress(file);
    let start = Instant::now();

    let (to_workers, batches) = sync_channel(jobs * READ_AHEAD);
    let (to_writer, answers) = sync_channel(jobs * READ_AHEAD);
    let window = Arc::new(Window::new(jobs * READ_AHEAD * 2));
    let batches = Arc::new(Mutex::new(batches));
    thread::scope(|scope| {
        // The thread ends when this is dropped.
        let _keeping = metrics.map(|metrics| {
            let (sender, ended) = channel();
            scope.spawn(move || keep(metrics, &ended));
            sender
        });
        let reader_window = Arc::clone(&window);
        let reader = scope.spawn(move || read(input, &to_workers, &reader_window, metrics));
        let mut counting = metrics.into_iter().flat_map(Textfile::workers);
        for _ in 0..jobs {
            let (batches, to_writer) = (Arc::clone(&batches), to_writer.clone());
            let (gate, counting) = (&gate, counting.next());
            scope.spawn(move || work(gate, warm, counting, &batches, &to_writer));
        }
        // A channel ends when its last sender is dropped.
        drop((batches, to_writer));
        let written = write(answers, &window, &bar, metrics);
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

/// Returns the words that may occur in labels of metrics.
fn words(gate: &Gate) -> Result<Words> {
    let baked = gate.baked_contracts().map_err(FaultError)?;
    let agents = gate.contracts().chain(&baked).map(|contract| contract.agent.clone()).collect();
    Ok(Words {
        agents,
        keywords: codes::of_kinds(|kind| matches!(kind, "keyword" | "violation")),
        faults: codes::of_kinds(|kind| kind.starts_with("fault")),
    })
}

/// Writes the counts periodically until the end. A file that cannot be written does not change any verdict.
fn keep(metrics: &Textfile, ended: &Receiver<()>) {
    let mut has_failed = false;
    loop {
        let is_last = !matches!(ended.recv_timeout(INTERVAL), Err(RecvTimeoutError::Timeout));
        match metrics.write() {
            Ok(()) => has_failed = false,
            Err(error) if !has_failed || is_last => {
                has_failed = true;
                let path = escape_terminal(&metrics.path().display().to_string());
                let next =
                    if is_last { "the file keeps older counts" } else { "the verdicts go on, and it is tried again" };
                warn(&format!("seamgate: --metrics {path}: {error}; {next}"));
            }
            Err(_) => {}
        }
        if is_last {
            return;
        }
    }
}

/// Bounds how many batches reading is ahead of writing. Otherwise, later answers would fill the memory during one slow
/// request.
struct Window {
    state: Mutex<(usize, bool)>,
    moved: Condvar,
    size: usize,
}

impl Window {
    fn new(size: usize) -> Self {
        Window { state: Mutex::new((0, false)), moved: Condvar::new(), size }
    }

    /// Waits until the reader may read a batch. Returns `false` if nothing is written any more.
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

/// Reads requests until the end, or until the workers stop.
fn read(
    input: Box<dyn Read + Send>,
    to_workers: &SyncSender<Batch<Line>>,
    window: &Window,
    metrics: Option<&Textfile>,
) -> Result<()> {
    let mut requests = Requests { input: BufReader::with_capacity(BATCH_BYTES, input), blank: 0, next: None };
    for number in 0.. {
        let of = requests.batch()?;
        if let Some(metrics) = metrics {
            metrics.add_read(of.len());
        }
        if of.is_empty() || !window.enter() || to_workers.send(Batch { number, of }).is_err() {
            break;
        }
    }
    Ok(())
}

struct Requests<R> {
    input: BufReader<R>,
    /// The number of blank lines before `next`. They are answered only if a request follows, because at the end they do
    /// not count as requests.
    blank: usize,
    next: Option<Line>,
}

impl<R: Read> Requests<R> {
    /// Returns the next requests. Empty at the end.
    fn batch(&mut self) -> Result<Vec<Line>> {
        let mut of = Vec::new();
        let mut bytes = 0;
        while of.len() < BATCH_REQUESTS && bytes < BATCH_BYTES && (of.is_empty() || self.is_there()) {
            let Some(line) = self.line()? else { break };
            bytes += line.text.len();
            of.push(line);
        }
        Ok(of)
    }

    /// Returns whether the next request is available without waiting.
    fn is_there(&self) -> bool {
        self.next.is_some()
            || self.input.buffer().split(|&byte| byte == b'\n').rev().skip(1).any(|line| !is_blank(line))
    }

    fn line(&mut self) -> Result<Option<Line>> {
        while self.next.is_none() {
            let Some(line) = read_line(&mut self.input)? else { return Ok(None) };
            if line.too_long.is_none() && is_blank(&line.text) {
                self.blank += 1;
            } else {
                self.next = Some(line);
            }
        }
        if self.blank > 0 {
            self.blank -= 1;
            return Ok(Some(Line { text: Vec::new(), too_long: None }));
        }
        Ok(self.next.take())
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
}

/// Returns the next line without its line end. `None` at the end.
fn read_line(input: &mut impl BufRead) -> Result<Option<Line>> {
    let limit = Limits::default().output_bytes;
    let mut text = Vec::new();
    // The line end is not part of the request. One byte more than the limit shows that a line is too long.
    let read = input.take(limit as u64 + 1).read_until(b'\n', &mut text).context("cannot read the requests")?;
    if read == 0 {
        return Ok(None);
    }
    let mut too_long = None;
    if text.last() != Some(&b'\n') && text.len() > limit {
        let rest = skip_line(input).context("cannot read the requests")?;
        too_long = Some(text.len() + rest);
        text.clear();
    }
    while let Some(b'\n' | b'\r') = text.last() {
        text.pop();
    }
    Ok(Some(Line { text, too_long }))
}

fn work(
    gate: &Gate,
    warm: bool,
    counting: Option<Worker<'_>>,
    batches: &Mutex<Receiver<Batch<Line>>>,
    to_writer: &SyncSender<Batch<Answer>>,
) {
    let mut instance = warm.then(|| gate.instance());
    loop {
        let batch = batches.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Batch { number, of }) = batch else {
            return;
        };
        let of = of.into_iter().map(|line| answer(gate, instance.as_mut(), line, counting)).collect();
        if to_writer.send(Batch { number, of }).is_err() {
            return;
        }
    }
}

/// Returns the answer to a request, as a line without its line end.
pub(crate) fn line(gate: &Gate, request: &str) -> String {
    answer(gate, None, Line { text: request.as_bytes().to_vec(), too_long: None }, None).text
}

fn answer(gate: &Gate, instance: Option<&mut Instance<'_>>, line: Line, counting: Option<Worker<'_>>) -> Answer {
    let fault = |id: &str, fault: &Fault| {
        if let Some(worker) = counting {
            worker.fault(fault.code());
        }
        Answer { text: format!("{{\"id\":{id},\"fault\":{}}}", fault.to_json()), status: Status::Fault }
    };
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
            let status = match counting {
                Some(worker) => counted(&answer, worker),
                None => status::<Report>(&answer.json).0,
            };
            let mut text = answer.json;
            // Only verdicts have a usage.
            if status != Status::Fault && text.pop().is_some() {
                text.push_str(&usage);
            }
            Answer { text, status }
        }
        Err(error) => fault(&id(&text), &error),
    }
}

/// Returns the `id` of a request that the component did not answer.
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

/// The parts of a report that the exit status depends on.
#[derive(Deserialize)]
struct Report<'a> {
    #[serde(borrow)]
    disposition: Cow<'a, str>,
}

/// The parts of a report that metrics need.
#[derive(Deserialize)]
struct Counted<'a> {
    #[serde(borrow)]
    disposition: Cow<'a, str>,
    #[serde(borrow)]
    agent: Cow<'a, str>,
    #[serde(borrow)]
    error: Option<Rejection<'a>>,
}

#[derive(Deserialize)]
struct Rejection<'a> {
    #[serde(borrow)]
    violations: Vec<Violated<'a>>,
}

#[derive(Deserialize)]
struct Violated<'a> {
    #[serde(borrow)]
    keyword: Cow<'a, str>,
}

/// The parts of a fault that metrics need.
#[derive(Deserialize)]
struct Faulted<'a> {
    #[serde(borrow)]
    fault: Cow<'a, str>,
}

/// An answer that has a disposition.
trait Disposed {
    fn disposition(&self) -> &str;
}

impl Disposed for Report<'_> {
    fn disposition(&self) -> &str {
        &self.disposition
    }
}

impl Disposed for Counted<'_> {
    fn disposition(&self) -> &str {
        &self.disposition
    }
}

/// Returns the exit status for an answer, with its report and the code of its fault.
fn status<'a, R: Disposed + Deserialize<'a>>(answer: &'a str) -> (Status, Option<R>, Option<Cow<'a, str>>) {
    #[derive(Deserialize)]
    struct Judged<'a, R> {
        report: Option<R>,
        #[serde(borrow)]
        fault: Option<Faulted<'a>>,
    }
    match serde_json::from_str::<Judged<R>>(answer) {
        Ok(Judged { fault: None, report }) => {
            let status = match report.as_ref().map(R::disposition) {
                Some("rejected") => Status::Rejected,
                Some("partial") => Status::Partial,
                Some("refused") => Status::Refused,
                _ => Status::Accepted,
            };
            (status, report, None)
        }
        Ok(Judged { fault, .. }) => (Status::Fault, None, fault.map(|fault| fault.fault)),
        Err(_) => (Status::Fault, None, None),
    }
}

/// Counts an answer, and returns its exit status. Answers that are neither verdicts nor faults are not counted.
fn counted(answer: &seamgate::Answer, worker: Worker<'_>) -> Status {
    let (status, report, fault) = status::<Counted>(&answer.json);
    if let Some(Counted { disposition, agent, error }) = report {
        let violations = error.map_or(Vec::new(), |error| error.violations);
        let keywords = violations.iter().map(|violation| &*violation.keyword);
        worker.verdict(&agent, &disposition, keywords, &answer.usage);
    } else if status == Status::Fault {
        worker.fault(&fault.unwrap_or_default());
    }
    status
}

/// Writes answers in the order of their requests, and counts them.
fn write(
    answers: Receiver<Batch<Answer>>,
    window: &Window,
    bar: &ProgressBar,
    metrics: Option<&Textfile>,
) -> Result<Sum> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    let mut sum = Sum::default();
    loop {
        // Write all available answers before waiting for more.
        let batch = match answers.try_recv() {
            Ok(batch) => batch,
            Err(_) => {
                out.flush().map_err(Unwritten::from)?;
                match answers.recv() {
                    Ok(batch) => batch,
                    Err(_) => break,
                }
            }
        };
        waiting.insert(batch.number, batch.of);
        while let Some(of) = waiting.remove(&next) {
            for answer in &of {
                writeln!(out, "{}", answer.text).map_err(Unwritten::from)?;
                sum.add(answer.status);
            }
            if !bar.is_hidden() {
                bar.set_message(sum.told("request"));
                bar.inc(of.len() as u64);
            }
            if let Some(metrics) = metrics {
                metrics.add_answered(of.len());
            }
            window.leave();
            next += 1;
        }
    }
    out.flush().map_err(Unwritten::from)?;
    Ok(sum)
}

/// Returns a progress bar, if standard error is a terminal and the answers go elsewhere.
fn progress(file: Option<&Path>) -> ProgressBar {
    if !io::stderr().is_terminal() || io::stdout().is_terminal() || is_log_json() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    bar.set_prefix(escape_terminal(&input::name(file)));
    let template = "{spinner} {prefix}: {msg} in {elapsed} ({per_sec})";
    bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar
}
