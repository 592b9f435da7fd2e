//! The run of a session, which each message continues.

use std::{
    collections::BTreeSet,
    fs::{self, DirBuilder, File, TryLockError},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use seamgate::{
    Action, Event, FileJournal, Gate, JournalError, ProfileInfo, Record, Run, SaidEvent, StartedEvent, StepError,
    digest,
};
use seamgate_runner::{
    Error, Result,
    agent::now,
    new_nonce, random,
    run_dir::{ModelPlan, Plan, Profiles, Stores},
};
use serde::{Deserialize, Serialize};

use crate::{Setting, harness::Harness};

/// The file beside the journal from which the next message continues.
const SNAPSHOT: &str = "hook.json";
/// The longest time to wait for another message of the session.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// The number of a digest's digits in a name.
const DIGITS: usize = 16;

/// The run of a session.
pub(crate) struct Session<'g> {
    run: Run<'g, FileJournal>,
    folder: PathBuf,
    /// The labels of data that outlives the session.
    stores: Stores,
    is_synced: bool,
    is_changed: bool,
    /// Held until everything is written.
    _lock: File,
}

/// The state of a run, and the end of its journal.
#[derive(Serialize, Deserialize)]
struct Snapshot {
    position: String,
    run: String,
}

/// The part of a run's state that a hook reads.
#[derive(Deserialize)]
pub(crate) struct State {
    pub(crate) calls: Vec<CallState>,
    facts: Facts,
}

#[derive(Deserialize)]
struct Facts {
    #[serde(default)]
    labels: Vec<String>,
}

/// A call in a run's state.
#[derive(Deserialize)]
pub(crate) struct CallState {
    pub(crate) key: String,
    #[serde(default)]
    pub(crate) id: String,
    pub(crate) phase: String,
    pub(crate) digest: Option<String>,
}

/// The records and actions of an event.
pub(crate) struct Step {
    pub(crate) records: Vec<Record>,
    pub(crate) actions: Vec<Action>,
}

impl<'g> Session<'g> {
    /// Continues the run of a session, or starts it. If the profile was edited, or the version differs, starts another
    /// run, which knows the labels of everything that the session has read.
    pub(crate) fn open(
        gate: &'g Gate,
        info: &ProfileInfo,
        setting: &Setting,
        harness: Harness,
        session: &str,
    ) -> Result<Self> {
        let whole = setting.journal.join(format!("{}-{}", harness.word(), name_of(session)));
        make_folder(&whole)?;
        let lock = lock(&whole.join("hook.lock"))?;
        let version = digest(format!("{} {}", info.profile, gate.component().digest()).as_bytes());
        let folder = whole.join(short(&version));
        let started = folder.join("journal.ndjson").is_file();
        let run = match started {
            true => restore(gate, &folder).map_or_else(|| reopen(gate, &folder), Ok)?,
            false => start(gate, info, setting, &whole, &folder)?,
        };
        let is_synced = setting.is_synced;
        let stores = Stores::of(&setting.journal, is_synced);
        let mut session = Session { run, folder, stores, is_synced, is_changed: !started, _lock: lock };
        for news in session.stores.news(session.run.state())? {
            session.send(&news.at(now()))?;
        }
        Ok(session)
    }

    /// Sends an event. The step survives a crash once the session is closed.
    pub(crate) fn send(&mut self, event: &Event) -> Result<Step> {
        let sent = self.run.send_unsynced(event);
        let actions = match sent {
            Err(StepError::Journal(JournalError::Conflict { .. })) => {
                self.run.catch_up()?;
                self.run.send_unsynced(event)?
            }
            sent => sent?,
        };
        self.is_changed = true;
        if actions.iter().any(|action| matches!(action, Action::Execute(_))) {
            self.stores.keep(self.run.state())?;
        }
        Ok(Step { records: self.run.records()?, actions })
    }

    /// Records a message of the user. Values may come from it, if the profile's origins name the user.
    pub(crate) fn said(&mut self, prompt: &str) -> Result<()> {
        self.send(&SaidEvent::new(prompt).at(now())).map(drop)
    }

    /// Keeps a result that is too large for an event.
    pub(crate) fn keep(&mut self, text: &str) -> Result<String> {
        self.run.keep(text).map_err(|error| Error::NoVerdict(error.to_string()))
    }

    /// Returns the number of events so far.
    pub(crate) fn step(&self) -> u64 {
        self.run.step()
    }

    /// Returns the state.
    pub(crate) fn state(&self) -> Result<State> {
        Ok(serde_json::from_str(self.run.state())?)
    }

    /// Syncs all steps, and stores the position from which the next message continues.
    pub(crate) fn close(mut self) -> Result<()> {
        if !self.is_changed {
            return Ok(());
        }
        if self.is_synced {
            self.run.sync().map_err(|error| Error::NoVerdict(error.to_string()))?;
        }
        let snapshot = Snapshot { position: self.run.journal().position(), run: self.run.snapshot() };
        let (file, part) = (self.folder.join(SNAPSHOT), self.folder.join("hook.json.part"));
        // Without this file, the next message reads the journal.
        let written = write(&part, &serde_json::to_vec(&snapshot)?).and_then(|()| fs::rename(&part, &file));
        if written.is_err() {
            let _ = fs::remove_file(&file);
        }
        Ok(())
    }
}

/// Starts a run.
fn start<'g>(
    gate: &'g Gate,
    info: &ProfileInfo,
    setting: &Setting,
    whole: &Path,
    folder: &Path,
) -> Result<Run<'g, FileJournal>> {
    // The folder of the new run has no journal yet.
    let known = labels_in(whole)?;
    let journal = FileJournal::create(folder).map_err(|error| Error::NoVerdict(error.to_string()))?;
    let plan = Plan::new(vec![setting.path.clone()], None, ModelPlan::Client, setting.principal.clone())?;
    // From then on, the plan has a copy of the profile.
    Profiles::read_by(&plan.profiles, |_| Ok(setting.profile.clone()))?;
    plan.write(folder)?;
    let mut event = StartedEvent::new(format!("run-{}", random(8)?), setting.principal.clone(), new_nonce()?);
    event.mode.clone_from(&setting.mode);
    event.lists = (!setting.lists.is_empty()).then(|| setting.lists.clone());
    event.labels = (!known.is_empty()).then(|| known.into_iter().collect());
    let (run, _) = Run::start(gate, journal, &info.agent, &event.at(now()))?;
    Ok(run)
}

/// Continues from where the last message ended. `None` if the snapshot does not match the journal.
fn restore<'g>(gate: &'g Gate, folder: &Path) -> Option<Run<'g, FileJournal>> {
    let snapshot: Snapshot = serde_json::from_slice(&fs::read(folder.join(SNAPSHOT)).ok()?).ok()?;
    let journal = FileJournal::open_at(folder, &snapshot.position).ok()?;
    if journal.is_behind() {
        return None;
    }
    Run::restore(gate, journal, &snapshot.run).ok()
}

/// Continues by reading the whole journal.
fn reopen<'g>(gate: &'g Gate, folder: &Path) -> Result<Run<'g, FileJournal>> {
    let journal = FileJournal::open(folder).map_err(|error| Error::NoVerdict(error.to_string()))?;
    Ok(Run::open(gate, journal)?)
}

/// Returns the labels of everything that earlier runs of a session have read.
fn labels_in(whole: &Path) -> Result<BTreeSet<String>> {
    let failed = |folder: &Path, why: &dyn std::fmt::Display| {
        Error::NoVerdict(format!(
            "cannot read the labels of an earlier run of this session in {}: {why}; start another session",
            folder.display()
        ))
    };
    let mut labels = BTreeSet::new();
    for entry in fs::read_dir(whole).map_err(|error| failed(whole, &error))? {
        let folder = entry.map_err(|error| failed(whole, &error))?.path();
        // Without a journal, or with an empty one, nothing was read.
        let length = folder.join("journal.ndjson").metadata().map_or(0, |metadata| metadata.len());
        if length == 0 {
            continue;
        }
        let known = match labels_of_snapshot(&folder) {
            Some(known) => known,
            None => labels_of_journal(&folder).map_err(|error| failed(&folder, &error))?,
        };
        labels.extend(known);
    }
    Ok(labels)
}

/// Returns the labels in the snapshot of a run. `None` if the snapshot does not match the journal.
fn labels_of_snapshot(folder: &Path) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct Saved {
        state: State,
    }
    let snapshot: Snapshot = serde_json::from_slice(&fs::read(folder.join(SNAPSHOT)).ok()?).ok()?;
    if FileJournal::open_at(folder, &snapshot.position).ok()?.is_behind() {
        return None;
    }
    let saved: Saved = serde_json::from_str(&snapshot.run).ok()?;
    Some(saved.state.facts.labels)
}

/// Returns the labels in the journal of a run, whose folder has a copy of its profile.
fn labels_of_journal(folder: &Path) -> Result<Vec<String>> {
    let mut gate = Gate::new().map_err(|error| Error::NoVerdict(error.to_string()))?;
    for copy in &Plan::read(folder)?.profiles {
        let document = copy.document().ok_or_else(|| Error::NoVerdict("its profile is missing".to_owned()))?;
        gate.register_profile(document).map_err(|error| Error::NoVerdict(error.to_string()))?;
    }
    let run = reopen(&gate, folder)?;
    let state: State = serde_json::from_str(run.state())?;
    Ok(state.facts.labels)
}

/// Returns a name for the folder of a session. It is the session's id if that is a valid name.
fn name_of(session: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    match session.len() <= 80 && session.bytes().all(is_plain) {
        true => session.to_owned(),
        false => short(&digest(session.as_bytes())).to_owned(),
    }
}

/// Returns the first digits of a digest.
pub(crate) fn short(digest: &str) -> &str {
    let hex = digest.strip_prefix("sha256:").unwrap_or(digest);
    &hex[..hex.len().min(DIGITS)]
}

fn make_folder(folder: &Path) -> Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|error| {
        Error::NoVerdict(format!(
            "cannot make the folder {}: {error}; name another one with --journal",
            folder.display()
        ))
    })
}

fn lock(path: &Path) -> Result<File> {
    let failed = |error| Error::NoVerdict(format!("cannot lock {}: {error}", path.display()));
    let mut options = File::options();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(failed)?;
    let begin = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if begin.elapsed() < MAX_WAIT => thread::sleep(Duration::from_millis(1)),
            Err(TryLockError::WouldBlock) => {
                return Err(Error::NoVerdict(format!("another hook of this session has locked {}", path.display())));
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
    }
}

fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write;
    let mut options = File::options();
    options.create(true).truncate(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(bytes)
}
