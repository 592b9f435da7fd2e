//! Findings in all texts of a result, shown or not.

use seamgate_core::kernel_api::{Document, Kind, Location, NodeId, count, quote};
use serde_json::{Map, Value, json};

use crate::sanitize::{Clean, Found, inspect};

/// The maximum number of texts that an observation lists because they read like an instruction.
const MAX_INSTRUCTIONS: usize = 16;

/// The findings in all texts together.
#[derive(Default)]
pub(crate) struct Findings {
    found: Found,
    /// The kind of each instruction, the place of its text in the result, and its span in the text.
    instructions: Vec<(&'static str, String, usize, usize)>,
    more: usize,
}

impl Findings {
    /// Inspects each string of a document, including member names.
    pub(crate) fn look_at_all(&mut self, document: &Document) {
        self.look_within(document, Document::ROOT, &[]);
    }

    /// Inspects a value that is reported as a separate document. Skips strings that no model reads, whose places are in
    /// order.
    pub(crate) fn look_within(&mut self, document: &Document, whole: NodeId, unread: &[NodeId]) {
        self.look(document, whole, unread, whole);
    }

    /// Inspects the values below one place of a document.
    pub(crate) fn look_at(&mut self, document: &Document, below: NodeId, unread: &[NodeId]) {
        self.look(document, below, unread, Document::ROOT);
    }

    fn look(&mut self, document: &Document, below: NodeId, unread: &[NodeId], whole: NodeId) {
        for at in below..document.next(below) {
            if document.kind(at) == Kind::String && unread.binary_search(&at).is_err() {
                self.add(inspect(document.string(at)).found, || document.location_within(whole, Location::root(), at));
            }
        }
    }

    /// Adds the findings in a text at a place.
    pub(crate) fn add(&mut self, found: Found, place: impl FnOnce() -> Location) {
        if found.is_nothing() {
            return;
        }
        self.found.escaped.merge(&found.escaped);
        self.found.redacted.merge(&found.redacted);
        self.found.defanged = self.found.defanged.saturating_add(found.defanged);
        let room = MAX_INSTRUCTIONS - self.instructions.len();
        let listed = found.instructions.len().min(room);
        self.more += found.instructions_left_out as usize + found.instructions.len() - listed;
        if listed > 0 {
            let path = place().path();
            let listed = found.instructions.into_iter().take(listed);
            self.instructions.extend(listed.map(|one| (one.kind.as_str(), path.clone(), one.start, one.end)));
        }
    }

    /// Returns whether there is nothing to change and nothing to report.
    pub(crate) fn is_nothing(&self) -> bool {
        self.found.is_nothing() && self.instructions.is_empty() && self.more == 0
    }

    /// Returns the findings in the form that the observation contains.
    pub(crate) fn to_value(&self) -> Value {
        let counts = |found: &mut dyn Iterator<Item = (&'static str, u32)>| -> Map<String, Value> {
            found.map(|(word, count)| (word.to_owned(), count.into())).collect()
        };
        let instruction = |(kind, at, start, end): &(&'static str, String, usize, usize)| json!({"kind": kind, "path": at, "span": [start, end]});
        json!({
            "escaped": counts(&mut self.found.escaped.found()),
            "redacted": counts(&mut self.found.redacted.found()),
            "defanged": self.found.defanged,
            "instructions": self.instructions.iter().map(instruction).collect::<Vec<_>>(),
            "instructions_left_out": self.more,
        })
    }

    /// Returns the remark about the findings for the model.
    pub(crate) fn remark(&self, clean: Clean) -> Option<String> {
        let mut parts = Vec::new();
        let done = |what: &'static str| if clean == Clean::Full { what } else { ", left as it is" };
        let escaped = self.found.escaped.total();
        if escaped > 0 {
            parts.push(format!("{}{}", count(escaped as usize, "hidden character"), done(", escaped")));
        }
        if self.found.defanged > 0 {
            let links = count(self.found.defanged as usize, "link");
            parts.push(format!("{links} that could carry data out{}", done(", defanged")));
        }
        let redacted = self.found.redacted.total();
        if redacted > 0 {
            parts.push(format!("{}{}", count(redacted as usize, "secret"), done(", redacted")));
        }
        if let Some((kind, at, ..)) = self.instructions.first() {
            let all = self.instructions.len() + self.more;
            let at = if has_text(at) { "a member whose name is not shown" } else { &quote(at, 128) };
            parts.push(format!("{} like an instruction, the first at {at} ({kind})", count(all, "passage")));
        }
        (!parts.is_empty()).then(|| format!("Found in the whole result: {}.", parts.join("; ")))
    }
}

/// Returns whether the path of a value contains names that read like text. Outside the marks, they could instruct the
/// model.
pub(crate) fn has_text(path: &str) -> bool {
    path.len() > 128 || path.contains(char::is_whitespace) || path.contains('\\')
}
