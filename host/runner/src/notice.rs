//! Notices of calls that wait for approval: a program gets each as JSON.

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf, sync::Arc, time::Duration};

use seamgate::{Ask, Record};
use seamgate_text::{escape_terminal, tool_name, warn};
use serde::Serialize;

use crate::process::{Ended, Inherited, Paths, Run, Signals, Stop, run};

/// The most bytes that the program may write to its standard output, which nobody reads.
const MAX_OUTPUT: usize = 64 * 1024;

/// A call that waits for approval, as a program reads it.
#[derive(Serialize)]
pub struct Notice<'n> {
    /// The folder of its run, for `seamgate approve`.
    pub folder: String,
    /// Its run.
    pub run: &'n str,
    /// The agent of its run.
    pub agent: &'n str,
    /// Its tool, as NAME or SERVER/NAME.
    pub tool: String,
    /// The question for the person.
    pub ask: &'n Ask,
}

/// Returns the tool of a call, as the records of the step that asks about it name it.
pub fn tool_of(records: &[Record], key: &str) -> String {
    let decided = records.iter().rev().find_map(|record| match record {
        Record::Decision(decision) if decision.call == key => Some(decision),
        _ => None,
    });
    decided.map(|decided| tool_name(decided.server.as_deref().unwrap_or_default(), &decided.tool)).unwrap_or_default()
}

/// The program that gets notices.
#[derive(Clone)]
pub struct Notifier {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Variables that are added to its environment.
    pub env: BTreeMap<String, String>,
    /// The variables of this process's environment that it gets.
    pub inherited: Vec<String>,
    /// The longest time that it may run.
    pub timeout: Duration,
    /// The paths that it may reach. `None`: all that this user may.
    pub paths: Option<Paths>,
    /// The folder that it runs in.
    pub folder: PathBuf,
}

impl Notifier {
    /// Runs the program with a notice on its standard input, and waits until it ends. A program that fails is reported on standard
    /// error, and changes nothing else: the call waits.
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
