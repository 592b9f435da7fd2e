//! A document that is not valid -> the edits that write values as its schema wants them, where that says the same.

use std::collections::BTreeMap;

use crate::{
    check::{Misfits, Reading},
    contract::Contract,
    order::{by_place, sort},
    parse::{Document, Edit, Finding, Kind, NodeId, Origin, Span, apply, followed_by, parse},
    repair::MAX_REPAIRS,
    types::ChangeKind,
};

/// JSON that a string held is read with what is in it, and what came to be wrong after all is taken back, this often.
const ROUNDS: usize = 16;

/// The edits of a text that make values of its document such as the schema takes. `None` if there are none.
pub(crate) fn coerce(contract: &Contract, (text, span): (&str, Span)) -> Option<Vec<Edit>> {
    let mut edits: Vec<Edit> = Vec::new();
    // Pieces of the text whose values are left as they are, by where they start.
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
        // What a member is cut out with depends on those that are left beside it.
        let vain = edits.iter().zip(vain).filter(|(_, vain)| *vain);
        left.extend(vain.map(|(edit, _)| (edit.span.start, edit.span.end)));
        edits.clear();
    }
    None
}

/// The edits that put the one other reading in the place of values, those aside that are to be left as they are.
fn readings(document: &Document, misfits: &Misfits, is_left: impl Fn(Span) -> bool) -> Vec<Edit> {
    let (mut edits, mut absent) = (Vec::new(), Vec::new());
    for (at, reading) in misfits.readings.iter().filter(|(at, _)| !is_left(document.span(*at))) {
        match reading {
            Reading::Text(text) => {
                edits.push(Edit { kind: ChangeKind::Coerced, span: document.span(*at), after: text.clone() });
            }
            // Right before a value stands its name.
            Reading::Absent => absent.push(at - 1),
        }
    }
    let cuts = document.cuts(&document.pieces(&absent)).into_iter();
    edits.extend(cuts.map(|(span, _)| Edit { kind: ChangeKind::Coerced, span, after: String::new() }));
    by_place(edits, |edit| (edit.span.start, edit.span.end))
}

/// For each of the edits that made a document of a text, whether that is still wrong: the value, or what is in it, or the
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
    // The containers around the next edit, the outermost first, and the next node.
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
