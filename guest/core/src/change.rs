//! What was changed before an output was validated, for the report: nothing is changed without a trace.

use crate::{
    order::by_place,
    parse::{Document, Edit, NodeId, Span},
    text,
    types::{Change, ChangeKind},
};

/// `before` is cut to this many bytes.
const MAX_BEFORE: usize = 256;

/// The changes of the output: the edits that made a document's text, and the members that are taken out of it, each
/// given by its first node and the node after its last, in document order. Applied to the output, they give what is left.
pub(crate) fn changes(
    output: &str,
    document: &Document,
    edits: Vec<Edit>,
    stripped: &[(NodeId, NodeId)],
) -> Vec<Change> {
    let cuts = document.cuts(stripped);
    // Each with where it stands in the text, and where the value is that it concerns.
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

/// What is left of an edit beside a piece that is cut out: one inside it goes with it.
fn outside(cut: Span, is: Span, edit: Edit) -> Option<(Span, Edit)> {
    let empty_beside = is.start == is.end && is.start == cut.start;
    if is.start < cut.start || is.start >= cut.end || empty_beside {
        Some((is, edit))
    } else if is.end <= cut.end {
        None
    } else {
        // Brackets that were added, of which the first ones belong to what is cut out.
        let after = edit.after.get((cut.end - is.start) as usize..).unwrap_or_default().to_owned();
        let span = Span { start: edit.span.end, end: edit.span.end };
        Some((Span { start: cut.end, end: is.end }, Edit { after, span, ..edit }))
    }
}
