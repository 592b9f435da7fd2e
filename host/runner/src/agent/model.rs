//! Asks the model, which is a program of the user or a server.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use seamgate::{Action, AskModelAction};

use super::{
    event::Answer,
    model_server::ModelServer,
    no_answer::{MAX_ANSWER, NoAnswer},
};
use crate::process::{self, Ended, Inherited, Signals, Stop};

/// The model that answers prompts.
pub(super) enum Model {
    /// A program, which reads the action `ask_model` and writes the answer.
    Command {
        /// The program and its arguments.
        command: Vec<OsString>,
        /// The folder that it runs in.
        folder: PathBuf,
    },
    /// A server.
    Server(ModelServer),
}

impl Model {
    /// Returns whether a request may still be in flight when its answer is no longer needed.
    pub(super) fn is_slow_to_end(&self) -> bool {
        matches!(self, Model::Server(_))
    }

    /// Sends the request of an action `ask_model`.
    pub(super) fn ask(
        &self,
        action: AskModelAction,
        timeout: Duration,
        signals: &Signals,
        stop: Stop,
    ) -> Result<Answer, NoAnswer> {
        match self {
            Model::Command { command, folder } => {
                ask_command((command, folder), &Action::AskModel(action), timeout, signals, stop)
            }
            Model::Server(server) => server.ask(&action, timeout, &stop),
        }
    }
}

fn ask_command(
    (command, folder): (&[OsString], &Path),
    action: &Action,
    timeout: Duration,
    signals: &Signals,
    stop: Stop,
) -> Result<Answer, NoAnswer> {
    let invalid = |error: serde_json::Error| NoAnswer::Invalid(format!("the prompt: {error}"));
    let input = serde_json::to_string(action).map_err(invalid)? + "\n";
    let run = process::Run {
        command,
        // The model's own key may be among them.
        inherited: Inherited::All,
        environment: &[],
        input: input.as_bytes(),
        timeout,
        limit: MAX_ANSWER,
        folder: Some(folder),
        stop,
        told_as: Some("model"),
        paths: None,
        secrets: Arc::default(),
    };
    let unreachable = |message: String| Err(NoAnswer::Unreachable(message));
    let program = || command.first().map(|word| word.to_string_lossy()).unwrap_or_default();
    match process::run(&run, signals, &mut |_| {}) {
        Ok(Ended::Exited { output }) => Answer::read(&output).map_err(|error| {
            NoAnswer::Invalid(format!("Invalid answer of {}: expected one JSON document: {error}", program()))
        }),
        Ok(Ended::Failed { status, .. }) => unreachable(format!("{} failed: {status}", program())),
        Ok(Ended::TimedOut { .. }) => {
            unreachable(format!("{} did not answer within {} s", program(), timeout.as_secs()))
        }
        Ok(Ended::TooLong { .. }) => {
            Err(NoAnswer::Invalid(format!("Invalid answer of {}: it has more than {MAX_ANSWER} bytes", program())))
        }
        Ok(Ended::NotStarted(error)) => unreachable(format!("cannot run {}: {error}", program())),
        Ok(Ended::Stopped | Ended::Interrupted(_)) => Err(NoAnswer::Interrupted),
        Err(error) => unreachable(format!("cannot watch {}: {error}", program())),
    }
}
