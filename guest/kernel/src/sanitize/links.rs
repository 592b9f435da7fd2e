//! Defangs links and images that could carry data out, or whose target differs from their label: in Markdown, and in
//! addresses in HTML tags.
//!
//! An address is defanged by brackets around one character: the colon of `https[:]//host/`, or the first slash of
//! `[/]/host/`. Without the brackets, it is the original address. A renderer does not recognize it as an address.

mod labels;
#[cfg(test)]
mod tests;
mod values;

use std::ops::Range;

use memchr::memchr3;
use seamgate_core::kernel_api::sort;

use super::types::Secret;
use labels::Labels;
use values::{entity, slashes};

/// The longest path that is not regarded as carrying data.
const MAX_PATH: usize = 128;
/// The longest host that is not regarded as carrying data.
const MAX_HOST: usize = 64;
/// The longest label that is examined.
const MAX_LABEL: usize = 256;
/// The most marks of quotes and lists before a definition.
const MAX_MARKS: usize = 64;
/// The most brackets that may be open at once.
const MAX_OPEN: usize = 16;

/// The use of an address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use<'t> {
    /// Loaded as soon as the text is displayed.
    Load,
    /// Followed by anyone who trusts its label.
    Follow(&'t [u8]),
}

/// Returns the characters of a view to put into brackets, in order. An address that contains a secret counts as leading
/// out.
pub(super) fn find(text: &[u8], secrets: &[(Secret, Range<usize>)]) -> Vec<usize> {
    let mut links = Links {
        text,
        secrets,
        found: Vec::new(),
        images: Labels::default(),
        definitions: Vec::new(),
        address: 0..0,
        paragraph: 0,
        tag_end: 0,
        is_unclosed: false,
        style_end: 0,
        scanned: 0,
        tag: Tag::Other,
    };
    let mut open = Open::default();
    let mut secrets = secrets.iter().map(|(_, secret)| secret).peekable();
    let (mut at, mut next) = (0, None);
    loop {
        // Not searched again after a secret before it.
        if next.is_none_or(|next| next < at) {
            next = Some(memchr3(b'[', b']', b'<', &text[at..]).map_or(text.len(), |next| at + next));
        }
        let place = next.unwrap_or(text.len());
        if let Some(secret) = secrets.next_if(|secret| secret.start <= place) {
            links.attributes(at, secret.start);
            // The text that replaces it is in brackets.
            let is_image = secret.start > 0 && text[secret.start - 1] == b'!';
            links.labelled(secret.end, secret.start, if is_image { Use::Load } else { Use::Follow(b"") });
            if is_image {
                links.images.add(None);
                links.reference(secret.end);
            }
            at = secret.end;
            continue;
        }
        links.attributes(at, place);
        if place == text.len() {
            break;
        }
        at = place + 1;
        match text[place] {
            // The brackets that defang a backslash.
            b'[' if text[at..].starts_with(b"\\]") && !text[..place].ends_with(b"!") => at += 2,
            // The text that replaces another character is a bracket, even after a backslash.
            b'[' if is_escaped(text, place)
                && text.get(place + 2) != Some(&b']')
                && !text[place..].starts_with(b"[redacted:") => {}
            b'[' => open.push(place),
            b']' => {
                let is_in_image = open.has_image(text);
                // An escaped bracket closes nothing, but some readers do not know that.
                let start = if is_escaped(text, place) { open.last() } else { open.pop() };
                let how = match start {
                    None => Use::Load,
                    Some(start) if is_image(text, start) => Use::Load,
                    Some(start) => Use::Follow(&text[start + 1..place]),
                };
                if let (Some(start), Use::Load) = (start, how) {
                    links.images.add(links.label(start + 1, place));
                }
                if is_in_image || start.is_none() {
                    links.reference(at);
                }
                links.labelled(at, start.unwrap_or(place), how);
            }
            _ if text[at..].starts_with(b"?xml-") => links.tag(at + 1),
            _ if text.get(at).is_some_and(u8::is_ascii_alphabetic) => links.tag(at),
            _ => {}
        }
    }
    links.definitions.retain(|(label, _)| links.images.may_have(*label));
    links.found.extend(links.definitions.iter().map(|(_, at)| *at));
    sort(&mut links.found);
    links.found.dedup();
    links.found
}

/// Open brackets. Brackets beyond the kept ones are only counted.
#[derive(Default)]
struct Open {
    kept: Vec<usize>,
    more: usize,
}

impl Open {
    fn push(&mut self, place: usize) {
        if self.kept.len() < MAX_OPEN {
            self.kept.push(place);
        } else {
            self.more += 1;
        }
    }

    /// Returns whether one of them begins an image.
    fn has_image(&self, text: &[u8]) -> bool {
        self.kept.iter().any(|start| is_image(text, *start))
    }

    /// Returns the bracket that would be closed next, if it is known.
    fn last(&self) -> Option<usize> {
        if self.more > 0 { None } else { self.kept.last().copied() }
    }

    /// Removes the bracket that is closed, and returns it if it is known.
    fn pop(&mut self) -> Option<usize> {
        if self.more > 0 {
            self.more -= 1;
            return None;
        }
        self.kept.pop()
    }
}

fn is_image(text: &[u8], bracket: usize) -> bool {
    text[..bracket].ends_with(b"!")
}

/// Returns whether an odd number of backslashes precedes a place.
fn is_escaped(text: &[u8], place: usize) -> bool {
    text[..place].iter().rev().take(MAX_LABEL).take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// Returns whether only marks of quotes and lists precede a place in its line.
fn is_line_start(before: &[u8]) -> bool {
    let is_mark =
        |byte: &&u8| matches!(byte, b' ' | b'\t' | b'>' | b'-' | b'+' | b'*' | b'.' | b')') || byte.is_ascii_digit();
    let marks = before.iter().rev().take(MAX_MARKS).take_while(is_mark).count();
    matches!(before[..before.len() - marks].last(), None | Some(b'\n' | b'\r'))
}

/// The tag whose attributes are being examined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tag {
    /// A tag whose `href` is followed, not loaded.
    Anchor,
    Meta,
    /// A tag that sets attributes of others.
    Animation,
    Parameter,
    Other,
}

struct Links<'t> {
    text: &'t [u8],
    secrets: &'t [(Secret, Range<usize>)],
    found: Vec<usize>,
    /// The labels of images whose addresses are in definitions.
    images: Labels,
    /// The labels of definitions that are defanged only if an image uses them, each with the character to put into
    /// brackets.
    definitions: Vec<(Option<u16>, usize)>,
    /// The last address that was read to its end, so that no address is read twice.
    address: Range<usize>,
    /// The end of the last tag's paragraph. Attributes are searched up to there, because readers disagree about where
    /// the tag itself ends.
    paragraph: usize,
    /// The end of a tag for readers that only know HTML. It may be after the tag's paragraph.
    tag_end: usize,
    /// `true` if an earlier tag has no end in HTML.
    is_unclosed: bool,
    style_end: usize,
    /// The place up to which lists of addresses and style sheets were scanned.
    scanned: usize,
    tag: Tag,
}

impl Links<'_> {
    /// Returns the end of the secret that contains a place.
    fn secret(&self, place: usize) -> Option<usize> {
        let next = self.secrets.partition_point(|(_, secret)| secret.end <= place);
        self.secrets.get(next).filter(|(_, secret)| secret.start <= place).map(|(_, secret)| secret.end)
    }

    /// Defangs the possible address of a label between two places.
    fn labelled(&mut self, end: usize, start: usize, how: Use) {
        match self.text.get(end) {
            Some(b'(') => self.address(end + 1, how),
            Some(b':') => {
                let (text, close) = (self.text, end - 1);
                // If brackets before it are open, the next one before it may begin a line.
                let is_bracket = |at: &usize| matches!(text[*at], b'[' | b']') && !is_escaped(text, *at);
                let opening = || (close.saturating_sub(MAX_LABEL)..close).rev().find(is_bracket);
                let starts = [Some(start), opening().filter(|at| text[*at] == b'[')];
                let Some(start) = starts.into_iter().flatten().find(|start| is_line_start(&self.text[..*start])) else {
                    return;
                };
                match (self.bracket(end + 1, how), self.bracket(end + 1, Use::Load)) {
                    (Some(at), _) => self.found.push(at),
                    (None, Some(at)) => self.definitions.push((self.label(start + 1, end - 1), at)),
                    (None, None) => {}
                }
            }
            _ => {}
        }
    }

    /// Reads from after `<`, before a letter: a tag, or an address in angles.
    fn tag(&mut self, at: usize) {
        let text = self.text;
        let length = text[at..].iter().take(32).take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let name = &text[at..at + length];
        let is = |names: &[&str]| is_one(name, names);
        if text.get(at + length) == Some(&b':') {
            // Names of XML have colons too.
            let leads =
                text[at + length + 1..].starts_with(b"//") || is(&["javascript", "data", "vbscript", "mailto", "file"]);
            if leads {
                self.address(at, Use::Follow(b""));
                return;
            }
        }
        if text[at + length..].starts_with(b"[:]") {
            return;
        }
        self.tag = match name {
            _ if is(&["a", "area"]) => Tag::Anchor,
            _ if is(&["meta"]) => Tag::Meta,
            _ if is(&["param"]) => Tag::Parameter,
            _ if is(&["set"]) || name.get(..7).is_some_and(|name| name.eq_ignore_ascii_case(b"animate")) => {
                Tag::Animation
            }
            _ => Tag::Other,
        };
        if at >= self.tag_end && !self.is_unclosed {
            match self.end_of_tag(at) {
                Some(end) => self.tag_end = end,
                // For a reader that only knows HTML, the rest is not a tag.
                None => self.is_unclosed = true,
            }
        }
        if is(&["style"]) && at >= self.style_end {
            self.style_end = self.end_of_style(at);
            self.scan(at, self.style_end);
        }
        if at < self.paragraph {
            return;
        }
        let mut end = at;
        while let Some(line) = memchr::memchr(b'\n', &text[end..]) {
            end += line + 1;
            let is_blank = matches!(text[end..], [b'\n', ..] | [b'\r', b'\n', ..]);
            match self.secret(end) {
                Some(after) => end = after,
                None if is_blank => {
                    self.paragraph = end;
                    return;
                }
                None => {}
            }
        }
        self.paragraph = text.len();
    }

    /// Defangs attributes between two places that contain addresses, and `url(…)` in a style, as long as the last tag
    /// or its paragraph continues.
    fn attributes(&mut self, from: usize, end: usize) {
        let text = self.text;
        let end = end.min(self.paragraph.max(self.tag_end));
        let mut at = from;
        while at < end
            && let Some(next) = memchr::memchr2(b'=', b'(', &text[at..end])
        {
            let place = at + next;
            at = place + 1;
            let before = text[from..place].trim_ascii_end();
            let length = before.iter().rev().take(16).take_while(|byte| byte.is_ascii_alphabetic()).count();
            let name = &before[before.len() - length..];
            let is = |names: &[&str]| is_one(name, names);
            match text[place] {
                b'(' if is(&["url"]) => self.address(place + 1, Use::Load),
                b'(' if place >= self.scanned
                    && is(&["set"])
                    && before.to_ascii_lowercase().ends_with(b"image-set") =>
                {
                    let end = self.find(place, &|byte| byte == b')').unwrap_or(text.len());
                    self.scan(place, end);
                }
                b'(' => {}
                _ if is(&["href"]) && self.tag == Tag::Anchor => self.address(place + 1, Use::Follow(b"")),
                _ if is(&LOADED) => self.address(place + 1, Use::Load),
                // The place was scanned with the value that contains it.
                _ if place < self.scanned => {}
                _ if is(&LISTS)
                    || name.len() > 3 && name[..2].eq_ignore_ascii_case(b"on")
                    || self.tag == Tag::Animation && is(&["values", "from", "to", "by"])
                    || self.tag == Tag::Parameter && is(&["value"])
                    // `<meta http-equiv="refresh" content="0;url=…">`
                    || self.tag == Tag::Meta && is(&["content"]) && self.is_time(place + 1) =>
                {
                    let value = self.value(place + 1);
                    self.scan(value.start, value.end);
                }
                _ => {}
            }
        }
    }

    /// Defangs the address at a place.
    fn address(&mut self, from: usize, how: Use) {
        let mut next = self.bracket(from, how);
        while let Some(at) = next {
            self.found.push(at);
            // The bracket turns the text after it into a link.
            let is_link = self.text[at..].starts_with(b":(");
            next = if is_link { self.bracket(at + 2, Use::Follow(b":")) } else { None };
        }
    }

    /// Returns the character to put into brackets of the address at a place, after white space, quotes and an angle.
    fn bracket(&mut self, from: usize, how: Use) -> Option<usize> {
        let (start, is_json) = self.start_of_value(from);
        let rest = &self.text[start..];
        let is_after =
            |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b')' | b'>' | b'"' | b'\'' | b'<' | b'`');
        // Only a text that begins like an address is read to its end.
        let scheme = scheme(rest, how == Use::Load);
        let odd = slashes(rest, is_json).filter(|at| *at > 0);
        if scheme.is_none() && odd.is_none() && !rest.starts_with(b"//") && entity(rest).is_none() {
            return None;
        }
        if odd.is_some() {
            return odd.map(|at| start + at);
        }
        let begin = start + scheme.map_or(0, |colon| colon + 1);
        if !self.address.contains(&begin) {
            let rest = &self.text[begin..];
            self.address = begin..begin + rest.iter().position(is_after).unwrap_or(rest.len());
        }
        let address = &self.text[start..self.address.end.max(begin)];
        let next = self.secrets.partition_point(|(_, secret)| secret.end <= start);
        // A secret that begins where the address ends also belongs to it, because the text that replaces the secret
        // does not end an address.
        let is_secret = self.secrets.get(next).is_some_and(|(_, secret)| secret.start <= self.address.end);
        dangerous(address, scheme, how, is_secret).map(|at| start + at)
    }
}

/// Attributes that contain one address, which is loaded.
const LOADED: [&str; 14] = [
    "href",
    "src",
    "data",
    "action",
    "formaction",
    "poster",
    "background",
    "dynsrc",
    "lowsrc",
    "manifest",
    "icon",
    "codebase",
    "classid",
    "attributionsrc",
];
/// Attributes that contain several addresses, a style, or a document.
const LISTS: [&str; 6] = ["srcset", "imagesrcset", "ping", "archive", "style", "srcdoc"];

fn is_one(name: &[u8], names: &[&str]) -> bool {
    names.iter().any(|other| name.eq_ignore_ascii_case(other.as_bytes()))
}

/// Returns the length of a scheme before its colon. Browsers skip tabs and line ends in it.
fn scheme(address: &[u8], is_loaded: bool) -> Option<usize> {
    let mut length = 0;
    let at = address.iter().position(|byte| {
        let is_skipped = is_loaded && matches!(byte, b'\t' | b'\n' | b'\r');
        let is_inside = byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        length += usize::from(is_inside);
        length > 32 || !is_inside && !is_skipped
    })?;
    (length >= 2 && address[0].is_ascii_alphabetic() && address[at] == b':').then_some(at)
}

/// Returns the character of an address to put into brackets, if it could carry data out or lead elsewhere.
fn dangerous(address: &[u8], scheme: Option<usize>, how: Use, is_secret: bool) -> Option<usize> {
    let Some(colon) = scheme else {
        if !address.starts_with(b"//") {
            return entity(address);
        }
        return (address.len() > 2 && (is_secret || leads_out(&address[2..], how))).then_some(0);
    };
    let (name, rest) = (&address[..colon], &address[colon + 1..]);
    let is = |names: &[&str]| is_one(name, names);
    let is_dangerous = if let Some(rest) = rest.strip_prefix(b"//") {
        !is(&["hxxp", "hxxps"]) && leads_out(rest, how)
            || !is(&["http", "https", "ftp", "ftps", "hxxp", "hxxps", "ws", "wss", "git", "ssh"])
    } else if is(&["http", "https"]) {
        // Browsers also read these as addresses.
        !rest.is_empty() && !rest.starts_with(b":")
    } else if is(&["mailto"]) {
        length(rest) > MAX_PATH || rest.contains(&b'?')
    } else if is(&["tel", "hxxp", "hxxps"]) {
        false
    } else {
        // `std::move` and `main.rs:12` are not addresses.
        !name.contains(&b'.') && rest.first().is_some_and(|byte| byte.is_ascii_graphic() && *byte != b':')
    };
    (is_secret || is_dangerous).then_some(colon)
}

/// Returns whether the part of an address after its slashes leads to a place that could receive data, or to another
/// place than its label states.
fn leads_out(address: &[u8], how: Use) -> bool {
    let label = match how {
        Use::Load => return true,
        Use::Follow(label) => label,
    };
    let is_host_end = |byte: &u8| matches!(byte, b'/' | b'?' | b'#' | b'\\');
    // Long addresses are not examined.
    if address.len() > 4 * MAX_PATH {
        return true;
    }
    let (host, rest) = address.split_at(address.iter().position(is_host_end).unwrap_or(address.len()));
    let (path, fragment) = match rest.iter().position(|byte| *byte == b'#') {
        Some(at) => rest.split_at(at),
        None => (rest, &rest[rest.len()..]),
    };
    host.contains(&b'@')
        || host.starts_with(b"[")
        || length(host) > MAX_HOST
        || path.contains(&b'?')
        || length(path) > MAX_PATH
        || length(fragment) > MAX_PATH
        || rest.windows(10).any(|part| part == b"[redacted:")
        || named(label).is_some_and(|named| !is_same(named, host))
}

/// Returns the length of a part, without the brackets that defanging puts into it.
fn length(part: &[u8]) -> usize {
    part.iter().filter(|byte| !matches!(byte, b'[' | b']')).count()
}

/// Returns the host that a label names, if it names one.
fn named(label: &[u8]) -> Option<&[u8]> {
    const TOP: [&[u8]; 28] = [
        b"com", b"org", b"net", b"edu", b"gov", b"mil", b"int", b"info", b"biz", b"dev", b"app", b"cloud", b"ai",
        b"co", b"uk", b"de", b"fr", b"eu", b"us", b"ca", b"au", b"jp", b"cn", b"in", b"br", b"ru", b"ch", b"nl",
    ];
    if label.len() > MAX_LABEL {
        return None;
    }
    let label = label.trim_ascii();
    let label = label.strip_prefix(b"**").unwrap_or(label);
    let bare = [&b"https://"[..], b"http://", b"//"].iter().find_map(|scheme| {
        label.get(..scheme.len()).filter(|start| start.eq_ignore_ascii_case(scheme)).map(|_| &label[scheme.len()..])
    });
    let host = bare.unwrap_or(label);
    let length = host.iter().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-')).count();
    let (host, rest) = host.split_at(length);
    let is_whole = matches!(rest.first(), None | Some(b'/' | b':' | b'?' | b'#' | b'*'));
    let top = host.rsplit(|byte| *byte == b'.').next()?;
    let is_host = host.contains(&b'.') && !label.iter().any(u8::is_ascii_whitespace) && !label.contains(&b'[');
    let is_known =
        bare.is_some() || host.starts_with(b"www.") || TOP.iter().any(|known| top.eq_ignore_ascii_case(known));
    (is_whole && is_host && is_known).then_some(host)
}

fn is_same(named: &[u8], host: &[u8]) -> bool {
    let bare = |host: &[u8]| -> Range<usize> {
        let end = host.iter().position(|byte| *byte == b':').unwrap_or(host.len());
        if host.get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b"www.")) { 4..end.max(4) } else { 0..end }
    };
    named[bare(named)].eq_ignore_ascii_case(&host[bare(host)])
}
