//! Text for display or for a producer: visibly truncated, and quoted as data.

use std::borrow::Cow;

use crate::{
    hidden::is_hidden,
    scan::{plain, printable, shown},
};

/// Truncates `text` to at most `limit` bytes, at a character boundary, and appends the number of bytes left out.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    cut_with(text, limit, 0)
}

/// Truncates a text. Also counts `more` bytes that the text no longer contains.
#[inline(never)]
pub(crate) fn cut_with(text: &str, limit: usize, more: usize) -> String {
    if text.len() <= limit && more == 0 {
        return text.to_owned();
    }
    // Leaves room for the words, whatever the number is.
    let end = text.floor_char_boundary(limit.saturating_sub(left_out(text.len() + more)));
    let mut out = text[..end].to_owned();
    push_left_out(&mut out, text.len() - end + more);
    out
}

/// Returns the first `keep` bytes of `text`, at a character boundary, and appends the number of bytes left out, if any.
pub fn cut_at(text: &str, keep: usize) -> String {
    if text.len() <= keep {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(keep);
    let mut out = text[..end].to_owned();
    push_left_out(&mut out, text.len() - end);
    out
}

const LEFT_OUT: [&str; 2] = ["… [", " bytes left out]"];

/// Returns the length of the words that say how many bytes were left out.
fn left_out(bytes: usize) -> usize {
    LEFT_OUT[0].len() + itoa::Buffer::new().format(bytes).len() + LEFT_OUT[1].len()
}

fn push_left_out(out: &mut String, bytes: usize) {
    out.push_str(LEFT_OUT[0]);
    push_number(out, bytes);
    out.push_str(LEFT_OUT[1]);
}

/// Returns a text without the words that say that it was truncated, if it has them.
pub(crate) fn without_left_out(text: &str) -> &str {
    match text.rsplit_once(LEFT_OUT[0]) {
        Some((kept, words)) if words.ends_with(LEFT_OUT[1]) => kept,
        _ => text,
    }
}

/// Appends a number. Formatting would cost several times as much, and locations contain many numbers.
pub(crate) fn push_number(out: &mut String, number: usize) {
    out.push_str(itoa::Buffer::new().format(number));
}

/// Appends `text` as a JSON string with the fewest escapes (RFC 8259, section 7).
pub fn push_json_string(out: &mut String, text: &str) {
    json_string(text, |piece| out.push_str(piece));
}

/// Passes the pieces of that string, in order.
#[inline(always)]
pub(crate) fn json_string(text: &str, mut piece: impl FnMut(&str)) {
    piece("\"");
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        let run = plain(&bytes[at..]);
        piece(&text[at..at + run]);
        at += run;
        let Some(&byte) = bytes.get(at) else { break };
        match short_escape(byte) {
            Some(escape) => piece(escape),
            None => {
                let mut escaped = String::new();
                push_escaped(&mut escaped, char::from(byte));
                piece(&escaped);
            }
        }
        at += 1;
    }
    piece("\"");
}

/// Appends a quote or a control character in the form it has inside a JSON string.
pub(crate) fn push_escape(out: &mut String, byte: u8) {
    match short_escape(byte) {
        Some(escape) => out.push_str(escape),
        None => push_escaped(out, char::from(byte)),
    }
}

/// Returns the escape of two characters for a byte in a JSON string (RFC 8259, section 7), if there is one.
fn short_escape(byte: u8) -> Option<&'static str> {
    Some(match byte {
        b'"' => "\\\"",
        b'\\' => "\\\\",
        b'\n' => "\\n",
        b'\r' => "\\r",
        b'\t' => "\\t",
        8 => "\\b",
        12 => "\\f",
        _ => return None,
    })
}

/// Returns whether only white space follows on this line.
pub(crate) fn ends_line(text: &str) -> bool {
    matches!(skip_blanks(text).bytes().next(), None | Some(b'\n'))
}

/// Removes leading white space up to the end of the line.
pub(crate) fn skip_blanks(text: &str) -> &str {
    text.trim_start_matches(|character: char| character != '\n' && character.is_whitespace())
}

/// Quotes a producer's text so that it reads as data: a JSON string of at most `limit` bytes before quoting, with
/// invisible characters escaped. If escapes more than double its length, less of the text is shown.
pub fn quote(text: &str, limit: usize) -> String {
    let mut out = String::with_capacity(text.len().min(limit) + 8);
    push_quoted(&mut out, text, limit);
    out
}

/// Appends a text quoted like [`quote`] does.
#[inline(never)]
pub(crate) fn push_quoted(out: &mut String, text: &str, limit: usize) {
    let keep = if text.len() <= limit { text.len() } else { limit.saturating_sub(left_out(text.len())) };
    out.push('"');
    let most = out.len() + 2 * limit;
    let mut at = 0;
    loop {
        // Copies text without escapes in one step, because most text has none.
        let room = (keep - at).min(most - out.len());
        let run = shown(&text.as_bytes()[at..at + room]);
        out.push_str(&text[at..at + run]);
        at += run;
        let Some(character) = text[at..].chars().next() else {
            break;
        };
        let (next, before) = (at + character.len_utf8(), out.len());
        if next > keep {
            break;
        }
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            character => push_visible(out, character),
        }
        if out.len() > most {
            out.truncate(before);
            break;
        }
        at = next;
    }
    if at < text.len() {
        push_left_out(out, text.len() - at);
    }
    out.push('"');
}

/// The lengths of the quoted text before and after a position, in bytes.
const MAX_BEFORE: usize = 40;
const MAX_AFTER: usize = 20;

/// Describes a position in a text for readers who do not count bytes, as in `not "the rest", after "the line"`. Returns
/// the end of the text before the position, in words, and the beginning of the text after it, quoted. The latter is
/// `None` at the end of the text.
pub(crate) fn around(text: &str, at: usize) -> (String, Option<String>) {
    let (before, after) = text.split_at(at);
    let before = before.trim_end();
    let start = before.ceil_char_boundary(before.len().saturating_sub(MAX_BEFORE));
    let (cut, line) = match before[start..].rsplit_once('\n') {
        Some((_, line)) => ("", line),
        None => (if start > 0 { "…" } else { "" }, &before[start..]),
    };
    let place = match quote(line.trim_start(), MAX_BEFORE).strip_prefix('"') {
        Some(quoted) if !line.is_empty() => format!("after \"{cut}{quoted}"),
        _ => "at the start".to_owned(),
    };
    let next = &after[..after.floor_char_boundary(MAX_AFTER)];
    let next = next.find(['\r', '\n']).map_or(next, |end| &next[..end.max(1)]);
    (place, (!next.is_empty()).then(|| quote(next, MAX_AFTER)))
}

/// Escapes invisible characters, and those that change the writing direction, as in JSON strings.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    push_all_visible(&mut shown, text);
    shown
}

/// Appends a text escaped like [`visible`] does.
#[inline(never)]
fn push_all_visible(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = first_hidden(rest) {
        out.push_str(&rest[..at]);
        let mut characters = rest[at..].chars();
        characters.next().into_iter().for_each(|character| push_visible(out, character));
        rest = characters.as_str();
    }
    out.push_str(rest);
}

/// Returns the position of the first invisible character.
fn first_hidden(text: &str) -> Option<usize> {
    // Most texts contain only plain characters, which is quick to detect.
    let plain = printable(text.as_bytes());
    text[plain..].find(is_hidden).map(|at| plain + at)
}

fn push_visible(out: &mut String, character: char) {
    match character {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        character if is_hidden(character) => push_escaped(out, character),
        character => out.push(character),
    }
}

/// Returns a text escaped as [`visible`] does, and truncated to at most `limit` bytes. The result states the number of
/// bytes of `text` that were left out.
pub fn short<'t>(text: impl Into<Cow<'t, str>>, limit: usize) -> String {
    let text = text.into();
    if text.len() <= limit && first_hidden(&text).is_none() { text.into_owned() } else { shortened(&text, limit) }
}

/// Does the same for a text that needs escaping or truncation.
#[inline(never)]
fn shortened(text: &str, limit: usize) -> String {
    let mut out = String::with_capacity(limit);
    if text.len() <= limit {
        push_all_visible(&mut out, text);
        if out.len() <= limit {
            return out;
        }
        out.clear();
    }
    let room = limit.saturating_sub(left_out(text.len()));
    let mut at = 0;
    loop {
        let end = text.len().min(at + room - out.len());
        let run = printable(&text.as_bytes()[at..end]);
        out.push_str(&text[at..at + run]);
        at += run;
        let Some(character) = text[at..].chars().next() else {
            return out;
        };
        let before = out.len();
        push_visible(&mut out, character);
        if out.len() > room {
            out.truncate(before);
            push_left_out(&mut out, text.len() - at);
            return out;
        }
        at += character.len_utf8();
    }
}

/// Appends a character escaped as in a JSON string.
#[cold]
pub(crate) fn push_escaped(out: &mut String, character: char) {
    for unit in character.encode_utf16(&mut [0; 2]) {
        out.push_str("\\u");
        let digit = |shift: u32| char::from_digit(u32::from(*unit) >> shift & 0xf, 16);
        out.extend([12, 8, 4, 0].into_iter().filter_map(digit));
    }
}

/// Appends at least one value, as many as fit `limit` bytes, and the number of further values. `push` appends one
/// value.
pub(crate) fn push_list<T>(
    out: &mut String,
    values: impl ExactSizeIterator<Item = T>,
    limit: usize,
    push: impl Fn(&mut String, T),
) {
    /// Room for the words, whatever the number is.
    const MORE: usize = 32;
    let (start, count) = (out.len(), values.len());
    for (index, value) in values.enumerate() {
        let (before, more) = (out.len(), count - index);
        if index > 0 {
            out.push_str(", ");
        }
        push(out, value);
        let end = out.len() - start + if more > 1 { MORE } else { 0 };
        if index > 0 && end > limit {
            out.truncate(before);
            out.push_str(", … [");
            push_number(out, more);
            out.push_str(" more left out]");
            break;
        }
    }
}

/// Returns a number with its noun: `1 item`, `2 items`.
#[inline(never)]
pub fn count(number: usize, noun: &str) -> String {
    let mut out = String::with_capacity(noun.len() + 8);
    push_number(&mut out, number);
    out.push(' ');
    out.push_str(noun);
    if number != 1 {
        out.push('s');
    }
    out
}

#[cfg(test)]
mod tests {
    use icu_properties::{
        CodePointSetData,
        props::{BidiControl, DefaultIgnorableCodePoint},
    };

    use super::*;

    #[test]
    fn a_cut_text_keeps_its_limit_and_says_what_is_left_out() {
        assert_eq!(cut("short", 256), "short");
        let long = "é".repeat(300);
        let shown = cut(&long, 256);
        assert!(shown.len() <= 256);
        let kept = shown.split('…').next().unwrap_or_default().len();
        assert!(shown.ends_with(&format!("… [{} bytes left out]", 600 - kept)), "{shown}");
        assert_eq!(cut_at("aéb", 2), "a… [3 bytes left out]");
    }

    #[test]
    fn a_place_is_told_by_what_stands_around_it() {
        for (text, at, place, next) in [
            ("{\"a\": x}", 6, r#"after "{\"a\":""#, Some(r#""x}""#)),
            ("{\n  \"a\": 1\n  \"b\": 2}", 13, r#"after "\"a\": 1""#, Some(r#""\"b\": 2}""#)),
            ("x", 0, "at the start", Some("\"x\"")),
            (" \n x", 3, "at the start", Some("\"x\"")),
            ("[1\n", 3, "after \"[1\"", None),
            ("[1\n\n2]", 2, "after \"[1\"", Some("\"\\n\"")),
        ] {
            assert_eq!(around(text, at), (place.to_owned(), next.map(str::to_owned)), "{text:?}");
        }
        let long = format!("[\"{}{}é", "é".repeat(40), " ".repeat(99));
        let (place, next) = around(&long, long.len() - 2);
        assert_eq!((place, next), (format!("after \"…{}\"", "é".repeat(20)), Some("\"é\"".to_owned())));
    }

    #[test]
    fn a_list_that_is_cut_says_how_many_are_left_out() {
        let list = |number: usize, limit: usize| {
            let mut out = "of ".to_owned();
            push_list(&mut out, 0..number, limit, |out, _| out.push_str("12345678"));
            out.split_off("of ".len())
        };
        assert_eq!(list(2, 20), "12345678, 12345678");
        let shown = list(40, 100);
        assert!(shown.len() <= 100);
        assert_eq!(shown, format!("{}, … [33 more left out]", ["12345678"; 7].join(", ")));
        assert_eq!(list(2, 4), "12345678, … [1 more left out]");
    }

    #[test]
    fn what_unicode_lets_a_display_leave_out_is_hidden() {
        let ignorable = CodePointSetData::new::<DefaultIgnorableCodePoint>();
        let turns = CodePointSetData::new::<BidiControl>();
        for character in '\0'..=char::MAX {
            let lines = matches!(character, '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}');
            let hides = character.is_control() || lines || ignorable.contains(character) || turns.contains(character);
            assert_eq!(is_hidden(character), hides, "{:x}", u32::from(character));
        }
    }

    #[test]
    fn what_cannot_be_seen_is_escaped() {
        assert_eq!(quote("a\u{202e}b\u{200b}\u{7f}\"\n", 99), r#""a\u202eb\u200b\u007f\"\n""#);
        assert_eq!(quote("\u{e0041}", 99), r#""\udb40\udc41""#);
        assert_eq!(quote(&"\u{7}".repeat(6), 6), r#""\u0007\u0007… [4 bytes left out]""#);
        assert_eq!(quote(&"x".repeat(99), 40), format!("\"{}… [82 bytes left out]\"", "x".repeat(17)));
        assert_eq!(quote("\"\"\"\"", 4), r#""\"\"\"\"""#);
    }

    #[test]
    fn what_is_short_and_seen_says_how_much_of_the_text_is_left_out() {
        assert_eq!(short("a\u{7f}b", 256), "a\\u007fb");
        for text in ["\u{202e}".repeat(50), "é\u{7f}".repeat(300), format!("{}\u{200b}", "a".repeat(254))] {
            let shown = short(&text, 256);
            assert!(shown.len() <= 256, "{shown}");
            let (kept, left) = shown.split_once("… [").expect("it was cut");
            let left: usize = left.trim_end_matches(" bytes left out]").parse().expect("a number");
            assert_eq!(visible(&text[..text.len() - left]), kept);
        }
    }

    #[test]
    fn a_json_string_has_the_fewest_escapes() {
        let mut out = String::new();
        push_json_string(&mut out, "a\"\\\u{8}\u{c}\n\r\t\u{1}\u{7f}é/");
        assert_eq!(out, "\"a\\\"\\\\\\b\\f\\n\\r\\t\\u0001\u{7f}é/\"");
    }
}
