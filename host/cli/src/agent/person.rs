//! What a person is asked, how it is shown, and what they say on a terminal.

use std::{
    collections::BTreeMap,
    io::{self, BufRead, IsTerminal},
    path::Path,
    sync::{
        Mutex, OnceLock, PoisonError,
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread,
    time::{Duration, UNIX_EPOCH},
};

use anyhow::{Context, Result};
use seamgate::Action;
use serde::Deserialize;

use super::{drive::What, event::now};
use crate::{console::say, safe::safe};

/// How often a signal and the time are looked at while a person thinks.
const TICK: Duration = Duration::from_millis(100);

/// What a person is asked to approve: `ask` of the action `ask_approval`.
#[derive(Clone, Deserialize)]
pub(crate) struct Ask {
    /// The call's key.
    pub(crate) key: String,
    pub(crate) digest: String,
    /// Who may approve.
    pub(crate) by: Vec<String>,
    /// The public keys of those who decide by signed tokens: by the run's own profile, and those of the agents above it.
    #[serde(default)]
    pub(crate) keys: BTreeMap<String, Vec<String>>,
    pub(crate) expires: u64,
    /// What would be sent. Nothing in it is hidden.
    pub(crate) view: String,
}

/// The action `ask_input`.
#[derive(Clone, Deserialize)]
pub(crate) struct Question {
    pub(crate) key: String,
    pub(crate) question: String,
    /// The uncertain call that it is about.
    pub(crate) call: Option<String>,
    pub(crate) expires: u64,
}

impl Ask {
    /// The public keys with which a principal signs what they decide. `None`: their name is enough.
    pub(crate) fn keys(&self, principal: &str) -> Option<&[String]> {
        self.keys.get(principal).map(Vec::as_slice)
    }

    pub(crate) fn of(action: &Action) -> Result<Self> {
        #[derive(Deserialize)]
        struct Asked {
            ask: Ask,
        }
        serde_json::from_str(&action.json).map(|Asked { ask }| ask).context("an action of the kernel")
    }
}

impl Question {
    /// The question of an action, if it asks one.
    pub(crate) fn of(action: &Action) -> Result<Option<Self>> {
        match action.kind.as_str() {
            "ask_input" => serde_json::from_str(&action.json).map(Some).context("an action of the kernel"),
            _ => Ok(None),
        }
    }

    /// What tells it from others: a run asks one question of the model, and one about each call.
    pub(crate) fn place(&self) -> &str {
        self.call.as_deref().unwrap_or("")
    }
}

/// What came of asking.
pub(super) enum Said {
    Decided {
        ask: Ask,
        is_approved: bool,
        principal: String,
    },
    Answered {
        question: Question,
        text: String,
        principal: String,
    },
    /// Nobody is there, or they may not decide.
    Nothing,
    /// It is too late to answer.
    Late,
    Signal(i32),
}

/// Who stands before the terminal.
pub(super) struct Person {
    /// As whom they decide.
    pub(super) principal: String,
    lines: OnceLock<Mutex<Receiver<Option<String>>>>,
}

impl Person {
    pub(super) fn new(principal: String) -> Self {
        Person { principal, lines: OnceLock::new() }
    }

    /// Ask on the terminal, if there is one. `stopped` gives the signal that ends the wait.
    pub(super) fn ask(
        &self,
        what: &What,
        until: Option<u64>,
        folder: &Path,
        stopped: impl Fn() -> Option<i32>,
    ) -> Result<Said> {
        if !is_terminal() {
            return Ok(Said::Nothing);
        }
        match what {
            What::Approval(ask) => {
                show_ask(ask, folder);
                say(&format!("Approve this call as {}? [y/N]", safe(&self.principal)));
            }
            What::Input(question) => {
                say(&format!("\n{}", safe(&question.question)));
                say(if question.call.is_some() { "done or not_done?" } else { "Your answer:" });
            }
        }
        let lines = self.lines.get_or_init(read_lines).lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(signal) = stopped() {
                return Ok(Said::Signal(signal));
            }
            if until.is_some_and(|until| until <= now()) {
                say("Nobody answered in time.");
                return Ok(Said::Late);
            }
            let line = match lines.recv_timeout(TICK) {
                Ok(Some(line)) => line,
                Ok(None) | Err(RecvTimeoutError::Disconnected) => return Ok(Said::Nothing),
                Err(RecvTimeoutError::Timeout) => continue,
            };
            let principal = self.principal.clone();
            match (what, line.trim()) {
                (What::Approval(ask), word @ ("y" | "yes" | "n" | "no")) => {
                    let is_approved = word.starts_with('y');
                    return Ok(Said::Decided { ask: ask.clone(), is_approved, principal });
                }
                // Silence decides nothing.
                (What::Approval(_), _) => say("Say y or n. The run waits for you if you end it now."),
                (What::Input(question), text @ ("done" | "not_done")) if question.call.is_some() => {
                    return Ok(Said::Answered { question: question.clone(), text: text.to_owned(), principal });
                }
                (What::Input(question), _) if question.call.is_some() => say("Say done or not_done."),
                (What::Input(_), "") => say("Say something."),
                (What::Input(question), text) => {
                    return Ok(Said::Answered { question: question.clone(), text: text.to_owned(), principal });
                }
            }
        }
    }
}

/// Whether a person can be asked.
pub(crate) fn is_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Show what would be sent.
pub(crate) fn show_ask(ask: &Ask, folder: &Path) {
    let time = humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_millis(ask.expires));
    say(&format!("\nThe call {} of {} needs approval:", ask.key, safe(&folder.display().to_string())));
    for line in safe(&ask.view).trim_end().lines() {
        say(&format!("  {line}"));
    }
    say(&format!("  digest: {}\n  by: {}\n  until: {time}", safe(&ask.digest), safe(&ask.by.join(", "))));
}

/// Lines of the terminal, read on a thread: a wait for a line must not keep a signal.
fn read_lines() -> Mutex<Receiver<Option<String>>> {
    let (sender, lines) = mpsc::channel();
    // Without a thread nobody answers, as if there were no terminal.
    let _ = thread::Builder::new().spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(Some(line)).is_err() {
                return;
            }
        }
        let _ = sender.send(None);
    });
    Mutex::new(lines)
}
