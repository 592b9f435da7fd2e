//! The facts about a run that determine whether it is kept: its identity, its progress, and the size of its folder.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use seamgate::{Action, JournalError};
use seamgate_text::with_sources;
use serde::Serialize;

use crate::{
    calls::Calls,
    error::TraceError,
    profile::{ENDED_PLAN, PLAN},
    runs::JOURNAL,
    steps::Steps,
};

/// The state of a run, according to its folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunState {
    /// The run ended with a final answer.
    Final,
    /// The run ended with a part of an answer.
    FinalPartial,
    /// The run failed.
    Failed,
    /// The run was cancelled.
    Cancelled,
    /// The run is the session of a gate that has ended.
    Ended,
    /// A call waits for approval.
    Waiting,
    /// The run has not ended. Its folder does not show whether a process is continuing it.
    Running,
    /// The journal has no complete step.
    Empty,
    /// The journal is damaged or cannot be read.
    Broken,
}

impl RunState {
    /// Returns the word for the state.
    pub fn as_str(self) -> &'static str {
        match self {
            RunState::Final => "final",
            RunState::FinalPartial => "final_partial",
            RunState::Failed => "failed",
            RunState::Cancelled => "cancelled",
            RunState::Ended => "ended",
            RunState::Waiting => "waiting",
            RunState::Running => "running",
            RunState::Empty => "empty",
            RunState::Broken => "broken",
        }
    }

    /// Returns whether the run has ended and is completely readable.
    pub fn has_ended(self) -> bool {
        match self {
            RunState::Final | RunState::FinalPartial | RunState::Failed | RunState::Cancelled | RunState::Ended => true,
            RunState::Waiting | RunState::Running | RunState::Empty | RunState::Broken => false,
        }
    }
}

/// The size of a run's folder, as the total size of its files in bytes.
#[derive(Debug, Clone, Copy, Default, Serialize)]
#[non_exhaustive]
pub struct RunSize {
    /// The journal.
    pub journal: u64,
    /// Complete results and prompts.
    pub artifacts: u64,
    /// Snapshots of states.
    pub states: u64,
    /// The folders of the children, with everything in them.
    pub children: u64,
    /// All other files.
    pub other: u64,
}

impl RunSize {
    /// Returns the total size of all files in bytes.
    pub fn total(&self) -> u64 {
        self.journal + self.artifacts + self.states + self.children + self.other
    }
}

/// The facts about a run. Its texts come from its journal: escape them for a terminal.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct RunFacts {
    /// The id of the run. Empty if its first line cannot be read.
    pub run: String,
    /// The agent.
    pub agent: String,
    /// The digest of the profile.
    pub profile: String,
    /// The digests of the components that decided the run's steps, in their order.
    pub components: Vec<String>,
    /// The state of the run.
    pub state: RunState,
    /// The time of the first event, in milliseconds since 1970.
    pub began: Option<u64>,
    /// The time of the last event, in milliseconds since 1970.
    pub last: Option<u64>,
    /// The number of complete steps.
    pub steps: u64,
    /// The number of calls.
    pub calls: u64,
    /// The number of calls that wait for approval.
    pub waiting: u64,
    /// The names of the children's folders.
    pub children: Vec<String>,
    /// The size of the run's folder.
    pub size: RunSize,
    /// A description of the journal's damage, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// Reads the facts about the run in a folder, at the time `now`, in milliseconds since 1970. If the journal is damaged,
/// the state is [`RunState::Broken`], with the facts from before the damage.
pub fn facts(folder: &Path, now: u64) -> RunFacts {
    let mut facts = RunFacts {
        run: String::new(),
        agent: String::new(),
        profile: String::new(),
        components: Vec::new(),
        state: RunState::Running,
        began: None,
        last: None,
        steps: 0,
        calls: 0,
        waiting: 0,
        children: Vec::new(),
        size: RunSize::default(),
        fault: None,
    };
    match Steps::open(folder) {
        Ok(steps) => facts.read(steps, now),
        Err(TraceError::NotBegun { .. } | TraceError::Journal(JournalError::Empty { .. })) => {
            facts.state = RunState::Empty;
        }
        Err(error) => facts.break_off(with_sources(&error)),
    }
    let has_ended = !folder.join(PLAN).exists() && folder.join(ENDED_PLAN).is_file();
    if has_ended && matches!(facts.state, RunState::Running | RunState::Waiting) {
        facts.state = RunState::Ended;
    }
    // Nobody can decide about a call of an ended run.
    if facts.state.has_ended() {
        facts.waiting = 0;
    }
    if let Err(error) = facts.measure(folder) {
        facts.break_off(error);
    }
    facts
}

impl RunFacts {
    fn break_off(&mut self, fault: String) {
        self.state = RunState::Broken;
        self.fault.get_or_insert(fault);
    }

    fn read(&mut self, mut steps: Steps, now: u64) {
        let about = steps.about.clone();
        (self.run, self.agent, self.profile) = (about.run, about.agent, about.profile);
        self.components.push(about.component);
        let mut calls = Calls::default();
        let mut end = None;
        for step in &mut steps {
            self.began.get_or_insert(step.at);
            (self.last, self.steps) = (Some(step.at), step.number);
            self.components.extend(step.change.as_ref().map(|change| change.to.clone()));
            calls.step(&step);
            end = step
                .actions()
                .find_map(|action| match action {
                    Action::Finish(finish) => Some(finish.status),
                    _ => None,
                })
                .or(end);
        }
        self.calls = calls.count();
        self.waiting = calls.waiting(now);
        self.state = match end.map(|status| status.as_str()) {
            _ if self.steps == 0 => RunState::Empty,
            Some("final") => RunState::Final,
            Some("final_partial") => RunState::FinalPartial,
            Some("cancelled") => RunState::Cancelled,
            Some(_) => RunState::Failed,
            None if self.waiting > 0 => RunState::Waiting,
            None => RunState::Running,
        };
        if let Some(fault) = steps.fault() {
            self.fault = Some(fault.to_owned());
            // The next step replaces a truncated one.
            if !steps.is_torn() {
                self.state = RunState::Broken;
            }
        }
    }

    /// Measures the folder.
    fn measure(&mut self, folder: &Path) -> Result<(), String> {
        let failed = |path: &Path, error: io::Error| format!("cannot read {}: {error}", path.display());
        for entry in fs::read_dir(folder).map_err(|error| failed(folder, error))? {
            let entry = entry.map_err(|error| failed(folder, error))?;
            let (name, path) = (entry.file_name(), entry.path());
            let bytes = bytes_of(&path).map_err(|error| failed(&path, error))?;
            let size = &mut self.size;
            let part = match name.to_str() {
                Some(JOURNAL) => &mut size.journal,
                Some("artifacts") => &mut size.artifacts,
                Some("states") => &mut size.states,
                Some("children") => {
                    self.children = names_in(&path).map_err(|error| failed(&path, error))?;
                    &mut size.children
                }
                _ => &mut size.other,
            };
            *part += bytes;
        }
        Ok(())
    }
}

/// Returns the size of a file, or the total size of all files in a folder. Follows no symbolic links.
fn bytes_of(path: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    let mut left: Vec<PathBuf> = vec![path.to_owned()];
    while let Some(path) = left.pop() {
        let metadata = match fs::symlink_metadata(&path) {
            // The file was removed meanwhile, for example an older snapshot.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            metadata => metadata?,
        };
        if metadata.is_dir() {
            for entry in fs::read_dir(&path)? {
                left.push(entry?.path());
            }
        } else {
            bytes += metadata.len();
        }
    }
    Ok(bytes)
}

fn names_in(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    if fs::symlink_metadata(folder)?.is_dir() {
        for entry in fs::read_dir(folder)? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}
