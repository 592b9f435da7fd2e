//! The run of an agent that another one delegated to: a run of its own, in its own journal.

use std::{collections::BTreeMap, path::Path, thread::Scope};

use anyhow::{Context, Result};
use seamgate::{FileJournal, Run};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    drive::{Drive, End, Finish, World},
    event::{Event, Started},
    finished,
    lock::Lock,
    new_nonce,
    plan::Plan,
    step_error,
};

/// The action `delegate`.
#[derive(Deserialize)]
pub(super) struct Delegate {
    pub(super) call: String,
    run: String,
    agent: String,
    profile: String,
    task: Box<RawValue>,
    parent: Box<RawValue>,
}

/// How the run of a child came to an end.
pub(super) enum ChildEnd {
    Ended(End),
    /// There is no such run.
    NotStarted(String),
}

/// Members of the action `finish` that the parent's event `child_result` has.
const MEMBERS: [&str; 7] = ["document", "kinds", "labels", "confidence", "used", "requests", "uncertain"];

/// What the child's parent is told.
pub(super) fn result<'e>(call: &'e str, finish: &'e Finish) -> Event<'e> {
    Event::ChildResult { call, status: &finish.status, rest: &finish.for_parent }
}

/// Only the members that a parent reads.
pub(super) fn members(mut all: BTreeMap<String, Box<RawValue>>) -> BTreeMap<String, Box<RawValue>> {
    all.retain(|name, _| MEMBERS.contains(&name.as_str()));
    all
}

/// Start the run of a child, or go on with it.
pub(super) fn run<'s, 'e>(
    world: &'s World,
    delegate: &Delegate,
    parent: &Path,
    parent_state: &str,
    scope: &'s Scope<'s, 'e>,
) -> Result<ChildEnd> {
    let Some(profile) = world.profiles.of(&delegate.agent) else {
        return Ok(ChildEnd::NotStarted(format!(
            "there is no profile for the agent {:?}: name it with -p",
            delegate.agent
        )));
    };
    if profile.info.profile != delegate.profile {
        return Ok(ChildEnd::NotStarted(format!(
            "the profile of {:?} is {}, and not {} as its parent names it",
            delegate.agent, profile.info.profile, delegate.profile
        )));
    }
    let folder = parent.join("children").join(&delegate.call);
    let journal = FileJournal::create(&folder);
    let _lock = Lock::take(&folder)?;
    let (run, actions) = match journal {
        Ok(journal) => {
            Plan::read(parent)?.write(&folder)?;
            let facts = Facts::of(parent_state)?;
            let mut lists = facts.lists;
            lists.retain(|name, _| profile.info.lists.contains(name));
            let started = Event::Started(Started {
                run: &delegate.run,
                principal: &facts.principal,
                nonce: &new_nonce()?,
                mode: None,
                task: Some(&delegate.task),
                context: &BTreeMap::new(),
                lists: &lists,
                listed: &profile.listed(&world.servers)?,
                parent: Some(&delegate.parent),
            });
            Run::start(&world.profiles.gate, journal, &delegate.agent, &started.now()?).map_err(step_error)?
        }
        Err(seamgate::JournalError::Exists { .. }) => {
            let journal = FileJournal::open(&folder)?;
            if let Some(finish) = finished(&journal)? {
                return Ok(ChildEnd::Ended(End::Finished(finish)));
            }
            let mut run = Run::open(&world.profiles.gate, journal).map_err(step_error)?;
            let actions =
                run.send(&Event::Resumed { listed: &profile.listed(&world.servers)? }.now()?).map_err(step_error)?;
            (run, actions)
        }
        Err(error) => return Err(error.into()),
    };
    Drive::new(world, (run, actions), &folder).go_on(scope).map(ChildEnd::Ended)
}

/// What a child has from its parent's state.
#[derive(Deserialize)]
struct Facts {
    principal: String,
    #[serde(default)]
    lists: BTreeMap<String, Vec<String>>,
}

impl Facts {
    fn of(state: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct State {
            facts: Facts,
        }
        let State { facts } = serde_json::from_str(state).context("the state of a run")?;
        Ok(facts)
    }
}
