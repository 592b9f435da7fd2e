//! The ways in which the loop of a run ends.

use std::path::PathBuf;

use seamgate::{Action, FileJournal, FinishAction, Journal};
use serde::Deserialize;

use super::person::Prompt;
use crate::error::{AddContext, Result};

/// The reason why the loop of a run ended.
pub enum End {
    /// The run has ended.
    Finished(Box<FinishAction>),
    /// The run waits for the answer of a person.
    Waits(Vec<Waiting>),
    /// The model is unreachable. The run can continue.
    Unreachable(String),
    /// A signal asked this process to end.
    Signal(i32),
}

/// A prompt that waits for a person, and its run.
pub struct Waiting {
    /// The folder of the run with the prompt.
    pub folder: PathBuf,
    /// The prompt for the person.
    pub prompt: Prompt,
}

/// Returns the action that ended a run, if it has ended.
pub(super) fn finish_of(journal: &FileJournal) -> Result<Option<Box<FinishAction>>> {
    #[derive(Deserialize)]
    struct Line {
        action: Option<Action>,
    }
    let mut last = None;
    for line in journal.lines(0)? {
        let line = line?;
        if !line.contains(r#""type":"finish""#) {
            continue;
        }
        let Line { action } = serde_json::from_str(&line).context("an action of the kernel")?;
        if let Some(Action::Finish(finish)) = action {
            last = Some(Box::new(finish));
        }
    }
    Ok(last)
}

/// The outcome of a child's run.
pub(super) enum ChildEnd {
    Ended(End),
    /// The run does not exist.
    NotStarted(String),
}
