//! The facts about a run that decide whether it is kept: what it is, how far it came, and how large its folder is.

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

/// The state of a run, as its folder says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunState {
    /// It ended with a final answer.
    Final,
    /// It ended with a part of an answer.
    FinalPartial,
    /// It failed.
    Failed,
    /// Somebody cancelled it.
    Cancelled,
    /// It is the session of a gate that has ended.
    Ended,
    /// A call waits for approval.
    Waiting,
    /// It has not ended. Whether a process goes on with it, its folder does not say.
    Running,
    /// Its journal has no whole step.
    Empty,
    /// Its journal is damaged, or cannot be read.
    Broken,
}

impl RunState {
    /// Returns the word for it.
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

    /// Returns whether the run has ended and can be read whole.
    pub fn has_ended(self) -> bool {
        match self {
            RunState::Final | RunState::FinalPartial | RunState::Failed | RunState::Cancelled | RunState::Ended => true,
            RunState::Waiting | RunState::Running | RunState::Empty | RunState::Broken => false,
        }
    }
}

/// The size of a run's folder, in bytes of its files.
#[derive(Debug, Clone, Copy, Default, Serialize)]
#[non_exhaustive]
pub struct RunSize {
    /// The journal.
    pub journal: u64,
    /// Whole results and prompts.
    pub artifacts: u64,
    /// Snapshots of states.
    pub states: u64,
    /// The folders of the children, with all that is in them.
    pub children: u64,
    /// All other files.
    pub other: u64,
}

impl RunSize {
    /// Returns the bytes of all files.
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
    /// The digest of its profile.
    pub profile: String,
    /// The digests of the components that decided its steps, in their order.
    pub components: Vec<String>,
    /// Its state.
    pub state: RunState,
    /// The time of its first event, in milliseconds since 1970.
    pub began: Option<u64>,
    /// The time of its last event, in milliseconds since 1970.
    pub last: Option<u64>,
    /// The number of its whole steps.
    pub steps: u64,
    /// The number of its calls.
    pub calls: u64,
    /// The number of its calls that wait for approval.
    pub waiting: u64,
    /// The names of the folders of its children.
    pub children: Vec<String>,
    /// The size of its folder.
    pub size: RunSize,
    /// What is wrong with the journal, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// Reads the facts about the run in a folder, at the time `now`, in milliseconds since 1970. A journal that is damaged
/// is a [`RunState::Broken`], with the facts before the damage.
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
            // The next step takes the place of a torn one.
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

/// Returns the bytes of a file, or of all files in a folder. Follows no symbolic link.
fn bytes_of(path: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    let mut left: Vec<PathBuf> = vec![path.to_owned()];
    while let Some(path) = left.pop() {
        let metadata = match fs::symlink_metadata(&path) {
            // It was removed meanwhile, such as an older snapshot.
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
