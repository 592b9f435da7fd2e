//! Reads a document with `simd-json`, as the value type of validators for `serde_json`.

use serde_json::{Map, Value};
use simd_json::{Buffers, Node, StaticNode};

/// A reader that reads documents one after another in the same memory.
#[derive(Default)]
pub struct Reader {
    /// A copy of the document, because `simd-json` changes the text that it reads.
    text: Vec<u8>,
    buffers: Buffers,
}

impl Reader {
    /// Reads a document. Returns `None` if it is invalid.
    pub fn read(&mut self, document: &[u8]) -> Option<Value> {
        self.text.clear();
        self.text.extend_from_slice(document);
        // Creating the values with `serde` would take a few percent longer.
        let tape = simd_json::to_tape_with_buffers(&mut self.text, &mut self.buffers).ok()?;
        value(&mut tape.0.iter())
    }
}

/// Creates a value from the next nodes.
fn value<'t>(nodes: &mut impl Iterator<Item = &'t Node<'t>>) -> Option<Value> {
    Some(match nodes.next()? {
        Node::String(text) => Value::String((*text).to_owned()),
        Node::Static(StaticNode::Null) => Value::Null,
        Node::Static(StaticNode::Bool(truth)) => Value::Bool(*truth),
        Node::Static(StaticNode::I64(number)) => Value::from(*number),
        Node::Static(StaticNode::U64(number)) => Value::from(*number),
        Node::Static(StaticNode::F64(number)) => Value::from(*number),
        Node::Array { len, .. } => {
            let mut items = Vec::with_capacity(*len);
            for _ in 0..*len {
                items.push(value(nodes)?);
            }
            Value::Array(items)
        }
        Node::Object { len, .. } => {
            let mut members = Map::new();
            for _ in 0..*len {
                let Node::String(name) = nodes.next()? else { return None };
                members.insert((*name).to_owned(), value(nodes)?);
            }
            Value::Object(members)
        }
    })
}
