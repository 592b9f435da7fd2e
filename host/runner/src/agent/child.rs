//! The run of an agent that another agent delegated to. It is a separate run with a journal of its own.

use std::{collections::BTreeMap, path::Path};

use seamgate::{
    Action, ChildResultEvent, ChildUse, DelegateAction, FileJournal, FinishAction, Json, ResumedEvent, Run,
    StartedEvent,
};
use serde::Deserialize;

use super::{
    action::{ChildEnd, End, finish_of},
    context::Context,
    event::now,
};
use crate::{
    error::{AddContext, Result},
    random::new_nonce,
    run_dir::{Lock, Plan},
};

/// Returns the event that reports the end of a child's run to its parent.
///
/// # Errors
///
/// A request cannot be written as JSON.
pub(super) fn result(call: &str, finish: &FinishAction) -> Result<ChildResultEvent> {
    let used = &finish.used;
    let mut event = ChildResultEvent::new(call, finish.status);
    event.document = finish.document.clone();
    event.kinds = Some(finish.kinds.clone());
    event.labels = Some(finish.labels.clone());
    event.confidence = finish.confidence;
    event.used = Some(ChildUse {
        steps: Some(used.steps),
        tool_calls: Some(used.tool_calls),
        tokens: Some(used.tokens),
        ms: None,
        calls: used.calls.clone(),
        recent: used.recent.clone(),
    });
    event.requests = Some(finish.requests.iter().map(Json::of).collect::<Result<_, _>>()?);
    event.uncertain = Some(finish.uncertain.clone());
    Ok(event)
}

/// Starts the run of a child or opens it again, then continues it with `go_on`.
pub(super) fn run<'s>(
    context: &'s Context,
    delegate: &DelegateAction,
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
            let mut started = StartedEvent::new(&delegate.run, facts.principal, new_nonce()?);
            started.task = Some(delegate.task.clone());
            started.context = Some(Json::of(&BTreeMap::<String, Json>::new())?);
            started.lists = Some(lists);
            started.listed = Some(profile.listed(&context.servers)?);
            started.parent = Some(delegate.parent.clone());
            Run::start(&context.profiles.gate, journal, &delegate.agent, &started.at(now()))?
        }
        Err(seamgate::JournalError::Exists { .. }) => {
            let journal = FileJournal::open(&folder)?;
            if let Some(finish) = finish_of(&journal)? {
                return Ok(ChildEnd::Ended(End::Finished(finish)));
            }
            let mut run = Run::open(&context.profiles.gate, journal)?;
            let mut resumed = ResumedEvent::new();
            resumed.listed = Some(profile.listed(&context.servers)?);
            let actions = run.send(&resumed.at(now()))?;
            (run, actions)
        }
        Err(error) => return Err(error.into()),
    };
    go_on((run, actions), &folder).map(ChildEnd::Ended)
}

/// The facts that a child takes from its parent's state.
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
