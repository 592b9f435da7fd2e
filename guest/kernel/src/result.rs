//! What a tool returned, before anything is made of it.

use seamgate_core::{
    Fault,
    parts::{Document, Kind, digest},
};

use crate::document::{Format, number_in, source, text};

pub(crate) static FORMAT: Format = Format::new("result", include_str!("../../../schemas/result.schema.json"));

/// A tool's result.
pub(crate) struct ToolResult {
    /// The tool says that it failed.
    pub(crate) is_error: bool,
    pub(crate) body: Body,
}

/// As much of a result as the host handed on.
pub(crate) enum Body {
    /// JSON text without optional white space.
    Json(String),
    Text(String),
    /// A result of the Model Context Protocol, as JSON text without optional white space.
    Returned(String),
    /// What is said in place of a result: nothing that the tool returned, so no schema is about it.
    Told(String),
    /// The whole is too large.
    Pieces {
        head: String,
        tail: String,
        length: u64,
        digest: String,
    },
}

impl ToolResult {
    /// # Errors
    ///
    /// `bad_request`: the text is not a result.
    pub(crate) fn read(json: &str) -> Result<Self, Fault> {
        let document = FORMAT.read(json)?;
        let owned = |name: &str| text(&document, name).map(str::to_owned).unwrap_or_default();
        let returned = document.member(Document::ROOT, "returned");
        let body = match document.member(Document::ROOT, "result") {
            // Text is text, however it comes.
            Some(at) if document.kind(at) == Kind::String => Body::Text(document.string(at).to_owned()),
            Some(at) => Body::Json(source(&document, at)),
            None if returned.is_some() => Body::Returned(returned.map(|at| source(&document, at)).unwrap_or_default()),
            None if document.member(Document::ROOT, "text").is_some() => Body::Text(owned("text")),
            None => Body::Pieces {
                head: owned("head"),
                tail: owned("tail"),
                length: number_in(&document, Document::ROOT, "length").unwrap_or_default(),
                digest: owned("digest"),
            },
        };
        let says_error = |at| document.member(at, "isError").is_some_and(|at| document.kind(at) == Kind::True);
        let is_error = text(&document, "status") == Some("error") || returned.is_some_and(says_error);
        Ok(ToolResult { is_error, body })
    }

    /// The digest of the whole, and its length in bytes.
    pub(crate) fn artifact(&self) -> (String, u64) {
        match &self.body {
            Body::Json(text) | Body::Text(text) | Body::Returned(text) | Body::Told(text) => {
                (digest(text), text.len() as u64)
            }
            Body::Pieces { length, digest, .. } => (digest.clone(), *length),
        }
    }
}
