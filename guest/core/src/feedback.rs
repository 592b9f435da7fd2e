//! Builds the feedback for the producer. It says what was wrong and where, and quotes the producer's own text as data.
//!
//! Each line is one message with the places it applies to. First, each problem gets a line, the most useful problems
//! first. The remaining room is used for the received text.

use std::borrow::Cow;

use crate::{
    contract::Items,
    judgement::Rejection,
    order::sort_by_key,
    text,
    types::{Change, ChangeKind, ErrorKind, Quarantined, Reason, Violation, Wanted},
    violation::NO_MEMBER,
};

/// The maximum length of `feedback`, in bytes.
const MAX_FEEDBACK: usize = 2048;

/// The end of the feedback if the whole output is requested again.
const WHOLE: &str = "Send the whole corrected output again.";

/// The end of the feedback if nothing is requested again.
const NOTHING: &str = "Nothing needs to be sent again.";

/// The maximum length of the line about omitted problems, in bytes.
const MAX_MORE: usize = 32;

/// The lengths to which a place, a message, and the received text are truncated, in bytes.
const MAX_PLACE: usize = 160;
const MAX_MESSAGE: usize = 300;
const MAX_RECEIVED: usize = 80;

/// The maximum number of places on a line, unless the line needs all of them.
const MAX_PLACES: usize = 8;

/// The length to which the path of the items is truncated, in bytes.
const MAX_ARRAY: usize = 256;

/// The length to which the name of their key member is truncated, in bytes.
const MAX_KEY: usize = 64;

/// Returns the feedback on an output that is completely rejected.
pub(crate) fn rejected(output: &str, rejection: &Rejection, quarantined: &[Quarantined]) -> (Wanted, String) {
    let head = match rejection.error {
        ErrorKind::ExtractionFailed => "No usable JSON was found in the output.",
        ErrorKind::MalformedJson => "The output is not well-formed JSON.",
        ErrorKind::OutputValidationFailed => "The output does not match what was asked for.",
    };
    let listed = &rejection.violations.listed;
    let mut wrong = of_document(listed);
    wrong.extend(of_items(quarantined));
    let mut feedback = Feedback::new(head, WHOLE.len());
    feedback.tell(wrong, false);
    feedback.left_out += rejection.violations.total - listed.len();
    (Wanted::Whole, feedback.end(output, WHOLE))
}

/// Returns the feedback on a partly used output. `wanted` is the items rule if only the listed items are requested
/// again.
pub(crate) fn partial(
    output: &str,
    broken: Option<&Violation>,
    quarantined: &[Quarantined],
    wanted: Option<&Items>,
) -> (Wanted, String) {
    let head = match broken {
        Some(_) => "The output is not well-formed JSON; only a part of it, or a repaired form, could be used.",
        None => "Not all items of the output could be used.",
    };
    // If the broken value is an item, that item already has this violation.
    let is_of_item = |broken: &&Violation| !quarantined.iter().any(|item| has(item, broken));
    let mut wrong = of_document(broken.filter(is_of_item));
    wrong.extend(of_items(quarantined));
    let most = wanted.map_or(WHOLE.len(), |items| wanting(items, quarantined.len()).len());
    let mut feedback = Feedback::new(head, most);
    let told = feedback.tell(wrong, wanted.is_some());
    let (wants, tail) = match wanted {
        Some(items) => (Wanted::Items, wanting(items, told)),
        None => (Wanted::Whole, WHOLE.to_owned()),
    };
    (wants, feedback.end(output, &tail))
}

/// Returns the feedback on an output whose document is used completely after these repairs.
pub(crate) fn repaired<'c>(mut repairs: impl Iterator<Item = &'c Change>) -> (Wanted, String) {
    let what = match repairs.all(|change| change.kind == ChangeKind::Around) {
        true => "The output had text around its JSON. The JSON was used without it.",
        false => "The output was not well-formed JSON. It was used with its syntax repaired.",
    };
    (Wanted::Nothing, format!("{what}\n{NOTHING}"))
}

/// Returns the feedback on a merge that requests no items and in which one of the outputs was repaired.
pub(crate) fn mended() -> (Wanted, String) {
    let feedback = format!("All items could be used, but not everything around them was well-formed JSON.\n{WHOLE}");
    (Wanted::Whole, feedback)
}

/// Returns the end of the feedback if `count` items are requested again.
fn wanting(items: &Items, count: usize) -> String {
    let array = text::cut(&text::visible(items.path.text.trim_end_matches("[*]")), MAX_ARRAY);
    let (which, them) = match count {
        1 => ("the item named above again, corrected".to_owned(), "it"),
        _ => (format!("the {count} items named above again, corrected, in the order of their numbers"), "them"),
    };
    // An item is matched by its key.
    let key = items.key.as_ref().map(|key| {
        let of = if count == 1 { "its" } else { "their" };
        format!(" Do not change {of} member {}, unless that is what is wrong.", text::quote(key, MAX_KEY))
    });
    format!(
        "Send only {which}: the same document, with nothing but {them} in {array}.{} The other items are kept.",
        key.unwrap_or_default()
    )
}

/// Returns whether an item is in quarantine for the same position.
fn has(item: &Quarantined, broken: &Violation) -> bool {
    item.violations.first().is_some_and(|violation| violation.span == broken.span)
}

/// A problem with the document, or with an item.
struct Wrong<'r> {
    path: &'r str,
    message: Cow<'r, str>,
    violation: Option<&'r Violation>,
    /// The number of more useful problems with the same item.
    turn: usize,
    rank: Rank,
}

/// The order of problems: first by what they prevent from being used, then problems of the document before those of
/// items, then by depth, then missing members before invalid values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    class: Class,
    /// Zero for the document. Items in quarantine are counted from one.
    owner: usize,
    depth: usize,
    is_there: bool,
    number: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Malformed,
    NothingKept,
    Schema,
    AllowList,
    OverLimit,
}

impl<'r> Wrong<'r> {
    fn new(violation: &'r Violation, owner: usize, number: usize) -> Self {
        let class = match &*violation.keyword {
            "extract" | "utf8" | "json" => Class::Malformed,
            "items" => Class::NothingKept,
            "allow" => Class::AllowList,
            keyword if keyword.starts_with("evidence.") => Class::AllowList,
            "items.max" => Class::OverLimit,
            _ => Class::Schema,
        };
        let depth = violation.pointer.bytes().filter(|byte| *byte == b'/').count();
        let is_there = violation.received != NO_MEMBER;
        let message = match violation.message.len() {
            0..=MAX_MESSAGE => Cow::Borrowed(&*violation.message),
            _ => text::cut(&violation.message, MAX_MESSAGE).into(),
        };
        let rank = Rank { class, owner, depth, is_there, number };
        Wrong { path: &violation.path, message, violation: Some(violation), turn: 0, rank }
    }

    /// Describes an item without listed violations, for which the report has no room.
    fn of_item(item: &'r Quarantined, owner: usize) -> Self {
        let (class, message) = match item.reason {
            Reason::Malformed => (Class::Malformed, "must be JSON"),
            Reason::Schema => (Class::Schema, "must match the schema"),
            Reason::Guardrail => (Class::Schema, "must not be too large, nor say things twice"),
            Reason::AllowList => (Class::AllowList, "must have values of their lists only"),
            Reason::Evidence => (Class::AllowList, "must rest on the evidence that it cites"),
            Reason::OverLimit => (Class::OverLimit, "must not be there: there are more items than are kept"),
        };
        let rank = Rank { class, owner, depth: 0, is_there: true, number: 0 };
        Wrong { path: &item.path, message: message.into(), violation: None, turn: 0, rank }
    }
}

fn of_document<'r>(violations: impl IntoIterator<Item = &'r Violation>) -> Vec<Wrong<'r>> {
    violations.into_iter().enumerate().map(|(number, violation)| Wrong::new(violation, 0, number)).collect()
}

/// Returns the problems of items. The most useful problem of each item comes before the second problem of any item.
fn of_items(quarantined: &[Quarantined]) -> Vec<Wrong<'_>> {
    let mut all = Vec::new();
    for (index, item) in quarantined.iter().enumerate() {
        let owner = index + 1;
        let numbered = item.violations.iter().enumerate();
        let mut wrong: Vec<Wrong> = numbered.map(|(number, violation)| Wrong::new(violation, owner, number)).collect();
        if wrong.is_empty() {
            wrong.push(Wrong::of_item(item, owner));
        }
        sort_by_key(&mut wrong, |wrong| wrong.rank);
        wrong.iter_mut().enumerate().for_each(|(turn, wrong)| wrong.turn = turn);
        all.append(&mut wrong);
    }
    all
}

/// A message, and the places it applies to.
struct Line<'r> {
    message: Cow<'r, str>,
    places: Vec<FeedbackPlace<'r>>,
    /// The number of further places, which do not fit.
    more: usize,
}

/// A place in the feedback.
struct FeedbackPlace<'r> {
    rank: Rank,
    place: String,
    violation: Option<&'r Violation>,
}

struct Feedback<'r> {
    head: &'static str,
    lines: Vec<Line<'r>>,
    /// The remaining bytes.
    room: usize,
    left_out: usize,
}

impl<'r> Feedback<'r> {
    /// Creates feedback. `tail` is the room reserved for the end.
    fn new(head: &'static str, tail: usize) -> Self {
        let room = MAX_FEEDBACK.saturating_sub(head.len() + 1 + MAX_MORE + tail);
        Feedback { head, lines: Vec::new(), room, left_out: 0 }
    }

    /// Adds as many problems as fit. Returns the number of items mentioned. If `asked` is set, exactly these items will
    /// be requested again, so no item may be skipped.
    fn tell(&mut self, mut wrong: Vec<Wrong<'r>>, asked: bool) -> usize {
        let class = |rank: Rank| if asked && rank.owner > 0 { Class::Schema } else { rank.class };
        sort_by_key(&mut wrong, |wrong| (wrong.turn, class(wrong.rank), wrong.rank.owner, wrong.rank));
        let (mut told, mut full) = (0, false);
        for wrong in wrong {
            let is_item = wrong.rank.owner > 0;
            let passed_over = asked && is_item && if wrong.turn == 0 { full } else { wrong.rank.owner > told };
            let fits = !passed_over && self.add(&wrong, asked);
            if !fits {
                self.left_out += 1;
                self.lines.iter_mut().filter(|line| line.message == wrong.message).for_each(|line| line.more += 1);
            }
            if is_item && wrong.turn == 0 {
                full |= !fits;
                told += usize::from(fits);
            }
        }
        told
    }

    /// Adds a line, or adds a place to a line with the same message. Returns `false` if it does not fit. If `asked` is
    /// set, every place is needed.
    fn add(&mut self, wrong: &Wrong<'r>, asked: bool) -> bool {
        /// The root is the shortest place.
        const LEAST: usize = ", $".len();
        if self.room < LEAST {
            return false;
        }
        let place = match wrong.path.len() {
            0..=MAX_PLACE => text::visible(wrong.path),
            _ => text::visible(&text::cut(wrong.path, MAX_PLACE)),
        };
        let same = self.lines.iter_mut().find(|line| line.message == wrong.message);
        if same.as_ref().is_some_and(|line| line.places.iter().any(|told| told.place == place)) {
            return true;
        }
        if same.as_ref().is_some_and(|line| !asked && line.places.len() >= MAX_PLACES) {
            return false;
        }
        let needed = match same {
            Some(_) => ", ".len() + place.len(),
            None => "- at : .\n".len() + place.len() + wrong.message.len(),
        };
        if needed > self.room {
            return false;
        }
        self.room -= needed;
        let told = FeedbackPlace { rank: wrong.rank, place, violation: wrong.violation };
        match same {
            Some(line) => line.places.push(told),
            None => self.lines.push(Line { message: wrong.message.clone(), places: vec![told], more: 0 }),
        }
        true
    }

    fn end(mut self, output: &str, tail: &str) -> String {
        self.lines.iter_mut().for_each(|line| sort_by_key(&mut line.places, |told| told.rank));
        sort_by_key(&mut self.lines, |line| line.places.first().map(|told| told.rank));
        for line in self.lines.iter_mut().filter(|line| line.more > 0) {
            let more = format!(" and {} more", line.more);
            if more.len() <= self.room {
                self.room -= more.len();
                self.left_out -= line.more;
                line.places.last_mut().into_iter().for_each(|last| last.place.push_str(&more));
            }
        }
        let mut text = String::with_capacity(MAX_FEEDBACK);
        text.push_str(self.head);
        text.push('\n');
        for line in &self.lines {
            text.push_str("- at ");
            for (index, told) in line.places.iter().enumerate() {
                text.push_str(if index > 0 { ", " } else { "" });
                text.push_str(&told.place);
            }
            text.push_str(": ");
            text.push_str(&line.message);
            if !line.message.ends_with('?') {
                text.push('.');
            }
            self.room -= line.push_received(&mut text, output, self.room);
            text.push('\n');
        }
        if self.left_out > 0 {
            text.push_str("- and ");
            text::push_number(&mut text, self.left_out);
            text.push_str(" more.\n");
        }
        text.push_str(tail);
        text
    }
}

impl Line<'_> {
    /// Appends the received values at the places, quoted in order, or a single value if all are equal. Appends nothing
    /// if the values do not fit or a message already contains them. Returns the number of bytes appended.
    fn push_received(&self, out: &mut String, output: &str, room: usize) -> usize {
        let start = out.len();
        // The first and the last one.
        let (mut first, mut last) = (0..0, 0..0);
        let mut differ = false;
        for told in &self.places {
            let span =
                told.violation.filter(|violation| violation.keyword != "json").and_then(|violation| violation.span);
            let Some(text) = span.map(|span| span.of(output)).filter(|text| !text.is_empty()) else {
                out.truncate(start);
                return 0;
            };
            out.push_str(if first.is_empty() { " Received: " } else { ", " });
            let quoted = out.len();
            text::push_quoted(out, text, MAX_RECEIVED);
            let quoted = quoted..out.len();
            if first.is_empty() {
                first = quoted.clone();
            } else {
                differ |= out[last] != out[quoted.clone()];
            }
            if differ && out.len() - start > room {
                break;
            }
            last = quoted;
        }
        if !differ {
            out.truncate(first.end.max(start));
        }
        if out.len() - start > room {
            out.truncate(start);
        }
        out.len() - start
    }
}
