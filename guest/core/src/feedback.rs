//! What the producer is told: what was wrong and where, its own text quoted as data.

use crate::{
    items::{Quarantined, Reason},
    path::ItemsPath,
    report::{ErrorKind, Rejection},
    text,
    violation::Violation,
};

/// `feedback` is at most this long.
const MAX_FEEDBACK: usize = 2048;

/// How it ends, where everything is asked for again.
const WHOLE: &str = "Send the whole corrected output again.";

/// How it ends, where nothing is asked for again. Who runs a producer stops there.
const NOTHING: &str = "Nothing needs to be sent again.";

/// Room for the line that says how many are left out.
const MAX_MORE: usize = 48;

/// Room for how it ends, where some items are asked for: the words, and where they go.
const MAX_WANTING: usize = 192 + MAX_ARRAY;

/// The path of the items is cut to this many bytes.
const MAX_ARRAY: usize = 256;

/// For an output of which nothing is used.
pub(crate) fn rejected(output: &str, rejection: &Rejection, quarantined: &[Quarantined]) -> String {
    let mut feedback = Feedback::new(
        match rejection.error {
            ErrorKind::ExtractionFailed => "No usable JSON was found in the output.",
            ErrorKind::MalformedJson => "The output is not well-formed JSON.",
            ErrorKind::OutputValidationFailed => "The output does not match what was asked for.",
        },
        WHOLE.len(),
    );
    for violation in &rejection.violations.listed {
        feedback.add(line(output, violation));
    }
    feedback.add_items(output, quarantined);
    feedback.end(rejection.violations.total + quarantined.len(), WHOLE)
}

/// For an output of which a part is used. `wanted`: the path of the items, where those that are listed are all that is
/// asked for.
pub(crate) fn partial(
    output: &str,
    broken: Option<&Violation>,
    quarantined: &[Quarantined],
    wanted: Option<&ItemsPath>,
) -> String {
    let mut feedback = Feedback::new(
        match broken {
            Some(_) => "The output is not well-formed JSON; only a part of it, or a repaired form, could be used.",
            None => "Not every item of the output could be used.",
        },
        wanted.map_or(WHOLE.len(), |_| MAX_WANTING),
    );
    // Where it is an item that is broken, that is said of the item.
    let is_of_item = |broken: &&Violation| !quarantined.iter().any(|item| has(item, broken));
    let broken = broken.filter(is_of_item);
    if let Some(broken) = broken {
        feedback.add(line(output, broken));
    }
    let others = feedback.listed;
    feedback.add_items(output, quarantined);
    let tail = match wanted {
        Some(path) => wanting(path, feedback.listed - others),
        None => WHOLE.to_owned(),
    };
    feedback.end(usize::from(broken.is_some()) + quarantined.len(), &tail)
}

/// For an output that is used whole, its syntax being put right.
pub(crate) fn repaired() -> String {
    format!("The output was not well-formed JSON. It was used with its syntax repaired.\n{NOTHING}")
}

/// For what was put together of several outputs, none of its items being wanted, where one of them had to be put right.
pub(crate) fn mended() -> String {
    format!("All items could be used, but not everything around them was well-formed JSON.\n{WHOLE}")
}

/// How it ends, where so many items are asked for again.
fn wanting(path: &ItemsPath, items: usize) -> String {
    let array = text::cut(&text::visible(path.text.trim_end_matches("[*]")), MAX_ARRAY);
    let (which, them) = match items {
        1 => ("the item listed above again, corrected".to_owned(), "it"),
        _ => (format!("the {items} items listed above again, corrected, in that order"), "them"),
    };
    format!("Send only {which}: the same document, with nothing but {them} in {array}. The other items are kept.")
}

struct Feedback {
    text: String,
    listed: usize,
    full: bool,
    /// Kept free for how it ends.
    tail: usize,
}

impl Feedback {
    fn new(head: &str, tail: usize) -> Self {
        Feedback { text: format!("{head}\n"), listed: 0, full: false, tail }
    }

    fn add(&mut self, line: String) {
        self.full |= self.text.len() + line.len() + MAX_MORE + self.tail > MAX_FEEDBACK;
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

    fn end(mut self, total: usize, tail: &str) -> String {
        let more = total - self.listed;
        if more > 0 {
            self.text.push_str(&format!("- and {more} more.\n"));
        }
        self.text.push_str(tail);
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
