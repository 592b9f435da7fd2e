//! `seamgate check --ndjson --metrics FILE`: counts verdicts in a file that Prometheus' node exporter reads.
//!
//! A batch ends before anybody could scrape it, so its counts are written to a file. They continue from the counts in
//! that file: to Prometheus, all batches with the same file are one process that never restarts.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs::{File, TryLockError},
    io::{self, Read},
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use anyhow::{Context, Result, bail};
use seamgate::Usage;

use crate::whole_file;

/// The most bytes of a file that are read.
const MAX_FILE: u64 = 16 * 1024 * 1024;
/// The largest count that a file can contain. Smaller numbers are represented exactly.
const MAX_VALUE: f64 = 9e15;
/// The longest name of a file without its extension. It is used as a label.
const MAX_NAME: usize = 64;
/// Replaces a word that is not fixed, because the author of the request or of the component chose it.
const UNKNOWN: &str = "(unknown)";
/// The dispositions of verdicts.
const DISPOSITIONS: [&str; 4] = ["accepted", "partial", "rejected", "refused"];

/// The bounds of buckets.
const FUEL: [f64; 10] = [1e4, 3e4, 1e5, 3e5, 1e6, 3e6, 1e7, 3e7, 1e8, 1e9];
const SECONDS: [f64; 11] = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0];

const AGENT: &str = "gen_ai_agent_name";

/// A histogram: the count of each bucket by itself, and the sum.
#[derive(Clone, PartialEq, Debug)]
struct Histogram<const N: usize> {
    bounds: &'static [f64; N],
    /// The counts of the buckets. The last bucket has no bound.
    counts: Vec<u64>,
    sum: f64,
}

impl<const N: usize> Histogram<N> {
    fn new(bounds: &'static [f64; N]) -> Self {
        Histogram { bounds, counts: vec![0; N + 1], sum: 0.0 }
    }

    fn observe(&mut self, value: f64) {
        let bucket = self.bounds.partition_point(|bound| *bound < value);
        self.counts[bucket] += 1;
        self.sum += value;
    }

    fn add(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
        self.sum += other.sum;
    }
}

/// The counts of an agent.
#[derive(Clone, PartialEq, Debug)]
struct OfAgent {
    verdicts: [u64; DISPOSITIONS.len()],
    violations: BTreeMap<String, u64>,
    fuel: Histogram<{ FUEL.len() }>,
    seconds: Histogram<{ SECONDS.len() }>,
}

impl Default for OfAgent {
    fn default() -> Self {
        OfAgent {
            verdicts: Default::default(),
            violations: BTreeMap::new(),
            fuel: Histogram::new(&FUEL),
            seconds: Histogram::new(&SECONDS),
        }
    }
}

/// Counts of answers. Those of verdicts are grouped by agent.
#[derive(Clone, Default, PartialEq, Debug)]
pub(crate) struct Counts {
    agents: BTreeMap<String, OfAgent>,
    faults: BTreeMap<String, u64>,
}

/// Returns the value of a key, and creates it on first use.
fn entry<'m, T: Default>(map: &'m mut BTreeMap<String, T>, key: &str) -> &'m mut T {
    map.entry(key.to_owned()).or_default()
}

/// Changes the value of a word. An unknown word counts as [`UNKNOWN`]. A word that was counted before needs only one
/// lookup.
fn count<T: Default>(map: &mut BTreeMap<String, T>, word: &str, words: &BTreeSet<String>, change: impl FnOnce(&mut T)) {
    match map.get_mut(word) {
        Some(value) => change(value),
        None => change(entry(map, if words.contains(word) { word } else { UNKNOWN })),
    }
}

impl Counts {
    fn add(&mut self, other: &Counts) {
        for (agent, more) in &other.agents {
            let of = entry(&mut self.agents, agent);
            of.verdicts.iter_mut().zip(more.verdicts).for_each(|(count, more)| *count += more);
            more.violations.iter().for_each(|(word, more)| *entry(&mut of.violations, word) += more);
            of.fuel.add(&more.fuel);
            of.seconds.add(&more.seconds);
        }
        other.faults.iter().for_each(|(code, more)| *entry(&mut self.faults, code) += more);
    }
}

/// The words that may occur in labels.
pub(crate) struct Words {
    pub(crate) agents: BTreeSet<String>,
    pub(crate) keywords: BTreeSet<String>,
    pub(crate) faults: BTreeSet<String>,
}

/// The counts of all workers, and the file that they are written to.
pub(crate) struct Textfile {
    path: PathBuf,
    /// The name of the file without its extension. It is the label `file` of all metrics, which distinguishes the files
    /// in a folder.
    name: String,
    _lock: File,
    words: Words,
    /// The counts that the file already had, and those of each worker.
    before: Counts,
    workers: Vec<Mutex<Counts>>,
    /// The number of requests that were read, and of those that were answered.
    read: AtomicU64,
    answered: AtomicU64,
}

impl Textfile {
    /// Continues a file, or creates it. Writes it once, so that a path that cannot be written is detected before any
    /// work.
    pub(crate) fn open(path: &Path, words: Words, workers: usize) -> Result<Self> {
        let wrong = || format!("--metrics {}", path.display());
        let is_plain = |name: &str| {
            let is_of_it = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
            name.len() <= MAX_NAME && name.bytes().all(is_of_it)
        };
        let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".prom"));
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            bail!("{}: the name must end in .prom, because the node exporter reads no other files", wrong());
        };
        if !is_plain(name) {
            bail!("{}: the name must have at most {MAX_NAME} letters, digits, '.', '_' and '-'", wrong());
        }
        let mut lock = path.as_os_str().to_owned();
        lock.push(".lock");
        let lock = File::options().create(true).truncate(false).write(true).open(&lock).with_context(wrong)?;
        match lock.try_lock() {
            // Some file systems have no locks.
            Ok(()) | Err(TryLockError::Error(_)) => {}
            Err(TryLockError::WouldBlock) => {
                bail!("{}: another process writes this file; give each process a file of its own", wrong())
            }
        }
        let before = match File::open(path) {
            Ok(file) => {
                let mut text = String::new();
                file.take(MAX_FILE).read_to_string(&mut text).with_context(wrong)?;
                parse(&text, name).with_context(wrong)?
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Counts::default(),
            Err(error) => return Err(error).with_context(wrong),
        };
        let textfile = Textfile {
            path: path.to_owned(),
            name: name.to_owned(),
            _lock: lock,
            words,
            before,
            workers: (0..workers).map(|_| Mutex::default()).collect(),
            read: AtomicU64::new(0),
            answered: AtomicU64::new(0),
        };
        textfile.write().with_context(wrong)?;
        Ok(textfile)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the counts of each worker.
    pub(crate) fn workers(&self) -> impl Iterator<Item = Worker<'_>> {
        self.workers.iter().map(|counts| Worker { words: &self.words, counts })
    }

    /// Counts requests that were read.
    pub(crate) fn add_read(&self, requests: usize) {
        self.read.fetch_add(requests as u64, Ordering::Relaxed);
    }

    /// Counts requests that were answered.
    pub(crate) fn add_answered(&self, requests: usize) {
        self.answered.fetch_add(requests as u64, Ordering::Relaxed);
    }

    /// Writes the file atomically.
    pub(crate) fn write(&self) -> io::Result<()> {
        let answered = self.answered.load(Ordering::Relaxed);
        let waiting = self.read.load(Ordering::Relaxed).saturating_sub(answered);
        let mut counts = self.before.clone();
        self.workers().for_each(|worker| counts.add(&worker.counts()));
        let text = written(&counts, &self.name, waiting);
        whole_file::write(&self.path, text.as_bytes())
    }
}

/// The counts of a worker. Other threads read them while it continues.
#[derive(Clone, Copy)]
pub(crate) struct Worker<'t> {
    words: &'t Words,
    counts: &'t Mutex<Counts>,
}

impl<'t> Worker<'t> {
    fn counts(self) -> MutexGuard<'t, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a verdict.
    pub(crate) fn verdict<'v>(
        self,
        agent: &str,
        disposition: &str,
        keywords: impl Iterator<Item = &'v str>,
        usage: &Usage,
    ) {
        count(&mut self.counts().agents, agent, &self.words.agents, |of| {
            if let Some(kind) = DISPOSITIONS.iter().position(|word| *word == disposition) {
                of.verdicts[kind] += 1;
            }
            keywords.for_each(|word| count(&mut of.violations, word, &self.words.keywords, |count| *count += 1));
            of.fuel.observe(usage.fuel as f64);
            of.seconds.observe(usage.elapsed.as_secs_f64());
        });
    }

    /// Counts a fault.
    pub(crate) fn fault(self, code: &str) {
        count(&mut self.counts().faults, code, &self.words.faults, |count| *count += 1);
    }
}

/// The names of metrics, each with its type and its help text.
const VERDICTS: (&str, &str, &str) = ("seamgate_verdicts_total", "counter", "Verdicts, by agent and disposition.");
const VIOLATIONS: (&str, &str, &str) =
    ("seamgate_violations_total", "counter", "Violations of rejected outputs, by agent and keyword.");
const FAULTS: (&str, &str, &str) = ("seamgate_faults_total", "counter", "Requests without a verdict, by the fault.");
const OF_FUEL: (&str, &str, &str) = ("seamgate_verdict_fuel", "histogram", "Fuel of a verdict.");
const OF_SECONDS: (&str, &str, &str) =
    ("seamgate_verdict_duration_seconds", "histogram", "Time of a verdict inside the sandbox.");
const WAITING: (&str, &str, &str) = ("seamgate_requests_waiting", "gauge", "Requests that were read and not answered.");

/// Formats the counts in Prometheus' text format 0.0.4, because the node exporter reads no other format.
fn written(counts: &Counts, file: &str, waiting: u64) -> String {
    let mut text = String::new();
    // Writing to a string never fails. No value of a label needs an escape.
    let head = |text: &mut String, (name, kind, help): (&str, &str, &str)| {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    };
    let labels = |agent: &str| format!("file=\"{file}\",{AGENT}=\"{agent}\"");
    head(&mut text, VERDICTS);
    for (agent, of) in &counts.agents {
        for (word, count) in DISPOSITIONS.iter().zip(of.verdicts).filter(|(_, count)| *count > 0) {
            let _ = writeln!(text, "{}{{{},disposition=\"{word}\"}} {count}", VERDICTS.0, labels(agent));
        }
    }
    head(&mut text, VIOLATIONS);
    for (agent, of) in &counts.agents {
        for (word, count) in &of.violations {
            let _ = writeln!(text, "{}{{{},keyword=\"{word}\"}} {count}", VIOLATIONS.0, labels(agent));
        }
    }
    head(&mut text, FAULTS);
    for (code, count) in &counts.faults {
        let _ = writeln!(text, "{}{{file=\"{file}\",code=\"{code}\"}} {count}", FAULTS.0);
    }
    head(&mut text, OF_FUEL);
    counts.agents.iter().for_each(|(agent, of)| buckets(&mut text, OF_FUEL.0, &labels(agent), &of.fuel));
    head(&mut text, OF_SECONDS);
    counts.agents.iter().for_each(|(agent, of)| buckets(&mut text, OF_SECONDS.0, &labels(agent), &of.seconds));
    head(&mut text, WAITING);
    let _ = writeln!(text, "{}{{file=\"{file}\"}} {waiting}", WAITING.0);
    text
}

fn buckets<const N: usize>(text: &mut String, name: &str, labels: &str, histogram: &Histogram<N>) {
    let mut count = 0;
    let bounds = histogram.bounds.iter().map(ToString::to_string).chain(["+Inf".to_owned()]);
    for (bound, more) in bounds.zip(&histogram.counts) {
        count += more;
        let _ = writeln!(text, "{name}_bucket{{{labels},le=\"{bound}\"}} {count}");
    }
    let _ = writeln!(text, "{name}_sum{{{labels}}} {}\n{name}_count{{{labels}}} {count}", histogram.sum);
}

/// Parses the counts that [`written`] wrote.
fn parse(text: &str, file: &str) -> Result<Counts> {
    let mut counts = Counts::default();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
        sample(&mut counts, line, file).with_context(|| {
            format!("line {}: these are other metrics, or of another version; name a new file", number + 1)
        })?;
    }
    Ok(counts)
}

fn sample(counts: &mut Counts, line: &str, file: &str) -> Result<()> {
    let parts = || {
        let (series, value) = line.rsplit_once(' ')?;
        let (name, labels) = series.strip_suffix('}')?.split_once('{')?;
        let pairs = labels.split(',').map(|pair| pair.strip_suffix('"')?.split_once("=\""));
        Some((name, pairs.collect::<Option<Vec<(&str, &str)>>>()?, value.parse::<f64>().ok()?))
    };
    let Some((name, labels, value)) = parts().filter(|(_, _, value)| (0.0..MAX_VALUE).contains(value)) else {
        bail!("no metric with labels and a count");
    };
    let count = value as u64;
    let metric = ["_bucket", "_sum", "_count"].iter().find_map(|part| name.strip_suffix(part)).unwrap_or(name);
    match labels.as_slice() {
        [("file", of), ..] if *of != file => bail!("the label file is {of:?}"),
        [("file", _), ("code", code)] if name == FAULTS.0 => *entry(&mut counts.faults, code) = count,
        [("file", _)] if name == WAITING.0 => {}
        [("file", _), (AGENT, agent), more @ ..] => {
            let of = entry(&mut counts.agents, agent);
            match more {
                [("disposition", word)] if name == VERDICTS.0 => {
                    let kind = DISPOSITIONS.iter().position(|known| known == word).context("a disposition")?;
                    of.verdicts[kind] = count;
                }
                [("keyword", word)] if name == VIOLATIONS.0 => *entry(&mut of.violations, word) = count,
                more if metric == OF_FUEL.0 => of_histogram(&mut of.fuel, name, more, value)?,
                more if metric == OF_SECONDS.0 => of_histogram(&mut of.seconds, name, more, value)?,
                _ => bail!("the name {name:?}"),
            }
        }
        _ => bail!("the name {name:?}"),
    }
    Ok(())
}

/// Adds a sample of a histogram. In a file, each bucket includes the previous ones.
fn of_histogram<const N: usize>(
    histogram: &mut Histogram<N>,
    name: &str,
    labels: &[(&str, &str)],
    value: f64,
) -> Result<()> {
    match labels {
        [("le", bound)] if name.ends_with("_bucket") => {
            let is_bound = |known: &f64| known.to_string() == *bound;
            let known = histogram.bounds.iter().position(is_bound);
            let bucket = known.or((*bound == "+Inf").then_some(N)).context("a bound of a bucket")?;
            let before: u64 = histogram.counts[..bucket].iter().sum();
            histogram.counts[bucket] = (value as u64).saturating_sub(before);
        }
        [] if name.ends_with("_sum") => histogram.sum = value,
        [] if name.ends_with("_count") => {}
        _ => bail!("the name {name:?}"),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts() -> Counts {
        let mut counts = Counts::default();
        for (agent, scale) in [("order", 1.0), (UNKNOWN, 7.5)] {
            let of = entry(&mut counts.agents, agent);
            of.verdicts = [3, 0, 2, 1];
            of.violations = BTreeMap::from([("minimum".to_owned(), 4), ("$ref".to_owned(), 1)]);
            [0.5, 1e4, 10_001.0, 2e9].into_iter().for_each(|fuel| of.fuel.observe(fuel * scale));
            [0.0001, 0.0002, 0.5, 99.0].into_iter().for_each(|seconds| of.seconds.observe(seconds * scale));
        }
        counts.faults.insert("timeout".to_owned(), 9);
        counts
    }

    #[test]
    fn counts_go_on_from_those_of_the_file() {
        let before = counts();
        assert_eq!(parse(&written(&before, "a", 5), "a").expect("counts"), before);
        let mut twice = before.clone();
        twice.add(&before);
        assert_eq!(twice.agents["order"].verdicts, [6, 0, 4, 2]);
        assert_eq!(twice.agents["order"].fuel.counts.iter().sum::<u64>(), 8);
        assert_eq!(parse(&written(&twice, "a", 0), "a").expect("counts"), twice);
    }

    #[test]
    fn other_files_are_refused_and_nothing_panics() {
        let text = written(&counts(), "a", 5);
        for other in [
            "up 1",
            "node_load1{file=\"a\"} 1",
            "seamgate_verdict_fuel_bucket{file=\"a\",gen_ai_agent_name=\"x\",le=\"5\"} 1",
            "x",
        ] {
            assert!(parse(other, "a").is_err(), "{other}");
        }
        assert!(parse(&text, "b").is_err());
        let line = text.lines().find(|line| line.starts_with("seamgate_verdict_fuel_bucket")).expect("a line");
        for place in 0..line.len() {
            for byte in 0..128_u8 {
                let mut bytes = line.as_bytes().to_vec();
                bytes[place] = byte;
                let _ = parse(&String::from_utf8(bytes).expect("ASCII"), "a");
            }
        }
    }
}
