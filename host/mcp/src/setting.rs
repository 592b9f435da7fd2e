//! The settings that all sessions of a gate share, and the runs of one session.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::SystemTime,
};

use seamgate::{FileJournal, Json, Run, StartedEvent};
use seamgate_runner::{
    Error, Result,
    agent::now,
    new_nonce,
    notice::Notifier,
    random,
    run_dir::{Lock, ModelPlan, Plan, Profiles, Servers, Stores},
    secrets::Secrets,
};
use seamgate_text::say;
use serde_json::{Value, json};

use super::{
    core::{Policy, Times},
    document::Document,
    launch::Launch,
    watch::Watch,
};

/// How to reach the servers of a gate.
#[derive(Clone, Copy)]
pub enum Reach<'r> {
    /// With a servers file.
    File(&'r Path),
    /// With the command of the only server.
    Command(&'r [String]),
}

/// Labels of the data that clients with one token have read, in all sessions.
pub(crate) type Labels = Mutex<BTreeSet<String>>;

/// The settings that all sessions of a gate share.
pub struct Setting {
    path: PathBuf,
    /// The servers file.
    servers: Option<PathBuf>,
    principal: String,
    pub(super) launches: Vec<Launch>,
    /// The program that receives each call that waits for approval.
    pub(super) notifier: Option<Notifier>,
    /// The secrets that calls may receive.
    pub(super) secrets: Arc<Secrets>,
    /// The profile with which the gate started, followed by those that a person has accepted since.
    first: Version,
    /// The lists that the profile's `scope` names.
    pub lists: BTreeMap<String, Vec<String>>,
    /// The mode. `None` for the profile's first mode.
    pub mode: Option<String>,
    /// The folder for journals, in which each session gets a folder of its own. `None` for a temporary folder, which is
    /// removed at the end.
    pub journal: Option<PathBuf>,
    /// How long servers have to start and to end.
    pub times: Times,
    /// Labels of the data that clients have read in earlier sessions.
    pub(super) labels: Labels,
}

/// A profile that a person has accepted, and the next one. Runs refer to it for as long as the gate serves.
pub(super) struct Version {
    /// The complete text.
    text: String,
    plan: Plan,
    pub(super) profiles: Profiles,
    next: OnceLock<Box<Version>>,
}

/// The folders of the runs of one session.
pub(super) enum Folders<'s> {
    /// Each folder stays, in this folder.
    Kept(&'s Path),
    /// The folders are removed together with this one.
    Temporary(tempfile::TempDir),
}

/// A run that has begun.
pub(super) struct Begun<'s> {
    pub(super) run: Run<'s, FileJournal>,
    pub(super) folder: PathBuf,
    /// The labels of data that outlives the session.
    pub(super) stores: Stores,
    pub(super) version: &'s Version,
}

impl Version {
    fn read(path: &Path, text: String, servers: Option<&Path>, principal: &str) -> Result<Self> {
        let servers = servers.map(Path::to_owned);
        let plan = Plan::new(vec![path.to_owned()], servers, ModelPlan::Client, principal.to_owned())?;
        let profiles = Profiles::read_by(&plan.profiles, |_| Ok(text.clone()))?;
        Ok(Version { text, plan, profiles, next: OnceLock::new() })
    }

    /// Returns the part of the profile that the gate itself applies.
    pub(super) fn policy(&self) -> Policy {
        Policy::read(&self.text)
    }

    fn last(&self) -> &Version {
        let mut version = self;
        while let Some(next) = version.next.get() {
            version = next;
        }
        version
    }
}

impl Setting {
    /// Registers the profile at `path`, whose complete text is `text`. `principal` is whom the client works for.
    pub fn new(path: &Path, text: &str, servers: Reach, principal: String) -> Result<Self> {
        let document = Document::of(path, text)?;
        let named = Policy::read(text).secrets();
        let (launches, file, notifier, secrets) = match servers {
            Reach::File(file) => {
                let mut servers = Servers::read(file)?;
                servers.read_secrets(&named)?;
                let (notifier, secrets) = (servers.notifier.take(), Arc::clone(&servers.secrets));
                (document.launches(servers, file)?, Some(file.to_owned()), notifier, secrets)
            }
            Reach::Command(command) => {
                // Without a servers file, no secret has a value.
                let secrets = Secrets::read(&named, &BTreeMap::new(), Path::new(""))?;
                (vec![document.launch(command)?], None, None, Arc::new(secrets))
            }
        };
        let first = Version::read(path, text.to_owned(), file.as_deref(), &principal)?;
        if first.policy().lacks_user_messages() {
            let why = "the profile has the origin \"user\", and nobody tells the gate what the user wrote";
            say(&format!("seamgate: {why}: add \"user_messages\": \"client\" if your client does"));
        }
        Ok(Setting {
            path: path.to_owned(),
            servers: file,
            principal,
            launches,
            notifier,
            secrets,
            first,
            lists: BTreeMap::new(),
            mode: None,
            journal: None,
            times: Times::default(),
            labels: Labels::default(),
        })
    }

    /// Returns the names of the lists that the profile's `scope` names.
    pub fn list_names(&self) -> &[String] {
        self.first.profiles.all.first().map(|profile| &profile.info.lists[..]).unwrap_or_default()
    }

    /// Returns the folders for the runs of a session.
    pub(super) fn folders(&self) -> Result<Folders<'_>> {
        let Some(folder) = &self.journal else {
            let made = tempfile::Builder::new().prefix("seamgate-mcp-").tempdir();
            return made.map(Folders::Temporary).map_err(|error| {
                Error::NoVerdict(format!(
                    "cannot make a temporary folder for the journal: {error}; name one with --journal"
                ))
            });
        };
        Ok(Folders::Kept(folder))
    }

    /// Returns the path of the profile.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the profile that a person accepted last.
    pub(super) fn version(&self) -> &Version {
        self.first.last()
    }

    /// Returns a watch for edits of a profile's file.
    pub(super) fn watch(&self, version: &Version) -> Option<Watch> {
        Watch::new(&self.path, &version.text)
    }

    /// Adds a profile that a person has accepted.
    pub(super) fn accept(&self, text: &str) -> Result<&Version> {
        let last = self.version();
        if last.text == text {
            return Ok(last);
        }
        let version = Version::read(&self.path, text.to_owned(), self.servers.as_deref(), &self.principal)?;
        if version.policy().servers() != last.policy().servers() {
            return Err(Error::invalid("it names other servers than before: start the gate again"));
        }
        if !version.policy().secrets().is_subset(&self.first.policy().secrets()) {
            return Err(Error::invalid("it names other secrets than before: start the gate again"));
        }
        let mut version = Box::new(version);
        // Another session may have accepted one meanwhile.
        while let Err(back) = self.version().next.set(version) {
            version = back;
        }
        Ok(self.version())
    }

    /// Begins a run with a profile, in a new folder.
    pub(super) fn begin<'s>(&'s self, version: &'s Version, folders: &Folders) -> Result<Begun<'s>> {
        let (parent, is_kept) = match folders {
            Folders::Kept(parent) => (*parent, true),
            Folders::Temporary(parent) => (parent.path(), false),
        };
        let folder = parent.join(session_name()?);
        let journal = FileJournal::create(&folder)?;
        // A temporary journal need not survive a crash.
        let journal = if is_kept { journal } else { journal.without_sync() };
        {
            // No other process begins a run in this folder at the same time.
            let _lock = Lock::take(&folder)?;
            version.plan.write(&folder)?;
        }
        let Some(profile) = version.profiles.all.first() else { return Err(Error::invalid("name a profile with -p")) };
        let mut event = StartedEvent::new(format!("run-{}", random(8)?), self.principal.clone(), new_nonce()?);
        event.mode.clone_from(&self.mode);
        event.context = Some(Json::parse("{}")?);
        event.lists = Some(self.lists.clone());
        let known = self.labels.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect::<Vec<_>>();
        event.labels = (!known.is_empty()).then_some(known);
        // Until the servers have listed their tools, there are none.
        let program = |launch: &Launch| (launch.name.clone(), json!({"program": launch.described, "tools": []}));
        let servers: BTreeMap<String, Value> = self.launches.iter().map(program).collect();
        event.listed = Some(Json::of(&json!({"servers": servers}))?);
        let (run, _) = Run::start(&version.profiles.gate, journal, &profile.info.agent, &event.at(now()))?;
        Ok(Begun { run, folder, stores: Stores::of(parent, is_kept), version })
    }
}

/// Returns the name of a session's folder: the time when it began, and a random number, because two sessions may begin
/// at once.
fn session_name() -> Result<String> {
    let time = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    Ok(format!("{}-{}", time.replace(':', "-"), random(2)?))
}
