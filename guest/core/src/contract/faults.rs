//! Describes errors in a contract for its author.

use crate::{
    check::keywords,
    location::Location,
    parse::{Document, Kind, Span},
    types::{Level, Violation, Warning},
    violation::Details,
};

/// Returns a violation if the document is a schema instead of a contract: it has keywords, but no members of a
/// contract.
pub(super) fn bare_schema(document: &Document) -> Option<Violation> {
    let has = |name: &str| document.member(Document::ROOT, name).is_some();
    let mut members = document.members(Document::ROOT).map(|(name, _)| document.string(name));
    let is_keyword = |name: &str| name != "$schema" && name != "description" && keywords::named(name).is_some();
    if ["agent", "schema", "jtd"].into_iter().any(has) || !members.any(is_keyword) {
        return None;
    }
    let message = "must be a contract, and is a JSON Schema: put it into one, as {\"agent\": NAME, \"schema\": SCHEMA}";
    let details = Details { expected: "a contract, with 'agent' and 'schema'", received: "a JSON Schema", message };
    Some(Violation::new(&Location::root(), "bare_schema", details).spanning(first_name(document)))
}

/// Returns the span of the first member's name.
fn first_name(document: &Document) -> Span {
    let first = document.members(Document::ROOT).next();
    document.span(first.map_or(Document::ROOT, |(name, _)| name))
}

/// Adds a span in the text and a suggestion to each violation.
pub(super) fn told(document: &Document, mut violations: Vec<Violation>) -> Vec<Violation> {
    for violation in &mut violations {
        match violation.keyword.as_str() {
            "additionalProperties" => violation.span = Some(document.located(&violation.pointer, true)),
            "oneOf" if violation.pointer.is_empty() && document.kind(Document::ROOT) == Kind::Object => {
                let both = document.member(Document::ROOT, "jtd").is_some();
                violation.message = match both {
                    true => "must have one of 'schema' and 'jtd', has both".to_owned(),
                    false => "must have 'schema', a JSON Schema, or 'jtd', a JSON Type Definition".to_owned(),
                };
                // Marks only a member's name, not the whole value.
                violation.span = Some(match both {
                    true => document.located("/jtd", true),
                    false => first_name(document),
                });
            }
            "required" if violation.pointer.is_empty() => violation.span = Some(first_name(document)),
            _ => {}
        }
        if violation.span.is_none() {
            violation.span = Some(document.located(&violation.pointer, false));
        }
    }
    // A misspelled member is also reported as missing. Reports it only once.
    let found: Vec<(String, String)> = violations
        .iter()
        .filter(|violation| violation.keyword == "additionalProperties")
        .filter_map(|violation| {
            let meant = violation.message.rsplit_once("; did you mean ")?.1.trim_end_matches('?');
            Some((violation.pointer.rsplit_once('/')?.0.to_owned(), meant.to_owned()))
        })
        .collect();
    violations.retain(|violation| {
        let is_told = |(parent, meant): &(String, String)| match violation.keyword.as_str() {
            "required" => violation.pointer == *parent && violation.expected.ends_with(meant.as_str()),
            "oneOf" => violation.pointer.is_empty() && ["\"schema\"", "\"jtd\""].contains(&meant.as_str()),
            _ => false,
        };
        !found.iter().any(is_told)
    });
    violations
}

impl Warning {
    /// Creates a warning at a location, with the level of its code.
    pub fn new(place: &Location, code: &str, message: &str) -> Self {
        Warning {
            path: place.path(),
            code: code.to_owned(),
            message: message.to_owned(),
            pointer: place.pointer(),
            level: level(code),
            span: None,
        }
    }

    /// Sets the span in the document.
    pub fn locate(&mut self, document: &Document) {
        let is_name = matches!(self.code.as_str(), "ignored_keyword" | "misspelled_keyword" | "contradicting_limits");
        self.span = Some(document.located(&self.pointer, is_name));
    }
}

/// Returns the level of a code. `host/cli/src/codes.json` documents the same levels, and a test compares them.
fn level(code: &str) -> Level {
    match code {
        "misspelled_keyword" | "contradicting_limits" | "required_and_forbidden" => Level::Error,
        "no_id" | "no_title" | "no_description" | "open_object" | "no_required" | "unbounded_array"
        | "unbounded_string" | "bare_vocabulary" | "ignored_format" => Level::Hint,
        _ => Level::Warning,
    }
}
