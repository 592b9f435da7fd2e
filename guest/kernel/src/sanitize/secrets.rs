//! Finds secrets: tokens with a known prefix, and values after a name. `forms.rs` contains the prefixes, from the rules
//! of gitleaks.

mod forms;

use std::ops::Range;

use forms::{FORMS, NAMED};

use super::{
    instructions::opens_mark,
    types::Secret,
    vocabulary::{BEARER, KEY, KEY_PART, LEADS, PREFIX},
    words::{LONG_WORD, Word, roles_of},
};

/// A token with a known prefix.
struct Form {
    kind: Secret,
    begin: &'static str,
    of: Of,
    /// The minimum number of characters that follow the prefix.
    least: u8,
    /// The maximum number of characters that follow the prefix.
    most: u8,
}

/// The characters that a token consists of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    /// `0-9a-f`, in either case.
    Hex,
    /// `0-9A-Z`.
    Capitals,
    /// Letters and digits.
    Letters,
    /// Letters, digits, `_` and `-`.
    Url,
    /// Like `Url`, with dots.
    Dotted,
    /// Like `Dotted`, with `+`, `/`, `=` and `~`.
    Base64,
    /// Like `Base64`, with `%`.
    Encoded,
}

impl Of {
    fn has(self, byte: u8) -> bool {
        match self {
            Of::Hex => byte.is_ascii_hexdigit(),
            Of::Capitals => byte.is_ascii_digit() || byte.is_ascii_uppercase(),
            Of::Letters => byte.is_ascii_alphanumeric(),
            Of::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Of::Dotted => Of::Url.has(byte) || byte == b'.',
            Of::Base64 => Of::Dotted.has(byte) || matches!(byte, b'+' | b'/' | b'=' | b'~'),
            Of::Encoded => Of::Base64.has(byte) || byte == b'%',
        }
    }
}

const ANY: u8 = u8::MAX;

const fn form(kind: Secret, begin: &'static str, of: Of, least: u8, most: u8) -> Form {
    Form { kind, begin, of, least, most }
}

/// The range of the forms that begin with each letter.
static FORMS_OF: [(u8, u8); 128] = {
    let mut of = [(0, 0); 128];
    let mut index = 0;
    while index < FORMS.len() {
        let first = FORMS[index].begin.as_bytes()[0] as usize;
        assert!(index == 0 || FORMS[index - 1].begin.as_bytes()[0] as usize <= first);
        if of[first].1 == 0 {
            of[first].0 = index as u8;
        }
        of[first].1 = index as u8 + 1;
        index += 1;
    }
    of
};

/// Returns whether a form begins at a place.
fn has_form(text: &[u8], start: usize) -> bool {
    let (first, end) = FORMS_OF.get(usize::from(text[start])).copied().unwrap_or_default();
    FORMS[usize::from(first)..usize::from(end)].iter().any(|form| text[start..].starts_with(form.begin.as_bytes()))
}

/// Returns whether a word without a role may begin a secret, or occur in one.
#[inline]
pub(super) fn may_begin(text: &[u8], start: usize, end: usize) -> bool {
    match text[start] {
        b'A' => {
            matches!(text[start + 1..end], [b'K' | b'S' | b'B', b'I' | b'S', ..] | [b'C', b'C', ..] | [b'I', b'z', ..])
        }
        b'e' => end - start > 3 && text[start..].starts_with(b"eyJ"),
        _ if end - start >= LONG_WORD && has_form(text, start) => true,
        _ => match text.get(end) {
            Some(b'~') => text[end - 1] == b'Q',
            Some(b':') => text[end..].starts_with(b"://"),
            _ => false,
        },
    }
}

/// The roles of words that may begin a secret, or name one.
pub(super) const LOOKED_AT: u64 = PREFIX | BEARER | KEY;
const _: () = assert!(LOOKED_AT & !LEADS == 0);

/// Returns whether a word may begin a secret, or name one.
pub(super) fn is_looked_at(text: &[u8], word: Word) -> bool {
    // A word is wanted because it may begin one, or opens a mark.
    let may_begin = || !opens_mark(text, word.start) || may_begin(text, word.start, word.end);
    word.roles & LOOKED_AT != 0 || word.is_wanted && may_begin()
}

/// The secrets of a view.
#[derive(Default)]
pub(super) struct Secrets {
    found: Vec<(Secret, Range<usize>)>,
    /// The first `-----END` after a position: that position, and its own.
    next_end: Option<(usize, usize)>,
    /// The last two runs of token characters, so that no run is read twice.
    runs: [Range<usize>; 2],
    /// The password of an address whose user is being examined.
    password: Option<Range<usize>>,
    /// The end of the last value that is not a secret, and the number of values in it that were examined.
    value: (usize, u32),
}

/// The longest value after a name.
const MAX_VALUE: usize = 512;

/// The maximum number of punctuation marks that are read as the end of a sentence, not of a value.
const MAX_PUNCTUATION: usize = 4;

impl Secrets {
    /// Returns the secrets in order and without overlaps.
    pub(super) fn found(mut self) -> Vec<(Secret, Range<usize>)> {
        self.add_password();
        self.found
    }

    pub(super) fn word(&mut self, text: &[u8], word: Word) {
        if self.password.as_ref().is_some_and(|password| password.start <= word.start) {
            self.add_password();
        }
        if self.found.last().is_some_and(|(_, last)| word.start < last.end) {
            return;
        }
        let found = if word.roles & PREFIX != 0 { self.prefix(text, word.start) } else { None };
        let found = found.or_else(|| self.begun(text, word));
        let found = found.or_else(|| (word.roles & BEARER != 0).then(|| bearer(text, word)).flatten());
        let found = found.or_else(|| (word.roles & KEY != 0).then(|| self.assigned(text, word)).flatten());
        let found = found.or_else(|| (word.roles & PREFIX != 0).then(|| named(text, word)).flatten());
        if let Some((kind, range)) = found {
            if self.found.last().is_none_or(|(_, last)| last.end <= range.start) {
                self.found.push((kind, range));
            }
        } else if self.password.is_none() {
            self.password = address(text, word.end);
        }
    }

    /// Adds the password of an address. It comes after the user, whose name may also be a secret.
    fn add_password(&mut self) {
        if let Some(password) = self.password.take() {
            match self.found.last_mut() {
                Some((_, last)) if password.start < last.end => last.end = last.end.max(password.end),
                _ => self.found.push((Secret::Password, password)),
            }
        }
    }

    /// Finds a token that begins with a word of the vocabulary.
    fn prefix(&mut self, text: &[u8], start: usize) -> Option<(Secret, Range<usize>)> {
        if text[start..].starts_with(b"BEGIN ") {
            return self.private_key(text, start);
        }
        form_at(text, start)
    }

    /// Finds a token that begins with a known prefix, or an address.
    fn begun(&mut self, text: &[u8], word: Word) -> Option<(Secret, Range<usize>)> {
        let rest = &text[word.start..];
        match rest[0] {
            _ if word.is_wanted
                && let Some(found) = form_at(text, word.start) =>
            {
                Some(found)
            }
            b'e' if rest.starts_with(b"eyJ") => self.jwt(text, word.start),
            _ if text.get(word.end) == Some(&b'~') && text[word.end - 1] == b'Q' => azure(text, word.end),
            _ => None,
        }
    }

    /// Finds a private key, from BEGIN to END, or to the end of the lines of the key.
    fn private_key(&mut self, text: &[u8], word: usize) -> Option<(Secret, Range<usize>)> {
        let start = word.checked_sub(5)?;
        if !text[start..].starts_with(b"-----") {
            return None;
        }
        let label = text[word..].iter().take(100).take_while(|byte| Of::Capitals.has(**byte) || **byte == b' ').count();
        let body = word + label;
        let is_key = text[word..body].windows(11).any(|words| words == b"PRIVATE KEY");
        if !is_key || !text[body..].starts_with(b"-----") {
            return None;
        }
        let body = body + 5;
        let end = match self.next_end {
            Some((from, end)) if from <= body && body <= end => end,
            _ => {
                let end = memchr::memmem::find(&text[body..], b"-----END ").map_or(text.len(), |at| body + at);
                self.next_end = Some((body, end));
                end
            }
        };
        let is_near = end < text.len() && end - body <= 16 * 1024;
        if is_near && memchr::memmem::find(&text[body..end], b"-----BEGIN").is_none() {
            let rest = &text[end + 9..];
            let label = rest.iter().take(100).take_while(|byte| Of::Capitals.has(**byte) || **byte == b' ').count();
            let dashes = rest[label..].iter().take(5).take_while(|byte| **byte == b'-').count();
            let is_whole = dashes > 0 || rest.len() == label;
            return Some((Secret::PrivateKey, start..end + 9 + if is_whole { label + dashes } else { 0 }));
        }
        Some((Secret::PrivateKey, start..body + key_lines(&text[body..])))
    }

    /// Finds `header.payload.signature`, whose first two parts are JSON, or the five parts of an encrypted token.
    fn jwt(&mut self, text: &[u8], start: usize) -> Option<(Secret, Range<usize>)> {
        let header = self.run(0, text, start);
        if header - start < 16 || text.get(header) != Some(&b'.') {
            return None;
        }
        let payload = self.run(1, text, header + 1);
        let is_signed = text[header + 1..].starts_with(b"eyJ") && payload - header > 16;
        let mut end = payload;
        let mut parts = 2;
        while text.get(end) == Some(&b'.') && parts < 5 {
            // Each part is read once for its predecessor, because the parts before it are cut off.
            let length = text[end + 1..].iter().take_while(|byte| Of::Url.has(**byte)).count();
            end += 1 + length;
            parts += 1;
            if is_signed && parts == 3 {
                break;
            }
        }
        (is_signed || parts == 5 && end - start > 100).then_some((Secret::Jwt, start..end))
    }

    /// Returns the end of a run of token characters.
    fn run(&mut self, which: usize, text: &[u8], start: usize) -> usize {
        let run = &mut self.runs[which];
        if !run.contains(&start) {
            let length = text[start..].iter().take_while(|byte| Of::Url.has(**byte)).count();
            *run = start..start + length;
        }
        run.end
    }

    /// Finds `password=…` or `"api_key": "…"`: a value that looks like a secret, after the name of one.
    fn assigned(&mut self, text: &[u8], word: Word) -> Option<(Secret, Range<usize>)> {
        let name = text.get(word.start..word.end)?;
        let is = |names: &[&str]| names.iter().any(|other| name.eq_ignore_ascii_case(other.as_bytes()));
        let is_password = is(&["password", "passwd", "passphrase", "pwd"]) || name.len() > 8 && ends(name, b"password");
        let (value, quote) = value_of(text, word.end)?;
        // A value may begin with names of others: `password=password=…`.
        if is(&["authorization"]) || value < self.value.0 && self.value.1 > 1 {
            return None;
        }
        if is(&["sig"]) {
            let is_query = word.start > 0 && matches!(text[word.start - 1], b'?' | b'&');
            return is_query
                .then(|| run_of(text, value, Of::Encoded, 40))
                .flatten()
                .map(|range| (Secret::AzureKey, range));
        }
        if is(&["key", "token", "secret"]) {
            let part = &text[..word.start];
            let is_after_secret = self.found.last().is_some_and(|(_, last)| last.end == word.start);
            let is_joined = !is_after_secret && part.last().is_some_and(|byte| matches!(byte, b'_' | b'-'));
            let letters = &part[..part.len() - usize::from(is_joined)];
            let length = letters.iter().rev().take(16).take_while(|byte| byte.is_ascii_alphanumeric()).count();
            let is_part = is_joined && roles_of(&letters[letters.len() - length..]) & KEY_PART != 0;
            // `VERCEL_TOKEN`: the variable of an environment.
            let is_constant = is_joined && letters.last().is_some_and(u8::is_ascii_uppercase) && name[0] == b'T';
            if !is_part && (is(&["key"]) || is(&["token"]) && is_joined && !is_constant) {
                return None;
            }
        }
        let range = match quote {
            Some(quote) => {
                let end = text[value..].iter().take(MAX_VALUE).position(|&byte| byte == quote || byte == b'\n')?;
                // A quote inside a string of JSON is escaped.
                let end = value + end;
                value..end - usize::from(end > value && text[end - 1] == b'\\')
            }
            None => {
                let is_end = |byte: u8| {
                    !byte.is_ascii_graphic() || matches!(byte, b'"' | b'\'' | b'`' | b',' | b';' | b'<' | b'>' | b'\\')
                };
                let is_end = |byte: &u8| is_end(*byte) || matches!(byte, b'&' | b')' | b']' | b'}' | b'|');
                let rest = &text[value..(value + MAX_VALUE).min(text.len())];
                value..value + rest.iter().position(is_end).unwrap_or(rest.len())
            }
        };
        // Punctuation may follow: `password=hunter22: refused`. A password may also end with it.
        let is_punctuation = |byte: &&u8| matches!(byte, b':' | b'.' | b'!' | b'?' | b'*');
        let punctuation = match quote {
            Some(_) => 0,
            None => text[range.clone()].iter().rev().take(MAX_PUNCTUATION).take_while(is_punctuation).count(),
        };
        let is_secret = |end: &usize| match &text[range.start..*end] {
            value if is_password => is_password_like(value, quote.is_some()),
            value => is_secret_like(value),
        };
        let secret = (range.end - punctuation..=range.end).rev().find(is_secret);
        let kind = if is_password {
            Secret::Password
        } else if is(&["accountkey", "sharedaccesskey"]) {
            Secret::AzureKey
        } else if is(&["secretaccesskey"]) {
            Secret::AwsKey
        } else {
            Secret::Secret
        };
        let Some(end) = secret else {
            self.value = (range.end, if range.start < self.value.0 { self.value.1 + 1 } else { 0 });
            return None;
        };
        let range = range.start..end;
        let known = form_at(text, range.start);
        Some(known.filter(|(_, known)| known.end >= range.end).unwrap_or((kind, range)))
    }
}

/// Finds a token of the forms at a place.
fn form_at(text: &[u8], start: usize) -> Option<(Secret, Range<usize>)> {
    let (first, end) = *FORMS_OF.get(usize::from(*text.get(start)?))?;
    FORMS[usize::from(first)..usize::from(end)].iter().find_map(|form| token(text, start, form))
}

/// Finds a token of a form at a place, up to where a word may end.
fn token(text: &[u8], start: usize, form: &Form) -> Option<(Secret, Range<usize>)> {
    let rest = text.get(start..)?.strip_prefix(form.begin.as_bytes())?;
    let from = text.len() - rest.len();
    // A failure must be cheap, because it may be repeated directly afterwards. Names may also have such prefixes, but a
    // digit among this many letters does not belong to a name.
    let begin = rest.get(..usize::from(form.least))?;
    let is_random = || {
        let mut run = rest.iter().take(MAX_NAME).take_while(|byte| form.of.has(**byte));
        matches!(form.begin, "hf_" | "api_org_" | "AGE-SECRET-KEY-1") || run.any(u8::is_ascii_digit)
    };
    if !begin.iter().all(|byte| form.of.has(*byte)) || !is_random() {
        return None;
    }
    let most = if form.most == ANY { usize::MAX } else { usize::from(form.most) };
    let length = rest.iter().take(most.saturating_add(1)).take_while(|byte| form.of.has(**byte)).count();
    let is_whole = length <= most && !rest.get(length).is_some_and(u8::is_ascii_alphanumeric);
    is_whole.then_some((form.kind, start..from + length))
}

/// Finds `adafruit_io = …`: a value with the length of a service's secrets, after the name of the service.
fn named(text: &[u8], word: Word) -> Option<(Secret, Range<usize>)> {
    let name = &text[word.start..word.end];
    let is = |(other, ..): &&(&str, u8, u8)| {
        name.get(..other.len()).is_some_and(|start| start.eq_ignore_ascii_case(other.as_bytes()))
    };
    let (_, least, most) = NAMED.iter().find(is)?;
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b' ' | b'\t');
    let end = word.end + text[word.end..].iter().take(20).take_while(is_name).count();
    let end = text[..end].trim_ascii_end().len().max(word.end);
    let (start, _) = value_of(text, end)?;
    let length = text[start..].iter().take(usize::from(*most) + 1).take_while(|byte| Of::Base64.has(**byte)).count();
    let range = start..start + length;
    let is_whole = !matches!(text.get(range.end), Some(b'[' | b'%' | b'(' | b'@' | b'/'));
    let is_secret = (usize::from(*least)..=usize::from(*most)).contains(&length)
        && is_whole
        && is_secret_like(&text[range.clone()]);
    (is_secret && form_at(text, start).is_none()).then_some((Secret::ServiceToken, range))
}

/// The maximum number of characters in which a digit is searched for.
const MAX_NAME: usize = 64;

/// Returns the run of characters at a place, if it is long enough.
fn run_of(text: &[u8], start: usize, of: Of, least: usize) -> Option<Range<usize>> {
    let length = text[start..].iter().take_while(|byte| of.has(**byte)).count();
    (length >= least).then_some(start..start + length)
}

/// Finds `abc8Q~…`: a secret of Azure, by its tilde.
fn azure(text: &[u8], tilde: usize) -> Option<(Secret, Range<usize>)> {
    let start = tilde.checked_sub(5)?;
    let is_start = text[start..start + 3].iter().all(|byte| Of::Dotted.has(*byte)) && text[tilde - 2].is_ascii_digit();
    let is_alone = start == 0 || !text[start - 1].is_ascii_alphanumeric();
    let has = |byte: &&u8| Of::Dotted.has(**byte) || **byte == b'~';
    if !is_start || !is_alone {
        return None;
    }
    // The tilde precedes 31 to 34 characters. Characters that directly follow are also redacted, because they may be a
    // secret.
    let length = text[tilde + 1..].iter().take_while(has).count();
    (length >= 31).then_some((Secret::AzureKey, start..tilde + 1 + length))
}

/// Finds the credentials after `Bearer`, or after `Authorization: Basic`.
fn bearer(text: &[u8], word: Word) -> Option<(Secret, Range<usize>)> {
    let spaces = text[word.end..].iter().take(4).take_while(|byte| **byte == b' ').count();
    let is_basic = text[word.start] | 0x20 == b'b' && word.end - word.start == 5;
    let range = run_of(text, word.end + spaces, Of::Base64, if is_basic { 8 } else { 16 })?;
    if spaces == 0 {
        return None;
    }
    let before = text[..word.start].trim_ascii_end();
    let before = before.strip_suffix(b"\"").map_or(before, <[u8]>::trim_ascii_end);
    let is_header = before.strip_suffix(b":").is_some_and(|before| {
        let before = before.strip_suffix(b"\"").unwrap_or(before);
        before.len() >= 13 && before[before.len() - 13..].eq_ignore_ascii_case(b"authorization")
    });
    let value = &text[range.clone()];
    let is_secret = if is_basic { is_header } else { is_header || is_secret_like(value) };
    is_secret.then_some((Secret::BearerToken, range))
}

/// Finds the password of `scheme://user:password@host`, from the end of the scheme.
fn address(text: &[u8], scheme: usize) -> Option<Range<usize>> {
    let authority = text[scheme..].strip_prefix(b"://")?;
    let start = scheme + 3;
    // Redacted text may have contained the end of the address, and defanged text belongs to another address.
    let marks = [&b"[redacted:"[..], b"[:]", b"[/]", b"[&]"];
    let is_end = |(at, byte): (usize, &u8)| {
        !byte.is_ascii_graphic()
            || matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'<' | b'>')
            || *byte == b'[' && marks.iter().any(|mark| authority[at..].starts_with(mark))
    };
    let length = authority.iter().take(MAX_VALUE).enumerate().position(is_end);
    let authority = &authority[..length.or((authority.len() < MAX_VALUE).then_some(authority.len()))?];
    let at = authority.iter().rposition(|byte| *byte == b'@')?;
    let colon = authority[..at].iter().position(|byte| *byte == b':')?;
    let password = &authority[colon + 1..at];
    let examples = [&b"password"[..], b"mypassword", b"passwd", b"passphrase", b"pass", b"pw", b"pwd", b"token"];
    let is_example = examples.iter().any(|other| password.eq_ignore_ascii_case(other));
    let is_secret = !password.is_empty() && !is_example && !is_placeholder(password);
    is_secret.then_some(start + colon + 1..start + at)
}

/// Returns the number of leading bytes that are lines of Base64, headers such as `Proc-Type: …`, and their separators.
fn key_lines(text: &[u8]) -> usize {
    let mut end = 0;
    loop {
        let mut at = end;
        // Separators of lines, also as they are escaped inside a string.
        while let Some(byte) = text.get(at) {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b'\\' | b'"' | b'\'' | b'+' | b',' => at += 1,
                b'n' | b'r' if at > 0 && text[at - 1] == b'\\' => at += 1,
                _ => break,
            }
        }
        let line = &text[at..];
        let is_base64 = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
        let length = line.iter().take_while(is_base64).count();
        let header = line.iter().take(24).take_while(|byte| Of::Url.has(**byte)).count();
        // A header is one line of ASCII, so that no other text is split.
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\\') || !byte.is_ascii();
        let header_end = line.iter().take(200).position(is_end).or((line.len() < 200).then_some(line.len()));
        end = if length >= 16 || length > 0 && end > 0 && is_line_end(&line[length..]) {
            at + length
        } else if let Some(length) = header_end.filter(|_| header > 0 && line[header..].starts_with(b": ")) {
            at + length
        } else {
            return end;
        };
    }
}

fn is_line_end(text: &[u8]) -> bool {
    matches!(text.first(), None | Some(b'\n' | b'\r' | b'\\' | b'"' | b'\''))
}

/// Returns the start of the value of a name, and its quote: after `=`, `:`, `:=` or `=>`.
fn value_of(text: &[u8], name_end: usize) -> Option<(usize, Option<u8>)> {
    let mut at = name_end;
    let skip = |at: &mut usize, which: &[u8], most: usize| {
        let begin = *at;
        while *at - begin < most && text.get(*at).is_some_and(|byte| which.contains(byte)) {
            *at += 1;
        }
        *at > begin
    };
    skip(&mut at, b"\\", 1);
    skip(&mut at, b"\"'`", 1);
    skip(&mut at, b" \t", 8);
    if !skip(&mut at, b"=:>", 2) {
        return None;
    }
    skip(&mut at, b" \t", 8);
    skip(&mut at, b"\\", 1);
    let quote = text.get(at).copied().filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    Some((at + usize::from(quote.is_some()), quote))
}

/// Returns whether a value only stands in for a secret: a variable, a template, a mask.
fn is_placeholder(value: &[u8]) -> bool {
    let Some(&first) = value.first() else { return true };
    matches!(first, b'$' | b'{' | b'<' | b'%' | b'[' | b'(' | b'@' | b'&')
        || value.iter().all(|byte| *byte == first || matches!(byte, b'*' | b'.' | b'-' | b'_' | b'x' | b'X'))
        || value.windows(10).any(|part| part == b"[redacted:")
        || value.windows(3).any(|part| part == b"..." || part == b"***")
}

/// Returns whether a value looks like a password: not a word, not code, not a path, not a sentence.
fn is_password_like(value: &[u8], is_quoted: bool) -> bool {
    let has = |is: fn(&u8) -> bool| value.iter().any(is);
    let is_marked = has(|byte| matches!(byte, b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'*' | b'+' | b'~' | b'?'));
    let is_code = has(|byte| matches!(byte, b'(' | b'{' | b'['))
        || matches!(value.first(), Some(b'/' | b'.' | b'~' | b'-' | b'='));
    let is_letters = value.iter().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'.' | b'-'));
    value.len() >= 6
        && !is_placeholder(value)
        && !has(u8::is_ascii_whitespace)
        && !is_letters
        && (has(u8::is_ascii_digit) || is_marked && has(u8::is_ascii_alphabetic))
        && (is_quoted || !is_code)
        && !value.contains(&b':')
}

/// Returns whether a value looks like a key or token, with enough letters and digits mixed. Names of types also contain
/// digits, but only in one place.
fn is_secret_like(value: &[u8]) -> bool {
    let is_mixed =
        |run: &[u8]| run.len() >= 8 && run.iter().any(u8::is_ascii_digit) && run.iter().any(u8::is_ascii_alphabetic);
    let changes = value.windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit()).count();
    value.len() >= 16
        && (changes > 2 || value.len() >= 32)
        && !is_placeholder(value)
        && value.iter().all(|byte| Of::Encoded.has(*byte))
        && value.split(|byte| !byte.is_ascii_alphanumeric()).any(is_mixed)
}

pub(super) fn ends(name: &[u8], with: &[u8]) -> bool {
    name.len() >= with.len() && name[name.len() - with.len()..].eq_ignore_ascii_case(with)
}
