//! Renders values as JSON text, and texts for the model. The texts are sanitized, and the mark of their observation is
//! escaped.

use std::ops::Range;

use seamgate_core::kernel_api::{Document, Kind, NodeId, push_json_string, sort};

use crate::{
    base64,
    sanitize::{Clean, Inspected, sanitize_as},
};

/// Returns a value as JSON text, with each string sanitized.
pub(crate) fn sanitized(document: &Document, at: NodeId) -> String {
    let mut shell = Shell::default();
    shell.write(document, at, "\0");
    shell.text
}

/// Returns a value as JSON text. Sanitizes each string except those in `kept`, whose places are in order.
pub(crate) fn sanitized_but(document: &Document, at: NodeId, kept: &[NodeId], clean: Clean) -> String {
    let mut shell = Shell { kept, clean, ..Shell::default() };
    shell.write(document, at, "\0");
    shell.text
}

/// Writes a value as [`sanitized_but`] does, and replaces Base64 that is not kept with a mark.
pub(crate) fn sanitized_without_bytes(
    document: &Document,
    at: NodeId,
    kept: &[NodeId],
    (artifact, clean): (&str, Clean),
) -> String {
    let bytes: Vec<NodeId> = base64::strings(document, at).collect();
    let mut shell = Shell { kept, bytes: &bytes, artifact, clean, ..Shell::default() };
    shell.write(document, at, "\0");
    shell.text
}

/// Returns the strings below a node that are Base64 as in the Model Context Protocol, in order. Excludes texts that
/// only replace such strings.
pub(crate) fn binary(document: &Document, below: NodeId) -> Vec<NodeId> {
    let is_base64 = |at: NodeId| {
        let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
        document.kind(at) == Kind::String && document.string(at).bytes().all(is_digit)
    };
    let mut found: Vec<NodeId> = (below..document.next(below))
        .filter(|&at| document.kind(at) == Kind::Object)
        .flat_map(|at| {
            let beside = |name: &str, other: &str| document.member(at, other).and_then(|_| document.member(at, name));
            [beside("data", "mimeType"), beside("blob", "uri")]
        })
        .flatten()
        .filter(|&at| is_base64(at))
        .collect();
    sort(&mut found);
    found
}

/// JSON text under construction, with each string sanitized.
#[derive(Default)]
pub(crate) struct Shell<'k> {
    pub(crate) text: String,
    /// Strings that stay unchanged, in order.
    pub(crate) kept: &'k [NodeId],
    /// Base64 strings that are left out, in order.
    pub(crate) bytes: &'k [NodeId],
    /// The digest of the whole result, under which the Base64 is stored.
    pub(crate) artifact: &'k str,
    pub(crate) clean: Clean,
}

impl Shell<'_> {
    pub(crate) fn write(&mut self, document: &Document, at: NodeId, mark: &str) {
        match document.kind(at) {
            Kind::Array => {
                self.text.push('[');
                for (index, item) in document.items(at).enumerate() {
                    if index > 0 {
                        self.text.push(',');
                    }
                    self.write(document, item, mark);
                }
                self.text.push(']');
            }
            Kind::Object => {
                self.text.push('{');
                for (index, (name, value)) in document.members(at).enumerate() {
                    if index > 0 {
                        self.text.push(',');
                    }
                    self.string(document.string(name), mark);
                    self.text.push(':');
                    self.write(document, value, mark);
                }
                self.text.push('}');
            }
            Kind::String if self.kept.binary_search(&at).is_err() => match document.string(at) {
                text if self.bytes.binary_search(&at).is_ok() => {
                    let (bytes, artifact) = (base64::decoded(text), self.artifact);
                    let left_out = format!("[left out: {bytes} bytes in Base64; whole result: artifact {artifact}]");
                    push_json_string(&mut self.text, &left_out);
                }
                text => self.string(text, mark),
            },
            _ => self.text.push_str(document.source(at)),
        }
    }

    pub(crate) fn string(&mut self, text: &str, mark: &str) {
        push_json_string(&mut self.text, &unmarked(sanitize_as(text, self.clean), mark));
    }
}

/// Renders a piece of a text.
pub(crate) fn written(inspected: &Inspected, piece: Range<usize>, mark: &str) -> String {
    let mut out = String::new();
    inspected.write(piece, &mut out);
    unmarked(out, mark)
}

/// Returns a text in which the mark of its own observation is escaped, so that the data cannot end itself.
pub(crate) fn unmarked(text: String, mark: &str) -> String {
    if !text.contains(mark) {
        return text;
    }
    let mut rest = mark.chars();
    let first = rest.next().map_or(0, u32::from);
    text.replace(mark, &format!("\\u{{{first:x}}}{}", rest.as_str()))
}
