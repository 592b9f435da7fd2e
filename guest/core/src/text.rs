//! Text that is shown to a person or sent to a producer: cut, and saying so; quoted as data.

use crate::{hidden::is_hidden, scan::plain};

/// `text` in at most `limit` bytes: cut at a character boundary, with the number of bytes left out said at the end.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    cut_with(text, limit, 0)
}

/// The same for a text of which so many bytes more are not even here.
#[inline(never)]
pub(crate) fn cut_with(text: &str, limit: usize, more: usize) -> String {
    if text.len() <= limit && more == 0 {
        return text.to_owned();
    }
    // Room for the words, whatever the number is.
    let end = text.floor_char_boundary(limit.saturating_sub(left_out(text.len() + more).len()));
    let mut out = text[..end].to_owned();
    out.push_str(&left_out(text.len() - end + more));
    out
}

/// The first `keep` bytes of `text`, at a character boundary, then the number of bytes left out where there are any.
pub fn cut_at(text: &str, keep: usize) -> String {
    if text.len() <= keep {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(keep);
    let mut out = text[..end].to_owned();
    out.push_str(&left_out(text.len() - end));
    out
}

fn left_out(bytes: usize) -> String {
    format!("… [{bytes} bytes left out]")
}

/// A text that may have been cut, without the words that say so.
pub(crate) fn without_left_out(text: &str) -> &str {
    match text.rsplit_once("… [") {
        Some((kept, words)) if words.ends_with(" bytes left out]") => kept,
        _ => text,
    }
}

/// Append a number. Formatting it would cost several times as much, and places are full of them.
pub(crate) fn push_number(out: &mut String, number: usize) {
    out.push_str(itoa::Buffer::new().format(number));
}

/// Append `text` as a JSON string with the fewest escapes (RFC 8259, section 7).
pub fn push_json_string(out: &mut String, text: &str) {
    out.push('"');
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        let run = plain(&bytes[at..]);
        out.push_str(&text[at..at + run]);
        at += run;
        match bytes.get(at) {
            None => break,
            Some(b'"') => out.push_str("\\\""),
            Some(b'\\') => out.push_str("\\\\"),
            Some(b'\n') => out.push_str("\\n"),
            Some(b'\r') => out.push_str("\\r"),
            Some(b'\t') => out.push_str("\\t"),
            Some(8) => out.push_str("\\b"),
            Some(12) => out.push_str("\\f"),
            Some(byte) => out.push_str(&format!("\\u{byte:04x}")),
        }
        at += 1;
    }
    out.push('"');
}

/// A text that a producer wrote, quoted so that it reads as data: a JSON string of at most `limit` bytes before
/// quoting, in which what cannot be seen is escaped. Where escapes make it more than twice as long, less of it is shown.
#[inline(never)]
pub fn quote(text: &str, limit: usize) -> String {
    let keep = if text.len() <= limit { text.len() } else { limit.saturating_sub(left_out(text.len()).len()) };
    let mut inside = String::with_capacity(keep.min(2 * limit) + 8);
    // What needs no escape, as most texts need none, is taken at once.
    let plain = |byte: &u8| matches!(byte, b' ' | b'!' | b'#'..=b'[' | b']'..=b'~');
    let mut end = text.as_bytes()[..keep].iter().take_while(|byte| plain(byte)).count();
    inside.push_str(&text[..end]);
    let rest = end;
    for (at, character) in text[rest..].char_indices().map(|(at, character)| (rest + at, character)) {
        let next = at + character.len_utf8();
        if next > keep || inside.len() + 1 > 2 * limit {
            break;
        }
        // Most characters are shown as they are, or behind a backslash.
        match character {
            '"' | '\\' if inside.len() + 2 > 2 * limit => break,
            '"' | '\\' => inside.extend(['\\', character]),
            ' '..='~' => inside.push(character),
            _ => {
                let mut shown = String::new();
                push_json_string(&mut shown, &text[at..next]);
                let shown = visible(&shown[1..shown.len() - 1]);
                if inside.len() + shown.len() > 2 * limit {
                    break;
                }
                inside.push_str(&shown);
            }
        }
        end = next;
    }
    let more = if end < text.len() { left_out(text.len() - end) } else { String::new() };
    format!("\"{inside}{more}\"")
}

/// How much of a text is quoted before a place in it, and from there on.
const MAX_BEFORE: usize = 40;
const MAX_AFTER: usize = 20;

/// A place in a text for those who do not count bytes, as in `not "the rest", after "the line"`: the end of what stands
/// before it, in words, and the beginning of what comes next, quoted; none at the end of the text.
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

/// A text in which what cannot be seen or turns the direction of writing is escaped as JSON strings escape it.
#[inline(never)]
pub fn visible(text: &str) -> String {
    if !text.chars().any(is_hidden) {
        return text.to_owned();
    }
    let mut shown = String::new();
    for character in text.chars() {
        push_visible(&mut shown, character);
    }
    shown
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

/// Both: [`visible`], and at most `limit` bytes of it, with the number of bytes of `text` left out said at the end.
#[inline(never)]
pub fn short(text: &str, limit: usize) -> String {
    let shown = visible(&text[..text.floor_char_boundary(limit)]);
    if text.len() <= limit && shown.len() <= limit {
        return shown;
    }
    let room = limit.saturating_sub(left_out(text.len()).len());
    let mut out = String::new();
    for (at, character) in text.char_indices() {
        let before = out.len();
        push_visible(&mut out, character);
        if out.len() > room {
            out.truncate(before);
            out.push_str(&left_out(text.len() - at));
            break;
        }
    }
    out
}

/// Append a character as JSON strings escape any.
pub(crate) fn push_escaped(out: &mut String, character: char) {
    for unit in character.encode_utf16(&mut [0; 2]) {
        out.push_str(&format!("\\u{unit:04x}"));
    }
}

/// As many of some values as fit `limit` bytes, the first always, and how many more there are.
pub(crate) fn list(values: impl ExactSizeIterator<Item = String>, limit: usize) -> String {
    /// Room for the words, whatever the number is.
    const MORE: usize = 32;
    let count = values.len();
    let mut out = String::new();
    for (index, value) in values.enumerate() {
        let more = count - index;
        let end = out.len() + 2 + value.len() + if more > 1 { MORE } else { 0 };
        if index > 0 && end > limit {
            out.push_str(&format!(", … [{more} more left out]"));
            break;
        }
        if index > 0 {
            out.push_str(", ");
        }
        out.push_str(&value);
    }
    out
}

/// `1 item`, `2 items`.
#[inline(never)]
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
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
        let values = |number: usize| (0..number).map(|_| "12345678".to_owned());
        assert_eq!(list(values(2), 20), "12345678, 12345678");
        let shown = list(values(40), 100);
        assert!(shown.len() <= 100);
        assert_eq!(shown, format!("{}, … [33 more left out]", ["12345678"; 7].join(", ")));
        assert_eq!(list(values(2), 4), "12345678, … [1 more left out]");
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
