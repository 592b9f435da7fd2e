//! Results as tools returned them, before they are processed.

use std::borrow::Cow;

use seamgate_core::{
    Fault,
    kernel_api::{Document, Json, Kind, NodeId, digest},
};

use crate::document::{CAPS, Format, number_in, source, text};

pub(crate) static FORMAT: Format = Format::new("result", include_str!("formats/result.json"));

/// A tool's result.
pub(crate) struct ToolResult<'d> {
    /// `true` if the tool reports a failure.
    pub(crate) is_error: bool,
    pub(crate) body: Body<'d>,
}

/// A result of the Model Context Protocol, at its place in a document.
#[derive(Clone, Copy)]
pub(crate) struct Given<'d> {
    pub(crate) document: &'d Json<'d>,
    pub(crate) at: NodeId,
    /// The result as JSON text without optional white space, as the document contains it.
    pub(crate) text: &'d str,
    /// The digest of the result, if the host has it.
    pub(crate) digest: Option<&'d str>,
}

/// The part of a result that the host passed on.
pub(crate) enum Body<'d> {
    /// JSON text without optional white space.
    Json(String),
    Text(String),
    /// A result of the Model Context Protocol.
    Returned(Given<'d>),
    /// A text in place of a result. The tool did not return it, so no schema describes it.
    Told(String),
    /// The beginning and the end of a result that is too large.
    Pieces {
        head: String,
        tail: String,
        length: u64,
        digest: String,
    },
}

impl<'d> Given<'d> {
    /// Passes a result that is a member of a document to `with`. Parses it again only if the document writes it
    /// differently from the journal, because some results are large.
    pub(crate) fn each<T>(document: &Json, at: NodeId, digest: Option<&str>, with: impl FnOnce(Given) -> T) -> T {
        let text = document.minified_at(at);
        if let Cow::Borrowed(text) = text {
            return with(Given { document, at, text, digest });
        }
        match Json::read(&text, &CAPS) {
            Ok(whole) => with(Given { document: &whole, at: Document::ROOT, text: &text, digest }),
            // The text was already parsed as part of the document.
            Err(_) => with(Given { document, at, text: &text, digest }),
        }
    }

    fn is_error(&self) -> bool {
        let says = self.document.member(self.at, "isError");
        says.is_some_and(|at| self.document.kind(at) == Kind::True)
    }
}

impl<'d> From<Given<'d>> for ToolResult<'d> {
    fn from(given: Given<'d>) -> Self {
        ToolResult { is_error: given.is_error(), body: Body::Returned(given) }
    }
}

impl ToolResult<'_> {
    /// Reads a result, and passes it to `with`.
    ///
    /// # Errors
    ///
    /// Returns `bad_request` if the text is not a result.
    pub(crate) fn read<T>(json: &str, with: impl FnOnce(ToolResult) -> Result<T, Fault>) -> Result<T, Fault> {
        let document = FORMAT.read(json)?;
        let owned = |name: &str| text(&document, name).map(str::to_owned).unwrap_or_default();
        let is_error = text(&document, "status") == Some("error");
        let body = match document.member(Document::ROOT, "result") {
            // A string is text, regardless of the form in which it arrives.
            Some(at) if document.kind(at) == Kind::String => Body::Text(document.string(at).to_owned()),
            Some(at) => Body::Json(source(&document, at)),
            None if document.member(Document::ROOT, "text").is_some() => Body::Text(owned("text")),
            None => match document.member(Document::ROOT, "returned") {
                Some(at) => {
                    return Given::each(&document, at, text(&document, "digest"), |given| {
                        let own = ToolResult::from(given);
                        with(ToolResult { is_error: is_error || own.is_error, ..own })
                    });
                }
                None => Body::Pieces {
                    head: owned("head"),
                    tail: owned("tail"),
                    length: number_in(&document, Document::ROOT, "length").unwrap_or_default(),
                    digest: owned("digest"),
                },
            },
        };
        with(ToolResult { is_error, body })
    }

    /// Returns the digest of the whole result, and its length in bytes. If the host keeps the result, the host states
    /// the digest, like all facts.
    pub(crate) fn artifact(&self) -> (String, u64) {
        match &self.body {
            Body::Json(text) | Body::Text(text) | Body::Told(text) => (digest(text), text.len() as u64),
            Body::Returned(given) => {
                let own = given.digest.map_or_else(|| digest(given.text), str::to_owned);
                (own, given.text.len() as u64)
            }
            Body::Pieces { length, digest, .. } => (digest.clone(), *length),
        }
    }
}
