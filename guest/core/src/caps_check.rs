//! Rejects documents that exceed a cap, are ambiguous, or cannot be represented. The schema does not matter.

use std::ops::Deref;

use crate::{
    caps::{Caps, MAX_TEXT},
    location::Location,
    order::by_place,
    parse::{Broken, Document, Finding, FindingKind, Kind, NodeId, Parsed, Span, parse},
    text,
    types::Violation,
    violation::{Details, MAX_VIOLATIONS, Violations},
};

/// A document, and the parser's findings about it.
#[derive(Debug)]
pub(crate) struct CapsCheck<'t> {
    pub(crate) document: Document<'t>,
    /// The findings, in document order.
    pub(crate) findings: Vec<Finding>,
}

/// A document that passed the check. Schemas accept only this type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WithinCaps<'d>(&'d Document<'d>);

impl<'d> WithinCaps<'d> {
    pub(crate) fn document(self) -> &'d Document<'d> {
        self.0
    }
}

/// JSON text from the caller, parsed strictly: it has no duplicate members and is within the caps.
pub struct Json<'t>(Document<'t>);

impl<'t> Json<'t> {
    /// Parses a text.
    ///
    /// # Errors
    ///
    /// Returns at most 100 violations of the text.
    pub fn read(text: &'t str, caps: &Caps) -> Result<Self, Vec<Violation>> {
        let span = Span::new(0, text.len().min(MAX_TEXT));
        check_size(span, caps).map_err(|violations| violations.listed)?;
        let parsed = parse(text, span, caps).map_err(|broken| vec![malformed(text, &broken)])?;
        check_caps(parsed).into_document(caps).map(Json).map_err(|violations| violations.listed)
    }

    pub(crate) fn within_caps(&self) -> WithinCaps<'_> {
        WithinCaps(&self.0)
    }
}

impl<'t> Deref for Json<'t> {
    type Target = Document<'t>;

    fn deref(&self) -> &Document<'t> {
        &self.0
    }
}

/// Rejects a candidate that is too large, before parsing.
pub(crate) fn check_size(span: Span, caps: &Caps) -> Result<(), Violations> {
    let bytes = (span.end - span.start) as usize;
    if bytes <= caps.bytes {
        return Ok(());
    }
    let violation = Violation::new(
        &Location::root(),
        "caps.bytes",
        Details {
            expected: &format!("at most {}", text::count(caps.bytes, "byte")),
            received: &text::count(bytes, "byte"),
            message: &format!("must be at most {} of JSON, is {bytes}", text::count(caps.bytes, "byte")),
        },
    );
    Err(violation.spanning(span).into())
}

/// Sorts the parser's findings.
pub(crate) fn check_caps(parsed: Parsed) -> CapsCheck {
    let Parsed { document, findings, .. } = parsed;
    // In text order. An object comes before its member names.
    CapsCheck { document, findings: by_place(findings, |finding| (finding.node, 0)) }
}

/// Returns the document if there are no findings.
pub(crate) fn passed<'d>(parsed: &'d Parsed<'d>) -> Option<WithinCaps<'d>> {
    parsed.findings.is_empty().then_some(WithinCaps(&parsed.document))
}

impl<'t> CapsCheck<'t> {
    /// Returns the document if there are no findings.
    pub(crate) fn passed(&self) -> Option<WithinCaps<'_>> {
        self.findings.is_empty().then_some(WithinCaps(&self.document))
    }

    /// Returns the document, or the findings as violations.
    fn into_document(self, caps: &Caps) -> Result<Document<'t>, Violations> {
        if self.findings.is_empty() { Ok(self.document) } else { Err(self.violations(caps)) }
    }

    /// Returns the findings as violations.
    pub(crate) fn violations(&self, caps: &Caps) -> Violations {
        let words = |finding: &Finding| violation(&self.document, *finding, self.document.location(finding.node), caps);
        Violations {
            listed: self.findings.iter().take(MAX_VIOLATIONS).map(words).collect(),
            total: self.findings.len(),
            incomplete: false,
        }
    }

    /// Removes items or members. Each is given by its first node and the node after its last, in document order.
    pub(crate) fn without(self, removed: &[(NodeId, NodeId)]) -> Self {
        if removed.is_empty() {
            return self;
        }
        // The number of nodes removed before each removed piece.
        let gone: Vec<NodeId> = std::iter::once(0)
            .chain(removed.iter().scan(0, |gone, (start, end)| {
                *gone += end - start;
                Some(*gone)
            }))
            .collect();
        let moved = |finding: Finding| {
            let before = removed.partition_point(|(start, _)| *start <= finding.node);
            let inside = before.checked_sub(1).is_some_and(|last| finding.node < removed[last].1);
            (!inside).then(|| Finding { node: finding.node - gone[before], ..finding })
        };
        CapsCheck {
            findings: self.findings.into_iter().filter_map(moved).collect(),
            document: self.document.without(removed),
        }
    }
}

/// The range of valid numbers, for messages.
const NUMBER_RANGE: &str = "a number that 64 bits hold: an integer from -9223372036854775808 to 18446744073709551615, or a \
                            fraction that a double neither makes infinite nor zero";

/// Returns a finding as a violation.
pub(crate) fn violation(document: &Document, finding: Finding, place: Location, caps: &Caps) -> Violation {
    let node = finding.node;
    let shown = document.shown(node);
    let size = |keyword: &str, cap: usize, is: usize, noun: &str| {
        Violation::new(
            &place,
            keyword,
            Details {
                expected: &format!("at most {}", text::count(cap, noun)),
                received: &text::count(is, noun),
                message: &format!("must have at most {}, has {is}", text::count(cap, noun)),
            },
        )
    };
    match finding.kind {
        FindingKind::DuplicateMember => Violation::new(
            &place,
            "duplicate_member",
            Details {
                expected: "each member name once",
                received: &shown,
                message: &format!("must not have member {} twice", text::quote(&shown, 128)),
            },
        ),
        FindingKind::LoneSurrogate => Violation::new(
            &place,
            "lone_surrogate",
            Details {
                expected: "both halves of a surrogate pair",
                received: document.source(node),
                message: "must be Unicode text, with both halves of a surrogate pair: one stands alone",
            },
        ),
        FindingKind::NumberRange => Violation::new(
            &place,
            "number_range",
            Details {
                expected: NUMBER_RANGE,
                received: &shown,
                message: &format!("must be {NUMBER_RANGE}; send it as a string if every digit matters"),
            },
        ),
        FindingKind::Depth => Violation::new(
            &place,
            "caps.depth",
            Details {
                expected: &format!("at most {} deep", text::count(caps.depth, "level")),
                received: &format!("{} at level {}", with_article(document.kind(node)), caps.depth + 1),
                message: &format!("must be nested at most {} deep", text::count(caps.depth, "level")),
            },
        ),
        FindingKind::StringBytes => size("caps.string_bytes", caps.string_bytes, document.string(node).len(), "byte"),
        FindingKind::ArrayItems => size("caps.array_items", caps.array_items, document.count(node), "item"),
        FindingKind::ObjectMembers => size("caps.object_members", caps.object_members, document.count(node), "member"),
    }
    .spanning(document.span(node))
}

fn with_article(kind: Kind) -> &'static str {
    match kind {
        Kind::Array => "an array",
        _ => "an object",
    }
}

/// Returns the violation for a text that stops being valid JSON. The message quotes the surrounding text, because
/// readers do not count bytes.
pub(crate) fn malformed(output: &str, broken: &Broken) -> Violation {
    let at = broken.at.min(output.len());
    let (place, next) = text::around(output, at);
    let received = next.filter(|_| !broken.cut_off).unwrap_or_else(|| "the end".to_owned());
    let first = output[at..].chars().next().filter(|_| !broken.cut_off);
    let end = at + first.map_or(0, char::len_utf8);
    let mut message = format!("must be JSON: expected {}, not {received}, {place}", broken.expected);
    if let Some(hint) = broken.hint(output) {
        message.push_str("; ");
        message.push_str(hint);
    }
    let details = Details { expected: broken.expected, received: &received, message: &message };
    Violation::new(&broken.place, "json", details).spanning(Span::new(at, end))
}

/// Returns the violation for a text that is not UTF-8.
pub(crate) fn not_utf8(output: &str, at: u32) -> Violation {
    let (place, _) = text::around(output, output.floor_char_boundary(at as usize));
    let message = format!("must be UTF-8: the byte {place} is not");
    Violation::new(
        &Location::root(),
        "utf8",
        Details { expected: "UTF-8", received: "a byte that is not UTF-8", message: &message },
    )
    .spanning(Span { start: at, end: at })
}
