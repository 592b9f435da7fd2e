//! Whole runs of agents. The kernel decides, and this module carries out its decisions.

mod action;
mod chat;
mod child;
mod context;
mod event;
mod model;
mod model_server;
mod no_answer;
mod person;
mod progress;
mod response;
mod runner;
mod tool;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    thread,
};

use seamgate::{Action, FileJournal, FinishAction, Json, ResumedEvent, Run, StartedEvent};

pub use self::{
    action::{End, Waiting},
    chat::OWN_MEMBERS,
    context::Context,
    event::{Answer, MAX_END, now, result_ends},
    person::{Prompt, YesOrNo, ask_rows, held_reason, question_rows, to_decide},
    progress::ignored,
    runner::Runner,
};
use crate::{
    error::{Error, Result, bail},
    random::{new_nonce, random},
    run_dir::{Lock, Plan, Stores},
};

/// The inputs with which a run begins.
pub struct Beginning<'b> {
    /// The task. `None` if the profile needs no task.
    pub task: Option<&'b Json>,
    /// The mode to begin with. `None` for the profile's first mode.
    pub mode: Option<&'b str>,
    /// The values that the profile's `context` names.
    pub context: &'b BTreeMap<String, Json>,
    /// The lists that the profile's `scope` names.
    pub lists: &'b BTreeMap<String, Vec<String>>,
}

/// A run whose loop has not begun.
pub struct Opened<'w> {
    context: &'w Context,
    run: Run<'w, FileJournal>,
    actions: Vec<Action>,
    folder: PathBuf,
    changed_from: Option<String>,
    _lock: Lock,
}

/// A run that was opened again.
pub enum Resumed<'w> {
    /// The run had already ended.
    Ended(Box<FinishAction>),
    /// The run can continue.
    Opened(Box<Opened<'w>>),
}

/// Starts a run of the plan's first profile, in a new folder.
pub fn start<'w>(context: &'w Context, plan: &Plan, folder: &Path, beginning: &Beginning) -> Result<Opened<'w>> {
    let Some(profile) = context.profiles.all.first() else { bail!("name a profile with -p") };
    let journal = FileJournal::create(folder)?;
    let lock = Lock::take(folder)?;
    plan.write(folder)?;
    let mut started = StartedEvent::new(format!("run-{}", random(8)?), &plan.principal, new_nonce()?);
    started.mode = beginning.mode.map(str::to_owned);
    started.task = beginning.task.cloned();
    started.context = Some(Json::of(beginning.context)?);
    started.lists = Some(beginning.lists.clone());
    started.listed = Some(profile.listed(&context.servers)?);
    let (run, actions) = Run::start(&context.profiles.gate, journal, &profile.info.agent, &started.at(now()))?;
    Ok(Opened { context, run, actions, folder: folder.to_owned(), changed_from: None, _lock: lock })
}

/// Opens the run in a folder, to continue it.
pub fn resume<'w>(context: &'w Context, folder: &Path) -> Result<Resumed<'w>> {
    let lock = Lock::take(folder)?;
    let journal = FileJournal::open(folder)?;
    if let Some(finish) = action::finish_of(&journal)? {
        return Ok(Resumed::Ended(finish));
    }
    let mut run = Run::open(&context.profiles.gate, journal)?;
    let Some(profile) = context.profiles.of(run.agent()) else { bail!("{}: name its profile with -p", run.agent()) };
    let mut resumed = ResumedEvent::new();
    resumed.listed = Some(profile.listed(&context.servers)?);
    let changed_from = run.changed_from().map(str::to_owned);
    let actions = run.send(&resumed.at(now()))?;
    let opened = Opened { context, run, actions, folder: folder.to_owned(), changed_from, _lock: lock };
    Ok(Resumed::Opened(Box::new(opened)))
}

impl Opened<'_> {
    /// Returns the digest of the component that the run had before it was opened, if this process has another one.
    pub fn changed_from(&self) -> Option<&str> {
        self.changed_from.as_deref()
    }

    /// Performs the actions of each step, until the run ends or waits.
    ///
    /// Calls `first` before the loop begins, and `ended` when it has ended. If a request to the model is then still in
    /// flight, this returns only after that request.
    pub fn go_on<T, E: From<Error>>(
        self,
        first: impl FnOnce(&mut Runner) -> Result<(), E>,
        ended: impl FnOnce(Result<End>) -> Result<T, E>,
    ) -> Result<T, E> {
        let Opened { context, run, actions, folder, changed_from: _, _lock } = self;
        thread::scope(|scope| {
            let mut runner = Runner::new(context, (run, actions), &folder, Stores::of(&parent_of(&folder), true));
            first(&mut runner)?;
            ended(runner.go_on(scope))
        })
    }
}

/// Returns the folder that contains the folder of a run.
fn parent_of(folder: &Path) -> PathBuf {
    // A relative name, or a name with `..` at its end, does not contain the parent's name.
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    whole.parent().map_or(whole.clone(), Path::to_owned)
}
