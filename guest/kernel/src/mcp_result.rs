//! A result of the Model Context Protocol: its parts, and what is handed on in its place.
//!
//! <https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result>

use std::borrow::Cow;

use seamgate_core::kernel_api::{Document, Json, Kind, NodeId, canonical, json};
use serde_json::value::RawValue;

use crate::{
    document::{CAPS, source, text_in},
    render::{binary, sanitized_but},
    result::Given,
};

/// The members that a result has by the protocol. Others are handed on, sanitized.
const CONTENT: &str = "content";
const STRUCTURED: &str = "structuredContent";
const IS_ERROR: &str = "isError";

/// A result, and where its parts are.
pub(crate) struct McpResult<'d> {
    document: &'d Json<'d>,
    root: NodeId,
    structured: Option<NodeId>,
    blocks: Vec<NodeId>,
    /// The strings of all text blocks.
    texts: Vec<NodeId>,
    /// Strings that are bytes in Base64: no model reads them as text.
    pub(crate) binary: Vec<NodeId>,
}

/// What a schema is about, and what is cut.
pub(crate) enum Main<'d> {
    Json(String),
    Text(Cow<'d, str>),
}

impl<'d> McpResult<'d> {
    pub(crate) fn new(given: Given<'d>) -> Self {
        let Given { document, at: root, .. } = given;
        let structured = document.member(root, STRUCTURED).filter(|&at| document.kind(at) != Kind::Null);
        let content = document.member(root, CONTENT);
        let blocks: Vec<NodeId> = content.into_iter().flat_map(|at| document.items(at)).collect();
        let texts = blocks.iter().filter_map(|&block| text_of(document, block)).collect();
        McpResult { document, root, structured, blocks, texts, binary: binary(document, root) }
    }

    /// `is_json`: a schema asks for JSON.
    pub(crate) fn main(&self, is_json: bool) -> Main<'d> {
        match (self.structured, &self.texts[..]) {
            (Some(at), _) => Main::Json(source(self.document, at)),
            (None, [only]) if is_json => Main::Json(self.document.string(*only).to_owned()),
            (None, _) if is_json => Main::Json(String::new()),
            (None, [only]) => Main::Text(self.document.string(*only).into()),
            (None, texts) => {
                let texts: Vec<&str> = texts.iter().map(|&at| self.document.string(at)).collect();
                Main::Text(texts.join("\n").into())
            }
        }
    }

    /// How much of it is text that a model reads, in bytes, beside what is structured.
    pub(crate) fn text_bytes(&self) -> usize {
        self.texts.iter().map(|&at| self.document.string(at).len()).sum()
    }

    /// Whether a text says something else than what is structured: it is JSON, and neither that nor a part of it. Servers wrap lists
    /// and texts, for what is structured has to be an object.
    pub(crate) fn is_contradictory(&self) -> bool {
        let Some(structured) = self.structured else { return false };
        self.texts.iter().any(|&at| {
            let text = self.document.string(at);
            if !text.trim_start().starts_with(['{', '[']) || text == self.document.source(structured) {
                return false;
            }
            let Ok(said) = Json::read(text, &CAPS) else { return false };
            let (kind, count) = (said.kind(Document::ROOT), said.count(Document::ROOT));
            let mut own = None;
            let mut is_said = |part: NodeId| match self.document.kind(part) {
                Kind::String => self.document.string(part) == text,
                other if other == kind && self.document.count(part) == count => {
                    let own = own.get_or_insert_with(|| canonical(&said, Document::ROOT));
                    canonical(self.document, part) == *own
                }
                _ => false,
            };
            !(structured..self.document.next(structured)).any(&mut is_said)
        })
    }

    /// The blocks that have more bytes than this, and are no text.
    pub(crate) fn large(&self, max: usize) -> usize {
        self.blocks.iter().filter(|&&block| self.is_large(block, max)).count()
    }

    fn is_large(&self, block: NodeId, max: usize) -> bool {
        text_of(self.document, block).is_none() && self.document.source(block).len() > max
    }

    /// The result to hand on. `shown`: what of the main part is shown, where that differs. `remarks` go before it.
    pub(crate) fn handed_on(&self, shown: Shown, remarks: &[String], max: usize) -> Box<RawValue> {
        let document = self.document;
        let mut content: Vec<String> = Vec::new();
        if !remarks.is_empty() {
            content.push(text_block(&remarks.join("\n")));
        }
        let mut main = shown.text.map(text_block);
        for &block in &self.blocks {
            match text_of(document, block) {
                Some(_) if shown.text.is_some() => content.extend(main.take()),
                None if self.is_large(block, max) => {
                    let (kind, bytes) =
                        (text_in(document, block, "type").unwrap_or_default(), document.source(block).len());
                    let kind = crate::sanitize::sanitize(kind).text;
                    content.push(text_block(&format!("[left out: {kind} of {bytes} bytes; the limit is {max}]")));
                }
                _ => content.push(sanitized_but(document, block, &self.binary)),
            }
        }
        content.extend(main);
        let mut members = vec![format!("\"{CONTENT}\":[{}]", content.join(","))];
        for (name, value) in document.members(self.root) {
            match document.string(name) {
                CONTENT => {}
                STRUCTURED if shown.is_structured_gone => {}
                STRUCTURED => match shown.structured {
                    Some(structured) => members.push(format!("\"{STRUCTURED}\":{structured}")),
                    None => {
                        members.push(format!("\"{STRUCTURED}\":{}", sanitized_but(document, value, &self.binary)));
                    }
                },
                IS_ERROR => members.push(format!("\"{IS_ERROR}\":{}", document.source(value))),
                _ => {
                    let name = sanitized_but(document, name, &[]);
                    members.push(format!("{name}:{}", sanitized_but(document, value, &self.binary)));
                }
            }
        }
        RawValue::from_string(format!("{{{}}}", members.join(","))).unwrap_or_default()
    }
}

/// What is shown of a result in place of its main part.
#[derive(Default)]
pub(crate) struct Shown<'s> {
    /// In place of all texts.
    pub(crate) text: Option<&'s str>,
    /// In place of what is structured.
    pub(crate) structured: Option<&'s str>,
    pub(crate) is_structured_gone: bool,
}

/// A result that says why there is none.
pub(crate) fn refused(message: &str) -> Box<RawValue> {
    let text = format!("{{\"{CONTENT}\":[{}],\"{IS_ERROR}\":true}}", text_block(message));
    RawValue::from_string(text).unwrap_or_default()
}

fn text_block(text: &str) -> String {
    format!("{{\"type\":\"text\",\"text\":{}}}", json(&text))
}

/// The text of a block that is one.
fn text_of(document: &Document, block: NodeId) -> Option<NodeId> {
    let is_text = text_in(document, block, "type") == Some("text");
    document.member(block, "text").filter(|&at| is_text && document.kind(at) == Kind::String)
}
