//! Prompts for a person: what they ask, how they are shown, and how they are answered on a terminal.

use std::{
    path::Path,
    time::{Duration, UNIX_EPOCH},
};

use seamgate::{ApprovalAnswer, Ask, AskInputAction};
use seamgate_text::{escape_terminal, say, shorten};

use super::event::now;
use crate::{
    error::Result,
    terminal::{Terminal, TerminalPrompt, is_terminal, marked_rows},
};

/// Marks text of a model on the terminal.
const MODEL: &str = "  | ";

/// Returns what distinguishes a question from others. A run has one question of the model at a time, and one for each
/// call.
pub(super) fn place(question: &AskInputAction) -> &str {
    question.call.as_deref().unwrap_or("")
}

/// A prompt for a person.
#[derive(Clone)]
pub enum Prompt {
    /// A call that needs approval.
    Approval(Ask),
    /// A question of the model, or a question about the outcome of a call.
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
        answer: YesOrNo,
        principal: String,
    },
    Answered {
        question: AskInputAction,
        text: String,
        principal: String,
    },
    /// Nobody is present, or the person may not decide.
    Nothing,
    /// The answer is too late.
    Late,
    Signal(i32),
}

/// The person at the terminal.
pub(super) struct Person {
    /// The principal in whose name the person decides.
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
                rows: &|| ask_rows(ask, folder),
                prompt: &|code| format!("{} {}", self.may_approve(ask), to_decide(code)),
                take: &|line, code| {
                    let answer = YesOrNo::of(line, code)?;
                    Some(Reply::Decided { ask: ask.clone(), answer, principal: self.principal.clone() })
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
                let rows = || question_rows(question);
                match &question.call {
                    Some(call) => self.terminal.ask(&TerminalPrompt {
                        rows: &rows,
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
                        rows: &rows,
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

/// Returns the instruction for deciding about a call.
pub fn to_decide(code: &str) -> String {
    format!("Type \"{code}\" to approve, \"n\" or \"n REASON\" to reject:")
}

/// A person's answer to a call that was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum YesOrNo {
    /// The call may run.
    Yes,
    /// The call may not run, with the reason if the person gave one.
    No(Option<String>),
}

/// The longest reason of a person that an event may contain, in characters.
const MAX_REASON: usize = 900;

/// Truncates a person's reason to the length that an event may contain.
pub fn held_reason(reason: &str) -> String {
    shorten(reason, MAX_REASON)
}

impl YesOrNo {
    /// Returns what the person decided, with the reason for a rejection.
    pub fn decision(self) -> (ApprovalAnswer, Option<String>) {
        match self {
            YesOrNo::Yes => (ApprovalAnswer::Approved, None),
            YesOrNo::No(reason) => (ApprovalAnswer::Rejected, reason),
        }
    }

    /// Parses a line. Only the code means yes. An empty line, and any other text, decides nothing.
    pub fn of(line: &str, code: &str) -> Option<Self> {
        let line = line.trim();
        let (word, reason) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match word {
            _ if line.eq_ignore_ascii_case(code) => Some(YesOrNo::Yes),
            "n" | "no" => Some(YesOrNo::No(Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty()))),
            _ => None,
        }
    }
}

/// Returns the rows that show the call as it would be sent.
pub fn ask_rows(ask: &Ask, folder: &Path) -> Vec<String> {
    let time = humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_millis(ask.expires));
    let (key, folder) = (escape_terminal(&ask.key), escape_terminal(&folder.display().to_string()));
    let mut rows = vec![String::new(), format!("The call {key} of {folder} needs approval:")];
    rows.extend(marked_rows(&escape_terminal(&ask.view), "  ", "    "));
    rows.push(format!("  digest: {}", escape_terminal(&ask.digest)));
    rows.push(format!("  by: {}", escape_terminal(&ask.by.join(", "))));
    rows.push(format!("  until: {time}"));
    rows
}

/// Returns the rows that show a question. Text of the model is marked, so that no question can look like a call that
/// needs approval.
pub fn question_rows(question: &AskInputAction) -> Vec<String> {
    let text = escape_terminal(&question.question);
    let (title, rows) = match &question.call {
        Some(_) => (None, marked_rows(&text, "", "  ")),
        None => (Some("The model asks:".to_owned()), marked_rows(&text, MODEL, MODEL)),
    };
    [String::new()].into_iter().chain(title).chain(rows).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_code_means_yes() {
        for line in ["bcdf", " BCDF "] {
            assert_eq!(YesOrNo::of(line, "bcdf"), Some(YesOrNo::Yes));
        }
        for line in ["", "y", "yes", "bcdg", "bcdf now", "nbcdf", "done bcdf", "N"] {
            assert_eq!(YesOrNo::of(line, "bcdf"), None, "{line}");
        }
        assert_eq!(YesOrNo::of("n", "bcdf"), Some(YesOrNo::No(None)));
        let reason = Some("wait for the release".to_owned());
        assert_eq!(YesOrNo::of("no  wait for the release ", "bcdf"), Some(YesOrNo::No(reason)));
    }
}
