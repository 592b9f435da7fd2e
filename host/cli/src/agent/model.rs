//! Asks the model: a program of the user's.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use super::event::Answer;
use crate::process::{self, Ended, Signals, Stop};

/// The longest answer, in bytes.
const MAX_ANSWER: usize = 8 * 1024 * 1024;

/// Who answers prompts.
pub(super) enum Model {
    /// A program: it reads the action `ask_model`, and writes the answer.
    Command {
        /// The program and its arguments.
        command: Vec<OsString>,
        /// Where it runs.
        folder: PathBuf,
    },
}

/// Why there is no answer.
pub(super) enum NoAnswer {
    /// The model answered, and its answer is none. The run is told.
    Invalid(String),
    /// The model is out of reach. The run waits until it is there again.
    Unreachable(String),
    /// The run asks no more, or a signal ended this program.
    Interrupted,
}

impl Model {
    /// Ask what an action `ask_model` asks.
    pub(super) fn ask(
        &self,
        action: &str,
        timeout: Duration,
        signals: &Signals,
        stop: Stop,
    ) -> Result<Answer, NoAnswer> {
        match self {
            Model::Command { command, folder } => ask_command((command, folder), action, timeout, signals, stop),
        }
    }
}

fn ask_command(
    (command, folder): (&[OsString], &Path),
    action: &str,
    timeout: Duration,
    signals: &Signals,
    stop: Stop,
) -> Result<Answer, NoAnswer> {
    let input = format!("{action}\n");
    let run = process::Run {
        command,
        environment: &[],
        input: input.as_bytes(),
        timeout,
        limit: MAX_ANSWER,
        folder: Some(folder),
        without: &[],
        stop,
    };
    let unreachable = |message: String| Err(NoAnswer::Unreachable(message));
    let program = || command.first().map(|word| word.to_string_lossy()).unwrap_or_default();
    match process::run(&run, signals, &mut |_| {}) {
        Ok(Ended::Exited { output }) => serde_json::from_slice(&output).map_err(|error| {
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
