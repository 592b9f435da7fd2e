//! Checks `format` and the keywords about the content of a string.

use std::net::{Ipv4Addr, Ipv6Addr};

use data_encoding::{BASE32, BASE32HEX, BASE64, BASE64URL, HEXUPPER_PERMISSIVE};
use icu_properties::{
    CodePointMapData,
    props::{BidiClass, JoiningType},
};
use referencing::{Draft, Iri, IriRef, Uri, UriRef};
use unicode_general_category::{GeneralCategory, get_general_category};

use crate::misspelling::nearest;

/// An asserted format.
#[derive(Clone)]
pub(super) struct Format {
    pub(super) name: &'static str,
    /// The form of a string in this format. Not an example, because a model might copy an example as the value.
    pub(super) form: &'static str,
    pub(super) is_valid: fn(&str) -> bool,
}

/// The name of a format, its form, and its check.
type Known = (&'static str, &'static str, fn(&str) -> bool);

/// The formats that every draft asserts, even if a later draft introduced the name.
const KNOWN: &[Known] = &[
    ("date", "a day of the calendar written YYYY-MM-DD", date),
    ("date-time", "written YYYY-MM-DDThh:mm:ssZ, or with an offset such as +01:00 instead of Z", date_time),
    ("duration", "written PnYnMnDTnHnMnS, where parts may be left out, or PnW", duration),
    ("email", "a name, '@' and a domain", email),
    ("hostname", "labels of letters, digits and hyphens with dots between", hostname),
    ("idn-email", "a name, '@' and a domain, in any script", idn_email),
    ("idn-hostname", "labels of letters of any script, digits and hyphens with dots between", idn_hostname),
    ("ipv4", "four numbers from 0 to 255 with dots between", |text| text.parse::<Ipv4Addr>().is_ok()),
    (
        "ipv6",
        "eight groups of hexadecimal digits with colons between, '::' standing once for groups of zeros",
        |text| text.parse::<Ipv6Addr>().is_ok(),
    ),
    ("iri", "a scheme such as 'https:' and what follows it, with spaces as %20", |text| Iri::parse(text).is_ok()),
    ("iri-reference", "an IRI or a part of one, with spaces as %20", |text| IriRef::parse(text).is_ok()),
    ("json-pointer", "empty, or steps that each begin with '/' and have ~0 for '~' and ~1 for '/'", json_pointer),
    ("regex", "a regular expression of ECMA-262", super::pattern::is_pattern),
    ("relative-json-pointer", "a whole number, then a JSON Pointer or '#'", relative_json_pointer),
    ("time", "written hh:mm:ssZ, or with an offset such as +01:00 instead of Z", time),
    ("uri", "a scheme such as 'https:' and what follows it, all ASCII, with spaces as %20", |text| {
        Uri::parse(text).is_ok()
    }),
    ("uri-reference", "a URI or a part of one, all ASCII, with spaces as %20", |text| UriRef::parse(text).is_ok()),
    ("uri-template", "a URI, where expressions such as {id} stand for values", uri_template),
    ("uuid", "groups of 8, 4, 4, 4 and 12 hexadecimal digits with hyphens between", uuid),
];

/// Names that other tools use for formats. Misspellings are handled separately.
const MEANT: [(&str, &str); 8] = [
    ("domain", "hostname"),
    ("ip", "ipv4"),
    ("ip-address", "ipv4"),
    ("iso-date-time", "date-time"),
    ("iso-time", "time"),
    ("iso8601", "date-time"),
    ("link", "uri"),
    ("timestamp", "date-time"),
];

impl Format {
    /// Returns the asserted format with this name. Other names are annotations.
    pub(super) fn named(name: &str, draft: Draft) -> Option<Self> {
        let (name, form, is_valid) = *KNOWN.iter().find(|(known, ..)| *known == name)?;
        // Before draft 7, the format follows RFC 1034, which does not know `xn--`.
        let is_plain = name == "hostname" && draft != Draft::Unknown && draft < Draft::Draft7;
        Some(Format { name, form, is_valid: if is_plain { plain_hostname } else { is_valid } })
    }
}

/// Returns whether this is the name of an asserted format.
pub(crate) fn is_format(name: &str) -> bool {
    KNOWN.iter().any(|(known, ..)| *known == name)
}

/// Returns the format that was probably meant by an unknown name.
pub(crate) fn meant_format(name: &str) -> Option<&'static str> {
    let meant = MEANT.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, meant)| *meant);
    meant.or_else(|| nearest(name, KNOWN.iter().map(|(known, ..)| *known)))
}

/// Reads bytes from the front.
struct Bytes<'t>(&'t [u8]);

impl Bytes<'_> {
    /// Consumes the next byte if it equals `byte`.
    fn take(&mut self, byte: u8) -> bool {
        let is = self.0.first() == Some(&byte);
        self.0 = &self.0[usize::from(is)..];
        is
    }

    /// Consumes all bytes of a kind, and returns their number.
    fn take_while(&mut self, is: impl Fn(u8) -> bool) -> usize {
        let count = self.0.iter().take_while(|byte| is(**byte)).count();
        self.0 = &self.0[count..];
        count
    }

    /// Parses a number with exactly this many digits.
    fn number(&mut self, digits: usize) -> Option<u32> {
        let (number, rest) = self.0.split_at_checked(digits)?;
        self.0 = rest;
        number.iter().try_fold(0, |value, byte| byte.is_ascii_digit().then(|| value * 10 + u32::from(byte - b'0')))
    }
}

/// Returns whether `take` succeeds and consumes the whole text.
fn whole(text: &str, take: impl FnOnce(&mut Bytes) -> Option<()>) -> bool {
    let mut bytes = Bytes(text.as_bytes());
    take(&mut bytes).is_some() && bytes.0.is_empty()
}

/// Checks `full-date` of RFC 3339.
fn date(text: &str) -> bool {
    whole(text, take_date)
}

fn take_date(bytes: &mut Bytes) -> Option<()> {
    let year = bytes.number(4)?;
    let month = bytes.take(b'-').then(|| bytes.number(2))??;
    let day = bytes.take(b'-').then(|| bytes.number(2))??;
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        _ => 0,
    };
    (1..=days).contains(&day).then_some(())
}

/// Checks `full-time` of RFC 3339.
fn time(text: &str) -> bool {
    whole(text, take_time)
}

fn take_time(bytes: &mut Bytes) -> Option<()> {
    let hour = bytes.number(2)?;
    let minute = bytes.take(b':').then(|| bytes.number(2))??;
    let second = bytes.take(b':').then(|| bytes.number(2))??;
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    if bytes.take(b'.') && bytes.take_while(|byte| byte.is_ascii_digit()) == 0 {
        return None;
    }
    let offset = if bytes.take(b'Z') || bytes.take(b'z') {
        0
    } else {
        let east = bytes.take(b'+');
        if !east && !bytes.take(b'-') {
            return None;
        }
        let hours = bytes.number(2)?;
        let minutes = bytes.take(b':').then(|| bytes.number(2))??;
        if hours > 23 || minutes > 59 {
            return None;
        }
        let offset = (hours * 60 + minutes) as i32;
        if east { offset } else { -offset }
    };
    // A leap second is the last second of a day, in UTC.
    let utc = (hour * 60 + minute) as i32 - offset;
    (second < 60 || utc.rem_euclid(24 * 60) == 23 * 60 + 59).then_some(())
}

/// Checks `date-time` of RFC 3339.
pub(super) fn date_time(text: &str) -> bool {
    whole(text, |bytes| {
        take_date(bytes)?;
        (bytes.take(b'T') || bytes.take(b't')).then(|| take_time(bytes))?
    })
}

/// Checks a duration (RFC 3339, appendix A): units follow each other without a gap, and weeks stand alone.
fn duration(text: &str) -> bool {
    let mut bytes = Bytes(text.as_bytes());
    if !bytes.take(b'P') {
        return false;
    }
    let mut weeks = Bytes(bytes.0);
    if weeks.take_while(|byte| byte.is_ascii_digit()) > 0 && weeks.take(b'W') {
        return weeks.0.is_empty();
    }
    // `None` if the text contains anything but these units in this order.
    let units = |bytes: &mut Bytes, units: &[u8]| -> Option<usize> {
        let mut taken = 0;
        let mut next = None;
        while bytes.0.first().is_some_and(u8::is_ascii_digit) {
            bytes.take_while(|byte| byte.is_ascii_digit());
            let unit = units.iter().position(|unit| bytes.take(*unit))?;
            if next.is_some_and(|next| unit != next) {
                return None;
            }
            next = Some(unit + 1);
            taken += 1;
        }
        Some(taken)
    };
    let Some(days) = units(&mut bytes, b"YMD") else {
        return false;
    };
    if bytes.take(b'T') {
        units(&mut bytes, b"HMS").is_some_and(|taken| taken > 0) && bytes.0.is_empty()
    } else {
        days > 0 && bytes.0.is_empty()
    }
}

/// Checks `Mailbox` of RFC 5321.
fn email(text: &str) -> bool {
    text.is_ascii() && mailbox(text, hostname)
}

/// Checks a mailbox with characters of all languages (RFC 6531, section 3.3).
fn idn_email(text: &str) -> bool {
    mailbox(text, idn_hostname)
}

/// The longest local part, in bytes (RFC 5321, section 4.5.3.1.1).
const MAX_LOCAL_PART: usize = 64;

/// Checks a mailbox. Its domain must be an address, or a host that `is_host` accepts.
fn mailbox(text: &str, is_host: fn(&str) -> bool) -> bool {
    let is_local = |local: &str| local.len() <= MAX_LOCAL_PART;
    let domain = match text.strip_prefix('"') {
        Some(quoted) => after_quoted(quoted).filter(|rest| is_local(&text[..text.len() - rest.len()])),
        None => text.find('@').map(|at| &text[at..]).filter(|rest| {
            let local = &text[..text.len() - rest.len()];
            is_local(local) && local.split('.').all(|atom| !atom.is_empty() && atom.chars().all(is_of_atom))
        }),
    };
    let Some(domain) = domain.and_then(|rest| rest.strip_prefix('@')) else {
        return false;
    };
    match domain.strip_prefix('[').and_then(|domain| domain.strip_suffix(']')) {
        None => is_host(domain),
        Some(literal) => match literal.split_at_checked(5) {
            Some((tag, address)) if tag.eq_ignore_ascii_case("IPv6:") => address.parse::<Ipv6Addr>().is_ok(),
            _ => literal.parse::<Ipv4Addr>().is_ok(),
        },
    }
}

/// Returns whether a character is an `atext` (RFC 5322) or `UTF8-non-ascii` (RFC 6531).
fn is_of_atom(character: char) -> bool {
    !character.is_ascii() || character.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(character)
}

/// Returns the text after a quoted string (RFC 5321, `Quoted-string`) whose first quote was consumed.
fn after_quoted(text: &str) -> Option<&str> {
    let mut characters = text.chars();
    loop {
        match characters.next()? {
            '"' => return Some(characters.as_str()),
            '\\' => drop(characters.next().filter(|escaped| matches!(escaped, ' '..='~'))?),
            character if character.is_ascii_control() => return None,
            _ => {}
        }
    }
}

/// The maximum length of a host name without the trailing dot of the root (RFC 1035, section 2.3.4).
const MAX_HOSTNAME: usize = 253;

/// Checks a host name (RFC 1123, section 2.1).
fn plain_hostname(text: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.len() <= MAX_HOSTNAME && text.split('.').all(label)
}

/// Checks a host name. Its encoded labels must decode to valid labels (RFC 5890, section 2.3).
fn hostname(text: &str) -> bool {
    let is_unicode = |decoded: Option<String>| decoded.is_none_or(|label| is_unicode_label(&label));
    plain_hostname(text)
        && text.split('.').all(|label| decoded(label).is_some_and(is_unicode))
        && is_bidi(text.split('.').map(|label| decoded(label).flatten().unwrap_or_else(|| label.to_owned())))
}

/// Decodes an ASCII label. `Some(None)` if the label is not encoded. `None` if it is reserved or malformed.
fn decoded(label: &str) -> Option<Option<String>> {
    match label.split_at_checked(4) {
        Some(("xn--", encoded)) => idna::punycode::decode_to_string(encoded).map(Some),
        Some((prefix, _)) if prefix.ends_with("--") => None,
        _ => Some(None),
    }
}

/// Checks the Bidi rule (RFC 5893, section 2): if any label has right-to-left characters, the direction of each label
/// must not depend on its surroundings.
fn is_bidi(labels: impl Iterator<Item = String>) -> bool {
    type Class = BidiClass;
    let class = |character| CodePointMapData::<BidiClass>::new().get(character);
    let labels: Vec<Vec<BidiClass>> =
        labels.filter(|label| !label.is_empty()).map(|label| label.chars().map(class).collect()).collect();
    let is_rtl = |class: &Class| matches!(*class, Class::RightToLeft | Class::ArabicLetter | Class::ArabicNumber);
    if !labels.iter().flatten().any(is_rtl) {
        return true;
    }
    let is_neutral = |class: Class| {
        matches!(
            class,
            Class::EuropeanNumber
                | Class::EuropeanSeparator
                | Class::CommonSeparator
                | Class::EuropeanTerminator
                | Class::OtherNeutral
                | Class::BoundaryNeutral
                | Class::NonspacingMark
        )
    };
    labels.iter().all(|classes| {
        let last = classes.iter().copied().rfind(|class| *class != Class::NonspacingMark);
        let has = |class| classes.contains(&class);
        match classes[0] {
            Class::RightToLeft | Class::ArabicLetter => {
                classes.iter().all(|class| is_rtl(class) || is_neutral(*class))
                    && last.is_some_and(|class| is_rtl(&class) || class == Class::EuropeanNumber)
                    && !(has(Class::EuropeanNumber) && has(Class::ArabicNumber))
            }
            Class::LeftToRight => {
                classes.iter().all(|class| *class == Class::LeftToRight || is_neutral(*class))
                    && matches!(last, Some(Class::LeftToRight | Class::EuropeanNumber))
            }
            _ => false,
        }
    })
}

/// Checks an internationalized host name (RFC 5890, section 2.3.2.3). Its labels may be encoded or written in Unicode.
fn idn_hostname(text: &str) -> bool {
    // The encoded form has at least as many characters. Checks this first, because the cost of encoding grows with the
    // square of the length.
    if text.chars().count() > MAX_HOSTNAME {
        return false;
    }
    // All of these are dots (RFC 3490, section 3.1).
    let labels: Vec<&str> = text.split(['.', '\u{3002}', '\u{ff0e}', '\u{ff61}']).collect();
    let encoded = |label: &&str| match label.is_ascii() {
        true => Some(label.len()).filter(|_| hostname(label)),
        false => {
            let has_hyphens =
                label.starts_with('-') || label.ends_with('-') || label.chars().skip(2).take(2).eq("--".chars());
            let encoded = idna::punycode::encode_str(label).filter(|_| !has_hyphens && is_unicode_label(label))?;
            Some("xn--".len() + encoded.len()).filter(|length| *length <= 63)
        }
    };
    let lengths: Option<Vec<usize>> = labels.iter().map(encoded).collect();
    lengths.is_some_and(|lengths| lengths.iter().sum::<usize>() + lengths.len() - 1 <= MAX_HOSTNAME)
        && is_bidi(labels.iter().map(|label| decoded(label).flatten().unwrap_or_else(|| (*label).to_owned())))
}

/// Checks a label by RFC 5892. Omits normalization and the tables of exceptions for obsolete scripts.
fn is_unicode_label(label: &str) -> bool {
    use GeneralCategory as Category;
    let characters: Vec<char> = label.chars().collect();
    let category = |character: char| get_general_category(character);
    let is_mark = |character: char| {
        matches!(category(character), Category::SpacingMark | Category::NonspacingMark | Category::EnclosingMark)
    };
    let any = |range: std::ops::RangeInclusive<char>| characters.iter().any(|character| range.contains(character));
    let allowed = |(index, &character): (usize, &char)| {
        let before = index.checked_sub(1).map(|index| characters[index]);
        let after = characters.get(index + 1).copied();
        match character {
            // Contextual rules, appendix A.
            '\u{200d}' => before.is_some_and(is_virama),
            '\u{200c}' => before.is_some_and(is_virama) || is_between_joining(&characters, index),
            '\u{6fd}' | '\u{6fe}' | '\u{f0b}' | '\u{3007}' => true,
            '\u{b7}' => before == Some('l') && after == Some('l'),
            '\u{375}' => after.is_some_and(|after| matches!(after, '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}')),
            '\u{5f3}' | '\u{5f4}' => before.is_some_and(|before| ('\u{590}'..='\u{5ff}').contains(&before)),
            '\u{30fb}' => characters.iter().any(is_kana_or_han),
            // Disallowed by sections 2.6, 2.7 and 2.9: exceptions, ignorable characters, old Hangul.
            '\u{34f}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{3164}' | '\u{ffa0}' => false,
            '\u{fe00}'..='\u{fe0f}'
            | '\u{e0100}'..='\u{e01ef}'
            | '\u{20d0}'..='\u{20ff}'
            | '\u{1d100}'..='\u{1d24f}' => false,
            '\u{1100}'..='\u{11ff}' | '\u{a960}'..='\u{a97f}' | '\u{d7b0}'..='\u{d7ff}' => false,
            '\u{640}' | '\u{7fa}' | '\u{302e}' | '\u{302f}' | '\u{3031}'..='\u{3035}' | '\u{303b}' => false,
            character if character.is_ascii() => character.is_ascii_alphanumeric() || character == '-',
            character => matches!(
                category(character),
                Category::UppercaseLetter
                    | Category::LowercaseLetter
                    | Category::TitlecaseLetter
                    | Category::ModifierLetter
                    | Category::OtherLetter
                    | Category::NonspacingMark
                    | Category::SpacingMark
                    | Category::DecimalNumber
            ),
        }
    };
    !characters.first().copied().is_some_and(is_mark)
        && characters.iter().enumerate().all(allowed)
        && !(any('\u{660}'..='\u{669}') && any('\u{6f0}'..='\u{6f9}'))
}

/// Returns whether the non-joiner at an index separates letters that would be joined (RFC 5892, appendix A.1).
fn is_between_joining(characters: &[char], index: usize) -> bool {
    let joining = |character: &char| CodePointMapData::<JoiningType>::new().get(*character);
    let (before, after) = (&characters[..index], &characters[index + 1..]);
    let is_seen = |joining: &JoiningType| *joining != JoiningType::Transparent;
    let left = before.iter().rev().map(joining).find(is_seen);
    let right = after.iter().map(joining).find(is_seen);
    matches!(left, Some(JoiningType::LeftJoining | JoiningType::DualJoining))
        && matches!(right, Some(JoiningType::RightJoining | JoiningType::DualJoining))
}

/// Returns whether a character belongs to Hiragana, Katakana or Han.
fn is_kana_or_han(character: &char) -> bool {
    matches!(
        character,
        '\u{3005}' | '\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3041}'..='\u{3096}' | '\u{309d}'..='\u{309f}'
        | '\u{30a1}'..='\u{30fa}' | '\u{30fd}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}'
    )
}

/// Returns whether a character's canonical combining class is that of a virama.
fn is_virama(character: char) -> bool {
    const BELOW_10000: [u16; 33] = [
        0x94d, 0x9cd, 0xa4d, 0xacd, 0xb4d, 0xbcd, 0xc4d, 0xccd, 0xd3b, 0xd3c, 0xd4d, 0xdca, 0xe3a, 0xeba, 0xf84,
        0x1039, 0x103a, 0x1714, 0x1715, 0x1734, 0x17d2, 0x1a60, 0x1b44, 0x1baa, 0x1bab, 0x1bf2, 0x1bf3, 0x2d7f, 0xa806,
        0xa82c, 0xa8c4, 0xa953, 0xabed,
    ];
    const ABOVE: [u32; 26] = [
        0x10a3f, 0x11046, 0x11070, 0x1107f, 0x110b9, 0x11133, 0x11134, 0x111c0, 0x11235, 0x112ea, 0x1134d, 0x11442,
        0x114c2, 0x115bf, 0x1163f, 0x116b6, 0x1172b, 0x11839, 0x1193d, 0x1193e, 0x119e0, 0x11a34, 0x11a47, 0x11a99,
        0x11c3f, 0x11d45,
    ];
    match u16::try_from(u32::from(character)) {
        Ok(code) => BELOW_10000.contains(&code),
        Err(_) => ABOVE.contains(&u32::from(character)),
    }
}

/// Checks a JSON Pointer (RFC 6901).
fn json_pointer(text: &str) -> bool {
    let mut steps = text.split('/');
    steps.next() == Some("") && text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']))
}

/// Checks a relative JSON Pointer (draft-handrews-relative-json-pointer-01).
fn relative_json_pointer(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(digits);
    !number.is_empty() && (number == "0" || !number.starts_with('0')) && (rest == "#" || json_pointer(rest))
}

/// Checks a URI template (RFC 6570, section 2).
fn uri_template(text: &str) -> bool {
    let percent = |bytes: &mut Bytes| bytes.number_of_hex(2);
    let mut bytes = Bytes(text.as_bytes());
    while let Some(&byte) = bytes.0.first() {
        bytes.0 = &bytes.0[1..];
        let taken = match byte {
            b'{' => expression(&mut bytes),
            b'%' => percent(&mut bytes),
            0..=0x20 | b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'|' | b'}' | 0x7f => false,
            _ => true,
        };
        if !taken {
            return false;
        }
    }
    true
}

impl Bytes<'_> {
    fn number_of_hex(&mut self, digits: usize) -> bool {
        let is = self.0.len() >= digits && self.0[..digits].iter().all(u8::is_ascii_hexdigit);
        self.0 = &self.0[if is { digits } else { 0 }..];
        is
    }
}

/// Consumes an expression from after its opening brace to its closing one.
fn expression(bytes: &mut Bytes) -> bool {
    if let Some(b'+' | b'#' | b'.' | b'/' | b';' | b'?' | b'&' | b'=' | b',' | b'!' | b'@' | b'|') = bytes.0.first() {
        bytes.0 = &bytes.0[1..];
    }
    loop {
        // A name: words of letters, digits and escapes, separated by dots.
        loop {
            let mut characters = 0;
            loop {
                let plain = bytes.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                let escaped = bytes.take(b'%');
                if escaped && !bytes.number_of_hex(2) {
                    return false;
                }
                characters += plain + usize::from(escaped);
                if !escaped {
                    break;
                }
            }
            if characters == 0 {
                return false;
            }
            if !bytes.take(b'.') {
                break;
            }
        }
        if bytes.take(b':') {
            let starts_with_zero = bytes.0.first() == Some(&b'0');
            let digits = bytes.take_while(|byte| byte.is_ascii_digit());
            if starts_with_zero || !(1..=4).contains(&digits) {
                return false;
            }
        } else {
            bytes.take(b'*');
        }
        if !bytes.take(b',') {
            return bytes.take(b'}');
        }
    }
}

/// Checks a UUID (RFC 4122, section 3).
fn uuid(text: &str) -> bool {
    let mut bytes = Bytes(text.as_bytes());
    bytes.number_of_hex(8)
        && [4, 4, 4, 12].into_iter().all(|digits| bytes.take(b'-') && bytes.number_of_hex(digits))
        && bytes.0.is_empty()
}

/// `contentEncoding` and `contentMediaType`. Draft 7 allows validators to assert them.
#[derive(Clone, Default)]
pub(super) struct Content {
    pub(super) encoding: Option<&'static str>,
    pub(super) media_type: Option<&'static str>,
}

/// The keyword that a string's content violates.
pub(super) enum WrongContent {
    Encoding(&'static str),
    MediaType(&'static str),
}

impl Content {
    /// Unknown encodings (RFC 4648) and media types are annotations.
    pub(super) fn named(encoding: Option<&str>, media_type: Option<&str>) -> Self {
        let known =
            ["base64", "base64url", "base32", "base32hex", "base16"].into_iter().find(|name| Some(*name) == encoding);
        let media_type = (media_type == Some("application/json")).then_some("application/json");
        // Content in an unknown encoding cannot be decoded.
        Content { encoding: known, media_type: media_type.filter(|_| encoding.is_none() || known.is_some()) }
    }

    pub(super) fn is_any(&self) -> bool {
        self.encoding.is_none() && self.media_type.is_none()
    }

    pub(super) fn check(&self, text: &str) -> Result<(), WrongContent> {
        let decoded = match self.encoding {
            None => None,
            Some(name) => {
                let encoding = match name {
                    "base64" => BASE64,
                    "base64url" => BASE64URL,
                    "base32" => BASE32,
                    "base32hex" => BASE32HEX,
                    _ => HEXUPPER_PERMISSIVE,
                };
                // Decoders skip line breaks and other white space (RFC 2045, section 6.8).
                let is_wrapped = name == "base64" && text.bytes().any(|byte| byte.is_ascii_whitespace());
                let decoded = match is_wrapped {
                    true => encoding.decode(text.split_ascii_whitespace().collect::<String>().as_bytes()),
                    false => encoding.decode(text.as_bytes()),
                };
                Some(decoded.map_err(|_| WrongContent::Encoding(name))?)
            }
        };
        let bytes = decoded.as_deref().unwrap_or(text.as_bytes());
        match self.media_type {
            Some(name) if serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_err() => {
                Err(WrongContent::MediaType(name))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_other_tools_use_lead_to_the_format_that_is_meant() {
        for (name, meant) in [
            ("url", Some("uri")),
            ("datetime", Some("date-time")),
            ("dateTime", Some("date-time")),
            ("date_time", Some("date-time")),
            ("guid", Some("uuid")),
            ("uuid4", Some("uuid")),
            ("host-name", Some("hostname")),
            ("ip-address", Some("ipv4")),
            ("e-mail", Some("email")),
            ("regexp", Some("regex")),
            ("Timestamp", Some("date-time")),
            ("int32", None),
            ("int64", None),
            ("float", None),
            ("double", None),
            ("byte", None),
            ("binary", None),
            ("password", None),
            ("path", None),
            ("decimal", None),
            ("color", None),
            ("style", None),
            ("phone", None),
            ("enum", None),
            ("json", None),
        ] {
            assert_eq!(meant_format(name), meant, "{name}");
            assert!(!is_format(name));
        }
        assert!(MEANT.iter().all(|(name, meant)| !is_format(name) && is_format(meant)));
    }

    #[test]
    fn base64_may_be_wrapped_and_holds_nothing_else() {
        let content = Content::named(Some("base64"), None);
        for (text, is) in [
            ("aGVsbG8=", true),
            ("aGVs\r\nbG8=", true),
            ("aGVs\nbG8=\n", true),
            (" aGVs\tbG8=", true),
            ("", true),
            ("aGVs.bG8=", false),
            ("aGVs\u{a0}bG8=", false),
            ("aGVs\r\nbG8", false),
        ] {
            assert_eq!(content.check(text).is_ok(), is, "{text:?}");
        }
        assert!(Content::named(Some("base32"), None).check("MZXW\n6===").is_err());
        assert!(Content::named(Some("base64"), Some("application/json")).check("eyJh\r\nIjoxfQ==").is_ok());
    }

    #[test]
    fn date_times_are_those_of_rfc_3339() {
        for text in [
            "1985-04-12T23:20:50.52Z",
            "1996-12-19t16:39:57-08:00",
            "1990-12-31T23:59:60Z",
            "1990-12-31T15:59:60-08:00",
            "2024-02-29T00:00:00z",
        ] {
            assert!(date_time(text), "{text}");
        }
        for text in [
            "",
            "2023-02-29T00:00:00Z",
            "1985-04-12",
            "1985-04-12T23:20:50",
            "1985-04-12 23:20:50Z",
            "1990-12-31T22:59:60Z",
            "1985-04-12T24:00:00Z",
            "1985-04-12T23:20:50.Z",
            "1985-04-12T23:20:50+0100",
            "1985-13-12T23:20:50Z",
            "1985-04-12T23:20:50Zé",
            "1985-04-12T23:20:50+25:00",
        ] {
            assert!(!date_time(text), "{text}");
        }
    }
}
