//! Describes the reason why a schema is unusable, at its location in the contract.

use referencing::Error;
use serde_json::Value;

use super::{
    Patterns, Resource, SchemaSource,
    compile::{Unusable, find},
    dialects, nearest_dialect, pattern,
};
use crate::{
    location::{Location, Step, escaped, unescaped},
    misspelling::nearest,
    parse::Span,
    text::quote,
    types::Violation,
    violation::Details,
};

/// A schema in a document that has the schema at `here`, and the resources in the member `resources`.
pub(super) struct Given<'g> {
    pub(super) source: &'g SchemaSource<'g>,
    pub(super) here: &'g Location,
    pub(super) resources: &'g [Resource<'g>],
}

impl<'g> Given<'g> {
    pub(super) fn told(&self, unusable: Unusable, patterns: Patterns) -> Violation {
        match unusable {
            Unusable::Reference { error, at } => self.unresolved(&error, at),
            Unusable::Pattern { keywords, keyword, pattern } => self.pattern(keywords, keyword, &pattern, patterns),
            Unusable::Keyword { keywords, keyword } => {
                let (place, _) = self.find(keywords).unwrap_or_default();
                let received = keywords.get(&keyword).unwrap_or(keywords).to_string();
                let message = format!("must be as the dialect defines '{keyword}'");
                let expected = format!("a value for '{keyword}'");
                let details = Details { expected: &expected, received: &received, message: &message };
                Violation::new(&place.name(&keyword), &keyword, details)
            }
        }
    }

    /// Returns the schema and the resources, with their locations.
    fn roots(&self) -> impl Iterator<Item = (Location, &'g Value)> {
        let resources = self.resources.iter();
        let resources =
            resources.map(|(uri, resource)| (Location::root().name("resources").name(uri), &resource.value));
        [(self.here.clone(), &self.source.value)].into_iter().chain(resources)
    }

    /// Returns the location of a part, and the schema or resource that contains it.
    fn find(&self, part: &Value) -> Option<(Location, Option<&'g Value>)> {
        self.roots().find_map(|(mut place, root)| {
            find(root, part)?.steps().iter().for_each(|step| place.push(step.clone()));
            Some((place, Some(root)))
        })
    }

    /// Describes a pattern that its engine rejects: where the pattern is invalid, or which feature the engine lacks.
    fn pattern(&self, keywords: &Value, keyword: &str, pattern: &str, patterns: Patterns) -> Violation {
        let (place, _) = self.find(keywords).unwrap_or_default();
        let place = place.name(keyword);
        let place = if keyword == "patternProperties" { place.name(pattern) } else { place };
        let refused = pattern::refused(pattern);
        let column = refused.as_ref().map_or(0, |(at, _)| pattern.get(..*at).unwrap_or(pattern).chars().count() + 1);
        let (expected, message) = match refused {
            Some((_, pattern::Why::Invalid(why))) => {
                ("a regular expression (ECMA-262)", format!("must be a regular expression: at column {column}, {why}"))
            }
            Some((_, pattern::Why::GoesBack(what))) if patterns == Patterns::Linear => (
                "a regular expression without look-around or back references",
                format!(
                    "must not use {what} (at column {column}): an engine of linear time cannot match it; rewrite it, \
                     or set \"patterns\": \"backtracking\" in the contract"
                ),
            ),
            _ => (
                "a smaller regular expression",
                "must be a regular expression of bounded size: make its repetitions or its classes smaller".to_owned(),
            ),
        };
        let violation = Violation::new(&place, keyword, Details { expected, received: pattern, message: &message });
        let document = self.source.document;
        let is_name = keyword == "patternProperties";
        let span = document.located(&violation.pointer, is_name);
        match refused {
            Some((at, _)) => violation.spanning(inside(span, document.piece(span), at)),
            None => violation.spanning(span),
        }
    }

    /// Describes an unresolved reference. Nothing is ever fetched, so references must be resolved within the contract.
    pub(super) fn unresolved(&self, error: &Error, at: Option<(&Value, &str)>) -> Violation {
        let (target, mut message) = match error {
            Error::Unretrievable { uri, .. } => (
                uri.clone(),
                "must name a schema of this contract: it is not among 'resources', and nothing is ever fetched"
                    .to_owned(),
            ),
            Error::PointerToNowhere { pointer }
            | Error::InvalidPercentEncoding { pointer, .. }
            | Error::InvalidArrayIndex { pointer, .. } => {
                (pointer.clone(), "must point to a place that exists".to_owned())
            }
            Error::NoSuchAnchor { anchor } | Error::InvalidAnchor { anchor } => {
                (anchor.clone(), "must name an anchor that exists".to_owned())
            }
            Error::UnknownSpecification { specification } => {
                let known = nearest_dialect(specification).unwrap_or_else(|| format!("({})", dialects()));
                (specification.clone(), format!("must be a known dialect or one of 'resources': {known}"))
            }
            Error::CircularMetaschema { uri } => (uri.clone(), "must not be a dialect of itself".to_owned()),
            Error::InvalidUri(error) => (String::new(), format!("must be a URI reference: {error}")),
        };
        let known = at.and_then(|(keywords, keyword)| {
            let (place, root) = self.find(keywords)?;
            Some((place.name(keyword), keywords.get(keyword)?.as_str().unwrap_or("#"), root))
        });
        let found = known.or_else(|| self.find_reference(&target));
        let (place, received, root) = found.unwrap_or((self.here.clone(), &target, None));
        let meant = match error {
            Error::Unretrievable { .. } => {
                nearest(received, self.resources.iter().map(|(uri, _)| *uri)).map(str::to_owned)
            }
            _ => root.zip(received.strip_prefix('#')).and_then(|(root, pointer)| meant(root, pointer)),
        };
        if let Some(meant) = meant {
            message = format!("{message}; did you mean {}?", quote(&meant, 128));
        }
        let keyword = match place.steps().last() {
            Some(Step::Name(name)) => name.clone(),
            _ => "$ref".to_owned(),
        };
        let expected = "a reference that leads to a schema of this contract";
        Violation::new(&place, &keyword, Details { expected, received, message: &message })
    }

    /// Returns the first reference that ends with `target`, its location, and its schema.
    fn find_reference(&self, target: &str) -> Option<(Location, &'g str, Option<&'g Value>)> {
        let ends = |reference: &str| {
            let reference = reference.split_once('#').map_or(reference, |(uri, fragment)| match uri {
                "" => fragment,
                uri => uri,
            });
            let reference = reference.trim_start_matches(['.', '/']);
            !reference.is_empty() && target.trim_end_matches('#').ends_with(reference)
        };
        self.roots().find_map(|(_, root)| {
            let mut open = vec![root];
            while let Some(at) = open.pop() {
                match at {
                    Value::Object(members) => {
                        for (name, value) in members {
                            let is_reference =
                                matches!(name.as_str(), "$ref" | "$dynamicRef" | "$recursiveRef" | "$schema");
                            match value.as_str() {
                                Some(reference) if is_reference && ends(reference) => {
                                    return self.find(value).map(|(place, root)| (place, reference, root));
                                }
                                _ => open.push(value),
                            }
                        }
                    }
                    Value::Array(items) => open.extend(items),
                    _ => {}
                }
            }
            None
        })
    }
}

/// Returns a similar reference that exists.
fn meant(root: &Value, pointer: &str) -> Option<String> {
    let mut at = root;
    let mut meant = String::from("#");
    for step in pointer.strip_prefix('/')?.split('/') {
        let step = unescaped(step);
        let name = match at.get(&step) {
            Some(_) => &step,
            None => nearest(&step, at.as_object()?.keys().map(String::as_str))?,
        };
        meant.push('/');
        meant.push_str(&escaped(name));
        at = at.get(name)?;
    }
    Some(meant)
}

/// Returns the span of the character at byte `at` of a string whose JSON source is `source`.
fn inside(span: Span, source: &str, at: usize) -> Span {
    let content = source.get(1..source.len().saturating_sub(1)).unwrap_or_default();
    let (mut read, mut written) = (0, 1);
    let mut characters = content.char_indices().peekable();
    while let Some((start, character)) = characters.next() {
        let (length, end) = match character {
            '\\' => match characters.next() {
                Some((_, 'u')) => {
                    let unit = content.get(start + 2..start + 6).and_then(|hex| u32::from_str_radix(hex, 16).ok());
                    let pair = matches!(unit, Some(0xd800..=0xdbff));
                    let digits = if pair { 10 } else { 4 };
                    for _ in 0..digits {
                        characters.next();
                    }
                    let length = if pair { 4 } else { unit.and_then(char::from_u32).map_or(3, char::len_utf8) };
                    (length, start + 2 + digits)
                }
                _ => (1, start + 2),
            },
            character => (character.len_utf8(), start + character.len_utf8()),
        };
        if read + length > at {
            let from = span.start as usize + 1;
            return Span::new(from + start, from + end.min(content.len()));
        }
        read += length;
        written = end + 1;
    }
    // The string ends too early, so the missing part would be at the quote.
    let end = span.start as usize + written.max(1);
    Span::new(end, end + 1)
}
