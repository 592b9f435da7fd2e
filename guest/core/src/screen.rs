//! What a document must not be, whatever its schema says: over a cap, ambiguous, or not representable.

use crate::{
    contract::Caps,
    parse::{Broken, Document, Finding, Kind, Parsed, Span, What},
    place::Place,
    text,
    violation::{MAX_VIOLATIONS, Violation, Violations},
};

/// A document that passed: the only kind that can be checked against a schema.
#[derive(Debug)]
pub(crate) struct Screened<'t>(Document<'t>);

impl<'t> Screened<'t> {
    pub(crate) fn document(&self) -> &Document<'t> {
        &self.0
    }

    pub(crate) fn into_document(self) -> Document<'t> {
        self.0
    }
}

/// Refuse a candidate for its size, before it is parsed.
pub(crate) fn screen_size(span: Span, caps: &Caps) -> Result<(), Violations> {
    let bytes = (span.end - span.start) as usize;
    if bytes <= caps.bytes {
        return Ok(());
    }
    let violation = Violation::new(
        &Place::root(),
        "caps.bytes",
        &format!("at most {}", text::count(caps.bytes, "byte")),
        &text::count(bytes, "byte"),
        &format!("must be at most {} of JSON, is {bytes}", text::count(caps.bytes, "byte")),
    );
    Err(violation.spanning(span).into())
}

/// Refuse what the parser found.
pub(crate) fn screen<'t>(parsed: Parsed<'t>, caps: &Caps) -> Result<Screened<'t>, Violations> {
    if parsed.findings.is_empty() {
        return Ok(Screened(parsed.document));
    }
    let document = &parsed.document;
    let mut findings = parsed.findings;
    findings.sort_by_key(|finding| document.span(finding.node).start);
    findings.truncate(MAX_VIOLATIONS);
    Err(Violations {
        listed: findings.into_iter().map(|finding| violation(document, finding, caps)).collect(),
        total: parsed.found,
        incomplete: false,
    })
}

fn violation(document: &Document, finding: Finding, caps: &Caps) -> Violation {
    let node = finding.node;
    let place = document.place(node);
    let shown = document.shown(node);
    let size = |keyword: &str, cap: usize, is: usize, noun: &str| {
        Violation::new(
            &place,
            keyword,
            &format!("at most {}", text::count(cap, noun)),
            &text::count(is, noun),
            &format!("must have at most {}, has {is}", text::count(cap, noun)),
        )
    };
    match finding.what {
        What::DuplicateMember => Violation::new(
            &place,
            "duplicate_member",
            "each member name once",
            &shown,
            &format!("must not have member {} twice", text::quote(&shown, 128)),
        ),
        What::LoneSurrogate => Violation::new(
            &place,
            "lone_surrogate",
            "both halves of a surrogate pair",
            document.source(node),
            "must be Unicode text: half of a surrogate pair stands alone",
        ),
        What::NumberRange => Violation::new(
            &place,
            "number_range",
            "a number that 64 bits hold: an integer from -9223372036854775808 to 18446744073709551615, or a \
             fraction that a double neither makes infinite nor zero",
            &shown,
            "must be a number that 64 bits hold; send it as a string if every digit matters",
        ),
        What::Depth => Violation::new(
            &place,
            "caps.depth",
            &format!("at most {} deep", text::count(caps.depth, "level")),
            &format!("{} at level {}", with_article(document.kind(node)), caps.depth + 1),
            &format!("must be nested at most {} deep", text::count(caps.depth, "level")),
        ),
        What::StringBytes => size("caps.string_bytes", caps.string_bytes, document.string(node).len(), "byte"),
        What::ArrayItems => size("caps.array_items", caps.array_items, document.count(node), "item"),
        What::ObjectMembers => size("caps.object_members", caps.object_members, document.count(node), "member"),
    }
    .spanning(document.span(node))
}

fn with_article(kind: Kind) -> &'static str {
    match kind {
        Kind::Array => "an array",
        _ => "an object",
    }
}

/// Where a candidate stops being JSON.
pub(crate) fn malformed(output: &str, broken: &Broken) -> Violation {
    let at = broken.at.min(output.len());
    let next = output[at..].chars().next().filter(|_| !broken.cut_off);
    let received = match next {
        None => "the end".to_owned(),
        Some(character) => text::quote(character.encode_utf8(&mut [0; 4]), 16),
    };
    let end = at + next.map_or(0, char::len_utf8);
    Violation::new(
        &broken.place,
        "json",
        broken.expected,
        &received,
        &format!("must be JSON: expected {} at byte {at}, not {received}", broken.expected),
    )
    .spanning(Span::new(at, end))
}
