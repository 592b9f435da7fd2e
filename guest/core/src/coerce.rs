//! Computes edits that rewrite the values of an invalid document to match its schema, if the meaning stays the same.

use std::collections::BTreeMap;

use crate::{
    check::{Misfits, Reading},
    contract::Contract,
    order::{by_place, sort},
    parse::{Document, Edit, Finding, Kind, NodeId, Origin, Span, apply, followed_by, parse},
    repair::MAX_REPAIRS,
    types::ChangeKind,
};

/// The maximum number of rounds. Each round coerces values inside JSON that was in a string, or reverts edits whose
/// results are still invalid.
const ROUNDS: usize = 16;

/// Returns edits that convert values of a document into those that the schema accepts. `None` if no edit helps.
pub(crate) fn coerce(contract: &Contract, (text, span): (&str, Span)) -> Option<Vec<Edit>> {
    let mut edits: Vec<Edit> = Vec::new();
    // The spans of values that must not be changed, by start.
    let mut left = BTreeMap::new();
    for _ in 0..ROUNDS {
        let (edited, origin) = apply(text, span, &edits);
        let parsed = parse(&edited, Span::new(0, edited.len()), contract.caps()).ok()?;
        let document = &parsed.document;
        let misfits = contract.misfits(document)?;
        let more = readings(document, &misfits, |span| {
            let start = origin.of(span).start;
            left.range(..=start).next_back().is_some_and(|(_, end)| start < *end)
        });
        if edits.len() + more.len() > MAX_REPAIRS {
            return None;
        }
        if !more.is_empty() {
            edits = followed_by(edits, (&edited, &origin), more, |_, _| false);
            continue;
        }
        if edits.is_empty() {
            return None;
        }
        let vain = in_vain(contract, document, &parsed.findings, misfits, (text, &edits, &origin));
        if !vain.contains(&true) {
            return Some(edits);
        }
        // The span that removes a member depends on the remaining members beside it.
        let vain = edits.iter().zip(vain).filter(|(_, vain)| *vain);
        left.extend(vain.map(|(edit, _)| (edit.span.start, edit.span.end)));
        edits.clear();
    }
    None
}

/// Returns the edits that apply replacements, except for values that must not be changed.
fn readings(document: &Document, misfits: &Misfits, is_left: impl Fn(Span) -> bool) -> Vec<Edit> {
    let (mut edits, mut absent) = (Vec::new(), Vec::new());
    for (at, reading) in misfits.readings.iter().filter(|(at, _)| !is_left(document.span(*at))) {
        match reading {
            Reading::Text(text) => {
                edits.push(Edit { kind: ChangeKind::Coerced, span: document.span(*at), after: text.clone() });
            }
            // The name of a value is the node directly before it.
            Reading::Absent => absent.push(at - 1),
        }
    }
    let cuts = document.cuts(&document.pieces(&absent)).into_iter();
    edits.extend(cuts.map(|(span, _)| Edit { kind: ChangeKind::Coerced, span, after: String::new() }));
    by_place(edits, |edit| (edit.span.start, edit.span.end))
}

/// Returns one flag per edit: whether its result is still invalid. The result is the value, a value inside it, or the
/// object that lost a member.
fn in_vain(
    contract: &Contract,
    document: &Document,
    findings: &[Finding],
    misfits: Misfits,
    (text, edits, origin): (&str, &[Edit], &Origin),
) -> Vec<bool> {
    let Misfits { mut wrong, broken, lacking, .. } = misfits;
    wrong.extend(findings.iter().map(|finding| finding.node));
    sort(&mut wrong);
    // The containers around the next edit, outermost first, and the next node.
    let mut open: Vec<NodeId> = Vec::new();
    let mut node: NodeId = 0;
    let is_vain = |(number, edit): (usize, &Edit)| {
        let is = origin.edit(number).unwrap_or(edit.span);
        if is.start < is.end {
            let first = wrong.partition_point(|at| document.span(*at).start < is.start);
            return wrong.get(first).is_some_and(|at| document.span(*at).end <= is.end);
        }
        while node <= document.last() && document.span(node).start < is.start {
            if matches!(document.kind(node), Kind::Array | Kind::Object) {
                open.push(node);
            }
            node += 1;
        }
        while open.pop_if(|at| document.span(*at).end <= is.start).is_some() {}
        let Some(object) = open.last() else { return true };
        let member = ["{", edit.span.of(text).trim().trim_matches(','), "}"].concat();
        let is_lacking = parse(&member, Span::new(0, member.len()), contract.caps()).is_ok_and(|parsed| {
            let first = lacking.partition_point(|(at, _)| at < object);
            let mut lacking = lacking[first..].iter().take_while(|(at, _)| at == object);
            let name = parsed.document.members(Document::ROOT).next();
            name.is_some_and(|(name, _)| lacking.any(|(_, lacks)| lacks == parsed.document.string(name)))
        });
        is_lacking || broken.binary_search(object).is_ok()
    };
    edits.iter().enumerate().map(is_vain).collect()
}
