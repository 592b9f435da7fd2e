//! Truncates a result that is too large for the model. Keeps whole lines of a text, or whole items of JSON, so that
//! JSON stays valid.

use std::{
    cell::{Cell, OnceCell},
    ops::Range,
};

use seamgate_core::kernel_api::{Document, Json, Kind, NodeId, Path, json, push_json_string};

use crate::{
    base64,
    document::CAPS,
    render::{Shell, written},
    sanitize::{Clean, Inspected, inspect_as, sanitize_as},
    truncate::{LEFT_OUT, MAX_CUT, Part, Room, Units, fill},
};

/// The number of attempts to fit a text that grows when it is written. After these attempts, each further one has half
/// the room of the previous one.
const MAX_ATTEMPTS: usize = 8;

/// The result to truncate: the mark of its observation, which is escaped, the digest of the whole result, and the way
/// in which its texts are sanitized.
#[derive(Clone, Copy)]
pub(crate) struct Whole<'w> {
    pub(crate) mark: &'w str,
    pub(crate) artifact: &'w str,
    pub(crate) clean: Clean,
}

/// A text, and the part of the whole that it shows. `None` if it shows the whole.
pub(crate) type Shown = (String, Option<Part>);

/// The part of several texts that is shown.
#[derive(Default)]
pub(crate) struct TextsShown {
    /// The shown texts. `None` for a text that is left out.
    pub(crate) texts: Vec<Option<String>>,
    pub(crate) part: Option<Part>,
    /// The number of Base64 strings that are left out.
    pub(crate) base64: usize,
}

/// Truncates a text to whole lines.
pub(crate) fn text_shown(inspected: &Inspected, room: Room, whole: Whole) -> Shown {
    fitted(room.bytes, &|bytes| {
        let (shown, part) = cut_text(inspected, Room { bytes, ..room }, whole);
        // Truncation can turn a long word into text that looks like a secret.
        Some((sanitize_as(&shown, whole.clean), part))
    })
    .unwrap_or_default()
}

/// Truncates a document to whole items. Truncates the items that `items` leads to first.
pub(crate) fn json_shown(document: &Document, items: Option<&Path>, room: Room, whole: Whole) -> Shown {
    let bytes: Vec<NodeId> = base64::strings(document, Document::ROOT).collect();
    let mut cutter = Cutter { document, items: None, bytes: &bytes, room, whole, part: Cell::default() };
    // Hidden characters are now visible and separate words, so a word may look like a secret.
    let text = cutter.whole(Document::ROOT, room.bytes).map(|text| sanitize_as(&text, whole.clean));
    if let Some(text) = text.filter(|text| text.len() <= room.bytes) {
        return (text, None);
    }
    let items = items.and_then(|path| Path::select(&path.selectors, document, Document::ROOT).pop());
    cutter.items = items.filter(|&at| document.kind(at) == Kind::Array && document.count(at) > 0);
    let shown = fitted(room.bytes, &|bytes| {
        cutter.part.set(None);
        let text = sanitize_as(&cutter.value(Document::ROOT, bytes)?, whole.clean);
        Json::read(&text, &CAPS).is_ok().then(|| (text, cutter.part.get()))
    });
    shown.unwrap_or_else(|| {
        let text = cutter.written(Document::ROOT);
        text_shown(&inspect_as(&text, whole.clean), Room { head: 0, tail: 0, ..room }, whole)
    })
}

/// Truncates a list of texts to whole texts. A text that is too large by itself is truncated to whole items or lines.
pub(crate) fn texts_shown(texts: &[&str], room: Room, whole: Whole) -> TextsShown {
    let parts = Parts { texts, room, whole, part: Cell::default(), base64: Cell::default() };
    if let [_] = texts {
        let text = parts.cut(0, room.bytes);
        return TextsShown { texts: vec![text], part: parts.part.get(), base64: parts.base64.get() };
    }
    let bytes = texts.iter().map(|text| text.len() + 1).sum::<usize>();
    let reserved = if bytes > room.bytes { LEFT_OUT } else { 0 };
    let filled = fill(texts.len(), Room { bytes: room.bytes - reserved, ..room }, &parts);
    if !filled.is_all() {
        add(&parts.part, filled.part("parts"));
    }
    let left_out = format!("… [{} parts left out]", filled.left_out());
    let mut shown = vec![None; texts.len()];
    for (index, text) in filled.units {
        shown[index] = Some(text);
    }
    if let Some(gap) = shown.iter_mut().find(|text| text.is_none()) {
        *gap = Some(left_out);
    }
    TextsShown { texts: shown, part: parts.part.get(), base64: parts.base64.get() }
}

/// Returns the first truncated form that fits. Each attempt has less room than the previous one.
fn fitted(room: usize, cut: &dyn Fn(usize) -> Option<Shown>) -> Option<Shown> {
    let mut bytes = room;
    for attempt in 0.. {
        let (shown, part) = cut(bytes)?;
        if shown.len() <= room || bytes == 0 {
            return Some((shown, part));
        }
        let less = if attempt < MAX_ATTEMPTS { bytes / 16 } else { bytes / 2 };
        bytes = bytes.saturating_sub(less.max(shown.len() - room)).min(bytes - 1);
    }
    None
}

/// Combines a part with those of the previous truncations.
fn add(to: &Cell<Option<Part>>, part: Part) {
    to.set(Some(to.get().map_or(part, |own| own.and(part))));
}

/// Reads a text that is a JSON object or array.
fn read(text: &str) -> Option<Json<'_>> {
    let is_open = text.trim_ascii_start().starts_with(['{', '[']);
    is_open.then(|| Json::read(text, &CAPS).ok())?
}

fn cut_text(inspected: &Inspected, room: Room, whole: Whole) -> Shown {
    let text = inspected.text;
    if text.len() <= 2 * room.bytes {
        let all = written(inspected, 0..text.len(), whole.mark);
        if all.len() <= room.bytes {
            return (all, None);
        }
    }
    let lines = Lines::new(inspected, room, whole);
    let filled = match lines.total {
        1 => None,
        total => Some(fill(total, Room { bytes: room.bytes.saturating_sub(LEFT_OUT), ..room }, &lines)),
    };
    let Some(filled) = filled.filter(|filled| !filled.units.is_empty()) else {
        return bytes_shown(inspected, 0..text.len(), room.bytes, whole.mark);
    };
    let part = Some(filled.part("lines"));
    let are_json = [0, lines.total - 1].iter().all(|&index| read(&text[lines.range(index)]).is_some());
    let left_out = |count| {
        let left_out = format!("… [{count} lines left out]");
        if are_json { json(&left_out) } else { left_out }
    };
    (filled.with(left_out).join("\n"), part)
}

/// Returns the beginning and the end of a piece of a text.
fn bytes_shown(inspected: &Inspected, piece: Range<usize>, room: usize, mark: &str) -> Shown {
    let text = inspected.text;
    let mut bytes = room.saturating_sub(LEFT_OUT).min(piece.len());
    loop {
        let head = text.floor_char_boundary(piece.start + bytes / 5 * 3);
        let tail = text.ceil_char_boundary(piece.end - bytes / 5 * 2).max(head);
        let [first, last] = [piece.start..head, tail..piece.end].map(|range| written(inspected, range, mark));
        let shown = format!("{first}… [{} bytes left out] …{last}", tail - head);
        if shown.len() <= room || bytes == 0 {
            let (head, tail) = ((head - piece.start) as u64, (piece.end - tail) as u64);
            return (shown, Some(Part { unit: "bytes", head, tail, of: piece.len() as u64 }));
        }
        bytes -= (bytes / 16).max(1);
    }
}

/// The lines of a text.
struct Lines<'l> {
    inspected: &'l Inspected<'l>,
    whole: Whole<'l>,
    room: Room,
    /// The ends of the first lines, and the starts of the last ones.
    ends: Vec<usize>,
    starts: Vec<usize>,
    /// The end of the last line.
    end: usize,
    total: usize,
}

impl<'l> Lines<'l> {
    fn new(inspected: &'l Inspected, room: Room, whole: Whole<'l>) -> Self {
        let body = inspected.text.strip_suffix('\n').unwrap_or(inspected.text);
        let most = |keep: usize| keep.min(room.bytes) + MAX_CUT + 1;
        let ends = body.match_indices('\n').map(|(at, _)| at).take(most(room.head)).chain([body.len()]);
        let starts = body.rmatch_indices('\n').map(|(at, _)| at + 1).take(most(room.tail)).chain([0]);
        let total = body.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let (ends, starts) = (ends.collect(), starts.collect());
        Lines { inspected, whole, room, ends, starts, end: body.len(), total }
    }

    fn range(&self, index: usize) -> Range<usize> {
        if index + 1 < self.ends.len() {
            return index.checked_sub(1).map_or(0, |before| self.ends[before] + 1)..self.ends[index];
        }
        let from_end = self.total - 1 - index;
        self.starts[from_end]..from_end.checked_sub(1).map_or(self.end, |after| self.starts[after] - 1)
    }
}

impl Units for Lines<'_> {
    fn whole(&self, index: usize, bytes: usize) -> Option<String> {
        let range = self.range(index);
        let line = (range.len() <= 2 * bytes).then(|| written(self.inspected, range, self.whole.mark));
        line.filter(|line| line.len() <= bytes)
    }

    fn cut(&self, index: usize, bytes: usize) -> Option<String> {
        let range = self.range(index);
        let (line, _) = match read(&self.inspected.text[range.clone()]) {
            Some(json) => json_shown(&json, None, Room { bytes, ..self.room }, self.whole),
            None => bytes_shown(self.inspected, range, bytes, self.whole.mark),
        };
        Some(line)
    }

    fn size(&self, index: usize) -> usize {
        self.range(index).len()
    }

    fn is_list(&self, _: usize) -> bool {
        false
    }
}

/// The text blocks of a result.
struct Parts<'p> {
    texts: &'p [&'p str],
    room: Room,
    whole: Whole<'p>,
    part: Cell<Option<Part>>,
    base64: Cell<usize>,
}

impl Units for Parts<'_> {
    fn whole(&self, index: usize, bytes: usize) -> Option<String> {
        let text = self.texts[index];
        let text = (text.len() <= 2 * bytes)
            .then(|| written(&inspect_as(text, self.whole.clean), 0..text.len(), self.whole.mark));
        text.map(|text| sanitize_as(&text, self.whole.clean)).filter(|text| text.len() <= bytes)
    }

    fn cut(&self, index: usize, bytes: usize) -> Option<String> {
        if let Some(whole) = self.whole(index, bytes) {
            return Some(whole);
        }
        let (text, room) = (self.texts[index], Room { bytes, ..self.room });
        let (text, part) = match read(text) {
            Some(json) => {
                self.base64.set(self.base64.get() + base64::strings(&json, Document::ROOT).count());
                json_shown(&json, None, room, self.whole)
            }
            None => text_shown(&inspect_as(text, self.whole.clean), room, self.whole),
        };
        if let Some(part) = part {
            add(&self.part, part);
        }
        Some(text)
    }

    fn size(&self, index: usize) -> usize {
        self.texts[index].len()
    }

    fn is_list(&self, index: usize) -> bool {
        self.texts[index].trim_ascii_start().starts_with('[')
    }
}

/// A document to truncate.
struct Cutter<'c, 'd> {
    document: &'c Document<'d>,
    /// The array that is truncated first.
    items: Option<NodeId>,
    /// The Base64 strings, in order. None of them is shown.
    bytes: &'c [NodeId],
    room: Room,
    whole: Whole<'c>,
    part: Cell<Option<Part>>,
}

impl Cutter<'_, '_> {
    /// Writes a value of any length, without Base64 strings.
    fn written(&self, at: NodeId) -> String {
        let mut shell =
            Shell { bytes: self.bytes, artifact: self.whole.artifact, clean: self.whole.clean, ..Shell::default() };
        shell.write(self.document, at, self.whole.mark);
        shell.text
    }

    /// Writes a value if it fits, unless its items are truncated first.
    fn whole(&self, at: NodeId, bytes: usize) -> Option<String> {
        let is_cut = self.items.is_some_and(|items| self.contains(at, items));
        // A secret is longer than the mark that replaces it.
        let text = (!is_cut && self.size(at) <= 2 * bytes).then(|| self.written(at));
        text.filter(|text| text.len() <= bytes)
    }

    fn contains(&self, at: NodeId, other: NodeId) -> bool {
        (at..self.document.next(at)).contains(&other)
    }

    /// Returns the size of a value as received, in bytes, without Base64 strings.
    fn size(&self, at: NodeId) -> usize {
        let first = self.bytes.partition_point(|&bytes| bytes < at);
        let inside = self.bytes[first..].iter().take_while(|&&bytes| self.contains(at, bytes));
        let left_out: usize = inside.map(|&bytes| self.document.source(bytes).len()).sum();
        self.document.source(at).len() - left_out
    }

    /// Writes as much of a value as fits.
    fn value(&self, at: NodeId, room: usize) -> Option<String> {
        let document = self.document;
        self.whole(at, room).or_else(|| match document.kind(at) {
            Kind::Array => self.container(document.items(at).map(|item| (None, item)).collect(), at, room),
            Kind::Object => self.container(document.members(at).map(|(name, at)| (Some(name), at)).collect(), at, room),
            Kind::String => self.string(document.string(at), room),
            _ => None,
        })
    }

    fn container(&self, children: Vec<(Option<NodeId>, NodeId)>, at: NodeId, room: usize) -> Option<String> {
        let children = Children { cutter: self, children };
        let is_object = self.document.kind(at) == Kind::Object;
        // The text around one large member is likely to fit. If it does not, the next attempt has less room.
        let sizes = children.children.iter().map(|(_, at)| self.size(*at));
        let around = self.size(at) - sizes.max().unwrap_or_default();
        let reserved = if is_object && around < room / 2 { 2 } else { LEFT_OUT };
        let bytes = room.checked_sub(reserved)?;
        let most = |keep| if is_object { usize::MAX } else { keep };
        let room = Room { bytes, head: most(self.room.head), tail: most(self.room.tail) };
        let filled = fill(children.children.len(), room, &children);
        // If no part of the whole document is shown, the text says so. A nested value is left out.
        if filled.units.is_empty() && at != Document::ROOT {
            return None;
        }
        let unit = if is_object { "members" } else { "items" };
        if !filled.is_all() {
            add(&self.part, filled.part(unit));
        }
        let names = ["…", "……", "………"];
        let name = names.into_iter().find(|name| self.document.member(at, name).is_none()).unwrap_or_default();
        let units = filled.with(|count| match is_object {
            true => format!("\"{name}\":\"[{count} members left out]\""),
            false => format!("\"… [{count} items left out]\","),
        });
        Some(match is_object {
            true => format!("{{{}}}", units.join(",")),
            false => format!("[\n{}\n]", units.join("\n").trim_end_matches(',')),
        })
    }

    fn string(&self, text: &str, room: usize) -> Option<String> {
        let (json, inspected) = (read(text), OnceCell::new());
        let mut bytes = room.checked_sub(2)?;
        while bytes >= LEFT_OUT {
            let inner = Room { bytes, ..self.room };
            let (shown, part) = match &json {
                Some(json) => json_shown(json, None, inner, self.whole),
                None => text_shown(inspected.get_or_init(|| inspect_as(text, self.whole.clean)), inner, self.whole),
            };
            let mut string = String::new();
            push_json_string(&mut string, &shown);
            if string.len() <= room {
                if let Some(part) = part {
                    add(&self.part, part);
                }
                return Some(string);
            }
            bytes = bytes.saturating_sub((bytes / 16).max((string.len() - room) / 2)).min(bytes - 1);
        }
        None
    }
}

/// The items of an array, or the members of an object.
struct Children<'c, 'd> {
    cutter: &'c Cutter<'c, 'd>,
    children: Vec<(Option<NodeId>, NodeId)>,
}

impl Children<'_, '_> {
    /// Writes a child with the name of a member before it, or with the comma after an item.
    fn child(&self, index: usize, bytes: usize, write: impl Fn(NodeId, usize) -> Option<String>) -> Option<String> {
        let (name, value) = self.children[index];
        let Some(name) = name else {
            return write(value, bytes.checked_sub(1)?).map(|item| item + ",");
        };
        let mut member = Shell { clean: self.cutter.whole.clean, ..Shell::default() };
        member.string(self.cutter.document.string(name), self.cutter.whole.mark);
        member.text.push(':');
        Some(member.text.clone() + &write(value, bytes.checked_sub(member.text.len())?)?)
    }
}

impl Units for Children<'_, '_> {
    fn whole(&self, index: usize, bytes: usize) -> Option<String> {
        self.child(index, bytes, |at, bytes| self.cutter.whole(at, bytes))
    }

    fn cut(&self, index: usize, bytes: usize) -> Option<String> {
        self.child(index, bytes, |at, bytes| self.cutter.value(at, bytes))
    }

    fn size(&self, index: usize) -> usize {
        self.cutter.size(self.children[index].1)
    }

    fn is_list(&self, index: usize) -> bool {
        let (name, at) = self.children[index];
        let is_array = name.is_some() && self.cutter.document.kind(at) == Kind::Array;
        is_array || self.cutter.items.is_some_and(|items| self.cutter.contains(at, items))
    }
}
