//! The document of a report. If the output consists only of one document, that document is written when it is first
//! read, because whoever asks for a verdict already has the output.

use std::{fmt, ops::Deref, sync::OnceLock};

use serde::de::IgnoredAny;
use wasmtime::Result;

use super::abi::{Layout, Lift, Lower, Reader, Room};
use crate::json::{is_json, minified};

/// A document as JSON text without optional white space. Numbers keep their original digits. It dereferences to `str`.
///
/// ```
/// use seamgate::{Gate, Request};
///
/// let mut gate = Gate::new()?;
/// gate.register(r#"{"agent": "list", "schema": {"type": "array"}}"#)?;
/// let document = gate.validate(&Request::new("list", "[1, 2]"))?.report.output.expect("it is valid");
/// assert_eq!(&*document, "[1,2]");
/// let text = String::from(document);
/// # assert_eq!(text, "[1,2]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Document {
    text: OnceLock<String>,
    /// The piece of the output from which the text is written, unless the document came as text.
    piece: Option<Piece>,
}

/// A piece of the output that is the document according to the component.
#[derive(Clone)]
struct Piece {
    text: String,
    /// `true` if the component is the built-in one.
    is_trusted: bool,
}

impl Piece {
    /// Returns the document. Returns `null` if a component that is not built in reports a piece that is not JSON: it
    /// could have reported any document, including `null`.
    fn document(&self) -> String {
        let is_json = self.is_trusted || serde_json::from_str::<IgnoredAny>(&self.text).is_ok();
        if is_json { minified(&self.text).into_owned() } else { "null".to_owned() }
    }
}

impl Document {
    /// Returns the document in a piece of an output, as a component reports it.
    pub(crate) fn of(piece: &str) -> Self {
        let piece = Piece { text: piece.to_owned(), is_trusted: false };
        Document { text: OnceLock::new(), piece: Some(piece) }
    }

    /// Marks the component as the built-in one, whose pieces need no second check.
    pub(crate) fn trust(&mut self) {
        if let Some(piece) = &mut self.piece {
            piece.is_trusted = true;
        }
    }

    /// Returns whether the document is one line of JSON, like everything that this library writes.
    pub(crate) fn is_sound(&self) -> bool {
        self.piece.is_some() || is_json(self)
    }
}

impl Deref for Document {
    type Target = str;

    fn deref(&self) -> &str {
        self.text.get_or_init(|| self.piece.as_ref().map_or_else(String::new, Piece::document))
    }
}

impl From<String> for Document {
    fn from(text: String) -> Self {
        Document { text: OnceLock::from(text), piece: None }
    }
}

impl From<Document> for String {
    fn from(document: Document) -> Self {
        let _: &str = &document;
        document.text.into_inner().unwrap_or_default()
    }
}

impl AsRef<str> for Document {
    fn as_ref(&self) -> &str {
        self
    }
}

impl PartialEq for Document {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Document {}

impl fmt::Debug for Document {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        fmt::Debug::fmt(&**self, formatter)
    }
}

impl fmt::Display for Document {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.pad(self)
    }
}

impl Layout for Document {
    const SIZE: usize = String::SIZE;
    const ALIGN: usize = String::ALIGN;
}

impl Lift for Document {
    fn lift(from: &mut Reader<'_>, at: usize) -> Result<Self> {
        String::lift(from, at).map(Document::from)
    }
}

impl Lower for Document {
    fn lower(&self, to: &mut impl Room, at: usize) -> Result<()> {
        crate::types::abi::lower_text(self, to, at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_that_is_no_json_is_no_document() {
        for (piece, text) in
            [(" [1, \"\\u0061\\/\"]\n", r#"[1,"a/"]"#), ("[1,\n2", "null"), ("\"a\nb\"", "null"), ("", "null")]
        {
            let document = Document::of(piece);
            assert!(document.is_sound());
            assert_eq!(&*document, text);
            assert_eq!(document, Document::from(text.to_owned()));
        }
        assert!(!Document::from("[1,\n2]".to_owned()).is_sound());
        assert!(!Document::from("[1".to_owned()).is_sound());
    }
}
