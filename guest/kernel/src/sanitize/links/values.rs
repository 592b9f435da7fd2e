//! Values of attributes: finds their bounds, and the addresses in those that contain several.

use std::ops::Range;

use super::{super::secrets::ends, Links, Use, is_one};

impl Links<'_> {
    /// Returns the start of a value, after white space, quotes and an angle, and whether a string of JSON escapes its
    /// quote.
    pub(super) fn start_of_value(&self, from: usize) -> (usize, bool) {
        let (mut at, mut is_json) = (from, false);
        while let Some(byte) = self.text.get(at) {
            match byte {
                b'<' | b'"' | b'\'' => at += 1,
                b'\\' => {
                    let rest = &self.text[at..];
                    let length = rest.iter().take_while(|byte| **byte == b'\\').count();
                    if !matches!(rest.get(length), Some(b'"' | b'\'')) {
                        break;
                    }
                    (at, is_json) = (at + length, true);
                }
                byte if byte.is_ascii_whitespace() => at += 1,
                _ => break,
            }
        }
        (at, is_json)
    }

    /// Returns the value of an attribute, from its `=` on: up to the quote that it begins with, or white space.
    pub(super) fn value(&self, from: usize) -> Range<usize> {
        let (start, _) = self.start_of_value(from);
        let quote = self.text[from..start].iter().copied().find(|byte| matches!(byte, b'"' | b'\''));
        let is_end = |byte: u8| quote.map_or(byte.is_ascii_whitespace() || byte == b'>', |quote| byte == quote);
        start..self.find(start, &is_end).unwrap_or(self.text.len())
    }

    /// Returns the next of some bytes that is not inside a secret.
    pub(super) fn find(&self, from: usize, is: &dyn Fn(u8) -> bool) -> Option<usize> {
        let mut at = from;
        loop {
            at += self.text.get(at..)?.iter().position(|byte| is(*byte))?;
            match self.secret(at) {
                Some(after) => at = after,
                None => return Some(at),
            }
        }
    }

    /// Returns whether a value begins with a number of seconds.
    pub(super) fn is_time(&self, from: usize) -> bool {
        let (start, _) = self.start_of_value(from);
        self.text.get(start).is_some_and(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'&'))
    }

    /// Returns the end of a tag in HTML: at `>` outside of quoted values.
    pub(super) fn end_of_tag(&self, from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            let place = self.find(at, &|byte| matches!(byte, b'=' | b'>'))?;
            at = place + 1;
            if self.text[place] == b'>' {
                return Some(at);
            }
            let spaces = self.text[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            if let Some(&quote @ (b'"' | b'\'')) = self.text.get(at + spaces) {
                at = self.find(at + spaces + 1, &|byte| byte == quote)? + 1;
            }
        }
    }

    /// Returns the end of a style sheet.
    pub(super) fn end_of_style(&self, from: usize) -> usize {
        const END: &[u8] = b"</style";
        let mut at = from;
        while let Some(place) = self.find(at, &|byte| byte == b'<') {
            if self.text.get(place..place + END.len()).is_some_and(|end| end.eq_ignore_ascii_case(END)) {
                return place;
            }
            at = place + 1;
        }
        self.text.len()
    }

    /// Defangs every address between two places: in a list of them, a style sheet, or a document that is a value.
    pub(super) fn scan(&mut self, from: usize, end: usize) {
        let text = self.text;
        let mut at = from.max(self.scanned);
        self.scanned = self.scanned.max(end);
        while at < end {
            let (place, rest) = (at, &text[at..]);
            at += 1;
            if !matches!(rest[0], b':' | b'&' | b'/' | b'\\') {
                continue;
            }
            if let Some(after) = self.secret(place) {
                at = after;
                continue;
            }
            match rest[0] {
                // A bracket may be put right before a scheme.
                b':' if rest.get(1) != Some(&b']') && SCHEMES.iter().any(|name| ends(&text[from..place], name)) => {
                    self.found.push(place);
                    // The bracket turns it into a link.
                    if rest.get(1) == Some(&b'(') {
                        self.address(place + 2, Use::Follow(b":"));
                    }
                    at += rest[1..].iter().take_while(|byte| matches!(byte, b'/' | b'\\')).count();
                }
                b'&' if entity(rest) == Some(0) => self.found.push(place),
                b'/' | b'\\' => {
                    let is_inside = |byte: &&u8| matches!(byte, b'/' | b'\\' | b'\t' | b'\n' | b'\r');
                    let run = rest.iter().take_while(is_inside).count();
                    at = place + run;
                    let before = &text[..place];
                    if before.ends_with(b":]") || before.ends_with(b"/]") {
                        continue;
                    }
                    if let Some(bracket) = slashes(rest, false) {
                        self.found.push(place + bracket);
                    } else if text[at - 1] == b'\\' && is_escape_of_css(&text[at..]) {
                        self.found.push(at - 1);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Schemes of addresses that are loaded.
const SCHEMES: [&[u8]; 10] = [b"http", b"https", b"ftp", b"ftps", b"ws", b"wss", b"file", b"data", b"blob", b"script"];

/// Returns the place of the bracket if some bytes begin with slashes that precede a host: 0 for `//`. Browsers take
/// backslashes for slashes, and skip tabs and line ends. With `is_json`, a backslash escapes the next one or a slash.
pub(super) fn slashes(rest: &[u8], is_json: bool) -> Option<usize> {
    let (mut at, mut count) = (0, 0);
    while let Some(byte) = rest.get(at) {
        match byte {
            b'\\' if is_json && !matches!(rest.get(at + 1), Some(b'/' | b'\\')) => break,
            b'\\' if is_json => (at, count) = (at + 2, count + 1),
            b'/' | b'\\' => (at, count) = (at + 1, count + 1),
            b'\t' | b'\n' | b'\r' if count > 0 => at += 1,
            _ => break,
        }
    }
    let host = rest.get(at..).filter(|_| count > 1)?;
    let is_host = !host.starts_with(b"[redacted:")
        && host.first().is_some_and(|byte| {
            byte.is_ascii_alphanumeric()
                || !byte.is_ascii()
                || matches!(byte, b'[' | b'%' | b'&' | b'_' | b'-' | b'.' | b'@')
        });
    if !is_host || rest.starts_with(b"//") {
        return is_host.then_some(0);
    }
    // White space and quotes end a host. Redacted text belongs to none.
    let is_host = |byte: &&u8| !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'<' | b'>');
    let letter = host.iter().take(64).take_while(is_host).position(u8::is_ascii_alphanumeric)?;
    let is_redacted = host[..letter].ends_with(b"[") && host[letter..].starts_with(b"redacted:");
    (!is_redacted && host.get(letter + 1) != Some(&b']')).then_some(at + letter)
}

/// Returns the place at which part of an address is hidden behind an entity of HTML, as in `java&#115;cript:`, also in
/// a document that is the value of another.
pub(super) fn entity(address: &[u8]) -> Option<usize> {
    let at = address.iter().take(24).position(|byte| matches!(byte, b'&' | b'?' | b'#' | b'.' | b' ' | b'['))?;
    let mut rest = address[at..].strip_prefix(b"&")?;
    while let Some(inner) = rest.get(..4).filter(|start| start.eq_ignore_ascii_case(b"amp;")) {
        rest = &rest[inner.len()..];
    }
    let names = [&b"#"[..], b"col", b"tab", b"new", b"sol", b"bsol"];
    let is_entity =
        names.iter().any(|name| rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)));
    is_entity.then_some(at)
}

/// Returns whether the bytes after a backslash are the code of a colon, slash or backslash.
fn is_escape_of_css(rest: &[u8]) -> bool {
    let zeros = rest.iter().take(4).take_while(|byte| **byte == b'0').count();
    let code = rest[zeros..].get(..2);
    code.is_some_and(|code| is_one(code, &["2f", "3a", "5c"]))
        && !rest.get(zeros + 2).is_some_and(|byte| byte.is_ascii_hexdigit())
}
