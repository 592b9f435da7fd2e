//! Actions of the kernel, as far as a host reads them, and how a run ends.

use std::{collections::BTreeMap, path::PathBuf};

use seamgate::{FileJournal, Journal};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::person::Prompt;
use crate::error::{AddContext, Result};

/// Members of the action `finish` that the parent's event `child_result` has.
const FOR_PARENT: [&str; 7] = ["document", "kinds", "labels", "confidence", "used", "requests", "uncertain"];

/// Why the loop of a run ended.
pub enum End {
    /// The run has ended.
    Finished(Finish),
    /// A person is asked.
    Waits(Vec<Waiting>),
    /// The model is out of reach. The run can go on.
    Unreachable(String),
    /// A signal told this process to end.
    Signal(i32),
}

/// What a run waits for.
pub struct Waiting {
    /// The folder of the run that asks.
    pub folder: PathBuf,
    /// What a person is asked.
    pub prompt: Prompt,
}

/// The action `finish`, as far as a host reads it.
pub struct Finish {
    /// The word for how the run ended.
    pub status: String,
    /// The final document.
    pub document: Option<Box<RawValue>>,
    /// The reasons for which the run ended.
    pub reasons: Vec<Reason>,
    /// The calls of which nobody knows whether they had their effect.
    pub uncertain: Vec<Uncertain>,
    /// The members that the event `child_result` has in the run of a parent.
    pub(super) for_parent: BTreeMap<String, Box<RawValue>>,
}

/// A call of which nobody knows whether it had its effect.
#[derive(Deserialize)]
pub struct Uncertain {
    /// The tool.
    pub tool: String,
    /// The arguments, as JSON text.
    pub arguments: String,
}

/// A reason for which a run ended.
#[derive(Deserialize)]
pub struct Reason {
    /// A description.
    pub message: String,
}

impl Finish {
    pub(super) fn read(action: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct Known {
            status: String,
            document: Option<Box<RawValue>>,
            #[serde(default)]
            reasons: Vec<Reason>,
            #[serde(default)]
            uncertain: Vec<Uncertain>,
        }
        let Known { status, document, reasons, uncertain } =
            serde_json::from_str(action).context("an action of the kernel")?;
        let mut for_parent: BTreeMap<String, Box<RawValue>> = serde_json::from_str(action)?;
        for_parent.retain(|name, _| FOR_PARENT.contains(&name.as_str()));
        Ok(Finish { status, document, reasons, uncertain, for_parent })
    }

    /// Returns the action that ended a run, if it has ended.
    pub(super) fn of(journal: &FileJournal) -> Result<Option<Self>> {
        #[derive(Deserialize)]
        struct Line<'l> {
            #[serde(borrow)]
            action: Option<&'l RawValue>,
        }
        let mut last = None;
        for line in journal.lines(0)? {
            let line = line?;
            if !line.contains(r#""type":"finish""#) {
                continue;
            }
            if let Ok(Line { action: Some(action) }) = serde_json::from_str(&line) {
                last = Some(Finish::read(action.get())?);
            }
        }
        Ok(last)
    }
}

/// The action `delegate`.
#[derive(Deserialize)]
pub(super) struct Delegate {
    pub(super) call: String,
    pub(super) run: String,
    pub(super) agent: String,
    pub(super) profile: String,
    pub(super) task: Box<RawValue>,
    pub(super) parent: Box<RawValue>,
}

/// How the run of a child came to an end.
pub(super) enum ChildEnd {
    Ended(End),
    /// There is no such run.
    NotStarted(String),
}
