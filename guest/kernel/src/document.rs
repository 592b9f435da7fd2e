//! Documents from the caller: parsed strictly, and validated against their format.

use std::sync::OnceLock;

use seamgate_core::{
    Fault, FaultCode,
    kernel_api::{Caps, Document, Json, Kind, NodeId, Number, Schema},
};

/// The caps of facts, calls and results. A result may be as large as an output.
pub(crate) const CAPS: Caps = Caps {
    bytes: 64 * 1024 * 1024,
    depth: 96,
    string_bytes: 64 * 1024 * 1024,
    array_items: 10_000_000,
    object_members: 1_000_000,
};

/// A document's format: its name, its JSON Schema, and the compiled schema.
pub(crate) struct Format {
    name: &'static str,
    source: &'static str,
    schema: OnceLock<Schema>,
}

impl Format {
    pub(crate) const fn new(name: &'static str, source: &'static str) -> Self {
        Format { name, source, schema: OnceLock::new() }
    }

    pub(crate) fn schema(&self) -> &Schema {
        self.schema.get_or_init(|| Schema::own(self.source))
    }

    /// Reads a document of this format.
    ///
    /// # Errors
    ///
    /// Returns `bad_request` if the text is not a document of this format.
    pub(crate) fn read<'t>(&self, text: &'t str) -> Result<Json<'t>, Fault> {
        let wrong = |violations| Fault::wrong(FaultCode::BadRequest, self.name, violations);
        let json = Json::read(text, &CAPS).map_err(wrong)?;
        match self.schema().violations(&json) {
            violations if violations.is_empty() => Ok(json),
            violations => Err(wrong(violations)),
        }
    }
}

/// Returns the text of a member of the root.
pub(crate) fn text<'d>(document: &'d Document, name: &str) -> Option<&'d str> {
    text_in(document, Document::ROOT, name)
}

/// Returns the text of a member.
pub(crate) fn text_in<'d>(document: &'d Document, at: NodeId, name: &str) -> Option<&'d str> {
    document.member(at, name).filter(|&at| document.kind(at) == Kind::String).map(|at| document.string(at))
}

/// Returns a member as a number. The format bounds it, and allows notations such as `1e3`.
pub(crate) fn number_in(document: &Document, at: NodeId, name: &str) -> Option<u64> {
    document.member(at, name).and_then(|at| number_at(document, at))
}

/// Returns a value as a number. The format bounds it.
pub(crate) fn number_at(document: &Document, at: NodeId) -> Option<u64> {
    let number = Number(document.source(at));
    number.as_u64().or_else(|| number.as_f64().map(|number| number as u64))
}

/// Returns the texts in a member that is a list.
pub(crate) fn texts_in(document: &Document, at: NodeId, name: &str) -> Vec<String> {
    let list = document.member(at, name).into_iter().flat_map(|at| document.items(at));
    list.map(|at| document.string(at).to_owned()).collect()
}

/// Returns a value as JSON text without optional white space.
pub(crate) fn source(document: &Document, at: NodeId) -> String {
    let mut out = String::new();
    document.write(at, &mut out);
    out
}
