//! The hook of seamgate: it reads one message of a coding harness, has the kernel decide by a run in a journal, and
//! answers in the harness' form. In this way, one profile decides about the harness' own tools, its shell commands and
//! the tools of its MCP servers.

mod calls;
mod decide;
mod harness;
mod install;
mod session;
mod shell;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, path::PathBuf};

use seamgate::Gate;
use seamgate_runner::Error;

pub use self::{
    harness::Harness,
    install::{Change, Place, plan},
};
use self::{
    harness::{Event, Message, Verdict},
    session::Session,
};

/// The settings that all messages share.
pub struct Setting {
    /// The path of the profile.
    pub path: PathBuf,
    /// The complete text of the profile.
    pub profile: String,
    /// The folder for journals, in which each session of a harness gets a folder of its own.
    pub journal: PathBuf,
    /// The principal for whom the harness works.
    pub principal: String,
    /// The lists that the profile's `scope` names.
    pub lists: BTreeMap<String, Vec<String>>,
    /// The mode. `None` for the profile's first mode.
    pub mode: Option<String>,
    /// `true` if each step must survive a crash of the machine before the harness gets the answer.
    pub is_synced: bool,
    /// The folder that `~` represents.
    pub home: Option<String>,
}

/// The answer to a message.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    /// The text for standard output. If empty, the harness continues as it would without the hook.
    pub output: String,
    /// The text for standard error, with the exit status 2, which makes the harness deny the call.
    pub failure: Option<String>,
}

/// Answers one message of a harness. The answer to a message that cannot be read, and to any failure, is a denial.
pub fn respond(setting: &Setting, harness: Harness, input: &[u8]) -> Answer {
    let message = match harness.read(input) {
        Ok(message) => message,
        Err(why) => return Answer { output: String::new(), failure: Some(why) },
    };
    let verdict = verdict(setting, harness, &message)
        .unwrap_or_else(|error| Verdict::Deny(format!("seamgate cannot decide about this: {}", error.report())));
    Answer { output: harness.answer(&message, &verdict), failure: None }
}

fn verdict(setting: &Setting, harness: Harness, message: &Message) -> Result<Verdict, Error> {
    let Message { session, folder, event } = message;
    if matches!(event, Event::Other | Event::End) {
        return Ok(Verdict::Nothing);
    }
    let mut gate = Gate::new().map_err(|error| Error::NoVerdict(error.to_string()))?;
    let info = gate
        .register_profile(&setting.profile)
        .map_err(|fault| Error::Profile { path: setting.path.clone(), fault })?;
    let mut session = Session::open(&gate, &info, setting, harness, session)?;
    let verdict = match event {
        Event::Start | Event::Other | Event::End => Verdict::Nothing,
        Event::Prompt(prompt) => {
            session.said(prompt)?;
            Verdict::Nothing
        }
        Event::Before(call) => {
            let calls = calls::of(call, folder, setting);
            decide::before(&mut session, call, &calls, harness.can_ask())?
        }
        Event::After(call, result) => decide::after(&mut session, call, result)?,
    };
    session.close()?;
    Ok(verdict)
}
