//! Prompts for a person: what they ask, how they are shown, and how they are answered on a terminal.

use std::{
    path::Path,
    time::{Duration, UNIX_EPOCH},
};

use seamgate::{Ask, AskInputAction};
use seamgate_text::{escape_terminal, say};

use super::event::now;
use crate::{
    error::Result,
    terminal::{Terminal, TerminalPrompt, is_terminal, say_marked},
};

/// Marks what a model says on the terminal.
const MODEL: &str = "  | ";

/// Returns what tells a question from others: a run asks one question of the model, and one about each call.
pub(super) fn place(question: &AskInputAction) -> &str {
    question.call.as_deref().unwrap_or("")
}

/// A prompt for a person.
#[derive(Clone)]
pub enum Prompt {
    /// A call that needs approval.
    Approval(Ask),
    /// A question of the model, or what became of a call.
    Input(AskInputAction),
}

impl Prompt {
    pub(super) fn expires(&self) -> u64 {
        match self {
            Prompt::Approval(ask) => ask.expires,
            Prompt::Input(question) => question.expires,
        }
    }
}

/// The reply to a prompt.
pub(super) enum Reply {
    Decided {
        ask: Ask,
        is_approved: bool,
        principal: String,
    },
    Answered {
        question: AskInputAction,
        text: String,
        principal: String,
    },
    /// Nobody is there, or they may not decide.
    Nothing,
    /// It is too late to answer.
    Late,
    Signal(i32),
}

/// The person at the terminal.
pub(super) struct Person {
    /// The principal that they decide as.
    pub(super) principal: String,
    terminal: Terminal,
}

impl Person {
    pub(super) fn new(principal: String) -> Self {
        Person { principal, terminal: Terminal::default() }
    }

    /// Asks on the terminal, if there is one. `stopped` returns the signal that ends the wait.
    pub(super) fn ask(
        &self,
        what: &Prompt,
        until: Option<u64>,
        folder: &Path,
        stopped: impl Fn() -> Option<i32>,
    ) -> Result<Reply> {
        if !is_terminal() {
            return Ok(Reply::Nothing);
        }
        let over = || match stopped() {
            Some(signal) => Some(Reply::Signal(signal)),
            None if until.is_some_and(|until| until <= now()) => {
                say("Nobody answered in time.");
                Some(Reply::Late)
            }
            None => None,
        };
        let said = match what {
            Prompt::Approval(ask) => self.terminal.ask(&TerminalPrompt {
                show: &|| show_ask(ask, folder),
                prompt: &|code| format!("{} Type \"{code}\" to approve, \"n\" to reject:", self.may_approve(ask)),
                take: &|line, code| {
                    let is_approved = YesOrNo::of(line, code)? == YesOrNo::Yes;
                    Some(Reply::Decided { ask: ask.clone(), is_approved, principal: self.principal.clone() })
                },
                invalid: "That decides nothing. The run waits for you if you end it now.",
                over: &over,
            }),
            Prompt::Input(question) => {
                let answered = |text: &str| {
                    Some(Reply::Answered {
                        question: question.clone(),
                        text: text.to_owned(),
                        principal: self.principal.clone(),
                    })
                };
                let show = || show_question(question);
                match &question.call {
                    Some(call) => self.terminal.ask(&TerminalPrompt {
                        show: &show,
                        prompt: &|code| {
                            let call = escape_terminal(call);
                            format!("Call {call}: type \"done {code}\" or \"not_done {code}\":")
                        },
                        take: &|line, code| match line.split_once(' ') {
                            Some((word @ ("done" | "not_done"), rest)) if YesOrNo::of(rest, code)? == YesOrNo::Yes => {
                                answered(word)
                            }
                            _ => None,
                        },
                        invalid: "That decides nothing. The run waits for you if you end it now.",
                        over: &over,
                    }),
                    None => self.terminal.ask(&TerminalPrompt {
                        show: &show,
                        prompt: &|_| "Your answer to the model, in one line:".to_owned(),
                        take: &|line, _| if line.is_empty() { None } else { answered(line) },
                        invalid: "Say something.",
                        over: &over,
                    }),
                }
            }
        };
        Ok(said?.unwrap_or(Reply::Nothing))
    }

    fn may_approve(&self, ask: &Ask) -> String {
        format!("Approve {} as {}?", escape_terminal(&ask.key), escape_terminal(&self.principal))
    }
}

/// A person's answer to a call that was shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum YesOrNo {
    /// The call may run.
    Yes,
    /// The call may not run.
    No,
}

impl YesOrNo {
    /// Reads a line. Only the code means yes. Silence, and whatever else there is, decides nothing.
    pub fn of(line: &str, code: &str) -> Option<Self> {
        match line.trim() {
            line if line.eq_ignore_ascii_case(code) => Some(YesOrNo::Yes),
            "n" | "no" => Some(YesOrNo::No),
            _ => None,
        }
    }
}

/// Shows what would be sent.
pub fn show_ask(ask: &Ask, folder: &Path) {
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

/// Shows a question. What the model says is marked, so that no question looks like a call that needs approval.
pub fn show_question(question: &AskInputAction) {
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
