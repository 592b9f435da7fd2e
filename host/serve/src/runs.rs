//! The runs of a folder, with everything that was read of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Display,
    path::{Path, PathBuf},
};

use seamgate_runner::{
    agent::now,
    waiting::{Waiting, find_in, with_children},
};
use seamgate_text::with_sources;
use seamgate_trace::find_runs;
use serde::Serialize;

use crate::{
    follow::{self, Follower},
    metrics::{Metrics, Progress},
};

/// The maximum number of runs that a page shows. They are the last ones, sorted by name.
const MAX_SHOWN: usize = 200;

/// A folder of runs.
pub(crate) struct Runs {
    folder: PathBuf,
    metrics: Metrics,
    /// The runs by their folders.
    all: BTreeMap<PathBuf, Known>,
}

/// A run that was read.
#[derive(Default)]
struct Known {
    follower: Follower,
    progress: Progress,
    /// The reason why the journal cannot be read further, and its length at that time.
    fault: Option<(String, u64)>,
    /// `true` if `newly_ended` has returned the run.
    is_ended: bool,
    /// The calls that `newly_waiting` has returned and that still wait, by their keys.
    noticed: BTreeSet<String>,
}

/// A run as the page shows it.
#[derive(Serialize)]
pub(crate) struct Shown {
    /// The run's folder, relative to the folder of all runs.
    name: String,
    run: String,
    agent: String,
    began: u64,
    last: u64,
    steps: u64,
    calls: u64,
    waiting: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
}

impl Runs {
    pub(crate) fn new(folder: &Path) -> Self {
        Runs { folder: folder.to_owned(), metrics: Metrics::new(), all: BTreeMap::new() }
    }

    /// Reads everything that was appended since the last time.
    pub(crate) fn refresh(&mut self) {
        // A folder that does not exist yet has no runs.
        let folders = find_runs(&self.folder).map(|found| found.runs).unwrap_or_default();
        for run in folders.iter().flat_map(|run| with_children(run)) {
            let known = self.all.entry(run.clone()).or_default();
            let Known { follower, progress, fault, .. } = known;
            let length = follow::length(&run);
            // An unreadable journal may have been repaired.
            if fault.as_ref().is_some_and(|(_, before)| *before == length) {
                continue;
            }
            let metrics = &self.metrics;
            let read = follower.read(&run, |about, step| metrics.step(about, progress, &step));
            *fault = read.err().map(|error| (error.to_string(), length));
        }
        // Removed runs remain in the counters, which only increase.
        self.all.retain(|run, _| run.exists());
    }

    /// Returns all metrics as of now.
    pub(crate) fn metrics(&mut self) -> String {
        self.refresh();
        let broken = self.all.values().filter(|run| run.fault.is_some()).count();
        let runs = self.all.values().filter_map(|run| Some((run.follower.about()?, &run.progress)));
        self.metrics.gauge(now(), [self.all.len(), broken], runs);
        self.metrics.text()
    }

    /// Returns the folders of runs that have ended since the last time. Omits children, because they belong to the
    /// traces of their runs.
    pub(crate) fn newly_ended(&mut self) -> Vec<PathBuf> {
        self.refresh();
        let mut ended = Vec::new();
        for (folder, run) in &mut self.all {
            if run.progress.ended.is_some() && !std::mem::replace(&mut run.is_ended, true) {
                ended.push(folder.clone());
            }
        }
        ended.retain(|folder| !folder.ancestors().skip(1).any(|above| self.all.contains_key(above)));
        ended
    }

    /// Passes to `take` each waiting call that it has not accepted yet, with the name of the call's run. A call that
    /// `take` does not accept is passed again the next time.
    pub(crate) fn newly_waiting(&mut self, mut take: impl FnMut(&str, &Waiting) -> bool) {
        self.refresh();
        let now = now();
        let mut all = std::mem::take(&mut self.all);
        for (folder, run) in &mut all {
            let Known { progress, noticed, .. } = run;
            noticed.retain(|key| progress.has_wait(key));
            // A run is opened only if there is something new.
            if progress.keys(now).all(|key| noticed.contains(key)) {
                continue;
            }
            // The page shows why a run cannot be opened.
            for waiting in find_in(folder).unwrap_or_default() {
                if !noticed.contains(&waiting.ask.key) && take(&self.name(folder), &waiting) {
                    noticed.insert(waiting.ask.key);
                }
            }
        }
        self.all = all;
    }

    /// Returns the most recent runs, the newest first.
    pub(crate) fn shown(&mut self) -> Vec<Shown> {
        self.refresh();
        let mut shown: Vec<Shown> = self.all.iter().map(|(folder, run)| self.show(folder, run)).collect();
        shown.sort_by(|one, other| (other.last, &other.name).cmp(&(one.last, &one.name)));
        shown.truncate(MAX_SHOWN);
        shown
    }

    fn show(&self, folder: &Path, run: &Known) -> Shown {
        let about = run.follower.about().cloned().unwrap_or_default();
        let Progress { began, last, steps, calls, ended, .. } = &run.progress;
        Shown {
            name: self.name(folder),
            run: about.run,
            agent: about.agent,
            began: *began,
            last: *last,
            steps: *steps,
            calls: *calls,
            waiting: run.progress.waits(now()).count(),
            ended: *ended,
            fault: run.fault.as_ref().map(|(why, _)| why.clone()),
        }
    }

    /// Returns the name of a run: its folder, relative to the folder of all runs. `.` is that folder itself.
    pub(crate) fn name(&self, folder: &Path) -> String {
        let name = folder.strip_prefix(&self.folder).unwrap_or(folder);
        if name.as_os_str().is_empty() { ".".to_owned() } else { name.to_string_lossy().into_owned() }
    }

    /// Returns the folder of a known run, given its name. Names never lead to other folders.
    pub(crate) fn folder(&self, name: &str) -> Option<PathBuf> {
        self.all.keys().find(|folder| self.name(folder) == name).cloned()
    }

    /// Returns the calls that wait, and the reasons why some runs could not be opened.
    pub(crate) fn waiting(&mut self) -> (Vec<Waiting>, Vec<String>) {
        self.refresh();
        let (mut all, mut faults) = (Vec::new(), Vec::new());
        let mut fault = |folder: &Path, why: &dyn Display| faults.push(format!("{}: {why}", self.name(folder)));
        let now = now();
        let may_wait = self.all.iter().filter(|(_, run)| run.progress.waits(now).next().is_some());
        for folder in may_wait.map(|(folder, _)| folder) {
            // Children have entries of their own.
            match find_in(folder) {
                Ok(waiting) => all.extend(waiting),
                Err(error) => fault(folder, &with_sources(&error)),
            }
        }
        all.retain(|one| one.ask.expires > now);
        all.sort_by_key(|one| one.ask.expires);
        (all, faults)
    }
}
