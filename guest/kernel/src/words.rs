//! Whole words and whole numbers of a text: where a value stands by itself.

use std::ops::Range;

use seamgate_core::kernel_api::{Document, Json, Kind, canonical};

use crate::{
    document::CAPS,
    places::{host_of, is_host},
};

/// Signs of currencies that may stand directly before or after a number.
const CURRENCIES: [char; 4] = ['$', '€', '£', '¥'];

/// Returns where a text first has a word with nothing of its own kind beside it: `x.com` does not occur in
/// `x.com.evil.org`, nor in `a@x.com`.
pub(crate) fn find(word: &str, text: &str) -> Option<Range<usize>> {
    if word.is_empty() {
        return text.is_empty().then_some(0..0);
    }
    let places = text.match_indices(word).map(|(at, _)| at..at + word.len());
    { places }.find(|place| stands_alone(word, text, place))
}

/// Returns whether a text has a word: see [`find`].
pub(crate) fn is_word_of(word: &str, text: &str) -> bool {
    find(word, text).is_some()
}

fn is_digit(character: Option<char>) -> bool {
    character.is_some_and(|character| character.is_ascii_digit())
}

fn stands_alone(word: &str, text: &str, place: &Range<usize>) -> bool {
    let starts = is_digit(word.chars().next());
    let stops = is_digit(word.chars().next_back());
    begins(&text[..place.start], starts) && ends(&text[place.end..], stops)
}

/// Returns whether a word may begin after a text. `starts`: whether it begins with a digit.
fn begins(before: &str, starts: bool) -> bool {
    let mut before = before.chars();
    match before.next_back() {
        None => true,
        // A sign between two digits stands inside a number or a time.
        Some(',' | ':') if starts && is_digit(before.next_back()) => false,
        Some(character) => character.is_whitespace() || "\"'`([{<,;:=".contains(character),
    }
}

/// Returns whether a word may end before a text. `stops`: whether it ends with a digit.
fn ends(after: &str, stops: bool) -> bool {
    let mut after = after.chars();
    match after.next() {
        None => true,
        Some(',' | ':') if stops && is_digit(after.clone().next()) => false,
        // A full stop ends a sentence, or stands inside a name.
        Some('.') => after.next().is_none_or(char::is_whitespace),
        Some(character) => character.is_whitespace() || "\"'`)]}>,;:!?".contains(character),
    }
}

/// A text to look for: without white space and quotes around it, and with the part in which case means nothing.
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

    /// Returns where a text first has the word, standing by itself.
    pub(crate) fn find(&self, text: &str) -> Option<Range<usize>> {
        if self.folded.is_empty() {
            return find(self.text, text);
        }
        let (word, folded) = (self.text.to_ascii_lowercase(), text.to_ascii_lowercase());
        let places = folded.match_indices(&word).map(|(at, _)| at..at + word.len());
        { places }.find(|place| self.is_alike(&text[place.clone()]) && stands_alone(self.text, text, place))
    }

    /// Returns whether it is a whole text, without white space and quotes around that.
    pub(crate) fn is_whole(&self, text: &str) -> bool {
        self.is_alike(bare(text))
    }

    fn is_alike(&self, text: &str) -> bool {
        let (text, own, Range { start, end }) = (text.as_bytes(), self.text.as_bytes(), self.folded.clone());
        text.len() == own.len()
            && text[..start] == own[..start]
            && text[start..end].eq_ignore_ascii_case(&own[start..end])
            && text[end..] == own[end..]
    }
}

/// A text without white space and quotes around it.
fn bare(text: &str) -> &str {
    text.trim_matches(|character: char| character.is_whitespace() || "\"'`".contains(character))
}

/// The part of a value in which case means nothing: a mail address, or the host of a URL. A host alone could be the
/// name of a file.
fn caseless(value: &str) -> Range<usize> {
    let is_local = |local: &str| {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~.".contains(&byte);
        !local.is_empty() && local.bytes().all(is_part)
    };
    if let Some((local, host)) = value.split_once('@')
        && is_local(local)
        && is_host(host)
    {
        return 0..value.len();
    }
    match (value.find("://"), host_of(value)) {
        (Some(scheme), Some(host)) => scheme + 3..scheme + 3 + host.len(),
        _ => 0..0,
    }
}

/// Returns a number of JSON in the form that equal numbers share: exact, however many digits it has.
pub(crate) fn decimal(text: &str) -> Option<String> {
    let is_number = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    let document = is_number.then(|| Json::read(text, &CAPS).ok()).flatten()?;
    (document.kind(Document::ROOT) == Kind::Number).then(|| canonical(&document, Document::ROOT))
}

/// Returns the number that a whole text is, without white space and quotes around it.
pub(crate) fn whole_number(text: &str) -> Option<String> {
    let text = bare(text);
    let found = numbers(text).into_iter().next();
    found.filter(|(_, place)| *place == (0..text.len())).map(|(number, _)| number)
}

/// Returns all numbers that stand in a text by themselves, with their places: as JSON writes numbers, or with commas
/// between groups of three digits. `1,000` alone is none, because it is one for some readers and a thousand for others.
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
        if starts_number(&text[..start])
            && ends_number(&text[end..])
            && let Some(number) = read_number(&text[start..end])
        {
            found.push((number, start..end));
        }
    }
    found
}

/// Returns where a run of what numbers are written with ends.
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

fn starts_number(before: &str) -> bool {
    begins(before.strip_suffix(CURRENCIES).unwrap_or(before), true)
}

fn ends_number(after: &str) -> bool {
    match after.strip_prefix(CURRENCIES) {
        Some(after) => ends(after, false),
        None => ends(after, true),
    }
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
        ] {
            assert_eq!(is_word_of(word, text), is, "{word:?} in {text:?}");
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
        ] {
            let word = Word::of(value).expect("a word");
            assert_eq!(word.find(text).is_some(), is, "{value:?} in {text:?}");
        }
        for nothing in ["", "  ", "\"\"", " '` \n"] {
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
            ("a,5 1,5 5,a", &["5", "5"]),
        ] {
            let found: Vec<String> = numbers(text).into_iter().map(|(number, _)| number).collect();
            let expected: Vec<String> = expected.iter().filter_map(|number| decimal(number)).collect();
            assert_eq!(found, expected, "{text:?}");
        }
        assert_eq!(whole_number(" '50.0' "), decimal("50"));
        assert_eq!(whole_number("50 EUR"), None);
    }
}
