//! Extracts the figures of a text: numbers with their units, dates, times, and words with digits.
//!
//! `docs/claims.md` states the rules. A claim's figure needs one of several keys, and evidence offers keys.

use crate::{
    evidence::decimal::Decimal,
    evidence::numerals::Folded,
    evidence::units::{Unit, glued_unit, month, number_word, scale, unit},
    text,
};

/// A canonical text for a figure. Figures that are equal in some way share a key. Keys are texts because the component
/// already contains code to sort and search texts.
pub(super) type Key = String;

/// A callback that receives keys one by one.
pub(super) type Each<'e> = &'e mut dyn FnMut(&str);

/// A decimal number: its digits without trailing zeros, and the exponent of the last digit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Number {
    negative: bool,
    mantissa: u128,
    exponent: i32,
}

/// The dimensions in which numbers are comparable, each with its letter in a key.
#[derive(Debug, Clone, Copy)]
enum Dimension {
    /// The number has no unit beside it, but its name may state one.
    Plain = b'n' as isize,
    /// Nothing states a unit.
    Bare = b'b' as isize,
    Percent = b'p' as isize,
    Nanoseconds = b's' as isize,
    Bytes = b'o' as isize,
    Dollars = b'$' as isize,
    Euros = b'e' as isize,
    Pounds = b'l' as isize,
    Yen = b'y' as isize,
    Ordinal = b't' as isize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Precision {
    Minute,
    Second,
    Nanosecond,
}

/// Passes the keys of a number, one for each dimension.
#[inline(never)]
fn number_keys(number: Number, dimensions: &[Dimension], each: Each) {
    let Number { negative, mantissa, exponent } = number;
    let mut key = String::with_capacity(32);
    key.push(if negative { '-' } else { '+' });
    match usize::try_from(mantissa) {
        Ok(mantissa) => text::push_number(&mut key, mantissa),
        Err(_) => key.push_str(&mantissa.to_string()),
    }
    key.push(if exponent < 0 { '-' } else { 'e' });
    text::push_number(&mut key, exponent.unsigned_abs() as usize);
    let end = key.len();
    for dimension in dimensions {
        key.truncate(end);
        key.push(char::from(*dimension as u8));
        each(&key);
    }
}

/// Passes the keys of a fraction: the fraction itself, and its decimal form. An infinite decimal is rounded to two,
/// three and four places.
fn fraction_keys(of: u64, parts: u64, each: Each) {
    each(&word_key(&format!("{of}/{parts}")));
    let has_end = 10_000 % parts == 0;
    for places in [2, 3, 4] {
        let shifted = of.saturating_mul(10_u64.pow(places));
        if !has_end || shifted % parts == 0 {
            let number = Number::new(false, (shifted.saturating_add(parts / 2) / parts).into(), -(places as i32));
            number_keys(number, &[Dimension::Plain], each);
        }
    }
}

fn word_key(word: &str) -> Key {
    let mut key = String::with_capacity(word.len() + 1);
    key.push('w');
    key.push_str(word);
    key.make_ascii_lowercase();
    key
}

fn date_key(year: u16, month: u8, day: u8) -> Key {
    format!("d{year}-{month}-{day}")
}

fn time_key(nanoseconds: u64, precision: Precision) -> Key {
    format!("c{}{nanoseconds}", precision as u8)
}

fn status_key(first: u8) -> &'static str {
    match first {
        b'1' => "x1",
        b'2' => "x2",
        b'3' => "x3",
        b'4' => "x4",
        _ => "x5",
    }
}

/// A figure and its position in the text.
#[derive(Debug, Clone)]
pub(super) struct Figure<'t> {
    pub(super) start: usize,
    pub(super) end: usize,
    value: Value<'t>,
}

#[derive(Debug, Clone)]
enum Value<'t> {
    Number {
        number: Number,
        /// The unit beside the number.
        unit: Option<Unit>,
        /// The unit at the end of the name before the number.
        named: Option<Unit>,
        /// The unit of the number after this one, if the two form a range.
        range: Option<Unit>,
        has_plus: bool,
        /// The two numbers, if the comma may be a separator between them.
        parts: Option<[Number; 2]>,
    },
    Date {
        year: u16,
        month: u8,
        day: u8,
        /// `true` if day and month can be swapped.
        swaps: bool,
    },
    Time {
        nanoseconds: u64,
        precision: Precision,
        /// The offset east of UTC, in minutes.
        offset: i32,
    },
    /// A fraction in words: `half`, `two thirds of`.
    Fraction(u64, u64),
    /// A word with digits, or digits and points that do not form a number.
    Word(&'t str),
    /// A version such as `v2` or `v2.14`. The digits may also be written without the letter.
    Version(&'t str),
    /// A percentile such as `p99`, and its number.
    Percentile(&'t str, Number),
}

const MINUTE: u64 = 60_000_000_000;
const DAY: u64 = 24 * 60 * MINUTE;

impl Number {
    fn new(negative: bool, mantissa: u128, exponent: i32) -> Self {
        let (mut mantissa, mut exponent) = (mantissa, exponent);
        if mantissa == 0 {
            return Number { negative: false, mantissa: 0, exponent: 0 };
        }
        while mantissa % 10 == 0 {
            (mantissa, exponent) = (mantissa / 10, exponent.saturating_add(1));
        }
        Number { negative, mantissa, exponent }
    }

    fn integer(value: u64) -> Self {
        Number::new(false, value.into(), 0)
    }

    /// Returns the product, or `None` if it has too many digits.
    fn times(self, factor: u64) -> Option<Self> {
        Some(Number::new(self.negative, self.mantissa.checked_mul(factor.into())?, self.exponent))
    }

    fn shifted(self, by: i32) -> Self {
        Number::new(self.negative, self.mantissa, self.exponent.saturating_add(by))
    }

    /// Returns the number with the position of its last digit in the text. `None` if the text has other digits.
    fn measure(self, text: &str, unit: Option<Unit>) -> Option<Measure> {
        let first = text.find(|character: char| character.is_ascii_digit())?;
        let is_over = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'%';
        let written = text[first..].bytes().position(|byte| is_over(&byte)).map_or(text.len(), |length| first + length);
        let mut digits = digits_of(&text.as_bytes()[first..written])?;
        let mut zeros = 0;
        while digits != 0 && digits % 10 == 0 {
            (digits, zeros) = (digits / 10, zeros + 1);
        }
        let signed = i128::try_from(self.mantissa).ok().filter(|_| digits == self.mantissa)?;
        let value = Decimal::new(if self.negative { -signed } else { signed }, self.exponent);
        Some(Measure { value, place: self.exponent.checked_sub(zeros)?, unit })
    }

    /// Returns the value if it is a small integer.
    fn small(self) -> Option<u64> {
        let exponent = u32::try_from(self.exponent).ok().filter(|exponent| *exponent < 6)?;
        let value = u64::try_from(self.mantissa).ok()?.checked_mul(10_u64.pow(exponent))?;
        (!self.negative).then_some(value)
    }
}

impl Figure<'_> {
    /// Passes the keys of the figure. A claim needs one of these.
    pub(super) fn needs(&self, each: Each) {
        match &self.value {
            Value::Number { number, unit, named, range, has_plus, parts: _ } => {
                // A fall of 3 % may be written as -3 %.
                let is_told = !number.negative && !has_plus && number.mantissa != 0;
                let fall = is_told.then_some(Number { negative: true, ..*number });
                for number in [Some(*number), fall].into_iter().flatten() {
                    match unit {
                        None | Some(Unit::Ordinal) => number_keys(number, &[Dimension::Plain], each),
                        Some(_) => number_keys(number, &[Dimension::Bare], each),
                    }
                    if *unit == Some(Unit::Percent) {
                        number_keys(number.shifted(-2), &[Dimension::Bare], each);
                    }
                    for unit in [unit, named, range].into_iter().flatten() {
                        in_units(number, *unit, each);
                    }
                }
            }
            Value::Date { year, month, day, swaps } => {
                each(&date_key(*year, *month, *day));
                if *swaps {
                    each(&date_key(*year, *day, *month));
                }
            }
            Value::Time { nanoseconds, precision, .. } => each(&time_key(*nanoseconds, *precision)),
            Value::Fraction(of, parts) => fraction_keys(*of, *parts, each),
            Value::Word(word) => {
                each(&word_key(word));
                if let [class @ b'1'..=b'5', b'x' | b'X', b'x' | b'X'] = word.as_bytes() {
                    each(status_key(*class));
                }
            }
            Value::Version(word) => {
                each(&word_key(word));
                each(&word_key(&word[1..]));
                if let Some(number) = whole_number(&word[1..]) {
                    number_keys(number, &[Dimension::Plain], each);
                }
            }
            Value::Percentile(word, number) => {
                each(&word_key(word));
                number_keys(number.shifted(-2), &[Dimension::Plain], each);
                number_keys(*number, &[Dimension::Percent, Dimension::Ordinal], each);
            }
        }
    }

    /// Passes the keys that the figure offers as evidence.
    pub(super) fn offers(&self, each: Each) {
        match &self.value {
            Value::Number { number, unit, named, range, parts, .. } => {
                const WITHOUT_UNIT: [Dimension; 2] = [Dimension::Plain, Dimension::Bare];
                match (unit, named) {
                    (None, None) => number_keys(*number, &WITHOUT_UNIT, each),
                    (None, Some(_)) => number_keys(*number, &[Dimension::Plain], each),
                    (Some(Unit::Percent), _) => number_keys(number.shifted(-2), &[Dimension::Plain], each),
                    (Some(_), _) => {}
                }
                for unit in [unit, named, range].into_iter().flatten() {
                    in_units(*number, *unit, each);
                }
                for part in parts.iter().flatten() {
                    number_keys(*part, &WITHOUT_UNIT, each);
                }
                if let Some(status) = number.small().filter(|status| (100..600).contains(status)) {
                    each(status_key(b'0' + (status / 100) as u8));
                }
            }
            Value::Date { year, month, day, swaps } => {
                for (month, day) in [(*month, *day)].into_iter().chain(swaps.then_some((*day, *month))) {
                    each(&date_key(*year, month, day));
                    each(&date_key(*year, month, 0));
                    each(&date_key(0, month, day));
                    for part in [u64::from(*year), u64::from(day)].into_iter().filter(|part| *part > 0) {
                        number_keys(Number::integer(part), &[Dimension::Plain, Dimension::Ordinal], each);
                    }
                }
            }
            Value::Time { nanoseconds, precision, offset } => {
                let east = u64::from(offset.unsigned_abs()) * MINUTE;
                let utc = if *offset < 0 { nanoseconds + east } else { nanoseconds + DAY - east } % DAY;
                for time in [*nanoseconds, utc] {
                    for (down_to, unit) in
                        [(Precision::Minute, MINUTE), (Precision::Second, 1_000_000_000), (Precision::Nanosecond, 1)]
                    {
                        if down_to <= *precision {
                            each(&time_key(time - time % unit, down_to));
                        }
                    }
                }
            }
            Value::Fraction(of, parts) => fraction_keys(*of, *parts, each),
            Value::Word(word) => offer_word(word, each),
            Value::Version(word) => {
                offer_word(word, each);
                each(&word_key(&word[1..]));
            }
            Value::Percentile(word, _) => offer_word(word, each),
        }
    }
}

/// Passes a whole word, and the parts of it that may be used on their own.
fn offer_word(word: &str, each: Each) {
    each(&word_key(word));
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let has_digit = |part: &str| part.bytes().any(|byte| byte.is_ascii_digit());
    let is_dotted_number = word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    for part in word.split('.').filter(|part| !is_dotted_number && part.len() < word.len() && has_digit(part)) {
        if !is_number(part) {
            each(&word_key(part));
        }
    }
    for part in word.split(['.', '-', '_']).filter(|part| part.len() < word.len() && has_digit(part)) {
        if !is_number(part) {
            each(&word_key(part));
        }
    }
}

/// Converts a number with a unit to the base unit of its dimension.
fn in_units(number: Number, unit: Unit, each: Each) {
    let mut scaled = |factor: u64, dimension: Dimension| {
        match number.times(factor) {
            Some(number) => number_keys(number, &[dimension], each),
            // A number with too many digits equals only a number in the same unit.
            None => number_keys(number, &[dimension], &mut |key| each(&format!("{key}*{factor}"))),
        }
    };
    match unit {
        Unit::Nanoseconds(factor) => scaled(factor, Dimension::Nanoseconds),
        Unit::Bytes { decimal, binary } => {
            scaled(decimal, Dimension::Bytes);
            if binary != decimal {
                scaled(binary, Dimension::Bytes);
            }
        }
        Unit::Percent => scaled(1, Dimension::Percent),
        Unit::Ordinal => scaled(1, Dimension::Ordinal),
        Unit::Currency(code) => {
            let currencies = [Dimension::Dollars, Dimension::Euros, Dimension::Pounds, Dimension::Yen];
            scaled(1, currencies[usize::from(code) % currencies.len()]);
        }
    }
}

/// Parses digits, with or without a decimal point, as a number.
fn whole_number(text: &str) -> Option<Number> {
    let mut scanner = Scanner::new(text);
    let (number, _) = scanner.number()?;
    (scanner.at == text.len()).then_some(number)
}

/// Visits the figures of a text in order. Takes linear time.
pub(super) fn figures(text: &str, each: &mut dyn FnMut(Figure)) {
    let folded = Folded::new(text);
    let mut scanner = Scanner::new(folded.as_ref().map_or(text, |folded| &folded.text));
    while let Some(mut figure) = scanner.next() {
        if let Some(folded) = &folded {
            figure.start = text.floor_char_boundary(folded.place(figure.start));
            figure.end = text.ceil_char_boundary(folded.place(figure.end)).max(figure.start);
        }
        each(figure);
    }
}

/// A number as written, with its unit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measure {
    pub(super) value: Decimal,
    /// The power of ten of the last written digit.
    pub(super) place: i32,
    pub(super) unit: Option<Unit>,
}

/// Parses a text that consists of one number in ASCII digits, with or without a unit.
pub(super) fn measure(text: &str) -> Option<Measure> {
    let text = text.trim();
    let mut measured = None;
    figures(text, &mut |figure| {
        if (figure.start, figure.end) == (0, text.len())
            && let Value::Number { number, unit, range: None, .. } = figure.value
        {
            measured = number.measure(text, unit);
        }
    });
    measured
}

struct Scanner<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    /// The offset up to which no word contains a digit.
    wordy: usize,
    /// The start of the current figure, with its sign and currency.
    begin: usize,
}

impl<'t> Scanner<'t> {
    fn new(text: &'t str) -> Self {
        Scanner { text, bytes: text.as_bytes(), at: 0, wordy: 0, begin: 0 }
    }

    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    #[inline(never)]
    fn is_alphanumeric(&self, at: usize) -> bool {
        self.byte(at).is_ascii_alphanumeric()
    }

    #[inline(never)]
    fn run(&self, from: usize, is: &dyn Fn(&u8) -> bool) -> usize {
        from + self.bytes[from.min(self.bytes.len())..].iter().take_while(|byte| is(byte)).count()
    }

    #[inline(never)]
    fn digits(&self, from: usize) -> usize {
        let mut at = from;
        while self.byte(at).is_ascii_digit() {
            at += 1;
        }
        at
    }

    #[inline(never)]
    fn letters(&self, from: usize) -> &'t str {
        &self.text[from.min(self.text.len())..self.run(from, &u8::is_ascii_alphabetic)]
    }

    /// Skips at most one space of any width.
    #[inline(never)]
    fn space(&self, at: usize) -> usize {
        match self.bytes.get(at..) {
            Some([b' ', ..]) => at + 1,
            Some([0xc2, 0xa0, ..]) => at + 2,
            Some([0xe2, 0x80, 0xaf | 0x89, ..]) => at + 3,
            _ => at,
        }
    }

    fn next(&mut self) -> Option<Figure<'t>> {
        loop {
            let start = self.run(self.at, &|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
            (self.at, self.begin) = (start, start);
            if start >= self.bytes.len() {
                return None;
            }
            let value = match self.byte(start) {
                b'0'..=b'9' => Some(self.digit_first()),
                _ => self.letter_first(),
            };
            if let Some(value) = value {
                return Some(Figure { start: self.begin, end: self.at, value });
            }
        }
    }

    /// Parses a number, a date, a time, or a word that begins with a digit.
    fn digit_first(&mut self) -> Value<'t> {
        let start = self.at;
        if let Some(fraction) = self.fraction() {
            return fraction;
        }
        // The characters after the digits show what the figure may be.
        let more = match self.byte(self.digits(start)) {
            b'-' | b'/' => self.date(),
            b'.' => self.dotted(),
            b':' => self.time(),
            _ => None,
        };
        if let Some(value) = more {
            return value;
        }
        let word = |scanner: &mut Self| {
            // Letters attached to digits form an id, which is read to its end.
            scanner.at = scanner.compound(start);
            Value::Word(&scanner.text[start..scanner.at])
        };
        let Some((number, parts)) = self.number() else {
            return word(self);
        };
        let end = self.at;
        let glued = self.letters(end);
        if !glued.is_empty() {
            let is_half = is_half(glued);
            let after = end + glued.len();
            let is_whole = !self.is_alphanumeric(after) && self.byte(after) != b'_';
            if let (true, true, Some(hour)) = (is_half, is_whole, number.small()) {
                return self.hour(hour, after).unwrap_or_else(|| word(self));
            }
            if !is_whole || (glued_unit(glued).is_none() && scale(glued).is_none()) {
                return word(self);
            }
        }
        if let Some(value) = self.day_of_month(number, end) {
            return value;
        }
        let after = self.space(end);
        if let (true, Some(hour)) = (is_half(self.letters(after)), number.small())
            && let Some(value) = self.hour(hour, after + 2)
        {
            return value;
        }
        self.measured(start, number, parts)
    }

    /// Parses `3⁄4`, with a fraction slash.
    fn fraction(&mut self) -> Option<Value<'t>> {
        let slash = self.digits(self.at);
        self.bytes.get(slash..)?.starts_with("⁄".as_bytes()).then_some(())?;
        let below = slash + "⁄".len();
        let end = self.digits(below);
        let of = self.text[self.at..slash].parse().ok()?;
        let parts = self.text[below..end].parse().ok().filter(|parts| *parts > 0)?;
        self.at = end;
        Some(Value::Fraction(of, parts))
    }

    /// Parses the scale and the unit after a number, and the sign and the currency before it.
    #[inline(never)]
    fn measured(&mut self, start: usize, number: Number, parts: Option<[Number; 2]>) -> Value<'t> {
        let mut number = number;
        if let Some(power) = self.take(|text, is_glued| scale(text).filter(|_| is_glued || text.len() > 2)) {
            number = number.shifted(power);
        }
        let (sign, before) = self.before(start);
        number.negative = sign == Some('-') && number.mantissa != 0;
        let unit = before.or_else(|| self.unit());
        let range = if unit.is_none() { self.range() } else { None };
        Value::Number {
            number,
            unit,
            named: if unit.is_none() { self.named(start) } else { None },
            range,
            has_plus: sign == Some('+'),
            parts,
        }
    }

    /// Consumes the next letters if they have a meaning. They may be attached, or follow a space or hyphen.
    fn take<T>(&mut self, means: fn(&str, bool) -> Option<T>) -> Option<T> {
        let after = self.space(self.at);
        // Usually no letters follow.
        if ![self.at, after, self.at + 1].iter().any(|at| self.byte(*at).is_ascii_alphabetic()) {
            return None;
        }
        for from in [self.at, after, self.at + usize::from(self.byte(self.at) == b'-')] {
            let letters = self.letters(from);
            let end = from + letters.len();
            if letters.is_empty() || self.is_alphanumeric(end) || self.byte(end) == b'_' {
                continue;
            }
            if let Some(meaning) = means(letters, from == self.at) {
                self.at = end;
                return Some(meaning);
            }
        }
        None
    }

    #[inline(never)]
    fn unit(&mut self) -> Option<Unit> {
        let after = self.space(self.at);
        if self.byte(after) == b'%' {
            self.at = after + 1;
            return Some(Unit::Percent);
        }
        let signs = if self.byte(after).is_ascii() { &[][..] } else { &[("€", 1), ("£", 2), ("¥", 3)] };
        for (sign, code) in signs.iter().copied() {
            if self.text[after..].starts_with(sign) {
                self.at = after + sign.len();
                return Some(Unit::Currency(code));
            }
        }
        self.take(|text, is_glued| if is_glued { glued_unit(text) } else { unit(text) })
    }

    /// Returns the unit of the upper end of a range that begins at this number.
    fn range(&self) -> Option<Unit> {
        if !matches!(self.byte(self.at), b'-' | b' ' | 0xe2) {
            return None;
        }
        let rest = &self.text[self.at..];
        let other = ["-", "–", " to ", " and ", " or ", " of "].into_iter().find_map(|word| rest.strip_prefix(word))?;
        let mut other = Scanner::new(other);
        // Limits the lookahead, because every number looks ahead.
        other.byte(0).is_ascii_digit().then_some(())?;
        other.at = other.run(0, &|byte| byte.is_ascii_digit() || *byte == b'.').min(32);
        other.unit()
    }

    /// Returns the sign and the currency directly before a number.
    fn before(&mut self, start: usize) -> (Option<char>, Option<Unit>) {
        let [before_that, last] = [2, 1].map(|by| start.checked_sub(by).map_or(0, |at| self.byte(at)));
        let is_code = last == b' ' && matches!(before_that, b'D' | b'R' | b'P' | b'Y');
        if last.is_ascii() && !matches!(last, b'$' | b'+' | b'-') && !is_code {
            return (None, None);
        }
        let mut rest = &self.text[..start];
        let mut currency = None;
        for (sign, code) in [("$", 0), ("€", 1), ("£", 2), ("¥", 3)] {
            if let Some(before) = rest.strip_suffix(sign) {
                (rest, currency) = (before, Some(Unit::Currency(code)));
                self.begin = before.len();
            }
        }
        let code = rest.strip_suffix(' ').unwrap_or_default();
        for (word, code_of) in [("USD", 0), ("EUR", 1), ("GBP", 2), ("JPY", 3)] {
            if currency.is_none() && code.ends_with(word) {
                currency = Some(Unit::Currency(code_of));
            }
        }
        let sign = rest.chars().next_back().filter(|sign| matches!(sign, '-' | '−' | '+'));
        let Some(sign) = sign else {
            return (None, currency);
        };
        let further = rest[..rest.len() - sign.len_utf8()].chars().next_back();
        let is_sign =
            further.is_none_or(|before| !before.is_alphanumeric() && !matches!(before, '-' | ')' | ']' | '_'));
        if is_sign {
            self.begin = rest.len() - sign.len_utf8();
        }
        (is_sign.then_some(if sign == '+' { '+' } else { '-' }), currency)
    }

    /// Returns the unit at the end of the number's name: `wait_ms": 30`, `size_bytes=30`.
    fn named(&self, start: usize) -> Option<Unit> {
        const LONGEST: usize = 16;
        if !self.bytes[start.saturating_sub(5)..start].iter().any(|byte| matches!(byte, b':' | b'=')) {
            return None;
        }
        let is_space = |byte: &&u8| matches!(byte, b' ' | b'"' | b'\'' | b'-' | b'+');
        let before = &self.bytes[..start];
        let skip = |bytes: &[u8]| bytes.len() - bytes.iter().rev().take(4).take_while(is_space).count();
        let colon = skip(before);
        if !matches!(before[..colon].last(), Some(b':' | b'=')) {
            return None;
        }
        let end = skip(&before[..colon - 1]);
        let letters = before[..end].iter().rev().take(LONGEST).take_while(|byte| byte.is_ascii_alphabetic()).count();
        if before[..end - letters].last() != Some(&b'_') {
            return None;
        }
        unit(self.text.get(end - letters..end)?)
    }

    /// Parses digits with separators, fraction and exponent. If a comma may separate two numbers, returns both.
    #[inline(never)]
    fn number(&mut self) -> Option<(Number, Option<[Number; 2]>)> {
        let start = self.at;
        let first = self.digits(start);
        let is_listed = self.is_listed(start);
        let mut end = first;
        let mut separator = 0;
        // Groups of three digits with one separator.
        if first - start <= 3 && self.byte(start) != b'0' {
            while let Some((mark, after)) = self.separator(end).filter(|(mark, _)| separator == 0 || separator == *mark)
            {
                if self.digits(after) != after + 3 || (mark == b',' && is_listed) {
                    break;
                }
                (separator, end) = (mark, after + 3);
            }
            // In a list, an apparent digit separator separates items.
            let goes_on = self.byte(end) == b',' && (self.is_alphanumeric(end + 1) || self.byte(end + 1) == b'-');
            if separator == b',' && (goes_on || self.byte(end) == b']') {
                (separator, end) = (0, first);
            }
            let is_european = separator == b'.' && self.byte(end) == b',' && self.digits(end + 1) > end + 1;
            if separator == b'.' && !is_european {
                (separator, end) = (0, first);
            }
        }
        let mut parts = None;
        let mark = self.byte(end);
        let fraction = self.digits(end + 1);
        let mut point = end;
        let is_fraction = match (mark, separator) {
            (b'.', b'.') | (b',', b',') => false,
            (b'.', _) | (b',', b'.') => true,
            (b',', 0) => !is_listed && !matches!(self.byte(fraction), b',' | b']') && fraction - end - 1 <= 2,
            _ => false,
        };
        if is_fraction && fraction > end + 1 {
            if mark == b',' && separator == 0 {
                let part = |from: usize, to: usize| digits_of(&self.bytes[from..to]).map(|n| Number::new(false, n, 0));
                parts = Some([part(start, end)?, part(end + 1, fraction)?]);
            }
            (point, end) = (end + 1, fraction);
        } else {
            point = point.max(end);
        }
        let digits = digits_of(&self.bytes[start..end])?;
        let places = if end > point { (end - point) as i32 } else { 0 };
        let mut exponent = -places;
        if matches!(self.byte(end), b'e' | b'E') {
            let from = end + 1 + usize::from(matches!(self.byte(end + 1), b'+' | b'-'));
            let to = self.digits(from);
            let goes_on = self.is_alphanumeric(to) || (self.byte(to) == b'-' && self.is_alphanumeric(to + 1));
            if to > from && to - from <= 4 && !goes_on {
                let power: i32 = self.text[from..to].parse().ok()?;
                exponent += if self.byte(end + 1) == b'-' { -power } else { power };
                end = to;
            }
        }
        self.at = end;
        Some((Number::new(false, digits, exponent), parts))
    }

    /// Returns whether the number is an item of a list without spaces.
    fn is_listed(&self, start: usize) -> bool {
        matches!(self.bytes[..start].last(), Some(b',' | b'['))
    }

    /// Returns the separator between groups of digits, and the offset after it.
    #[inline(never)]
    fn separator(&self, at: usize) -> Option<(u8, usize)> {
        match self.bytes.get(at..)? {
            [mark @ (b',' | b'\'' | b'_' | b'.'), ..] => Some((*mark, at + 1)),
            [0xc2, 0xa0, ..] => Some((b' ', at + 2)),
            [0xe2, 0x80, 0xaf | 0x89, ..] => Some((b' ', at + 3)),
            [0xe2, 0x80, 0x99, ..] => Some((b'\'', at + 3)),
            _ => None,
        }
    }

    /// Parses digits with at least two points between them: a version, an address, a date. The result is never a
    /// number.
    fn dotted(&mut self) -> Option<Value<'t>> {
        let start = self.at;
        let (mut end, mut points) = (self.digits(start), 0);
        while self.byte(end) == b'.' && self.byte(end + 1).is_ascii_digit() {
            (end, points) = (self.digits(end + 1), points + 1);
        }
        // Before a comma and digits, points separate groups.
        let is_european = self.byte(end) == b','
            && self.byte(end + 1).is_ascii_digit()
            && self.byte(start) != b'0'
            && self.digits(start) <= start + 3
            && self.text[start..end].split('.').skip(1).all(|group| group.len() == 3);
        if points < 2 || is_european {
            return None;
        }
        self.at = end;
        let text = &self.text[start..end];
        let parts: Vec<u16> = text.split('.').map_while(|part| part.parse().ok()).collect();
        Some(match parts.as_slice() {
            [day @ 1..=31, month @ 1..=12, year @ 1900..=2199] => {
                Value::Date { year: *year, month: *month as u8, day: *day as u8, swaps: false }
            }
            _ => Value::Word(text),
        })
    }

    /// Parses `2026-11-23`, `2026/11/23`, `11/23/2026`.
    fn date(&mut self) -> Option<Value<'t>> {
        let start = self.at;
        let one = self.digits(start);
        let mark = self.byte(one);
        if !matches!(mark, b'-' | b'/') {
            return None;
        }
        let two = self.digits(one + 1);
        let three = self.digits(two + 1);
        if self.byte(two) != mark || three - two > 5 {
            return None;
        }
        let ends = !self.is_alphanumeric(three) || (self.byte(three) == b'T' && self.byte(three + 1).is_ascii_digit());
        let number = |from: usize, to: usize| self.text.get(from..to)?.parse::<u16>().ok();
        let parts = (number(start, one)?, number(one + 1, two)?, number(two + 1, three)?);
        let is_month = |month: u16| (1..=12).contains(&month);
        let is_day = |day: u16| (1..=31).contains(&day);
        let is_next = ends && self.byte(three) != mark;
        let (year, month, day, swaps) = match (one - start, parts) {
            (4, (year, month, day)) if is_month(month) && is_day(day) => (year, month, day, false),
            (1 | 2, (month, day, year)) if mark == b'/' && three - two == 5 && is_month(month) && is_day(day) => {
                (year, month, day, is_month(day))
            }
            (1 | 2, (day, month, year)) if mark == b'/' && three - two == 5 && is_month(month) && is_day(day) => {
                (year, month, day, false)
            }
            _ => return None,
        };
        is_next.then_some(())?;
        self.at = three + usize::from(self.byte(three) == b'T');
        Some(Value::Date { year, month: month as u8, day: day as u8, swaps })
    }

    /// Parses `13:47`, `13:47:05.123Z`, `1:47 pm`, `14:00:00+01:00`.
    fn time(&mut self) -> Option<Value<'t>> {
        let start = self.at;
        let hours = self.digits(start);
        if hours - start > 2 || self.byte(hours) != b':' || self.digits(hours + 1) != hours + 3 {
            return None;
        }
        let number = |from: usize, to: usize| self.text.get(from..to)?.parse::<u64>().ok();
        let (mut hour, minute) = (number(start, hours)?, number(hours + 1, hours + 3)?);
        let mut end = hours + 3;
        let (mut second, mut fraction, mut precision) = (0, 0, Precision::Minute);
        if self.byte(end) == b':' && self.digits(end + 1) == end + 3 {
            (second, precision) = (number(end + 1, end + 3)?, Precision::Second);
            end += 3;
            let places = self.digits(end + 1) - end - usize::from(end < self.bytes.len());
            if matches!(self.byte(end), b'.' | b',') && (1..=9).contains(&places) {
                fraction = number(end + 1, end + 1 + places)? * 10_u64.pow(9 - places as u32);
                precision = Precision::Nanosecond;
                end += 1 + places;
            }
        }
        let after = self.space(end);
        if is_half(self.letters(after)) && (1..=12).contains(&hour) {
            let is_pm = self.byte(after).eq_ignore_ascii_case(&b'p');
            hour = hour % 12 + if is_pm { 12 } else { 0 };
            end = after + 2;
        }
        if hour > 24 || minute > 59 || second > 60 {
            return None;
        }
        let mut offset = 0;
        let is_stamp = precision > Precision::Minute || start.checked_sub(1).is_some_and(|at| self.byte(at) == b'T');
        if self.byte(end) == b'Z' {
            end += 1;
        } else if let (true, sign @ (b'+' | b'-')) = (is_stamp, self.byte(end)) {
            let to = self.digits(end + 1);
            let (hours, minutes, to) = match (to - end - 1, self.byte(to)) {
                (2, b':') if self.digits(to + 1) == to + 3 => (number(end + 1, to)?, number(to + 1, to + 3)?, to + 3),
                (2, _) => (number(end + 1, to)?, 0, to),
                (4, _) => (number(end + 1, end + 3)?, number(end + 3, to)?, to),
                _ => (99, 0, end),
            };
            if hours <= 14 && minutes < 60 && !self.is_alphanumeric(to) && self.byte(to) != b':' {
                offset = (hours * 60 + minutes) as i32 * if sign == b'-' { -1 } else { 1 };
                end = to;
            }
        }
        if self.is_alphanumeric(end) {
            return None;
        }
        self.at = end;
        let nanoseconds = ((hour % 24) * 60 + minute) * MINUTE + second * 1_000_000_000 + fraction;
        Some(Value::Time { nanoseconds, precision, offset })
    }

    /// Parses the rest of `2 pm` after the hour.
    #[inline(never)]
    fn hour(&mut self, hour: u64, end: usize) -> Option<Value<'t>> {
        let is_pm = self.byte(end - 2).eq_ignore_ascii_case(&b'p');
        let is_hour = (1..=12).contains(&hour) && !self.is_alphanumeric(end);
        is_hour.then(|| {
            self.at = end;
            let nanoseconds = (hour % 12 + if is_pm { 12 } else { 0 }) * 60 * MINUTE;
            Value::Time { nanoseconds, precision: Precision::Minute, offset: 0 }
        })
    }

    /// Parses the rest of `23 November 2026`, `23rd of November` after the number.
    #[inline(never)]
    fn day_of_month(&mut self, number: Number, end: usize) -> Option<Value<'t>> {
        let day = number.small().filter(|day| (1..=31).contains(day))?;
        let ordinal = end + self.letters(end).len();
        let mut at = self.space(ordinal);
        (at > ordinal).then_some(())?;
        if let Some(rest) = self.text[at..].strip_prefix("of ") {
            at = self.text.len() - rest.len();
        }
        let name = self.letters(at);
        let month = month(name)?;
        at += name.len();
        (!self.is_alphanumeric(at)).then_some(())?;
        let (year, to) = self.year(at);
        self.at = to;
        Some(Value::Date { year, month, day: day as u8, swaps: false })
    }

    /// Returns the year at a position, and the position after it. Returns zero and the same position if no year
    /// follows.
    #[inline(never)]
    fn year(&self, at: usize) -> (u16, usize) {
        let comma = at + usize::from(self.byte(at) == b',');
        let from = self.space(comma);
        let to = self.digits(from);
        let is_year = from > at && to == from + 4 && !self.is_alphanumeric(to) && self.byte(to) != b':';
        let year = self.text.get(from..to).and_then(|year| year.parse().ok()).filter(|_| is_year);
        year.map_or((0, at), |year| (year, to))
    }

    /// Returns the end of a word that may contain hyphens, points and underscores.
    #[inline(never)]
    fn compound(&self, start: usize) -> usize {
        let mut end = self.run(start, &|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        while matches!(self.byte(end), b'-' | b'.') && self.is_alphanumeric(end + 1) {
            end = self.run(end + 1, &|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        }
        end
    }

    /// Parses a month with its day, a number in words, or a word with digits. Skips other words.
    fn letter_first(&mut self) -> Option<Value<'t>> {
        let start = self.at;
        let letters = self.letters(start);
        let end = start + letters.len();
        let is_word = !self.is_alphanumeric(end) && self.byte(end) != b'_' && !letters.is_empty();
        let in_words = |scanner: &mut Self| scanner.part(start, end).or_else(|| scanner.in_words(start));
        if is_word && let Some(value) = self.month_first(letters, end).or_else(|| in_words(self)) {
            return Some(value);
        }
        if self.at > start {
            return None;
        }
        let past_part = self.run(start, &|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        let whole = if start < self.wordy { start } else { self.compound(start) };
        let word = &self.text[start..whole];
        if !word.bytes().any(|byte| byte.is_ascii_digit()) {
            // The parts of the word may be number words. They are examined one by one, and the whole word is not
            // examined again.
            self.wordy = self.wordy.max(whole);
            self.at = past_part;
            return None;
        }
        self.at = whole;
        let rest = &word[1..];
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        if matches!(word.as_bytes(), [b'p' | b'P', b'0'..=b'9', b'0'..=b'9', ..])
            && let Some(number) = is_number(rest).then(|| whole_number(rest)).flatten()
        {
            return Some(Value::Percentile(word, number));
        }
        match word.as_bytes() {
            [b'v' | b'V', b'0'..=b'9', ..] if is_number(rest) => Some(Value::Version(word)),
            _ => Some(Value::Word(word)),
        }
    }

    /// Parses `November 23, 2026`, `Nov 23`, `November 2026`.
    #[inline(never)]
    fn month_first(&mut self, letters: &str, end: usize) -> Option<Value<'t>> {
        let month = month(letters)?;
        let from = self.run(end, &|byte| matches!(byte, b' ' | b'.')).min(end + 2);
        let to = self.digits(from);
        if let (year, year_end @ 1..) = self.year(end)
            && year > 0
        {
            self.at = year_end;
            return Some(Value::Date { year, month, day: 0, swaps: false });
        }
        let day: u8 = self.text.get(from..to)?.parse().ok().filter(|day| (1..=31).contains(day))?;
        let suffix = self.letters(to);
        let is_day = from > end && matches!(suffix, "" | "st" | "nd" | "rd" | "th");
        is_day.then_some(())?;
        let to = to + suffix.len();
        (self.byte(to) != b':').then_some(())?;
        let (year, to) = self.year(to);
        self.at = to;
        Some(Value::Date { year, month, day, swaps: false })
    }

    /// Parses `half`, `half an hour`, `a third of`.
    fn part(&mut self, start: usize, end: usize) -> Option<Value<'t>> {
        let parts = self.parts(start)?;
        let before = &self.text[..start];
        if parts != 2 {
            (["a ", "A "].iter().any(|article| before.ends_with(article)) && self.is_of(end)).then_some(())?;
        } else if self.byte(end) == b'-'
            || ["first ", "second ", "last ", "other "].iter().any(|word| before.ends_with(word))
        {
            return None;
        }
        self.at = end;
        let article = [" an ", " a "].into_iter().find(|article| self.text[end..].starts_with(article));
        if let Some(article) = article.filter(|_| parts == 2) {
            self.at = end + article.len() - 1;
            if let Some(unit) = self.unit() {
                let number = Number::new(false, 5, -1);
                let unit = Some(unit);
                return Some(Value::Number { number, unit, named: None, range: None, has_plus: false, parts: None });
            }
            self.at = end;
        }
        Some(Value::Fraction(1, parts))
    }

    /// Returns the denominator in the next word.
    fn parts(&self, at: usize) -> Option<u64> {
        let word = self.letters(at).to_ascii_lowercase();
        let word = word.strip_suffix('s').unwrap_or(&word);
        let words = ["half", "third", "quarter", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];
        let halves = (word == "halve").then_some(2);
        halves.or_else(|| words.iter().position(|other| *other == word).map(|at| at as u64 + 2))
    }

    fn is_of(&self, end: usize) -> bool {
        self.text[end..].starts_with(" of ")
    }

    /// Parses a number in English words: `twelve`, `twenty-one`, `three hundred`. `one` alone is a pronoun.
    fn in_words(&mut self, start: usize) -> Option<Value<'t>> {
        let (mut total, mut current, mut words) = (0_u64, 0_u64, 0);
        let (mut at, mut end) = (start, start);
        loop {
            let word = self.letters(at);
            let Some((value, is_scale)) = number_word(word).filter(|_| !self.is_alphanumeric(at + word.len())) else {
                break;
            };
            match (is_scale, value) {
                (false, value) => current = current.saturating_add(value),
                (true, 100 | 12) => current = current.max(1).saturating_mul(value),
                (true, value) => {
                    total = total.saturating_add(current.max(1).saturating_mul(value));
                    current = 0;
                }
            }
            (end, words) = (at + word.len(), words + 1);
            at = match self.byte(end) {
                b' ' | b'-' => end + 1,
                _ => break,
            };
            if words > 0 && self.text[at..].starts_with("and ") && (current >= 100 || total > 0) {
                at += 4;
            }
        }
        let denominator = end + usize::from(matches!(self.byte(end), b' ' | b'-'));
        let behind = denominator + self.letters(denominator).len();
        if let Some(parts) = self.parts(denominator).filter(|_| words > 0 && self.is_of(behind)) {
            self.at = behind;
            return Some(Value::Fraction(total.saturating_add(current), parts));
        }
        if words == 0 || (words == 1 && self.text[start..end].eq_ignore_ascii_case("one")) {
            return None;
        }
        self.at = end;
        let unit = self.unit();
        // In `two-phase`, the number is not a count.
        if unit.is_none() && self.byte(end) == b'-' && self.byte(end + 1).is_ascii_alphabetic() {
            return None;
        }
        let number = Number::integer(total.saturating_add(current));
        Some(Value::Number { number, unit, named: None, range: None, has_plus: false, parts: None })
    }
}

/// Returns whether letters are `am` or `pm`.
fn is_half(letters: &str) -> bool {
    matches!(letters.as_bytes(), [b'a' | b'A' | b'p' | b'P', b'm' | b'M'])
}

/// Returns the digits as one integer if it fits, and ignores anything between them.
fn digits_of(bytes: &[u8]) -> Option<u128> {
    bytes
        .iter()
        .filter(|byte| byte.is_ascii_digit())
        .try_fold(0_u128, |number, digit| number.checked_mul(10)?.checked_add(u128::from(digit - b'0')))
}
