//! A result as the text that the model reads: whole items or lines, sanitized, with the mark of its observation escaped.

use seamgate_core::kernel_api::{Document, Kind, NodeId, Path, push_json_string, sort};

use crate::{
    base64,
    sanitize::{Clean, Inspected, inspect_as, sanitize_as},
    tool::ResultRule,
    truncate::{Part, Room, choose},
};

/// Room for what says that something was left out.
const LEFT_OUT: usize = 64;

/// A text, and how much of it is shown where that is not all.
pub(crate) fn text_shown(inspected: &Inspected, room: Room, mark: &str) -> (String, Option<Part>) {
    let mut bytes = room.bytes;
    loop {
        let (shown, part) = cut_text(inspected, Room { bytes, ..room }, mark);
        // A cut can make of a long word what reads like a secret.
        let again = sanitize_as(&shown, inspected.clean);
        if again.len() <= room.bytes || bytes == 0 {
            return (again, part);
        }
        bytes = bytes / 4 * 3;
    }
}

fn cut_text(inspected: &Inspected, room: Room, mark: &str) -> (String, Option<Part>) {
    let text = inspected.text;
    let piece = |start: usize, end: usize| written(inspected, start, end, mark);
    if text.len() <= 2 * room.bytes {
        let whole = piece(0, text.len());
        if whole.len() <= room.bytes {
            return (whole, None);
        }
    }
    let total = text.bytes().filter(|byte| *byte == b'\n').count() + usize::from(!text.ends_with('\n'));
    // Where the first lines end, and where the last ones start.
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).take(room.head).chain([text.len()]).collect();
    let body = text.strip_suffix('\n').unwrap_or(text);
    let starts: Vec<usize> = body.rmatch_indices('\n').map(|(at, _)| at + 1).take(room.tail).chain([0]).collect();
    let line = |index: usize| match index {
        index if index < room.head => {
            let start = index.checked_sub(1).map_or(0, |before| ends[before] + 1);
            piece(start, ends[index])
        }
        index => {
            let from_end = total - 1 - index;
            let end = from_end.checked_sub(1).map_or(body.len(), |after| starts[after] - 1);
            piece(starts[from_end], end)
        }
    };
    let (shown, head, tail) = choose(total, Room { bytes: room.bytes.saturating_sub(LEFT_OUT), ..room }, line);
    if shown.head + shown.tail == 0 {
        return bytes_shown(inspected, room.bytes, mark);
    }
    let left_out = format!("… [{} lines left out]", total - shown.head - shown.tail);
    let lines: Vec<String> = head.into_iter().chain([left_out]).chain(tail).collect();
    let part = Part { unit: "lines", head: shown.head as u64, tail: shown.tail as u64, of: total as u64 };
    (lines.join("\n"), Some(part))
}

/// The beginning and the end of a text whose lines are too long.
fn bytes_shown(inspected: &Inspected, room: usize, mark: &str) -> (String, Option<Part>) {
    let text = inspected.text;
    let mut bytes = room.saturating_sub(LEFT_OUT).min(text.len());
    loop {
        let head = text.floor_char_boundary(bytes / 5 * 3);
        let tail = text.ceil_char_boundary(text.len() - bytes / 5 * 2).max(head);
        let shown = format!(
            "{}… [{} bytes left out] …{}",
            written(inspected, 0, head, mark),
            tail - head,
            written(inspected, tail, text.len(), mark)
        );
        if shown.len() <= room || bytes == 0 {
            let (head, tail) = (head as u64, (text.len() - tail) as u64);
            return (shown, Some(Part { unit: "bytes", head, tail, of: text.len() as u64 }));
        }
        bytes /= 2;
    }
}

/// A document, and how many of its items are shown where that is not all.
/// `artifact`: the digest of the whole, under which bytes in Base64 are that are left out.
pub(crate) fn json_shown(
    (rule, clean): (&ResultRule, Clean),
    document: &Document,
    mark: &str,
    artifact: &str,
) -> (String, Option<Part>) {
    let (shown, part) = cut_json((rule, clean), document, mark, artifact);
    // What was hidden is visible now, and ends words: one of them can be a secret.
    let again = sanitize_as(&shown, clean);
    if again.len() <= rule.max_bytes {
        return (again, part);
    }
    text_shown(&inspect_as(&again, clean), Room { bytes: rule.max_bytes, head: 0, tail: 0 }, mark)
}

fn cut_json(
    (rule, clean): (&ResultRule, Clean),
    document: &Document,
    mark: &str,
    artifact: &str,
) -> (String, Option<Part>) {
    let room = rule.max_bytes;
    let bytes: usize = base64::strings(document, Document::ROOT).map(|at| document.source(at).len()).sum();
    let source = document.source(Document::ROOT);
    let new = || Shell { artifact: Some(artifact), clean, ..Shell::default() };
    if source.len() - bytes <= 2 * room {
        let mut whole = new();
        whole.write(document, Document::ROOT, None, mark);
        if whole.text.len() <= room {
            return (whole.text, None);
        }
    }
    let path = rule.items.as_ref().and_then(|path| Path::select(&path.selectors, document, Document::ROOT).pop());
    let array = path.or(Some(Document::ROOT)).filter(|&at| document.kind(at) == Kind::Array);
    if let Some(array) = array
        && let Some(shown) = items_shown((rule, clean), document, array, mark, artifact)
    {
        return shown;
    }
    if bytes > 0 {
        let mut whole = new();
        whole.write(document, Document::ROOT, None, mark);
        return text_shown(&inspect_as(&whole.text, clean), Room { bytes: room, head: 0, tail: 0 }, mark);
    }
    let minified = document.minified();
    text_shown(&inspect_as(&minified, clean), Room { bytes: room, head: 0, tail: 0 }, mark)
}

/// A value as JSON text, with each string sanitized.
pub(crate) fn sanitized(document: &Document, at: NodeId) -> String {
    let mut shell = Shell::default();
    shell.write(document, at, None, "\0");
    shell.text
}

/// The same, but for strings that stay as they are. Their places are in order.
pub(crate) fn sanitized_but(document: &Document, at: NodeId, kept: &[NodeId], clean: Clean) -> String {
    let mut shell = Shell { kept, clean, ..Shell::default() };
    shell.write(document, at, None, "\0");
    shell.text
}

/// Writes a value as [`sanitized_but`] does, with a mark in place of bytes in Base64 that do not stay.
pub(crate) fn sanitized_without_bytes(
    document: &Document,
    at: NodeId,
    kept: &[NodeId],
    (artifact, clean): (&str, Clean),
) -> String {
    let mut shell = Shell { kept, artifact: Some(artifact), clean, ..Shell::default() };
    shell.write(document, at, None, "\0");
    shell.text
}

/// The strings below a place that are bytes in Base64, as the Model Context Protocol has them, in order. A text that only
/// stands in their place is none of them.
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

fn items_shown(
    (rule, clean): (&ResultRule, Clean),
    document: &Document,
    array: NodeId,
    mark: &str,
    artifact: &str,
) -> Option<(String, Option<Part>)> {
    let new = || Shell { artifact: Some(artifact), clean, ..Shell::default() };
    let mut shell = new();
    // What stands around the items may be large, too.
    if document.source(Document::ROOT).len() - document.source(array).len() > rule.max_bytes {
        return None;
    }
    shell.write(document, Document::ROOT, Some(array), mark);
    let room = rule.max_bytes.checked_sub(shell.text.len() + LEFT_OUT)?;
    let items: Vec<NodeId> = document.items(array).collect();
    let item = |index: usize| {
        let mut item = new();
        item.write(document, items[index], None, mark);
        // With the comma before the next one.
        item.text.push(',');
        item.text
    };
    let (shown, head, tail) = choose(items.len(), Room { bytes: room, head: rule.head, tail: rule.tail }, item);
    if shown.head + shown.tail == 0 {
        return None;
    }
    let left_out = format!("\"… [{} items left out]\",", items.len() - shown.head - shown.tail);
    let all: Vec<String> = head.into_iter().chain([left_out]).chain(tail).collect();
    let all = all.join("\n");
    shell.text.insert_str(shell.hole?, &format!("\n{}\n", all.strip_suffix(',').unwrap_or(&all)));
    let part = Part { unit: "items", head: shown.head as u64, tail: shown.tail as u64, of: items.len() as u64 };
    Some((shell.text, Some(part)))
}

/// JSON text that is being written, with each string sanitized.
#[derive(Default)]
struct Shell<'k> {
    text: String,
    /// Strings that stay as they are, in order.
    kept: &'k [NodeId],
    /// The digest of the whole, if bytes in Base64 are left out.
    artifact: Option<&'k str>,
    clean: Clean,
    /// Where the items of the array belong that was left empty.
    hole: Option<usize>,
}

impl Shell<'_> {
    fn write(&mut self, document: &Document, at: NodeId, hole: Option<NodeId>, mark: &str) {
        match document.kind(at) {
            Kind::Array if hole == Some(at) => {
                self.text.push('[');
                self.hole = Some(self.text.len());
                self.text.push(']');
            }
            Kind::Array => {
                self.text.push('[');
                for (index, item) in document.items(at).enumerate() {
                    if index > 0 {
                        self.text.push(',');
                    }
                    self.write(document, item, hole, mark);
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
                    self.write(document, value, hole, mark);
                }
                self.text.push('}');
            }
            Kind::String if self.kept.binary_search(&at).is_err() => match (self.artifact, document.string(at)) {
                (Some(artifact), text) if base64::is_bytes(text) => {
                    let bytes = base64::decoded(text);
                    let left_out = format!("[left out: {bytes} bytes in Base64; whole result: artifact {artifact}]");
                    push_json_string(&mut self.text, &left_out);
                }
                (_, text) => self.string(text, mark),
            },
            _ => self.text.push_str(document.source(at)),
        }
    }

    fn string(&mut self, text: &str, mark: &str) {
        push_json_string(&mut self.text, &unmarked(sanitize_as(text, self.clean), mark));
    }
}

fn written(inspected: &Inspected, start: usize, end: usize, mark: &str) -> String {
    let mut out = String::new();
    inspected.write(start..end, &mut out);
    unmarked(out, mark)
}

/// A text in which the mark of its own observation is escaped: data cannot end itself.
pub(crate) fn unmarked(text: String, mark: &str) -> String {
    if !text.contains(mark) {
        return text;
    }
    let mut rest = mark.chars();
    let first = rest.next().map_or(0, u32::from);
    text.replace(mark, &format!("\\u{{{first:x}}}{}", rest.as_str()))
}
