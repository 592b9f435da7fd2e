//! The run of an agent that another one delegated to: a run of its own, in its own journal.

use std::{collections::BTreeMap, path::Path};

use seamgate::{Action, FileJournal, Run};
use serde::Deserialize;

use super::{
    action::{ChildEnd, Delegate, End, Finish},
    context::Context,
    event::{Event, Started},
};
use crate::{
    error::{AddContext, Result},
    random::new_nonce,
    run_dir::{Lock, Plan},
};

/// Returns the event by which a parent learns how its child's run ended.
pub(super) fn result<'e>(call: &'e str, finish: &'e Finish) -> Event<'e> {
    Event::ChildResult { call, status: &finish.status, rest: &finish.for_parent }
}

/// Starts the run of a child or opens it again, then goes on with it by `go_on`.
pub(super) fn run<'s>(
    context: &'s Context,
    delegate: &Delegate,
    parent: &Path,
    parent_state: &str,
    go_on: impl FnOnce((Run<'s, FileJournal>, Vec<Action>), &Path) -> Result<End>,
) -> Result<ChildEnd> {
    let Some(profile) = context.profiles.of(&delegate.agent) else {
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
                listed: &profile.listed(&context.servers)?,
                parent: Some(&delegate.parent),
            });
            Run::start(&context.profiles.gate, journal, &delegate.agent, &started.now()?)?
        }
        Err(seamgate::JournalError::Exists { .. }) => {
            let journal = FileJournal::open(&folder)?;
            if let Some(finish) = Finish::of(&journal)? {
                return Ok(ChildEnd::Ended(End::Finished(finish)));
            }
            let mut run = Run::open(&context.profiles.gate, journal)?;
            let actions = run.send(&Event::Resumed { listed: &profile.listed(&context.servers)? }.now()?)?;
            (run, actions)
        }
        Err(error) => return Err(error.into()),
    };
    go_on((run, actions), &folder).map(ChildEnd::Ended)
}

/// What a child takes from its parent's state.
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
