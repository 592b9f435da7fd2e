//! What was found in all texts of a result, shown or not.

use seamgate_core::parts::{Document, Kind, NodeId, Place, Step, count, quote};
use serde_json::{Map, Value, json};

use crate::clean::{Found, inspect};

/// So many texts that read like an instruction are listed.
const MAX_INSTRUCTIONS: usize = 16;

/// What was found, in all texts together.
#[derive(Default)]
pub(crate) struct Findings {
    found: Found,
    /// With the place of the text in the result, and the span in the text.
    instructions: Vec<(&'static str, String, usize, usize)>,
    more: usize,
}

impl Findings {
    /// Look at each string of a document, member names too.
    pub(crate) fn look_at_all(&mut self, document: &Document) {
        self.look_inside(document, Document::ROOT, &mut Place::root());
    }

    fn look_inside(&mut self, document: &Document, at: NodeId, place: &mut Place) {
        match document.kind(at) {
            Kind::Array => {
                for (index, item) in document.items(at).enumerate() {
                    place.push(Step::Index(index));
                    self.look_inside(document, item, place);
                    place.pop();
                }
            }
            Kind::Object => {
                for (name, value) in document.members(at) {
                    place.push(Step::Name(document.string(name).to_owned()));
                    self.look(document.string(name), place);
                    self.look_inside(document, value, place);
                    place.pop();
                }
            }
            Kind::String => self.look(document.string(at), place),
            _ => {}
        }
    }

    /// Look at a result that is text.
    pub(crate) fn look_at(&mut self, text: &str) {
        self.look(text, &Place::root());
    }

    fn look(&mut self, text: &str, place: &Place) {
        let found = inspect(text).found;
        if found.is_nothing() {
            return;
        }
        self.found.escaped.merge(&found.escaped);
        self.found.redacted.merge(&found.redacted);
        self.found.defanged = self.found.defanged.saturating_add(found.defanged);
        self.more += found.instructions_left_out as usize;
        for instruction in found.instructions {
            if self.instructions.len() < MAX_INSTRUCTIONS {
                let (kind, start, end) = (instruction.kind.as_str(), instruction.start, instruction.end);
                self.instructions.push((kind, place.path(), start, end));
            } else {
                self.more += 1;
            }
        }
    }

    /// What the observation says about it.
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

    /// What the model is told about it.
    pub(crate) fn remark(&self) -> Option<String> {
        let mut parts = Vec::new();
        let escaped = self.found.escaped.total();
        if escaped > 0 {
            parts.push(format!("{}, escaped", count(escaped as usize, "hidden character")));
        }
        if self.found.defanged > 0 {
            parts.push(format!("{} that could carry data out, defanged", count(self.found.defanged as usize, "link")));
        }
        let redacted = self.found.redacted.total();
        if redacted > 0 {
            parts.push(format!("{}, redacted", count(redacted as usize, "secret")));
        }
        if let Some((kind, at, ..)) = self.instructions.first() {
            let all = self.instructions.len() + self.more;
            parts.push(format!(
                "{} like an instruction, the first at {} ({kind})",
                count(all, "passage"),
                quote(at, 128)
            ));
        }
        (!parts.is_empty()).then(|| format!("Found in the whole result: {}.", parts.join("; ")))
    }
}
