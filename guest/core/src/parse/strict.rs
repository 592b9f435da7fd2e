//! Only checks whether a text is valid JSON (RFC 8259). Returns the end of its value, or the position at which it stops
//! being JSON.

use super::{MAX_LEVELS, number};
use crate::scan::{plain, white_space};

/// The open containers, one bit each: set for an object.
#[derive(Default)]
pub(crate) struct Open {
    last: u64,
    /// All full words of 64 bits. The last word is kept separately.
    full: Vec<u64>,
    depth: usize,
}

impl Open {
    #[inline(always)]
    pub(crate) fn push(&mut self, object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.full.push(self.last);
        }
        self.last = self.last << 1 | u64::from(object);
        self.depth += 1;
    }

    #[inline(always)]
    pub(crate) fn pop(&mut self) {
        self.depth -= 1;
        self.last >>= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.last = self.full.pop().unwrap_or_default();
        }
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.depth == 0
    }

    /// Returns whether the innermost container is an object.
    #[inline(always)]
    pub(crate) fn is_object(&self) -> bool {
        self.last & 1 == 1
    }
}

/// Returns the end of the JSON value at an offset, whatever follows it. An error is the position at which the value
/// stops being JSON.
pub(crate) fn strict_end(text: &str, (start, end): (usize, usize)) -> Result<usize, usize> {
    let bytes = &text.as_bytes()[..end];
    let mut open = Open::default();
    let mut at = start;
    'value: loop {
        at += white_space(&bytes[at..]);
        match bytes.get(at) {
            Some(b'{' | b'[') if open.depth >= MAX_LEVELS => return Err(at + 1),
            Some(&bracket @ (b'{' | b'[')) => {
                at += 1;
                at += white_space(&bytes[at..]);
                // The code of a closing bracket is its opening bracket's code plus two.
                if bytes.get(at) == Some(&(bracket + 2)) {
                    at += 1;
                } else {
                    open.push(bracket == b'{');
                    at = if bracket == b'{' { name(bytes, at)? } else { at };
                    continue 'value;
                }
            }
            Some(b'"') => at = string(bytes, at + 1)?,
            Some(b'-' | b'0'..=b'9') => {
                number::scan(bytes, &mut at).map_err(|_| at)?;
            }
            Some(b't') => at = literal(bytes, at, b"true")?,
            Some(b'f') => at = literal(bytes, at, b"false")?,
            Some(b'n') => at = literal(bytes, at, b"null")?,
            _ => return Err(at),
        }
        // A value has ended: continues with the enclosing container.
        while !open.is_empty() {
            at += white_space(&bytes[at..]);
            match (open.is_object(), bytes.get(at)) {
                (true, Some(b'}')) | (false, Some(b']')) => open.pop(),
                (true, Some(b',')) => {
                    at += 1;
                    at = name(bytes, at + white_space(&bytes[at..]))?;
                    continue 'value;
                }
                (false, Some(b',')) => {
                    at += 1;
                    continue 'value;
                }
                _ => return Err(at),
            }
            at += 1;
        }
        return Ok(at);
    }
}

/// Returns the offset after a member's name and its colon.
#[inline(always)]
fn name(bytes: &[u8], at: usize) -> Result<usize, usize> {
    if bytes.get(at) != Some(&b'"') {
        return Err(at);
    }
    let end = string(bytes, at + 1)?;
    let colon = end + white_space(&bytes[end..]);
    if bytes.get(colon) == Some(&b':') { Ok(colon + 1) } else { Err(colon) }
}

/// Returns the offset after a string, given the offset after its opening quote.
#[inline(always)]
fn string(bytes: &[u8], mut at: usize) -> Result<usize, usize> {
    loop {
        at += plain(&bytes[at..]);
        match (bytes.get(at), bytes.get(at + 1)) {
            (Some(b'"'), _) => return Ok(at + 1),
            (Some(b'\\'), Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't')) => at += 2,
            (Some(b'\\'), Some(b'u')) => {
                let digits = &bytes[at + 2..bytes.len().min(at + 6)];
                let hex = digits.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
                at += 2 + hex;
                if hex < 4 {
                    return Err(at);
                }
            }
            (Some(b'\\'), _) => return Err(at + 1),
            _ => return Err(at),
        }
    }
}

fn literal(bytes: &[u8], at: usize, word: &[u8]) -> Result<usize, usize> {
    let same = bytes[at..].iter().zip(word).take_while(|(a, b)| a == b).count();
    if same == word.len() { Ok(at + same) } else { Err(at + same) }
}
