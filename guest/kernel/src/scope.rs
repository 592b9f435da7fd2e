//! Scopes: values of the arguments must be on a list, in the task, or in the context.

use std::collections::BTreeSet;

use seamgate_core::{
    Fault, FaultCode, Violation,
    kernel_api::{Document, Kind, NodeId, quote},
};

use crate::{
    decision::Reason,
    facts::Facts,
    places::{Folder, Host},
    reached::{Held, Why},
    secret::References,
    tool::{Scope, Source, Tool, Within},
    words::is_word_of,
};

/// Checks arguments against the scopes of their tool. Without facts, checks only the scopes that the profile itself
/// decides.
///
/// A rule covers the values that its path leads to. If a value of another kind is on the way, the rule cannot cover it,
/// and the call is denied unless another rule reaches that value. A missing value needs no rule. A reference to a
/// secret only needs an argument that may take the secret.
///
/// # Errors
///
/// Returns `bad_request` if the facts lack a list that a scope names. Returns an inner error if a value is outside its
/// scope.
pub(crate) fn check(
    tool: &Tool,
    arguments: &Document,
    references: &References,
    facts: Option<&Facts>,
) -> Result<Result<(), Reason>, Fault> {
    let mut found = Vec::new();
    let held = Held::of(tool.scope.iter().map(|scope| &scope.path.selectors[..]), arguments);
    for (scope, values) in tool.scope.iter().zip(held.values) {
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
                let list: BTreeSet<&str> = list.into_iter().collect();
                Box::new(move |at| arguments.kind(at) == Kind::String && list.contains(arguments.string(at)))
            }
            (Within::From(sources), Some(facts)) => {
                // If the source has no value, nothing occurs in it.
                let is_value = |at| arguments.kind(at) != Kind::Null;
                let occurs = |at| sources.iter().any(|source| is_from(&arguments.shown(at), source, facts));
                Box::new(move |at| is_value(at) && occurs(at))
            }
        };
        let room = MAX_SHOWN.saturating_sub(found.len());
        let is_wrong = |at: &NodeId| references.name(*at).is_none() && !is_within(*at);
        let wrong = values.into_iter().filter(is_wrong).take(room);
        found.extend(wrong.map(|at| outside(arguments, at, scope)));
    }
    for unheld in held.unheld.into_iter().take(MAX_SHOWN - found.len()) {
        let path = quote(&tool.scope[unheld.path].path.text, 128);
        let is = arguments.kind(unheld.at).name();
        let (expected, message) = match unheld.why {
            Why::Stopped(needed) => {
                let needed = needed.name();
                (needed, format!("must be of the type {needed}, and is {is}: its scope holds {path}"))
            }
            Why::Several => {
                let message = format!("must be a single value, and is of the type {is}: its scope holds {path}");
                ("a single value", message)
            }
            Why::Beside => ("no such item", format!("must not be there: of this list, the scope holds only {path}")),
        };
        found.push(Violation::of(arguments, unheld.at, "scope", expected, &message));
    }
    Ok(if found.is_empty() { Ok(()) } else { Err(Reason::wrong("scope", "outside of what the task allows", found)) })
}

/// The maximum number of values that a reason lists.
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

/// Returns whether a value occurs in a source, as one of its values or as a whole word of one of its texts.
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
