//! Notices of calls that wait for approval. A program receives each as JSON.

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf, sync::Arc, time::Duration};

use seamgate::{Ask, Record};
use seamgate_text::{escape_terminal, tool_name, warn};
use serde::Serialize;

use crate::process::{Ended, Inherited, Paths, Run, Signals, Stop, run};

/// The most bytes that the program may write to its standard output, which is discarded.
const MAX_OUTPUT: usize = 64 * 1024;

/// A call that waits for approval, in the form that a program receives.
#[derive(Serialize)]
pub struct Notice<'n> {
    /// The folder of the call's run, for `seamgate approve`.
    pub folder: String,
    /// The run of the call.
    pub run: &'n str,
    /// The agent of the call's run.
    pub agent: &'n str,
    /// The tool of the call, as NAME or SERVER/NAME.
    pub tool: String,
    /// The question for the person.
    pub ask: &'n Ask,
}

/// Returns the tool of a call, as named in the records of the step that asks about the call.
pub fn tool_of(records: &[Record], key: &str) -> String {
    let decided = records.iter().rev().find_map(|record| match record {
        Record::Decision(decision) if decision.call == key => Some(decision),
        _ => None,
    });
    decided.map(|decided| tool_name(decided.server.as_deref().unwrap_or_default(), &decided.tool)).unwrap_or_default()
}

/// The program that receives notices.
#[derive(Clone)]
pub struct Notifier {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Variables that are added to the program's environment.
    pub env: BTreeMap<String, String>,
    /// The variables of this process's environment that the program gets.
    pub inherited: Vec<String>,
    /// The program's time limit.
    pub timeout: Duration,
    /// The paths that the program may access. `None` for all paths that this user may access.
    pub paths: Option<Paths>,
    /// The folder that the program runs in.
    pub folder: PathBuf,
}

impl Notifier {
    /// Runs the program with a notice on its standard input, and waits until it ends. If the program fails, that is
    /// only reported on standard error: the call continues to wait.
    pub fn notify(&self, notice: &str, signals: &Signals) {
        let command: Vec<OsString> = self.command.iter().map(Into::into).collect();
        let environment: Vec<_> = self.env.iter().map(|(name, value)| (name.as_str(), value.into())).collect();
        let ended = run(
            &Run {
                command: &command,
                inherited: Inherited::Only(&self.inherited),
                environment: &environment,
                input: notice.as_bytes(),
                timeout: self.timeout,
                limit: MAX_OUTPUT,
                folder: Some(&self.folder),
                stop: Stop::default(),
                told_as: Some("notify"),
                paths: self.paths.as_ref(),
                secrets: Arc::default(),
            },
            signals,
            &mut |_| {},
        );
        let why = match ended {
            Ok(Ended::Exited { .. } | Ended::Interrupted(_) | Ended::Stopped) => return,
            Ok(Ended::Failed { status, .. }) => format!("it failed: {status}"),
            Ok(Ended::TimedOut { .. }) => format!("it did not end within {} s", self.timeout.as_secs()),
            Ok(Ended::TooLong { .. }) => format!("it wrote more than {MAX_OUTPUT} bytes"),
            Ok(Ended::NotStarted(error)) | Err(error) => error.to_string(),
        };
        let program = self.command.first().map(String::as_str).unwrap_or_default();
        warn(&format!("seamgate: \"notify\": {}: {}", escape_terminal(program), escape_terminal(&why)));
    }
}
