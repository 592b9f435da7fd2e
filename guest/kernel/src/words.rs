//! Finds whole words and whole numbers in a text.

use std::ops::Range;

use seamgate_core::kernel_api::{Document, Json, Kind, canonical};

use crate::{
    document::CAPS,
    places::{host_of, is_host},
};

/// Currency signs that may directly precede or follow a number.
const CURRENCIES: [char; 4] = ['$', '€', '£', '¥'];

const QUOTES: [char; 3] = ['"', '\'', '`'];

/// Signs that may directly precede a word.
const OPENING: [char; 7] = ['"', '\'', '`', '(', '[', '{', '<'];

/// Signs that may directly follow a word.
const CLOSING: [char; 7] = ['"', '\'', '`', ')', ']', '}', '>'];

/// Returns the position at which a text first contains a word as a whole: `x.com` does not occur in `x.com.evil.org` or
/// in `a@x.com`. A word without a letter or digit is never found.
pub(crate) fn find(word: &str, text: &str) -> Option<Range<usize>> {
    if word.is_empty() {
        return text.is_empty().then_some(0..0);
    }
    let shape = Shape::of(word)?;
    let places = text.match_indices(word).map(|(at, _)| at..at + word.len());
    { places }.find(|place| stands_alone(shape, text, place))
}

/// Returns whether a text contains a word: see [`find`].
pub(crate) fn is_word_of(word: &str, text: &str) -> bool {
    find(word, text).is_some()
}

/// The kind of a word, which determines the signs that belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Number,
    /// ASCII letters, digits, `_` and `-`.
    Identifier,
    Mail,
    Other,
}

impl Shape {
    /// Returns the kind of a word. `None` for a word without a letter or digit.
    fn of(word: &str) -> Option<Self> {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        if !word.contains(char::is_alphanumeric) {
            return None;
        }
        Some(match () {
            () if word.bytes().all(|byte| byte.is_ascii_digit()) || decimal(word).is_some() => Shape::Number,
            () if word.bytes().all(is_part) => Shape::Identifier,
            () if is_mail(word) => Shape::Mail,
            () => Shape::Other,
        })
    }
}

fn is_digit(character: char) -> bool {
    character.is_ascii_digit()
}

fn stands_alone(shape: Shape, text: &str, place: &Range<usize>) -> bool {
    let (before, word, after) = (&text[..place.start], &text[place.clone()], &text[place.end..]);
    ends(after, shape, word) && begins(before, shape, after) && !is_grouped(before, word, after)
}

/// The maximum number of bytes before a word in which the start of text without white space is searched for.
const MAX_TOKEN: usize = 512;

/// Returns whether a word may begin after a text. `after` is the text that begins with the word.
fn begins(before: &str, shape: Shape, after: &str) -> bool {
    let Some(last) = before.chars().next_back() else { return true };
    if last.is_whitespace() {
        return true;
    }
    // Nothing inside a URL is a separate word.
    let start = before.floor_char_boundary(before.len().saturating_sub(MAX_TOKEN));
    let token = before[start..].rsplit(char::is_whitespace).next().unwrap_or_default();
    if token.contains("://") || (start > 0 && token.len() == before.len() - start) {
        return false;
    }
    let key = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    match (last, shape) {
        // `limit:7`, `env=prod`.
        (':', Shape::Number) | ('=', Shape::Number | Shape::Identifier) => {
            let name = token[..token.len() - 1].trim_start_matches(OPENING);
            !name.is_empty() && name.chars().all(key) && !name.ends_with(is_digit)
        }
        // `a@x.com,b@x.com`.
        (',' | ';', Shape::Mail) => token[..token.len() - 1].ends_with(|far: char| far.is_alphanumeric() || far == '>'),
        _ => {
            let far = token.trim_end_matches(OPENING);
            let signs = &token[far.len()..];
            if signs.is_empty() {
                return false;
            }
            match far.chars().next_back() {
                None => true,
                // `"to":"bob@x.com"`.
                Some(',' | ';' | ':') => QUOTES.contains(&last) && after.starts_with(last),
                Some('=') => signs == "\"" && after.starts_with('"'),
                Some(']') => signs == "(",
                // `Bob<bob@x.com>`.
                Some(far) => shape == Shape::Mail && signs == "<" && far.is_alphanumeric(),
            }
        }
    }
}

/// Returns whether a word may end before a text.
fn ends(after: &str, shape: Shape, word: &str) -> bool {
    let rest = after.trim_start_matches(CLOSING);
    let signs = &after[..after.len() - rest.len()];
    // In `A_(b`, the word does not end before the bracket that closes its own.
    let is_own = |closing: char| {
        let opening = match closing {
            ')' => '(',
            ']' => '[',
            '}' => '{',
            '>' => '<',
            _ => return false,
        };
        word.matches(opening).count() > word.matches(closing).count()
    };
    if signs.chars().any(is_own) {
        return false;
    }
    let is_over = |rest: &str| match rest.trim_start_matches(CLOSING) {
        beyond if beyond.len() < rest.len() => ends_plainly(beyond),
        beyond => beyond.chars().next().is_none_or(char::is_whitespace),
    };
    let mut following = rest.chars();
    match following.next() {
        None => true,
        Some(next) if next.is_whitespace() => true,
        Some(sign) if ".,;:!?".contains(sign) => {
            let next = following.as_str();
            let is_quoted = signs.contains(QUOTES) && matches!(sign, ',' | ';' | ':') && next.starts_with(QUOTES);
            let is_list = shape == Shape::Mail && matches!(sign, ',' | ';') && next.starts_with(char::is_alphanumeric);
            is_over(next) || is_quoted || is_list
        }
        // `[Bob](…`.
        Some('(') => signs == "]",
        // `Bob's`.
        Some('s') => signs == "'" && ends_plainly(following.as_str()),
        _ => false,
    }
}

/// Returns whether the preceding text ends here, without a sign that could belong to it.
fn ends_plainly(after: &str) -> bool {
    let rest = after.strip_prefix(['.', ',', ';', ':', '!', '?']).unwrap_or(after);
    rest.chars().next().is_none_or(char::is_whitespace)
}

/// Returns whether a word is only a part of a number with groups of three digits: `1` and `500` of `1 500`.
fn is_grouped(before: &str, word: &str, after: &str) -> bool {
    let begins_with_group = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count() == 3;
    let beyond = after.trim_start();
    let stands_before = word.ends_with(is_digit) && beyond.len() < after.len() && begins_with_group(beyond);
    let ahead = before.trim_end();
    let stands_behind = begins_with_group(word) && ahead.len() < before.len() && ahead.ends_with(is_digit);
    stands_before || stands_behind
}

/// A text to search for, without white space and quotes around it, and with the part that is compared without case.
pub(crate) struct Word<'v> {
    text: &'v str,
    /// The part that is a host name or a mail address.
    folded: Range<usize>,
}

impl<'v> Word<'v> {
    /// Reads a value. `None` if nothing is left of it.
    pub(crate) fn of(value: &'v str) -> Option<Self> {
        let text = bare(value);
        (!text.is_empty()).then(|| Word { text, folded: caseless(text) })
    }

    /// Returns the position at which a text first contains the word as a whole.
    pub(crate) fn find(&self, text: &str) -> Option<Range<usize>> {
        let shape = Shape::of(self.text)?;
        if self.folded.is_empty() {
            return find(self.text, text);
        }
        let (word, folded) = (self.text.to_ascii_lowercase(), text.to_ascii_lowercase());
        let places = folded.match_indices(&word).map(|(at, _)| at..at + word.len());
        { places }.find(|place| self.is_alike(&text[place.clone()]) && stands_alone(shape, text, place))
    }

    /// Returns the canonical form that equal words share.
    pub(crate) fn key(&self) -> String {
        let Range { start, end } = self.folded.clone();
        format!("{}{}{}", &self.text[..start], self.text[start..end].to_ascii_lowercase(), &self.text[end..])
    }

    /// Returns whether texts may contain the word by chance: `true`, `false`, or at most three digits, which could be a
    /// day, an hour or a count. Such a word proves nothing about an identifier.
    pub(crate) fn is_common(&self) -> bool {
        let is_short_number = self.text.len() <= 3 && self.text.bytes().all(|byte| byte.is_ascii_digit());
        is_short_number || ["true", "false"].iter().any(|truth| self.text.eq_ignore_ascii_case(truth))
    }

    fn is_alike(&self, text: &str) -> bool {
        let (text, own, Range { start, end }) = (text.as_bytes(), self.text.as_bytes(), self.folded.clone());
        text.len() == own.len()
            && text[..start] == own[..start]
            && text[start..end].eq_ignore_ascii_case(&own[start..end])
            && text[end..] == own[end..]
    }
}

/// Returns a text without blanks and quotes around it. Line breaks and other control characters stay because they
/// would be sent.
fn bare(text: &str) -> &str {
    let is_break = |character: char| character.is_control() || matches!(character, '\u{2028}' | '\u{2029}');
    text.trim_matches(|character: char| {
        (character.is_whitespace() && !is_break(character)) || QUOTES.contains(&character)
    })
}

fn is_mail(value: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~.".contains(&byte);
    value.split_once('@').is_some_and(|(local, host)| !local.is_empty() && local.bytes().all(is_part) && is_host(host))
}

/// Returns the part of a value that is compared without case: a mail address, or the host of a URL. A host alone could
/// be a file name.
fn caseless(value: &str) -> Range<usize> {
    if is_mail(value) {
        return 0..value.len();
    }
    match (value.find("://"), host_of(value)) {
        (Some(scheme), Some(host)) => scheme + 3..scheme + 3 + host.len(),
        _ => 0..0,
    }
}

/// Returns a JSON number in the form that equal numbers share. Exact for any number of digits.
pub(crate) fn decimal(text: &str) -> Option<String> {
    let is_number = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    let document = is_number.then(|| Json::read(text, &CAPS).ok()).flatten()?;
    (document.kind(Document::ROOT) == Kind::Number).then(|| canonical(&document, Document::ROOT))
}

/// Returns the number that a text consists of, ignoring white space and quotes around it.
pub(crate) fn whole_number(text: &str) -> Option<String> {
    let text = bare(text);
    let digits = usize::from(text.starts_with('-'));
    let is_whole = text[digits..].starts_with(is_digit) && end_of_number(text.as_bytes(), digits) == text.len();
    if is_whole { read_number(text) } else { None }
}

/// Returns all separate numbers in a text, with their positions: in JSON notation, or with commas between groups of
/// three digits. Omits `1,000` alone, because some readers take it for one and others for a thousand.
pub(crate) fn numbers(text: &str) -> Vec<(String, Range<usize>)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let start = at - usize::from(at > 0 && bytes[at - 1] == b'-');
        at = end_of_number(bytes, at);
        let end = start + text[start..at].trim_end_matches(['.', ',']).len();
        let before = &text[..start];
        let before = before.strip_suffix(CURRENCIES).unwrap_or(before);
        let after = text[end..].strip_prefix(CURRENCIES).unwrap_or(&text[end..]);
        let number = &text[start..end];
        if ends(after, Shape::Number, number)
            && begins(before, Shape::Number, after)
            && !is_grouped(before, number, after)
            && let Some(number) = read_number(&text[start..end])
        {
            found.push((number, start..end));
        }
    }
    found
}

/// Returns the end of a run of characters that numbers are written with.
fn end_of_number(bytes: &[u8], mut at: usize) -> usize {
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    while at < bytes.len() {
        at += match bytes[at] {
            b'0'..=b'9' | b'.' | b',' => 1,
            b'e' | b'E' if digit(at - 1) && digit(at + 1) => 1,
            b'e' | b'E' if digit(at - 1) && matches!(bytes.get(at + 1), Some(b'+' | b'-')) && digit(at + 2) => 2,
            _ => break,
        };
    }
    at
}

fn read_number(text: &str) -> Option<String> {
    if !text.contains(',') {
        return decimal(text);
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut groups = whole.trim_start_matches('-').split(',');
    let first = groups.next()?;
    let groups: Vec<&str> = groups.collect();
    let is_group = |group: &&str| group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit());
    let is_clear = groups.len() > 1 || !fraction.is_empty();
    let is_grouped = (1..=3).contains(&first.len()) && groups.iter().all(is_group) && !fraction.contains(',');
    if is_clear && is_grouped { decimal(&text.replace(',', "")) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stands_by_itself() {
        for (word, text, is) in [
            ("bob@x.com", "Mail bob@x.com the report.", true),
            ("bob@x.com", "Mail bob@x.com.", true),
            ("bob@x.com", "bob@x.com", true),
            ("bob@x.com", "to: <bob@x.com>, please", true),
            ("bob@x.com", "bob@x.com.evil.org", false),
            ("x.com", "bob@x.com", false),
            ("pay", "payment-api", false),
            ("payment-api", "Why does payment-api fail?", true),
            ("payment", "Why does payment-api fail?", false),
            ("", "anything", false),
            ("50", "Pay 0,50 EUR", false),
            ("0", "Pay 0,50 EUR", false),
            ("000", "Pay 1,000 EUR", false),
            ("1", "Pay 1,000 EUR", false),
            ("99", "Meet at 12:99", false),
            ("12", "Meet at 12:99", false),
            ("1,000", "Pay 1,000, or 5", true),
            ("5", "Pay 1,000, or 5: today", true),
            ("7", "limit:7,", true),
            ("prod", "env=prod", true),
            ("prod", "Use --env=prod.", true),
            ("Bob", "Ask Bob's sister", true),
            ("dogs", "the dogs' food", true),
            ("bob@x.com", "Mail bob@x.com's owner", true),
            ("bob@x.com", "Bob<bob@x.com>", true),
            ("bob@x.com", "ann@x.com,bob@x.com;joe@x.com", true),
            ("joe@x.com", "ann@x.com,bob@x.com;joe@x.com", true),
            ("bob@x.com", r#"{"to":"bob@x.com","cc":"ann@x.com"}"#, true),
            ("ann@x.com", r#"{"to":"bob@x.com","cc":"ann@x.com"}"#, true),
            ("https://x.com/a", "See [it](https://x.com/a), (really).", true),
            ("https://x.com/a_(b)", "See https://x.com/a_(b).", true),
            ("o'brien@x.com", "Mail o'brien@x.com", true),
            ("https://x.com/delete", "Open 'https://x.com/delete'?", true),
            ("/srv/a", "Look at `/srv/a`: it is empty", true),
            ("1 500", "Pay 1 500 EUR", true),
            // Part of a mail address, a URL, a path or a number is not a word.
            ("brien@x.com", "Mail o'brien@x.com", false),
            ("b@x.com", "Mail a`b@x.com", false),
            ("c@x.com", "Mail a{c@x.com", false),
            ("bob@x.com", "Mail a=bob@x.com", false),
            ("bob@x.com", "Mail a='bob@x.com", false),
            ("bob@x.com", "Mail \"bob@x.com\"@evil.org", false),
            ("https://x.com/delete", "Open https://x.com/delete?dry_run=true", false),
            ("https://x.com", "Open https://x.com:8443/admin", false),
            ("8443", "Open https://x.com:8443", false),
            ("https://x.com/a", "Open https://x.com/a;v=2", false),
            ("https://x.com/a", "Open https://x.com/a,b", false),
            ("https://x.com/a", "Open https://x.com/a!b", false),
            ("https://x.com/a", "Open https://x.com/a:b", false),
            ("https://x.com/a_(b", "Open https://x.com/a_(b)", false),
            ("https://y.com/z", "Open https://x.com/?u=https://y.com/z", false),
            ("bob@x.com", "Open https://x.com/?to=bob@x.com", false),
            ("bob@x.com", "Open https://x.com/?to=ann@x.com,bob@x.com", false),
            ("5", "Open https://x.com/?id=5", false),
            ("prod", "Push main:prod", false),
            ("/etc", "Mount /srv/a:/etc", false),
            ("/srv/app", "Delete /srv/app,old", false),
            ("/etc", "Delete /srv/x(/etc)", false),
            ("/", "clean up and / or archive", false),
            ("*", "Delete * there", false),
            ("-", "this - or that", false),
            (".", "a . b", false),
            ("~", "~", false),
            ("1", "Pay 1'500 CHF", false),
            ("500", "Pay 1'500 CHF", false),
            ("1", "Pay 1 500 EUR", false),
            ("500", "Pay 1 500 EUR", false),
            ("1", "Pay 1\u{a0}500", false),
            ("500", "Pay 1\u{202f}500", false),
            ("000 000", "Pay 1 000 000", false),
            ("1 000", "Pay 1 000 000", false),
        ] {
            assert_eq!(is_word_of(word, text), is, "{word:?} in {text:?}");
        }
    }

    /// Puts signs between the parts of a value that is a single value for people, so that no part may be found.
    #[test]
    fn no_part_of_a_value_is_a_word() {
        const SIGNS: &str = "!#$%&'*+-/=?^_`{|}~.:,;@\\\u{200b}\u{2019}\u{ad}";
        let signs: Vec<String> = SIGNS.chars().map(String::from).collect();
        let pairs = signs.iter().flat_map(|one| signs.iter().map(move |other| format!("{one}{other}")));
        for sign in signs.iter().cloned().chain(pairs) {
            for (left, right) in [
                ("https://x.com/a", "b"),
                ("https://x.com", "8443/admin"),
                ("https://x.com/a?u", "https://y.com/z"),
                ("https://x.com/a?u", "bob@x.com"),
                ("/srv/a", "/etc"),
                ("/srv/app", "old"),
            ] {
                let text = format!("Take {left}{sign}{right} now");
                assert!(!is_word_of(left, &text), "{left:?} in {text:?}");
                // A number or identifier may follow the name of an option.
                assert!(!is_word_of(right, &text), "{right:?} in {text:?}");
            }
            let is_list = |sign: &str| matches!(sign, "," | ";");
            if !is_list(&sign) && !sign.ends_with(['"', '<']) {
                for left in ["a", "o1", "x.y"] {
                    let text = format!("Mail {left}{sign}bob@x.com now");
                    assert!(!is_word_of("bob@x.com", &text), "{text:?}");
                }
            }
        }
        let spaces = [" ", "  ", "\t", "\n", "\u{a0}", "\u{202f}", "\u{2009}", "\u{3000}", "'", "\u{2019}", "_", "`"];
        for space in spaces {
            for (groups, rest) in [(&["1", "500"][..], ""), (&["12", "000", "000"], ""), (&["1", "500"], ".50")] {
                let text = format!("Pay {}{rest} now", groups.join(space));
                assert_eq!(numbers(&text), [], "{text:?}");
                groups.iter().for_each(|group| assert!(!is_word_of(group, &text), "{group} in {text:?}"));
            }
        }
    }

    #[test]
    fn only_mail_addresses_and_hosts_of_urls_ignore_case() {
        for (value, text, is) in [
            ("Bob@X.com", "Mail bob@x.COM.", true),
            (" \"bob@x.com\" ", "Mail bob@x.com.", true),
            ("https://X.com/Report", "Read https://x.com/Report now", true),
            ("https://x.com/report", "Read https://x.com/Report now", false),
            ("HTTPS://x.com/", "Read https://x.com/ now", false),
            ("https://x.com.evil.org", "Read https://x.com now", false),
            ("README.md", "Delete readme.md", false),
            ("x.com", "Look at X.com", false),
            ("Bob", "Ask bob", false),
            // The second letter is Cyrillic.
            ("b\u{43e}b@x.com", "Mail bob@x.com", false),
            ("bob@x.com", "Mail b\u{43e}b@x.com", false),
            ("bob@x.com", "Mail bob@x.com.evil.org", false),
            ("bob@x.com", "Mail rob.bob@x.com", false),
            ("bob@x.com", "Mail \u{200b}bob@x.com", false),
            ("bob@x.com", "Mail bob@x.com.evil.org, I mean Bob@x.com", true),
            ("bob@x.com\r\n", "Mail bob@x.com", false),
            ("\tbob@x.com", "Mail bob@x.com", false),
            ("bob@x.com\u{2028}", "Mail bob@x.com", false),
        ] {
            let word = Word::of(value).expect("a word");
            assert_eq!(word.find(text).is_some(), is, "{value:?} in {text:?}");
        }
        for nothing in ["", "  ", "\"\"", " '` \u{a0}"] {
            assert!(Word::of(nothing).is_none(), "{nothing:?}");
        }
    }

    #[test]
    fn numbers_are_read_exactly_or_not_at_all() {
        for (text, expected) in [
            ("Pay 50 EUR", &["50"][..]),
            ("Pay 50.00 EUR, or 5e1.", &["50", "50"]),
            ("Pay $50, €7.50 and 3£!", &["50", "7.5", "3"]),
            ("Pay 1,000,000 or 1,000.50", &["1000000", "1000.5"]),
            ("Pay 1,000 or 0,50 or 10,00", &[]),
            ("-5 or (-2.5)", &["-5", "-2.5"]),
            ("0.1", &["0.1"]),
            ("12345678901234567890.000000000000000001", &["12345678901234567890.000000000000000001"]),
            ("2026-11-27 at 12:30, v1.2.3, 007, x5, 5x, 50%, #5, 1/2, US$5, -$5, 1.5.", &["1.5"]),
            ("1. 2. 3", &["1", "2", "3"]),
            ("1e5e5 1e 5", &["5"]),
            ("a,5 1,5 5,a", &[]),
            ("Pay 1'500 or 1 500 or 1\u{a0}500", &[]),
            ("Rooms 12 34, limit:7, x=8", &["12", "34", "7", "8"]),
        ] {
            let found: Vec<String> = numbers(text).into_iter().map(|(number, _)| number).collect();
            let expected: Vec<String> = expected.iter().filter_map(|number| decimal(number)).collect();
            assert_eq!(found, expected, "{text:?}");
        }
        assert_eq!(whole_number(" '50.0' "), decimal("50"));
        assert_eq!(whole_number("50 EUR"), None);
    }
}
