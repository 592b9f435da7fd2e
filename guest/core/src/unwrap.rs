//! Computes the edits that remove an envelope from an invalid document, or add a missing one.

use crate::{
    check::Checker,
    parse::{Document, Edit, Kind, NodeId, Span},
    text::push_json_string,
    types::ChangeKind,
};

/// Returns the edits of a document's text for each value that the document may stand for.
pub(crate) fn envelopes(checker: &Checker, document: &Document) -> Vec<Vec<Edit>> {
    let (_, whole) = document.text();
    let inner = |at: NodeId| {
        let is = document.place_in_text(at);
        let edit = |start, end| Edit { kind: ChangeKind::Unwrapped, span: Span { start, end }, after: String::new() };
        vec![edit(whole.start, is.start), edit(is.end, whole.end)]
    };
    match document.kind(Document::ROOT) {
        Kind::Object => enveloped(document)
            .filter(|(name, _)| !checker.declares(document.string(*name)))
            .map_or_else(Vec::new, |(_, value)| vec![inner(value)]),
        Kind::Array => {
            let mut items = document.items(Document::ROOT);
            let only = items.next().filter(|_| items.next().is_none());
            let list = checker.required_list().map(|name| {
                let mut before = "{".to_owned();
                push_json_string(&mut before, name);
                before.push(':');
                let edit = |at, after| Edit { kind: ChangeKind::Unwrapped, span: Span { start: at, end: at }, after };
                vec![edit(whole.start, before), edit(whole.end, "}".to_owned())]
            });
            only.map(inner).into_iter().chain(list).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the only member of the document, or `properties` beside the `type` of a schema.
fn enveloped(document: &Document) -> Option<(NodeId, NodeId)> {
    let is_type =
        |(name, value): (NodeId, NodeId)| document.is_string(name, "type") && document.is_string(value, "object");
    let mut members =
        document.members(Document::ROOT).filter(|member| document.count(Document::ROOT) != 2 || !is_type(*member));
    let (name, value) = members.next().filter(|_| members.next().is_none())?;
    let is_one = document.count(Document::ROOT) == 1 || document.is_string(name, "properties");
    is_one.then_some((name, value))
}
