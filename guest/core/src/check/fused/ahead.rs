//! Peeks at the first members of an object before the pass reads them.

use crate::scan::{plain, white_space};

/// The maximum number of members to peek at.
const MAX_AHEAD: usize = 8;

/// The maximum number of bytes to peek at.
const BYTES_AHEAD: usize = 512;

/// Returns the value of an object's member if that value is a string. Returns `Some(None)` if the object has no such
/// member, or `None` if the beginning of the object does not show either for certain. `start` is the offset after the
/// object's opening bracket. The text may be invalid JSON.
pub(super) fn member_ahead<'t>(text: &'t [u8], name: &str, start: usize) -> Option<Option<&'t [u8]>> {
    let bytes = &text[..text.len().min(start + BYTES_AHEAD)];
    let mut at = start;
    let white = |at: usize| at + bytes.get(at..).map_or(0, white_space);
    let string = |at: usize| {
        let text = bytes.get(at..)?.strip_prefix(b"\"")?;
        let text = &text[..plain(text)];
        (bytes.get(at + text.len() + 1) == Some(&b'"')).then_some(text)
    };
    for _ in 0..MAX_AHEAD {
        at = white(at);
        if bytes.get(at) == Some(&b'}') {
            return Some(None);
        }
        let member = string(at)?;
        at = white(at + member.len() + 2);
        bytes.get(at)?.eq(&b':').then_some(())?;
        at = white(at + 1);
        if member == name.as_bytes() {
            return string(at).map(Some);
        }
        match bytes.get(at)? {
            b'"' => at += string(at)?.len() + 2,
            b'{' | b'[' => return None,
            _ => at += bytes.get(at..)?.iter().position(|byte| matches!(byte, b',' | b'}'))?,
        }
        at = white(at);
        match bytes.get(at)? {
            b',' => at += 1,
            b'}' => return Some(None),
            _ => return None,
        }
    }
    None
}
