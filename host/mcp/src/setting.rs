//! The settings that all sessions of a gate share, and one session.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::SystemTime,
};

use seamgate::FileJournal;
use seamgate_runner::{
    Error, Result,
    process::Signals,
    random,
    run_dir::{Lock, ModelPlan, Plan, Profiles},
};

use super::{
    core::{End, Policy, Times},
    document::Document,
    driver::{Downstream, Driver, Labels, Session, Started},
    launch::Launch,
};

/// The way to the servers of a gate.
#[derive(Clone, Copy)]
pub enum Reach<'r> {
    /// By a servers file.
    File(&'r Path),
    /// By the command of the only server.
    Command(&'r [String]),
}

/// The settings that all sessions of a gate share.
pub struct Setting {
    /// The whole text of the profile, as far as the gate decides by it itself.
    profile: String,
    pub(super) launches: Vec<Launch>,
    plan: Plan,
    profiles: Profiles,
    /// The lists that the profile's `scope` names.
    pub lists: BTreeMap<String, Vec<String>>,
    /// The mode. `None`: the profile's first.
    pub mode: Option<String>,
    /// The folder for journals: each session gets a folder of its own in it. `None`: a temporary one, which is removed at the end.
    pub journal: Option<PathBuf>,
    /// The time that servers have to start and to end.
    pub times: Times,
    /// Labels of the data that clients have read in earlier sessions.
    labels: Labels,
}

impl Setting {
    /// Registers the profile at `path`, whose whole text is `text`. `principal` is whom the client works for.
    pub fn new(path: &Path, text: &str, servers: Reach, principal: String) -> Result<Self> {
        let document = Document::of(path, text)?;
        let (launches, file) = match servers {
            Reach::File(file) => (document.launches(file)?, Some(file.to_owned())),
            Reach::Command(command) => (vec![document.launch(command)?], None),
        };
        let plan = Plan::new(vec![path.to_owned()], file, ModelPlan::Client, principal)?;
        let profiles = Profiles::read_by(&plan.profiles, |_| Ok(text.to_owned()))?;
        Ok(Setting {
            profile: text.to_owned(),
            launches,
            plan,
            profiles,
            lists: BTreeMap::new(),
            mode: None,
            journal: None,
            times: Times::default(),
            labels: Labels::default(),
        })
    }

    /// Returns the names of the lists that the profile's `scope` names.
    pub fn list_names(&self) -> &[String] {
        self.profiles.all.first().map(|profile| &profile.info.lists[..]).unwrap_or_default()
    }

    /// Serves one client, with servers and a run of its own. `kept` gets the folder that stays.
    pub(super) fn session(&self, client: Downstream, signals: &Signals, kept: &mut Option<PathBuf>) -> Result<End> {
        // Removed when this is dropped.
        let temporary;
        let (folder, journal) = match &self.journal {
            Some(folder) => {
                let folder = folder.join(session_name()?);
                let journal = FileJournal::create(&folder)?;
                *kept = Some(folder.clone());
                (folder, journal)
            }
            None => {
                temporary = tempfile::Builder::new().prefix("seamgate-mcp-").tempdir().map_err(|error| {
                    Error::NoVerdict(format!(
                        "cannot make a temporary folder for the journal: {error}; name one with --journal"
                    ))
                })?;
                let folder = temporary.path().join("run");
                // What is removed at the end need not outlast a crash.
                let journal = FileJournal::create(&folder)?.without_sync();
                (folder, journal)
            }
        };
        {
            // Nobody else begins a run here at the same time.
            let _lock = Lock::take(&folder)?;
            self.plan.write(&folder)?;
        }
        let started = Started {
            run: format!("run-{}", random(8)?),
            principal: self.plan.principal.clone(),
            mode: self.mode.clone(),
            lists: self.lists.clone(),
        };
        let Downstream { writer, listen } = client;
        let session = Session {
            profiles: &self.profiles,
            policy: Policy::read(&self.profile),
            times: self.times,
            launches: &self.launches,
            folder: &folder,
            labels: &self.labels,
        };
        let mut driver = Driver::start(session, journal, started, writer)?;
        let end = driver.serve(listen, signals);
        drop(driver);
        // The run has ended: nobody approves anything here any more.
        Plan::put_aside(&folder);
        end
    }
}

/// Returns the name of a session's folder: when it began, and a random number, because two may begin at once.
fn session_name() -> Result<String> {
    let time = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    Ok(format!("{}-{}", time.replace(':', "-"), random(2)?))
}
