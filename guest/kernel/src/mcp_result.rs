//! Results of the Model Context Protocol: finds their parts, and builds the results that replace them.
//!
//! <https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result>

use seamgate_core::kernel_api::{Document, Json, Kind, NodeId, canonical, json, short, sort};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::{
    base64,
    document::{CAPS, source, text_in},
    render::{binary, sanitized_but, sanitized_without_bytes},
    result::Given,
    sanitize::{Clean, sanitize},
    tool::ResultRule,
    truncate::Part,
};

/// The members of a result that the protocol defines. Other members are sanitized and passed on.
const CONTENT: &str = "content";
const STRUCTURED: &str = "structuredContent";
const IS_ERROR: &str = "isError";
const META: &str = "_meta";

/// The member of `_meta` that says which part of a result is shown.
const TRUNCATED: &str = "seamgate.dev/truncated";

/// The MIME type of bytes that declare none.
const UNKNOWN: &str = "application/octet-stream";

/// A result, and the places of its parts.
pub(crate) struct McpResult<'d> {
    document: &'d Json<'d>,
    root: NodeId,
    structured: Option<NodeId>,
    blocks: Vec<NodeId>,
    /// The strings of all text blocks.
    texts: Vec<NodeId>,
    /// Base64 strings that stay unchanged.
    binary: Vec<NodeId>,
    /// Strings that no model reads as text: the strings in `binary`, and Base64 in the structured content.
    pub(crate) unread: Vec<NodeId>,
}

/// The part of a result that a schema describes and that may be truncated.
pub(crate) enum Main<'d> {
    Json(String),
    Texts(Vec<&'d str>),
}

impl<'d> McpResult<'d> {
    pub(crate) fn new(given: Given<'d>) -> Self {
        let Given { document, at: root, .. } = given;
        let structured = document.member(root, STRUCTURED).filter(|&at| document.kind(at) != Kind::Null);
        let content = document.member(root, CONTENT);
        let blocks: Vec<NodeId> = content.into_iter().flat_map(|at| document.items(at)).collect();
        let texts = blocks.iter().filter_map(|&block| text_of(document, block)).collect();
        let mut binary = binary(document, root);
        let mut unread = binary.clone();
        if let Some(at) = structured {
            unread.extend(base64::strings(document, at));
            sort(&mut unread);
            unread.dedup();
            binary
                .retain(|bytes| !(at..document.next(at)).contains(bytes) || !base64::is_bytes(document.string(*bytes)));
        }
        McpResult { document, root, structured, blocks, texts, binary, unread }
    }

    pub(crate) fn has_structured(&self) -> bool {
        self.structured.is_some()
    }

    /// Returns whether a text repeats Base64 from the structured content.
    pub(crate) fn repeats_bytes(&self) -> bool {
        let has_bytes = |at: NodeId| base64::strings(self.document, at).next().is_some();
        self.structured.is_some_and(has_bytes)
            && self.texts.iter().any(|&at| base64::has_bytes(self.document.string(at)))
    }

    /// Returns the main part. `is_json` is `true` if a schema expects JSON.
    pub(crate) fn main(&self, is_json: bool) -> Main<'d> {
        match (self.structured, &self.texts[..]) {
            (Some(at), _) => Main::Json(source(self.document, at)),
            (None, [only]) if is_json => Main::Json(self.document.string(*only).to_owned()),
            (None, _) if is_json => Main::Json(String::new()),
            (None, texts) => Main::Texts(texts.iter().map(|&at| self.document.string(at)).collect()),
        }
    }

    /// Returns the size of the text that a model reads in addition to the structured content, in bytes.
    pub(crate) fn text_bytes(&self) -> usize {
        self.texts.iter().map(|&at| self.document.string(at).len()).sum()
    }

    /// Returns whether a text contradicts the structured content: it is JSON, and neither equals that content nor is a
    /// part of it. Servers wrap lists and texts because structured content must be an object.
    pub(crate) fn is_contradictory(&self) -> bool {
        self.texts.iter().any(|&at| self.is_said(at) == Some(false))
    }

    /// Returns whether the structured content says the same as a text. `None` if the text is not JSON and not a part of
    /// the structured content.
    fn is_said(&self, at: NodeId) -> Option<bool> {
        let structured = self.structured?;
        let text = self.document.string(at);
        let mut parts = structured..self.document.next(structured);
        if text == self.document.source(structured) {
            return Some(true);
        }
        let is_text = |part: NodeId| self.document.kind(part) == Kind::String && self.document.string(part) == text;
        if !text.trim_start().starts_with(['{', '[']) {
            return parts.any(is_text).then_some(true);
        }
        let said = Json::read(text, &CAPS).ok()?;
        let (kind, count) = (said.kind(Document::ROOT), said.count(Document::ROOT));
        let mut own = None;
        let is_same = |part: NodeId| match self.document.kind(part) {
            Kind::String => is_text(part),
            other if other == kind && self.document.count(part) == count => {
                let own = own.get_or_insert_with(|| canonical(&said, Document::ROOT));
                canonical(self.document, part) == *own
            }
            _ => false,
        };
        Some(parts.any(is_same))
    }

    /// Returns the texts that only repeat the structured content, in order.
    pub(crate) fn repeated(&self) -> Vec<NodeId> {
        let mut repeated: Vec<NodeId> =
            self.texts.iter().copied().filter(|&at| self.is_said(at) == Some(true)).collect();
        sort(&mut repeated);
        repeated
    }

    /// Returns the replacement text for each block that is left out.
    pub(crate) fn left_out(&self, rule: &ResultRule) -> Vec<Option<String>> {
        let mut used = 0;
        let blocks = self.blocks.iter().enumerate();
        let left_out = |(index, &block): (usize, &NodeId)| {
            let number = index + 1;
            if text_of(self.document, block).is_some() {
                return None;
            }
            let mut bytes = self.document.source(block).len();
            let (kind, max) = (text_in(self.document, block, "type").unwrap_or_default(), rule.max_bytes);
            if let Some((data, media_type)) = self.media(block) {
                bytes -= self.document.source(data).len();
                let size = base64::decoded(self.document.string(data));
                let part = format!("part {number}, {} of {size} bytes", shown(media_type));
                if !rule.passes(media_type) {
                    let known = match &rule.media[..] {
                        [] => "nothing".to_owned(),
                        media => short(media.join(", "), 256),
                    };
                    return Some(format!("[left out: {part}; 'result.media' lets through: {known}]"));
                }
                let max = rule.max_media_bytes;
                if size > max.saturating_sub(used) {
                    let more = if used > 0 { format!(", of which {used} are used") } else { String::new() };
                    return Some(format!("[left out: {part}; the limit is {max}, 'result.max_media_bytes'{more}]"));
                }
                used += size;
            }
            (bytes > max).then(|| {
                let kind = shown(kind);
                format!("[left out: part {number}, {kind} of {bytes} bytes; the limit is {max}, 'result.max_bytes']")
            })
        };
        blocks.map(left_out).collect()
    }

    /// Returns the bytes of a block that is an image, audio or a blob, and their type.
    fn media(&self, block: NodeId) -> Option<(NodeId, &str)> {
        let document = self.document;
        let resource = document.member(block, "resource");
        let places = [(Some(block), "data"), (resource, "blob")];
        places.into_iter().find_map(|(at, name)| {
            let data = document.member(at?, name).filter(|data| self.binary.binary_search(data).is_ok())?;
            Some((data, text_in(document, at?, "mimeType").unwrap_or(UNKNOWN)))
        })
    }

    /// Returns the result to pass on. `shown` replaces the main part, if it differs. `remarks` follow it.
    pub(crate) fn handed_on(
        &self,
        shown: Shown,
        truncated: Option<Truncated>,
        remarks: &[String],
        (rule, clean): (&ResultRule, Clean),
        artifact: &str,
    ) -> Box<RawValue> {
        let document = self.document;
        let mut content: Vec<String> = Vec::new();
        let mut texts = shown.texts.unwrap_or_default().iter().map(|text| text.as_deref().map(text_block));
        for (&block, left_out) in self.blocks.iter().zip(self.left_out(rule)) {
            match (text_of(document, block), left_out) {
                (Some(_), _) if shown.texts.is_some() => content.extend(texts.next().flatten()),
                (_, Some(left_out)) => content.push(text_block(&left_out)),
                _ => content.push(sanitized_but(document, block, &self.binary, clean)),
            }
        }
        content.extend(texts.flatten());
        if !remarks.is_empty() {
            content.push(text_block(&remarks.join("\n")));
        }
        let mut members = vec![format!("\"{CONTENT}\":[{}]", content.join(","))];
        let mut meta: Vec<String> = Vec::new();
        for (name, value) in document.members(self.root) {
            match document.string(name) {
                CONTENT => {}
                STRUCTURED if shown.is_structured_gone => {}
                STRUCTURED => match shown.structured {
                    Some(structured) => members.push(format!("\"{STRUCTURED}\":{structured}")),
                    None => {
                        let structured = sanitized_without_bytes(document, value, &self.binary, (artifact, clean));
                        members.push(format!("\"{STRUCTURED}\":{structured}"));
                    }
                },
                IS_ERROR => members.push(format!("\"{IS_ERROR}\":{}", document.source(value))),
                META if truncated.is_some() => {
                    let others = document.members(value).filter(|(name, _)| document.string(*name) != TRUNCATED);
                    meta.extend(others.map(|(name, value)| self.member(name, value, clean)));
                }
                _ => members.push(self.member(name, value, clean)),
            }
        }
        if let Some(truncated) = truncated {
            meta.push(format!("\"{TRUNCATED}\":{}", json(&truncated)));
            members.push(format!("\"{META}\":{{{}}}", meta.join(",")));
        }
        RawValue::from_string(format!("{{{}}}", members.join(","))).unwrap_or_default()
    }

    fn member(&self, name: NodeId, value: NodeId, clean: Clean) -> String {
        let name = sanitized_but(self.document, name, &[], clean);
        format!("{name}:{}", sanitized_but(self.document, value, &self.binary, clean))
    }
}

/// The text that replaces the main part of a result.
#[derive(Default)]
pub(crate) struct Shown<'s> {
    /// One text for each text of the result, in order, followed by further ones.
    pub(crate) texts: Option<&'s [Option<String>]>,
    /// The structured content.
    pub(crate) structured: Option<&'s str>,
    pub(crate) is_structured_gone: bool,
}

/// The entry in `_meta` that informs programs about a truncated result.
#[derive(Serialize)]
pub(crate) struct Truncated<'t> {
    #[serde(flatten)]
    pub(crate) part: Part,
    pub(crate) artifact: &'t str,
}

/// Builds a result that says why the actual result is not shown.
pub(crate) fn refused(message: &str) -> Box<RawValue> {
    let text = format!("{{\"{CONTENT}\":[{}],\"{IS_ERROR}\":true}}", text_block(message));
    RawValue::from_string(text).unwrap_or_default()
}

/// Sanitizes and truncates a word from the server, for the text that replaces a block.
fn shown(word: &str) -> String {
    short(sanitize(word).text, 64)
}

fn text_block(text: &str) -> String {
    format!("{{\"type\":\"text\",\"text\":{}}}", json(&text))
}

/// Returns the text of a text block.
fn text_of(document: &Document, block: NodeId) -> Option<NodeId> {
    let is_text = text_in(document, block, "type") == Some("text");
    document.member(block, "text").filter(|&at| is_text && document.kind(at) == Kind::String)
}
