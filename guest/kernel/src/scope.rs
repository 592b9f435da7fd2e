//! Values of the arguments must be in a list, in the task, or in the context.

use std::collections::BTreeSet;

use seamgate_core::{
    Fault, FaultCode, Violation,
    kernel_api::{Document, Kind, NodeId, quote},
};

use crate::{
    decision::Reason,
    facts::Facts,
    places::{Folder, Host},
    reached::Reached,
    tool::{Scope, Source, Tool, Within},
};

impl Within {
    /// The list of the facts that it names.
    pub(crate) fn list(&self) -> Option<&str> {
        match self {
            Within::List(name) => Some(name),
            _ => None,
        }
    }

    /// The sources that it names.
    pub(crate) fn sources(&self) -> &[Source] {
        match self {
            Within::From(sources) => sources,
            _ => &[],
        }
    }
}

/// Hold arguments to the scopes of their tool. Without facts, only to those that the profile itself decides.
///
/// A rule holds the values to which its path leads. If something of another kind stands on the way, the rule cannot hold it,
/// and it is denied unless another rule reaches it. A value that is absent needs no rule.
///
/// # Errors
///
/// `bad_request`: the facts lack a list that a scope names. An inner error: a value is outside.
pub(crate) fn check(tool: &Tool, arguments: &Document, facts: Option<&Facts>) -> Result<Result<(), Reason>, Fault> {
    let mut found = Vec::new();
    let mut known: BTreeSet<NodeId> = BTreeSet::new();
    let mut ways = Vec::new();
    for scope in &tool.scope {
        let mut reached = Reached::of(&scope.path.selectors, arguments, Document::ROOT);
        let is_single = |at: &NodeId| !matches!(arguments.kind(*at), Kind::Array | Kind::Object);
        let (held, unheld): (Vec<NodeId>, Vec<NodeId>) = reached.ends.drain(..).partition(is_single);
        known.extend(held.iter().chain(&reached.passed));
        ways.push((scope, reached, unheld));
        let is_within: Box<dyn Fn(NodeId) -> bool> = match (&scope.within, facts) {
            (Within::Values(values), _) => Box::new(|at| {
                arguments.kind(at) == Kind::String
                    && values.binary_search_by(|value| value.as_str().cmp(arguments.string(at))).is_ok()
            }),
            (Within::Below(folders), _) => Box::new(|at| {
                arguments.kind(at) == Kind::String && folders.iter().any(|folder| folder.holds(arguments.string(at)))
            }),
            (Within::Hosts(hosts), _) => Box::new(|at| {
                arguments.kind(at) == Kind::String && hosts.iter().any(|host| host.holds(arguments.string(at)))
            }),
            (_, None) => continue,
            (Within::List(name), Some(facts)) => {
                let list = facts.list(name).ok_or_else(|| lacking(tool, name))?;
                Box::new(move |at| arguments.kind(at) == Kind::String && list.contains(&arguments.string(at)))
            }
            (Within::From(sources), Some(facts)) => {
                // Where there is no value, none occurs.
                let is_value = |at| arguments.kind(at) != Kind::Null;
                let occurs = |at| sources.iter().any(|source| is_from(&arguments.shown(at), source, facts));
                Box::new(move |at| is_value(at) && occurs(at))
            }
        };
        found.extend(held.into_iter().filter(|&at| !is_within(at)).map(|at| outside(arguments, at, scope)));
    }
    for (scope, reached, unheld) in ways {
        let path = quote(&scope.path.text, 128);
        let mut say = |at: NodeId, expected: &str, message: String| {
            if !known.contains(&at) {
                found.push(Violation::of(arguments, at, "scope", expected, &message));
            }
        };
        for (at, needed) in reached.stopped {
            let (is, needed) = (arguments.kind(at).name(), needed.name());
            say(at, needed, format!("must be of the type {needed}, and is {is}: its scope holds {path}"));
        }
        for at in unheld {
            let is = arguments.kind(at).name();
            let message = format!("must be a single value, and is of the type {is}: its scope holds {path}");
            say(at, "a single value", message);
        }
        for at in reached.beside {
            say(at, "no such item", format!("must not be there: of this list, the scope holds only {path}"));
        }
    }
    found.truncate(MAX_SHOWN);
    Ok(if found.is_empty() { Ok(()) } else { Err(Reason::wrong("scope", "outside of what the task allows", found)) })
}

/// A reason lists this many values.
const MAX_SHOWN: usize = 10;

fn lacking(tool: &Tool, list: &str) -> Fault {
    let (list, tool) = (quote(list, 64), quote(&tool.full_name(), 128));
    Fault::new(
        FaultCode::BadRequest,
        format!("facts: $.lists must have the list {list}, which the scope of {tool} names"),
    )
}

fn outside(arguments: &Document, at: NodeId, scope: &Scope) -> Violation {
    let (expected, message) = match &scope.within {
        Within::List(name) => {
            let list = quote(name, 64);
            (format!("a value of the list {list}"), format!("must be a value of the list {list}"))
        }
        Within::Values(values) => {
            let some = some_of(values.iter());
            (format!("one of {some}"), format!("must be one of {some}"))
        }
        Within::Below(folders) => {
            let some = some_of(folders.iter().map(Folder::text));
            let how = "without \"..\" or a backslash";
            (format!("a path below {some}"), format!("must be a path below {some}, {how}"))
        }
        Within::Hosts(hosts) => {
            let some = some_of(hosts.iter().map(Host::text));
            let how = "over http or https, without user information";
            (format!("an address at {some}"), format!("must be an address at {some}, {how}"))
        }
        Within::From(sources) => {
            let name = |source: &Source| match source {
                Source::Task => "the task".to_owned(),
                Source::Context(name) => format!("the context {}", quote(name, 64)),
            };
            let sources = sources.iter().map(name).collect::<Vec<_>>().join(" or ");
            (format!("a value that occurs in {sources}"), format!("must occur in {sources}"))
        }
    };
    Violation::of(arguments, at, "scope", &expected, &message)
}

/// Names the first of some values.
fn some_of<T: AsRef<str>>(values: impl ExactSizeIterator<Item = T>) -> String {
    const NAMED: usize = 8;
    let more = if values.len() > NAMED { ", …" } else { "" };
    let some = values.take(NAMED).map(|value| quote(value.as_ref(), 64)).collect::<Vec<_>>().join(", ");
    format!("{some}{more}")
}

/// Whether a value occurs in a source: as a value of it, or as a whole word of a text in it.
fn is_from(value: &str, source: &Source, facts: &Facts) -> bool {
    let at = match source {
        Source::Task => facts.task(),
        Source::Context(name) => facts.context(name),
    };
    at.is_some_and(|at| occurs(&facts.document, at, value))
}

fn occurs(document: &Document, at: NodeId, value: &str) -> bool {
    match document.kind(at) {
        Kind::Array => document.items(at).any(|at| occurs(document, at, value)),
        Kind::Object => document.members(at).any(|(_, at)| occurs(document, at, value)),
        Kind::String => is_word_of(value, document.string(at)),
        _ => document.source(at) == value,
    }
}

/// Whether a text holds a word with nothing of its own kind beside it: `x.com` does not occur in `x.com.evil.org`, nor in
/// `a@x.com`.
fn is_word_of(word: &str, text: &str) -> bool {
    if word.is_empty() {
        return text.is_empty();
    }
    let is_digit = |character: Option<char>| character.is_some_and(|character| character.is_ascii_digit());
    let (starts, stops) = (is_digit(word.chars().next()), is_digit(word.chars().next_back()));
    text.match_indices(word).any(|(at, _)| {
        let (mut before, mut after) = (text[..at].chars(), text[at + word.len()..].chars());
        let opens = |character: char| character.is_whitespace() || "\"'`([{<,;:=".contains(character);
        let closes = |character: char| character.is_whitespace() || "\"'`)]}>,;:!?".contains(character);
        let begins = match before.next_back() {
            None => true,
            // A sign between two digits stands inside a number or a time.
            Some(',' | ':') if starts && is_digit(before.next_back()) => false,
            Some(character) => opens(character),
        };
        let ends = match after.next() {
            None => true,
            Some(',' | ':') if stops && is_digit(after.clone().next()) => false,
            // A full stop ends a sentence, or stands inside a name.
            Some('.') => after.next().is_none_or(char::is_whitespace),
            Some(character) => closes(character),
        };
        begins && ends
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stands_by_itself() {
        for (word, text, is) in [
            ("bob@x.com", "Mail bob@x.com the report.", true),
            ("bob@x.com", "Mail bob@x.com.", true),
            ("bob@x.com", "bob@x.com", true),
            ("bob@x.com", "to: <bob@x.com>, please", true),
            ("bob@x.com", "bob@x.com.evil.org", false),
            ("x.com", "bob@x.com", false),
            ("pay", "payment-api", false),
            ("payment-api", "Why does payment-api fail?", true),
            ("payment", "Why does payment-api fail?", false),
            ("", "anything", false),
            ("50", "Pay 0,50 EUR", false),
            ("0", "Pay 0,50 EUR", false),
            ("000", "Pay 1,000 EUR", false),
            ("1", "Pay 1,000 EUR", false),
            ("99", "Meet at 12:99", false),
            ("12", "Meet at 12:99", false),
            ("1,000", "Pay 1,000, or 5", true),
            ("5", "Pay 1,000, or 5: today", true),
            ("7", "limit:7,", true),
        ] {
            assert_eq!(is_word_of(word, text), is, "{word:?} in {text:?}");
        }
    }
}
