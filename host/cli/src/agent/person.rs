//! What a person is asked, how it is shown, and what they say on a terminal.

use std::{
    collections::BTreeMap,
    path::Path,
    time::{Duration, UNIX_EPOCH},
};

use anyhow::{Context, Result};
use seamgate::Action;
use seamgate_text::{escape_terminal, say};
use serde::Deserialize;

use super::{drive::What, event::now};
use crate::terminal::{self, Terminal, is_terminal, say_marked};

/// Marks what a model says on the terminal.
const MODEL: &str = "  | ";

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
    terminal: Terminal,
}

impl Person {
    pub(super) fn new(principal: String) -> Self {
        Person { principal, terminal: Terminal::default() }
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
        let over = || match stopped() {
            Some(signal) => Some(Said::Signal(signal)),
            None if until.is_some_and(|until| until <= now()) => {
                say("Nobody answered in time.");
                Some(Said::Late)
            }
            None => None,
        };
        let said = match what {
            What::Approval(ask) => self.terminal.ask(&terminal::Question {
                show: &|| show_ask(ask, folder),
                prompt: &|code| format!("{} Type \"{code}\" to approve, \"n\" to reject:", self.may_approve(ask)),
                take: &|line, code| {
                    let is_approved = Answer::of(line, code)? == Answer::Yes;
                    Some(Said::Decided { ask: ask.clone(), is_approved, principal: self.principal.clone() })
                },
                invalid: "That decides nothing. The run waits for you if you end it now.",
                over: &over,
            }),
            What::Input(question) => {
                let answered = |text: &str| {
                    Some(Said::Answered {
                        question: question.clone(),
                        text: text.to_owned(),
                        principal: self.principal.clone(),
                    })
                };
                let show = || show_question(question);
                match &question.call {
                    Some(call) => self.terminal.ask(&terminal::Question {
                        show: &show,
                        prompt: &|code| {
                            let call = escape_terminal(call);
                            format!("Call {call}: type \"done {code}\" or \"not_done {code}\":")
                        },
                        take: &|line, code| match line.split_once(' ') {
                            Some((word @ ("done" | "not_done"), rest)) if Answer::of(rest, code)? == Answer::Yes => {
                                answered(word)
                            }
                            _ => None,
                        },
                        invalid: "That decides nothing. The run waits for you if you end it now.",
                        over: &over,
                    }),
                    None => self.terminal.ask(&terminal::Question {
                        show: &show,
                        prompt: &|_| "Your answer to the model, in one line:".to_owned(),
                        take: &|line, _| if line.is_empty() { None } else { answered(line) },
                        invalid: "Say something.",
                        over: &over,
                    }),
                }
            }
        };
        Ok(said?.unwrap_or(Said::Nothing))
    }

    fn may_approve(&self, ask: &Ask) -> String {
        format!("Approve {} as {}?", escape_terminal(&ask.key), escape_terminal(&self.principal))
    }
}

/// What a person says to a call that they were shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Yes,
    No,
}

impl Answer {
    /// Reads a line. Only the code means yes. Silence, and whatever else there is, decides nothing.
    pub(crate) fn of(line: &str, code: &str) -> Option<Self> {
        match line.trim() {
            line if line.eq_ignore_ascii_case(code) => Some(Answer::Yes),
            "n" | "no" => Some(Answer::No),
            _ => None,
        }
    }
}

/// Show what would be sent.
pub(crate) fn show_ask(ask: &Ask, folder: &Path) {
    let time = humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_millis(ask.expires));
    say(&format!(
        "\nThe call {} of {} needs approval:",
        escape_terminal(&ask.key),
        escape_terminal(&folder.display().to_string())
    ));
    say_marked(&escape_terminal(&ask.view), "  ", "    ");
    say(&format!(
        "  digest: {}\n  by: {}\n  until: {time}",
        escape_terminal(&ask.digest),
        escape_terminal(&ask.by.join(", "))
    ));
}

/// Show a question. What the model says is marked, so that no question looks like a call that needs approval.
pub(super) fn show_question(question: &Question) {
    match &question.call {
        Some(_) => {
            say("");
            say_marked(&escape_terminal(&question.question), "", "  ");
        }
        None => {
            say("\nThe model asks:");
            say_marked(&escape_terminal(&question.question), MODEL, MODEL);
        }
    }
}
