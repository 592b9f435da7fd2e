//! Links and images that could carry data out, or lead elsewhere than they say: Markdown, and addresses in tags of HTML.
//!
//! One is defanged by brackets around a character: the colon of `https[:]//host/`, or the first slash of `[/]/host/`. Whoever
//! takes them away has the address again; to a renderer it is none.

use std::ops::Range;

use memchr::memchr3;
use seamgate_core::kernel_api::sort;

use super::types::Secret;

/// A longer path can carry data.
const MAX_PATH: usize = 128;
/// So can a longer host.
const MAX_HOST: usize = 64;
/// Labels that are looked at.
const MAX_LABEL: usize = 256;
/// Brackets that may be open at once.
const MAX_OPEN: usize = 16;

/// How an address is used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use<'t> {
    /// It is loaded as soon as it is shown.
    Load,
    /// It is followed by whoever trusts its label.
    Follow(&'t [u8]),
}

/// The characters of a view to put into brackets, in order. An address with a secret in it leads out.
pub(super) fn find(text: &[u8], secrets: &[(Secret, Range<usize>)]) -> Vec<usize> {
    let mut links = Links { text, secrets, found: Vec::new(), address: 0..0, paragraph: 0, is_anchor: false };
    let mut open = Open::default();
    let mut secrets = secrets.iter().map(|(_, secret)| secret).peekable();
    let (mut at, mut next) = (0, None);
    loop {
        // Not looked for again behind a secret before it.
        if next.is_none_or(|next| next < at) {
            next = Some(memchr3(b'[', b']', b'<', &text[at..]).map_or(text.len(), |next| at + next));
        }
        let place = next.unwrap_or(text.len());
        if let Some(secret) = secrets.next_if(|secret| secret.start <= place) {
            links.attributes(at, secret.start);
            // What is written for it is in brackets.
            let is_image = secret.start > 0 && text[secret.start - 1] == b'!';
            links.labelled(secret.end, secret.start, if is_image { Use::Load } else { Use::Follow(b"") });
            at = secret.end;
            continue;
        }
        links.attributes(at, place);
        if place == text.len() {
            break;
        }
        at = place + 1;
        match text[place] {
            b'[' => open.push(place),
            b']' => {
                let start = open.pop();
                let how = match start {
                    None => Use::Load,
                    Some(start) if start > 0 && text[start - 1] == b'!' => Use::Load,
                    Some(start) => Use::Follow(&text[start + 1..place]),
                };
                links.labelled(at, start.unwrap_or(place), how);
            }
            _ if text.get(at).is_some_and(u8::is_ascii_alphabetic) => links.tag(at),
            _ => {}
        }
    }
    sort(&mut links.found);
    links.found.dedup();
    links.found
}

/// Brackets that are open. Beyond those that are kept, they are only counted.
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

    /// Where the bracket is that this one closes, if that is known.
    fn pop(&mut self) -> Option<usize> {
        if self.more > 0 {
            self.more -= 1;
            return None;
        }
        self.kept.pop()
    }
}

fn is_line_start(before: &[u8]) -> bool {
    let spaces = before.iter().rev().take(8).take_while(|byte| matches!(byte, b' ' | b'\t' | b'>')).count();
    matches!(before[..before.len() - spaces].last(), None | Some(b'\n'))
}

struct Links<'t> {
    text: &'t [u8],
    secrets: &'t [(Secret, Range<usize>)],
    found: Vec<usize>,
    /// The last address that was walked to its end, so that none is walked again.
    address: Range<usize>,
    /// Where the paragraph of the last tag ends: attributes are looked for up to there, because where a tag itself ends depends
    /// on who reads it.
    paragraph: usize,
    /// Whether the last tag is one whose `href` is followed, not loaded.
    is_anchor: bool,
}

impl Links<'_> {
    /// Where the secret ends that a place is in.
    fn secret(&self, place: usize) -> Option<usize> {
        let next = self.secrets.partition_point(|(_, secret)| secret.end <= place);
        self.secrets.get(next).filter(|(_, secret)| secret.start <= place).map(|(_, secret)| secret.end)
    }

    /// What may be the address of a label that ends at a place, and begins at another.
    fn labelled(&mut self, end: usize, start: usize, how: Use) {
        match self.text.get(end) {
            Some(b'(') => self.address(end + 1, how),
            Some(b':') if is_line_start(&self.text[..start]) => self.address(end + 1, how),
            _ => {}
        }
    }

    /// From `<` on, followed by a letter: a tag, or an address in angles.
    fn tag(&mut self, at: usize) {
        let text = self.text;
        let length = text[at..].iter().take(32).take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let name = &text[at..at + length];
        let is = |names: &[&str]| names.iter().any(|other| name.eq_ignore_ascii_case(other.as_bytes()));
        if text.get(at + length) == Some(&b':') {
            // Names of XML have colons too.
            let leads =
                text[at + length + 1..].starts_with(b"//") || is(&["javascript", "data", "vbscript", "mailto", "file"]);
            if leads {
                self.address(at, Use::Follow(b""));
            }
            return;
        }
        if text[at + length..].starts_with(b"[:]") {
            return;
        }
        self.is_anchor = is(&["a", "area"]);
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

    /// Attributes between two places that hold addresses, and `url(…)` in a style, as long as the paragraph of a tag goes on.
    fn attributes(&mut self, from: usize, end: usize) {
        let text = self.text;
        let end = end.min(self.paragraph);
        let mut at = from;
        while at < end
            && let Some(next) = memchr::memchr2(b'=', b'(', &text[at..end])
        {
            let place = at + next;
            at = place + 1;
            let before = text[from..place].trim_ascii_end();
            let length = before.iter().rev().take(12).take_while(|byte| byte.is_ascii_alphabetic()).count();
            let name = &before[before.len() - length..];
            let is = |names: &[&str]| names.iter().any(|other| name.eq_ignore_ascii_case(other.as_bytes()));
            let how = match text[place] {
                b'(' if is(&["url"]) => Use::Load,
                b'(' => continue,
                _ if is(&["href"]) && self.is_anchor => Use::Follow(b""),
                _ if is(&["href", "src", "srcset", "data", "action", "formaction", "poster", "background", "ping"]) => {
                    Use::Load
                }
                // `<meta http-equiv="refresh" content="0;url=…">`
                _ if is(&["url"]) && before[..before.len() - length].trim_ascii_end().ends_with(b";") => Use::Load,
                _ => continue,
            };
            self.address(place + 1, how);
        }
    }

    /// The address from a place on, after white space, quotes and an angle.
    fn address(&mut self, from: usize, how: Use) {
        let is_before = |byte: &&u8| byte.is_ascii_whitespace() || matches!(byte, b'<' | b'"' | b'\'' | b'\\');
        let start = from + self.text[from..].iter().take(32).take_while(is_before).count();
        let rest = &self.text[start..];
        let is_after =
            |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b')' | b'>' | b'"' | b'\'' | b'<' | b'`');
        // Only what begins like an address is walked to its end.
        let scheme = scheme(rest);
        if scheme.is_none() && !rest.starts_with(b"//") && !has_entity(rest) {
            return;
        }
        if !self.address.contains(&start) {
            let rest = &self.text[start..];
            self.address = start..start + rest.iter().position(is_after).unwrap_or(rest.len());
        }
        let address = &self.text[start..self.address.end];
        let next = self.secrets.partition_point(|(_, secret)| secret.end <= start);
        // One that begins where the address ends is in it, too: what is written for it does not end an address.
        let is_secret = self.secrets.get(next).is_some_and(|(_, secret)| secret.start <= self.address.end);
        self.found.extend(dangerous(address, scheme, how, is_secret).map(|at| start + at));
    }
}

/// The length of a scheme before its colon.
fn scheme(address: &[u8]) -> Option<usize> {
    let is_inside = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let length = address.iter().take(32).take_while(is_inside).count();
    let is_scheme = length >= 2 && address[0].is_ascii_alphabetic() && address.get(length) == Some(&b':');
    is_scheme.then_some(length)
}

/// Where a scheme is hidden behind an entity of HTML, as in `java&#115;cript:`.
fn entity(address: &[u8]) -> Option<usize> {
    let at = address.iter().take(24).position(|byte| matches!(byte, b'&' | b'/' | b'?' | b'#' | b'.' | b' '))?;
    let is_entity = [&b"&#"[..], b"&col", b"&tab", b"&new"]
        .iter()
        .any(|entity| address[at..].get(..entity.len()).is_some_and(|start| start.eq_ignore_ascii_case(entity)));
    is_entity.then_some(at)
}

fn has_entity(address: &[u8]) -> bool {
    entity(address).is_some()
}

/// The character of an address to put into brackets, if it could carry data out or lead elsewhere.
fn dangerous(address: &[u8], scheme: Option<usize>, how: Use, is_secret: bool) -> Option<usize> {
    let Some(colon) = scheme else {
        if let Some(at) = entity(address) {
            return Some(at);
        }
        return (address.starts_with(b"//") && address.len() > 2 && (is_secret || leads_out(&address[2..], how)))
            .then_some(0);
    };
    let (name, rest) = (&address[..colon], &address[colon + 1..]);
    let is = |names: &[&str]| names.iter().any(|other| name.eq_ignore_ascii_case(other.as_bytes()));
    let is_dangerous = if let Some(rest) = rest.strip_prefix(b"//") {
        !is(&["hxxp", "hxxps"]) && leads_out(rest, how)
            || !is(&["http", "https", "ftp", "ftps", "hxxp", "hxxps", "ws", "wss", "git", "ssh"])
    } else if is(&["http", "https"]) {
        // Browsers read these as addresses too.
        !rest.is_empty() && !rest.starts_with(b":")
    } else if is(&["mailto"]) {
        length(rest) > MAX_PATH || rest.contains(&b'?')
    } else if is(&["tel", "hxxp", "hxxps"]) {
        false
    } else {
        // `std::move` and `main.rs:12` are none.
        !name.contains(&b'.') && rest.first().is_some_and(|byte| byte.is_ascii_graphic() && *byte != b':')
    };
    (is_secret || is_dangerous).then_some(colon)
}

/// Whether what follows the slashes of an address leads to where data could be carried, or not to where its label says.
fn leads_out(address: &[u8], how: Use) -> bool {
    let label = match how {
        Use::Load => return true,
        Use::Follow(label) => label,
    };
    let is_host_end = |byte: &u8| matches!(byte, b'/' | b'?' | b'#' | b'\\');
    // What is long is not looked through.
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

/// The length of a part, without the brackets that defanging puts into it.
fn length(part: &[u8]) -> usize {
    part.iter().filter(|byte| !matches!(byte, b'[' | b']')).count()
}

/// The host that a label names, if it names one.
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
