//! Converts numerals of other scripts to ASCII digits, so that a figure is the same however it is written.

/// The zeros of the decimal digits of Unicode 17.0. Nine more digits follow each.
const ZEROS: [u32; 76] = [
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0, 0xf20,
    0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0,
    0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10, 0x104a0, 0x10d30, 0x10d40, 0x11066, 0x110f0, 0x11136, 0x111d0,
    0x112f0, 0x11450, 0x114d0, 0x11650, 0x116c0, 0x116d0, 0x116da, 0x11730, 0x118e0, 0x11950, 0x11bf0, 0x11c50,
    0x11d50, 0x11da0, 0x11de0, 0x11f50, 0x16130, 0x16a60, 0x16ac0, 0x16b50, 0x16d70, 0x1ccf0, 0x1d7ce, 0x1d7d8,
    0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e4f0, 0x1e5f1, 0x1e950, 0x1fbf0,
];

/// Numbers that are single characters: the first character of a run, the length of the run, and the value of the first
/// character.
const RUNS: [(u32, u32, u32); 23] = [
    (0x2460, 20, 1),
    (0x2474, 20, 1),
    (0x2488, 20, 1),
    (0x24ea, 1, 0),
    (0x24eb, 10, 11),
    (0x24f5, 10, 1),
    (0x24ff, 1, 0),
    (0x2776, 10, 1),
    (0x2780, 10, 1),
    (0x278a, 10, 1),
    (0x3021, 9, 1),
    (0x3220, 10, 1),
    (0x3251, 15, 21),
    (0x3280, 10, 1),
    (0x32b1, 15, 36),
    (0x2160, 12, 1),
    (0x2170, 12, 1),
    (0x1f100, 1, 0),
    (0x1f101, 10, 0),
    (0x1f10b, 1, 0),
    (0x1f10c, 1, 0),
    (0x2070, 1, 0),
    (0x2074, 6, 4),
];

/// Returns the value of a superscript or subscript digit. After a letter, such a digit belongs to a unit or formula.
fn small_digit(character: char) -> Option<u32> {
    match character {
        '\u{b2}' | '\u{b3}' => Some(u32::from(character) - 0xb0),
        '\u{b9}' => Some(1),
        '\u{2070}' => Some(0),
        '\u{2074}'..='\u{2079}' => Some(u32::from(character) - 0x2070),
        '\u{2080}'..='\u{2089}' => Some(u32::from(character) - 0x2080),
        _ => None,
    }
}

/// Returns the numerator and denominator of a fraction character.
fn fraction(character: char) -> Option<(u8, u8)> {
    const EIGHTHS_ON: [(u8, u8); 15] = [
        (1, 7),
        (1, 9),
        (1, 10),
        (1, 3),
        (2, 3),
        (1, 5),
        (2, 5),
        (3, 5),
        (4, 5),
        (1, 6),
        (5, 6),
        (1, 8),
        (3, 8),
        (5, 8),
        (7, 8),
    ];
    match character {
        '\u{bc}' => Some((1, 4)),
        '\u{bd}' => Some((1, 2)),
        '\u{be}' => Some((3, 4)),
        '\u{2150}'..='\u{215e}' => Some(EIGHTHS_ON[character as usize - 0x2150]),
        '\u{2189}' => Some((0, 3)),
        _ => None,
    }
}

/// Returns the value of a Chinese numeral, and whether it multiplies.
fn ideograph(character: char) -> Option<(u64, bool)> {
    const DIGITS: [char; 10] = ['〇', '一', '二', '三', '四', '五', '六', '七', '八', '九'];
    let digit = DIGITS.iter().position(|digit| *digit == character).map(|value| (value as u64, false));
    digit.or(match character {
        '零' => Some((0, false)),
        '两' | '兩' => Some((2, false)),
        '十' => Some((10, true)),
        '百' => Some((100, true)),
        '千' => Some((1_000, true)),
        '万' | '萬' => Some((10_000, true)),
        '亿' | '億' => Some((100_000_000, true)),
        _ => None,
    })
}

/// Parses a number of at least two Chinese numerals at the beginning of a text. Returns its value and its length.
fn ideographs(text: &str) -> Option<(u64, usize)> {
    let length: usize = text.chars().map_while(|c| ideograph(c).map(|_| c.len_utf8())).sum();
    let run = &text[..length];
    let mut values = run.chars().filter_map(ideograph);
    // A text that begins with a large unit is usually an ordinary word.
    let first = values.next().filter(|(value, is_unit)| !is_unit || *value == 10)?;
    let is_positional = !first.1 && values.clone().all(|(_, is_unit)| !is_unit);
    values.clone().next()?;
    let (mut total, mut section, mut digit) = (0_u64, 0_u64, 0_u64);
    for (value, is_unit) in std::iter::once(first).chain(values) {
        match value {
            _ if is_positional => total = total.saturating_mul(10).saturating_add(value),
            _ if !is_unit => digit = value,
            10_000.. => {
                total = total.saturating_add((section + digit).max(1)).saturating_mul(value);
                (section, digit) = (0, 0);
            }
            _ => (section, digit) = (section.saturating_add(digit.max(1) * value), 0),
        }
    }
    Some((total.saturating_add(section).saturating_add(digit), length))
}

/// Returns the digit, sign or number that one character stands for.
fn value(character: char) -> Option<u32> {
    let code = u32::from(character);
    let next = ZEROS.partition_point(|zero| *zero <= code);
    let zero = next.checked_sub(1).map(|at| ZEROS[at]).filter(|zero| code - zero < 10);
    let run = || RUNS.iter().find(|(first, count, _)| (*first..first + count).contains(&code));
    zero.map(|zero| code - zero).or_else(|| run().map(|(first, _, value)| value + code - first))
}

/// A text whose numerals are replaced by ASCII.
pub(super) struct Folded {
    pub(super) text: String,
    /// Pairs of a position in the replaced text and the position in the original text, in ascending order. There is a
    /// pair before and after each replaced character.
    places: Vec<(usize, usize)>,
}

impl Folded {
    /// Replaces the numerals of a text. `None` if there is nothing to replace.
    pub(super) fn new(text: &str) -> Option<Self> {
        if text.is_ascii() {
            return None;
        }
        let mut folded = Folded { text: String::new(), places: Vec::new() };
        let (mut from, mut skip) = (0, 0);
        for (at, character) in text.char_indices() {
            if character.is_ascii() || at < skip {
                continue;
            }
            let before = text[..at].chars().next_back();
            let folded_before = if at == from { folded.text.chars().next_back() } else { before };
            let is_after_digit = folded_before.is_some_and(char::is_numeric);
            let Some((written, length)) = written(&text[at..], character, before, is_after_digit) else { continue };
            folded.text.push_str(&text[from..at]);
            folded.places.push((folded.text.len(), at));
            folded.text.push_str(&written);
            (from, skip) = (at + length, at + length);
            folded.places.push((folded.text.len(), from));
        }
        folded.text.push_str(&text[from..]);
        (from > 0).then_some(folded)
    }

    /// Converts a position to the position in the original text.
    pub(super) fn place(&self, at: usize) -> usize {
        let next = self.places.partition_point(|(folded, _)| *folded <= at);
        let Some((folded, given)) = next.checked_sub(1).map(|last| self.places[last]) else { return at };
        // A position inside a replaced character maps to its beginning.
        if next % 2 == 1 { given } else { given + (at - folded) }
    }
}

/// Returns the replacement for the first character of a text, and the number of bytes that it replaces.
fn written(text: &str, character: char, before: Option<char>, is_after_digit: bool) -> Option<(String, usize)> {
    let length = character.len_utf8();
    // Hidden characters and enclosing marks do not separate digits.
    if is_after_digit && (crate::is_hidden(character) || character == '\u{20e3}') {
        return Some((String::new(), length));
    }
    let sign = match character {
        '\u{66b}' | '．' if is_after_digit => ".",
        '\u{66c}' | '，' if is_after_digit => ",",
        '：' if is_after_digit => ":",
        '\u{66a}' | '％' => "%",
        '＄' => "$",
        _ => "",
    };
    if !sign.is_empty() {
        return Some((sign.to_owned(), length));
    }
    if let Some((number, length)) = ideographs(text) {
        return Some((format!(" {number} "), length));
    }
    if !character.is_numeric() {
        return None;
    }
    if let Some((of, parts)) = fraction(character) {
        let is_decimal = is_after_digit && 1_000 % u32::from(parts) == 0;
        let thousandths = u32::from(of) * 1_000 / u32::from(parts);
        return Some((if is_decimal { format!(".{thousandths:03}") } else { format!(" {of}⁄{parts} ") }, length));
    }
    if let Some(digit) = small_digit(character) {
        let is_more = text[length..].chars().next().is_some_and(|next| small_digit(next).is_some());
        return match before {
            Some(before) if before.is_alphabetic() && !is_more => None,
            // The exponent of a number.
            Some(before) if before.is_numeric() && small_digit(before).is_none() => Some((format!(" {digit}"), length)),
            _ => Some((digit.to_string(), length)),
        };
    }
    match value(character) {
        Some(value) => Some((value.to_string(), length)),
        // A number that is too large equals only a number written in the same way.
        None => Some((format!(" u{:x} ", u32::from(character)), length)),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::figures::figures, *};

    #[test]
    fn numerals_become_digits() {
        for (text, folded) in [
            ("９９，９９９", "99,999"),
            ("٩٩٬٩٩٩٫٥٪", "99,999.5%"),
            ("𝟗𝟗 ९९ ⑨⑨ ⓿ ⑳ Ⅻ 🄈", "99 99 99 0 20 12 7"),
            ("2½ and ¾", "2.500 and  3⁄4 "),
            ("10⁵ m² CO₂ ⁹⁹", "10 5 m² CO₂ 99"),
            ("九十九 二〇二六 三百万零五 万一 一个", " 99   2026   3000005  万一 一个"),
            ("9\u{200b}9 9\u{fe0f}\u{20e3}9\u{fe0f}\u{20e3}", "99 99"),
            ("፱", " u1371 "),
        ] {
            let found = Folded::new(text).expect(text);
            assert_eq!(found.text, folded);
            for at in 0..=found.text.len() {
                assert!(text.is_char_boundary(found.place(at)) || found.text.as_bytes()[at] >= 0x80, "{text} {at}");
            }
        }
        assert!(Folded::new("m² größer – “x” 忽略").is_none());
    }

    /// Returns whether evidence has all figures of a claim.
    fn supports(evidence: &str, claim: &str) -> bool {
        let mut offered = Vec::new();
        figures(evidence, &mut |figure| figure.offers(&mut |key| offered.push(key.to_owned())));
        let mut is_supported = true;
        figures(claim, &mut |figure| {
            assert!(claim.get(figure.start..figure.end).is_some(), "{claim}");
            let mut has = false;
            figure.needs(&mut |key| has |= offered.iter().any(|other| other == key));
            is_supported &= has;
        });
        is_supported
    }

    #[test]
    fn a_figure_is_the_same_in_all_digits() {
        for digits in [
            "12481",
            "１２４８１",
            "１２，４８１",
            "١٢٤٨١",
            "١٢٬٤٨١",
            "𝟏𝟐𝟒𝟖𝟏",
            "१२४८१",
            "①②④⑧①",
            "¹²⁴⁸¹",
            "一万二千四百八十一",
        ] {
            let claim = format!("There were {digits} errors.");
            assert!(supports("errors: 12,481 of 50,000", &claim), "{claim}");
            assert!(supports(&claim, "12481 errors"), "{claim}");
            assert!(!supports("errors: 12,482 of 50,000", &claim), "{claim}");
        }
    }

    #[test]
    fn fractions_are_figures() {
        for claim in [
            "¾ of all failed",
            "3⁄4 of all failed",
            "Three quarters of all failed",
            "three-quarters of them",
            "Half of all",
            "half the requests",
            "A third of all failed",
            "two thirds of them",
            "2½ times",
            "⅞ failed",
            "one tenth of all",
            "half a second",
            "፱ errors",
            "Ⅸ errors",
        ] {
            assert!(!supports("errors: 12,481 of 50,000", claim), "{claim}");
            assert!(supports(claim, claim), "{claim}");
        }
        for (evidence, claim) in [
            ("75%", "¾ of all failed"),
            ("ratio 0.75", "three quarters of them"),
            ("50 % failed", "half of all"),
            ("66.7%", "two thirds of all"),
            ("0.33", "a third of all"),
            ("2.5 times", "2½ times"),
            ("500 ms", "half a second"),
            ("30 min", "half an hour"),
        ] {
            assert!(supports(evidence, claim), "{evidence}: {claim}");
        }
        for claim in
            ["the second half of the day", "half-open", "the third attempt", "in the last quarter", "万一", "m²"]
        {
            assert!(supports("", claim), "{claim}");
        }
    }

    #[test]
    fn each_numeral_is_folded() {
        for character in ('\u{80}'..=char::MAX).filter(|character| character.is_numeric()) {
            let text = format!("a {character}");
            assert!(
                Folded::new(&text).is_some_and(|folded| folded.text.contains(|c: char| c.is_ascii_digit())),
                "{text}"
            );
        }
        for zero in ZEROS.map(|zero| char::from_u32(zero).expect("a character")) {
            assert!(zero.is_numeric(), "{zero}");
        }
    }
}
