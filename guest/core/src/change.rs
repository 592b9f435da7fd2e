//! Lists all changes that the gate made to an output before validation.

use crate::{
    order::by_place,
    parse::{Document, Edit, NodeId, Span},
    text,
    types::{Change, ChangeKind},
};

/// The length to which `before` is truncated, in bytes.
const MAX_BEFORE: usize = 256;

/// Returns the changes of the output in document order: the edits that produced the document's text, and the removed
/// members. Each member is given by its first node and the node after its last. The changes turn the output into the
/// final document.
pub(crate) fn changes(
    output: &str,
    document: &Document,
    edits: Vec<Edit>,
    stripped: &[(NodeId, NodeId)],
) -> Vec<Change> {
    let cuts = document.cuts(stripped);
    // Each edit with its span in the text and the position of the affected value.
    let mut all: Vec<(Span, u32, Edit)> = Vec::with_capacity(edits.len() + cuts.len());
    for (number, edit) in edits.into_iter().enumerate() {
        let is = document.edited(number);
        let cut = cuts.get(cuts.partition_point(|(cut, _)| cut.end <= is.start));
        let left = match cut {
            Some((cut, _)) => outside(*cut, is, edit),
            None => Some((is, edit)),
        };
        all.extend(left.map(|(is, edit)| (is, is.start, edit)));
    }
    all.extend(cuts.into_iter().map(|(is, name)| {
        (is, name, Edit { kind: ChangeKind::Stripped, span: document.of_output(is), after: String::new() })
    }));
    let all = by_place(all, |(is, ..)| (is.start, 0));
    let paths = document.paths_at(all.iter().map(|(_, at, _)| *at));
    let change = |((.., edit), path): ((Span, u32, Edit), String)| Change {
        kind: edit.kind,
        path,
        span: Some(edit.span),
        before: text::cut(edit.span.of(output), MAX_BEFORE),
        after: edit.after,
    };
    all.into_iter().zip(paths).map(change).collect()
}

/// Returns the part of an edit that lies outside a removed piece. `None` if the whole edit lies inside.
fn outside(cut: Span, is: Span, edit: Edit) -> Option<(Span, Edit)> {
    let empty_beside = is.start == is.end && is.start == cut.start;
    if is.start < cut.start || is.start >= cut.end || empty_beside {
        Some((is, edit))
    } else if is.end <= cut.end {
        None
    } else {
        // The edit adds brackets. The first ones belong to the removed piece.
        let after = edit.after.get((cut.end - is.start) as usize..).unwrap_or_default().to_owned();
        let span = Span { start: edit.span.end, end: edit.span.end };
        Some((Span { start: cut.end, end: is.end }, Edit { after, span, ..edit }))
    }
}
