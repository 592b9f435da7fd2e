//! Calls that wait for the approval of a person: finds them in the folders of runs, and sends decisions about them.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    rc::Rc,
};

use seamgate::{
    Action, ApprovalAnswer, ApprovalEvent, Ask, FileJournal, IgnoredRecord, Journal, JournalError, Run, StepError,
};
use seamgate_text::tool_name;
use serde::Deserialize;

use crate::{
    agent::{ignored, now},
    error::{AddContext, Error, Result, bail},
    notice::Notice,
    run_dir::{Claims, Lock, ModelPlan, Plan, Profiles, verify},
};

/// The deepest level of children.
const MAX_DEPTH: usize = 16;

/// The most attempts to send a decision. It is sent again if the run has continued meanwhile.
const MAX_ATTEMPTS: usize = 100;

/// A call that waits for approval.
pub struct Waiting {
    /// The folder of the call's run.
    pub folder: PathBuf,
    /// The id of the call's run.
    pub run: String,
    /// The agent of the call's run.
    pub agent: String,
    /// The tool of the call, as NAME or SERVER/NAME.
    pub tool: String,
    /// The arguments, as they would be sent.
    pub arguments: String,
    /// The question for the person.
    pub ask: Ask,
    /// The profiles of the run.
    pub profiles: Rc<Profiles>,
    /// `true` if the call's process continues by itself when the call is approved.
    pub goes_on: bool,
}

impl Waiting {
    /// Returns the call in the form that programs receive.
    pub fn notice(&self) -> Notice<'_> {
        Notice {
            folder: self.folder.display().to_string(),
            run: &self.run,
            agent: &self.agent,
            tool: self.tool.clone(),
            ask: &self.ask,
        }
    }

    /// Returns the event for a decision about the call.
    pub fn event(&self, decision: ApprovalAnswer, principal: &str) -> ApprovalEvent {
        ApprovalEvent::new(&self.ask.key, &self.ask.digest, decision, principal)
    }

    /// Returns the event for a decision in a signed token (JWS, EdDSA). The token is valid only for this call of this
    /// run.
    ///
    /// # Errors
    ///
    /// The token is malformed or has expired, it was not signed with a key that the profile has for its principal, or
    /// it is about another call.
    pub fn signed(&self, token: &str) -> Result<ApprovalEvent> {
        let token = token.trim();
        let keys = |principal: &str| self.ask.keys_of(principal).unwrap_or_default();
        let Claims { run, key, digest, decision, principal, .. } = verify(token, keys, now())?;
        let claims = [("run", &run, &self.run), ("key", &key, &self.ask.key), ("digest", &digest, &self.ask.digest)];
        for (name, is, must) in claims {
            if is != must {
                bail!("Invalid token: its {name} is {is:?}; this call has {must:?}");
            }
        }
        let decision = match decision.as_str() {
            "approved" => ApprovalAnswer::Approved,
            "rejected" => ApprovalAnswer::Rejected,
            _ => bail!("Invalid token: its decision must be \"approved\" or \"rejected\""),
        };
        let mut event = self.event(decision, &principal);
        event.token = Some(token.to_owned());
        Ok(event)
    }

    /// Sends a decision to the run of the call. Returns the run's reason if it did not accept the decision, because the
    /// call no longer waits or the principal may not decide.
    ///
    /// # Errors
    ///
    /// The run cannot be locked, opened or continued.
    pub fn send(&self, event: ApprovalEvent) -> Result<Option<IgnoredRecord>> {
        let _lock = Lock::take(&self.folder)?;
        let mut run = Run::open(&self.profiles.gate, FileJournal::open(&self.folder)?)?;
        let event = event.at(now());
        // A gate may continue the run at the same time.
        for attempt in 0.. {
            match run.send(&event) {
                Err(StepError::Journal(JournalError::Conflict { .. })) if attempt < MAX_ATTEMPTS => {
                    run.catch_up()?;
                }
                sent => {
                    sent?;
                    break;
                }
            }
        }
        ignored(&run)
    }
}

/// A run that cannot be opened, and the reason.
pub type Skipped = (PathBuf, Error);

/// Returns the waiting calls of a run and of its children, and the children that cannot be opened.
///
/// # Errors
///
/// The run itself cannot be opened.
pub fn find(folder: &Path) -> Result<(Vec<Waiting>, Vec<Skipped>)> {
    let mut waiting = find_in(folder)?;
    let mut skipped = Vec::new();
    for child in with_children(folder).into_iter().skip(1) {
        match find_in(&child) {
            Ok(more) => waiting.extend(more),
            Err(error) => skipped.push((child, error)),
        }
    }
    Ok((waiting, skipped))
}

/// Returns the folder of a run and those of its children, down to the deepest level, sorted by name.
pub fn with_children(run: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    push_with_children(run.to_owned(), 0, &mut all);
    all
}

fn push_with_children(run: PathBuf, depth: usize, all: &mut Vec<PathBuf>) {
    let inside = fs::read_dir(run.join("children")).into_iter().flatten();
    let mut children: Vec<PathBuf> = inside.filter_map(|child| Some(child.ok()?.path())).collect();
    children.sort();
    all.push(run);
    if depth < MAX_DEPTH {
        children.into_iter().for_each(|child| push_with_children(child, depth + 1, all));
    }
}

/// Returns the waiting calls of a run, without those of its children.
///
/// # Errors
///
/// The run cannot be opened.
pub fn find_in(folder: &Path) -> Result<Vec<Waiting>> {
    #[derive(Deserialize)]
    struct State {
        status: String,
        facts: Facts,
        calls: Vec<Call>,
    }
    #[derive(Deserialize)]
    struct Facts {
        #[serde(default)]
        asks: Vec<Asked>,
    }
    #[derive(Deserialize)]
    struct Asked {
        key: String,
        digest: String,
    }
    #[derive(Deserialize)]
    struct Call {
        key: String,
        phase: String,
        digest: Option<String>,
        #[serde(default)]
        server: String,
        tool: String,
        #[serde(default)]
        arguments: String,
    }
    let plan = Plan::read(folder)?;
    let goes_on = matches!(plan.model, ModelPlan::Client);
    let profiles = Rc::new(Profiles::read(&plan.profiles)?);
    let run = Run::open(&profiles.gate, FileJournal::open(folder)?)?;
    if let (true, Some(component)) = (goes_on, run.changed_from()) {
        // A process with that component may hold the session, and would not continue after a step of another component.
        return Err(Error::NoVerdict(format!(
            "{}: the session has the component {component}, and this seamgate has {}; decide with the seamgate that \
             began the session, or start the gate or the harness again",
            folder.display(),
            profiles.gate.component().digest()
        )));
    }
    let State { status, facts, calls } = serde_json::from_str(run.state()).context("the state of the run")?;
    // Of several requests for approval of a call, only the last is open: the earlier ones were about another action.
    let asked_call = |ask: &Asked| {
        let is_it = |call: &&Call| call.key == ask.key && call.digest.as_ref() == Some(&ask.digest);
        calls.iter().filter(|call| call.phase == "asked").find(is_it)
    };
    let mut shown = shown(run.journal())?;
    let (id, agent) = (run.id().to_owned(), run.agent().to_owned());
    drop(run);
    let mut waiting = Vec::new();
    if matches!(status.as_str(), "running" | "waiting") {
        for asked in facts.asks {
            let Some(call) = asked_call(&asked) else { continue };
            if let Some(ask) = shown.remove(&(asked.key, asked.digest)) {
                waiting.push(Waiting {
                    folder: folder.to_owned(),
                    run: id.clone(),
                    agent: agent.clone(),
                    tool: tool_name(&call.server, &call.tool),
                    arguments: call.arguments.clone(),
                    ask,
                    profiles: Rc::clone(&profiles),
                    goes_on,
                });
            }
        }
    }
    Ok(waiting)
}

/// Returns all requests for approval, by keys and digests.
fn shown(journal: &FileJournal) -> Result<BTreeMap<(String, String), Ask>> {
    #[derive(Deserialize)]
    struct Line {
        action: Option<Action>,
    }
    let mut shown = BTreeMap::new();
    for line in journal.lines(0)? {
        let line = line?;
        if line.contains(r#""type":"ask_approval""#)
            && let Ok(Line { action: Some(Action::AskApproval(action)) }) = serde_json::from_str(&line)
        {
            let ask = action.ask;
            shown.insert((ask.key.clone(), ask.digest.clone()), ask);
        }
    }
    Ok(shown)
}
