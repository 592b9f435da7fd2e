//! Links and images that could carry data out, or lead elsewhere than they say: Markdown, and addresses in tags of HTML.
//!
//! One is defanged by brackets around a character: the colon of `https[:]//host/`, or the first slash of `[/]/host/`. Whoever
//! takes them away has the address again; to a renderer it is none.

use std::ops::Range;

use memchr::memchr3;

/// How much of an address is looked at.
const MAX_ADDRESS: usize = 2048;
/// How far attributes are looked for after `<` and a letter.
const MAX_TAG: usize = 1024;
/// A longer path can carry data.
const MAX_PATH: usize = 64;
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

/// The characters of a view to put into brackets, in order.
pub(super) fn find(text: &[u8]) -> Vec<usize> {
    let mut found = Links { text, found: Vec::new() };
    let mut open: Vec<usize> = Vec::new();
    let mut attributes = 0;
    let mut at = 0;
    while let Some(next) = memchr3(b'[', b']', b'<', &text[at..]) {
        let place = at + next;
        at = place + 1;
        match text[place] {
            b'[' => {
                if open.len() == MAX_OPEN {
                    open.remove(0);
                }
                open.push(place);
            }
            b']' => {
                let Some(start) = open.pop() else {
                    // Its bracket may be too far back, or be written otherwise.
                    if text.get(at) == Some(&b'(') {
                        found.address(at + 1, Use::Follow(b""));
                    }
                    continue;
                };
                let label = &text[start + 1..place];
                let is_image = start > 0 && text[start - 1] == b'!';
                let how = if is_image { Use::Load } else { Use::Follow(label) };
                match text.get(at) {
                    Some(b'(') => found.address(at + 1, how),
                    Some(b':') if is_line_start(&text[..start]) => found.address(at + 1, how),
                    _ => {}
                }
            }
            _ => match text.get(at) {
                Some(byte) if byte.is_ascii_alphabetic() => {
                    let end = text.len().min(at + MAX_TAG);
                    let name = text[at..end].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
                    let is_anchor =
                        [&b"a"[..], b"area"].iter().any(|tag| text[at..at + name].eq_ignore_ascii_case(tag));
                    if text.get(at + name) == Some(&b':') {
                        found.address(at, Use::Follow(b""));
                    } else {
                        found.tag(at.max(attributes), end, is_anchor);
                        attributes = attributes.max(end);
                    }
                }
                _ => {}
            },
        }
    }
    found.found.sort_unstable();
    found.found.dedup();
    found.found
}

fn is_line_start(before: &[u8]) -> bool {
    let spaces = before.iter().rev().take(8).take_while(|byte| matches!(byte, b' ' | b'\t' | b'>')).count();
    matches!(before[..before.len() - spaces].last(), None | Some(b'\n'))
}

struct Links<'t> {
    text: &'t [u8],
    found: Vec<usize>,
}

impl Links<'_> {
    /// Attributes of a tag that hold addresses, and `url(…)` in its style.
    fn tag(&mut self, from: usize, end: usize, is_anchor: bool) {
        let text = self.text;
        let mut at = from;
        while at < end
            && let Some(next) = memchr::memchr2(b'=', b'(', &text[at..end])
        {
            let place = at + next;
            at = place + 1;
            let before = text[..place].trim_ascii_end();
            let length = before.iter().rev().take(12).take_while(|byte| byte.is_ascii_alphabetic()).count();
            let name = &before[before.len() - length..];
            let is = |names: &[&str]| names.iter().any(|other| name.eq_ignore_ascii_case(other.as_bytes()));
            let how = match text[place] {
                b'(' if is(&["url"]) => Use::Load,
                b'(' => continue,
                _ if is(&["href"]) && is_anchor => Use::Follow(b""),
                _ if is(&["href", "src", "srcset", "data", "action", "formaction", "poster", "background", "ping"]) => {
                    Use::Load
                }
                // `<meta http-equiv="refresh" content="0;url=…">`
                _ if is(&["url"]) => Use::Load,
                _ => continue,
            };
            self.address(place + 1, how);
        }
    }

    /// The address from a place on, after white space, quotes and an angle.
    fn address(&mut self, from: usize, how: Use) {
        let is_before = |byte: &&u8| byte.is_ascii_whitespace() || matches!(byte, b'<' | b'"' | b'\'' | b'\\');
        let start = from + self.text[from..].iter().take(32).take_while(is_before).count();
        let rest = &self.text[start..self.text.len().min(start + MAX_ADDRESS)];
        let is_after =
            |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b')' | b'>' | b'"' | b'\'' | b'<' | b'`');
        // Only what begins like an address is walked to its end.
        let scheme = scheme(rest);
        if scheme.is_none() && !rest.starts_with(b"//") && !has_entity(rest) {
            return;
        }
        let address = &rest[..rest.iter().position(is_after).unwrap_or(rest.len())];
        self.found.extend(dangerous(address, scheme, how).map(|at| start + at));
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
fn dangerous(address: &[u8], scheme: Option<usize>, how: Use) -> Option<usize> {
    let Some(length) = scheme else {
        if let Some(at) = entity(address) {
            return Some(at);
        }
        return (address.len() > 2 && leads_out(&address[2..], how)).then_some(0);
    };
    let (name, rest) = (&address[..length], &address[length + 1..]);
    let is = |names: &[&str]| names.iter().any(|other| name.eq_ignore_ascii_case(other.as_bytes()));
    let is_dangerous = if let Some(rest) = rest.strip_prefix(b"//") {
        !is(&["hxxp", "hxxps"]) && leads_out(rest, how)
            || !is(&["http", "https", "ftp", "ftps", "hxxp", "hxxps", "ws", "wss", "git", "ssh"])
    } else if is(&["http", "https"]) {
        // Browsers read these as addresses too.
        !rest.is_empty() && !rest.starts_with(b":")
    } else if is(&["mailto"]) {
        rest.contains(&b'?')
    } else if is(&["tel", "hxxp", "hxxps"]) {
        false
    } else {
        // `std::move` and `main.rs:12` are none.
        !name.contains(&b'.') && rest.first().is_some_and(|byte| byte.is_ascii_graphic() && *byte != b':')
    };
    is_dangerous.then_some(length)
}

/// Whether what follows the slashes of an address leads to where data could be carried, or not to where its label says.
fn leads_out(address: &[u8], how: Use) -> bool {
    let label = match how {
        Use::Load => return true,
        Use::Follow(label) => label,
    };
    let host_end = address.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#' | b'\\')).unwrap_or(address.len());
    let (host, rest) = address.split_at(host_end);
    let (path, fragment) = match rest.iter().position(|byte| *byte == b'#') {
        Some(at) => rest.split_at(at),
        None => (rest, &rest[rest.len()..]),
    };
    host.contains(&b'@')
        || host.contains(&b'[')
        || host.len() > MAX_HOST
        || path.contains(&b'?')
        || path.len() > MAX_PATH
        || fragment.len() > MAX_PATH
        || address.windows(10).any(|part| part == b"[redacted:")
        || named(label).is_some_and(|named| !is_same(named, host))
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
