//! Removes insignificant white space from a valid JSON text.

use super::{
    Parts,
    document::{SHORT, has_fewest_escapes},
    end_of_string,
};
use crate::{
    caps::{CONTRACT_CAPS, Caps},
    scan,
};

/// Returns an accepted document without insignificant white space. Numbers keep their digits. Strings have the fewest
/// escapes (RFC 8259, section 7).
pub(crate) fn minified(text: &str) -> String {
    let bytes = text.as_bytes();
    // Includes room for copying the last piece in a fixed-size block.
    let mut out = Vec::with_capacity(bytes.len() + SHORT);
    // The text between `from` and `at` is copied unchanged.
    let (mut from, mut at) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let start = at;
                at += 1;
                at += scan::plain(&bytes[at..]);
                if bytes.get(at) != Some(&b'"') {
                    at = end_of_string(bytes, at).unwrap_or(bytes.len() - 1);
                    let source = &text[start..=at];
                    if !has_fewest_escapes(source) {
                        push(&mut out, bytes, from, start);
                        out.extend_from_slice(rewritten(source).as_bytes());
                        from = at + 1;
                    }
                }
                at += 1;
            }
            b' ' | b'\n' | b'\r' | b'\t' => {
                push(&mut out, bytes, from, at);
                at += scan::white_space(&bytes[at..]);
                from = at;
            }
            _ => at += 1,
        }
    }
    push(&mut out, bytes, from, at);
    String::from_utf8(out).unwrap_or_else(|_| unreachable!("pieces of a text end at ASCII"))
}

/// Appends a piece of a text. Most are short.
#[inline(always)]
fn push(out: &mut Vec<u8>, bytes: &[u8], from: usize, to: usize) {
    match bytes.get(from..).and_then(<[u8]>::first_chunk::<SHORT>) {
        Some(short) if to - from <= SHORT => {
            let end = out.len() + to - from;
            out.extend_from_slice(short);
            out.truncate(end);
        }
        _ => out.extend_from_slice(&bytes[from..to]),
    }
}

/// Rewrites a string with the fewest escapes.
#[cold]
#[inline(never)]
fn rewritten(source: &str) -> String {
    let caps = Caps { string_bytes: usize::MAX, ..CONTRACT_CAPS };
    let mut parts = Parts::new(source, source.len(), &caps);
    parts.read(0, 0);
    parts.document().minified()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{Span, parse};

    #[test]
    fn text_is_minified_as_documents_are() {
        for text in [
            "1",
            r#""""#,
            r#" { "a" : [ 1.50 , "x\n\"y\" \\" , "\u0041\u00e9\ud83d\ude00\u0001\/" , true ] , "\u0062" : { } , "é" : [ ] } "#,
            "[\n\t[ ],\r\n  {\"b c\":\"d  e\"} ,null,-0e+1 ]",
        ] {
            let parsed = parse(text, Span::new(0, text.len()), &Caps::default()).unwrap_or_else(|_| panic!("{text}"));
            assert_eq!(minified(text), parsed.document.minified(), "{text}");
        }
    }
}
