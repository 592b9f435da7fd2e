//! What the producer is told: what was wrong and where, its own text quoted as data.

use crate::{
    items::{Quarantined, Reason},
    report::{ErrorKind, Rejection},
    text,
    violation::Violation,
};

/// `feedback` is at most this long.
const MAX_FEEDBACK: usize = 2048;

/// How it ends.
const TAIL: &str = "Send the whole corrected output again.";

/// For an output of which nothing is used.
pub(crate) fn rejected(output: &str, rejection: &Rejection, quarantined: &[Quarantined]) -> String {
    let mut feedback = Feedback::new(match rejection.error {
        ErrorKind::ExtractionFailed => "No usable JSON was found in the output.",
        ErrorKind::MalformedJson => "The output is not well-formed JSON.",
        ErrorKind::OutputValidationFailed => "The output does not match what was asked for.",
    });
    for violation in &rejection.violations.listed {
        feedback.add(line(output, violation));
    }
    feedback.add_items(output, quarantined);
    feedback.end(rejection.violations.total + quarantined.len())
}

/// For an output of which a part is used.
pub(crate) fn partial(output: &str, broken: Option<&Violation>, quarantined: &[Quarantined]) -> String {
    let mut feedback = Feedback::new(match broken {
        Some(_) => "The output is not well-formed JSON; only a part of it, or a repaired form, could be used.",
        None => "Not every item of the output could be used.",
    });
    // Where it is an item that is broken, that is said of the item.
    let is_of_item = |broken: &&Violation| !quarantined.iter().any(|item| has(item, broken));
    let broken = broken.filter(is_of_item);
    if let Some(broken) = broken {
        feedback.add(line(output, broken));
    }
    feedback.add_items(output, quarantined);
    feedback.end(usize::from(broken.is_some()) + quarantined.len())
}

struct Feedback {
    text: String,
    listed: usize,
    full: bool,
}

impl Feedback {
    fn new(head: &str) -> Self {
        Feedback { text: format!("{head}\n"), listed: 0, full: false }
    }

    fn add(&mut self, line: String) {
        // Room for the line that says how many are left out, and for the tail.
        self.full |= self.text.len() + line.len() + 48 + TAIL.len() > MAX_FEEDBACK;
        if !self.full {
            self.text.push_str(&line);
            self.listed += 1;
        }
    }

    fn add_items(&mut self, output: &str, quarantined: &[Quarantined]) {
        for item in quarantined {
            // A producer is free to send more than is kept; it is told so once.
            if self.full {
                break;
            }
            let path = text::visible(&text::cut(&item.path, 160));
            self.add(match (item.reason, item.violations.first()) {
                (Reason::OverLimit, _) | (_, None) => {
                    format!("- the item {path} was left out: {}.\n", why(item.reason))
                }
                (reason, Some(first)) => {
                    let more = match item.violations.len() - 1 {
                        0 => String::new(),
                        more => format!("  (and {more} more in this item)\n"),
                    };
                    format!("- the item {path} was left out: {}.\n  {}{more}", why(reason), line(output, first))
                }
            });
        }
    }

    fn end(mut self, total: usize) -> String {
        let more = total - self.listed;
        if more > 0 {
            self.text.push_str(&format!("- and {more} more.\n"));
        }
        self.text.push_str(TAIL);
        self.text
    }
}

/// Whether an item is in quarantine for what is wrong at the same place.
fn has(item: &Quarantined, broken: &Violation) -> bool {
    item.violations.first().is_some_and(|violation| violation.span == broken.span)
}

fn why(reason: Reason) -> &'static str {
    match reason {
        Reason::Malformed => "it is not well-formed JSON",
        Reason::Schema => "it does not match the schema",
        Reason::Guardrail => "it is too large, or says things twice",
        Reason::AllowList => "it has a value that is not in its list",
        Reason::OverLimit => "there are more items than are kept",
    }
}

fn line(output: &str, violation: &Violation) -> String {
    let received = match violation.span.map(|span| span.of(output)) {
        Some(text) if !text.is_empty() => format!(" Received: {}", text::quote(text, 80)),
        _ => String::new(),
    };
    let place = text::visible(&text::cut(&violation.path, 160));
    format!("- at {place}: {}.{received}\n", text::cut(&violation.message, 300))
}
