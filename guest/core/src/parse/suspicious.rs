//! Detects escapes that are valid JSON but were probably meant as a backslash: `"\frac"` is a form feed and `rac`.

use super::{
    Document, Kind, Span,
    document::{BORROWED, Node},
};

/// The maximum number of escapes with a separate note.
const MAX_NOTES: usize = 8;

/// The maximum number of letters after an escape that a note shows.
const MAX_LETTERS: usize = 16;

/// LaTeX commands that begin with `
/// `, `\r` or `\t`, without that escape. Omits commands whose rest is a word of a natural language (`
/// u`, `\to`, `\tan`), because that word after a line break or a tab is more likely.
const COMMANDS: [(u8, &[&str]); 3] = [
    (
        b'n',
        &[
            "abla",
            "atural",
            "earrow",
            "eg",
            "eq",
            "ewcommand",
            "ewline",
            "exists",
            "geq",
            "leq",
            "mid",
            "oindent",
            "ot",
            "otin",
            "parallel",
            "subseteq",
            "warrow",
        ],
    ),
    (b'r', &["angle", "brace", "ceil", "ef", "enewcommand", "floor", "ho", "ight", "ightarrow"]),
    (
        b't',
        &["au", "binom", "ext", "extbf", "extit", "extrm", "extsc", "exttt", "frac", "heta", "ilde", "imes", "riangle"],
    ),
];

/// Returns whether the escape whose letter is at an offset may be suspicious. Only then are notes searched for.
#[inline]
pub(super) fn may_be_suspicious(text: &[u8], at: usize) -> bool {
    match text[at] {
        b'b' | b'f' => true,
        b'n' | b'r' | b't' => {
            let next = text.get(at + 1).copied().unwrap_or_default();
            (next.is_ascii_lowercase() && is_command(&text[at..]))
                || (next.is_ascii_alphabetic() && is_path(&text[at.saturating_sub(4)..]))
        }
        _ => false,
    }
}

/// Returns whether an escape, which begins with its letter, was probably meant as a backslash and that letter. Text
/// never contains a backspace, and no letter follows a form feed.
fn is_suspicious(escape: &[u8]) -> bool {
    match escape {
        [b'b', ..] => true,
        [b'f', next, ..] => next.is_ascii_alphabetic(),
        _ => is_command(escape),
    }
}

/// Returns whether a string, including its quotes, begins like a Windows file path: `"C:\temp`.
fn is_path(string: &[u8]) -> bool {
    matches!(string, [b'"', drive, b':', b'\\', ..] if drive.is_ascii_alphabetic())
}

/// The first two letters of the commands after each escape, one bit each. Most words at the beginning of a line begin
/// differently.
const BEGINNINGS: [[u32; 2]; COMMANDS.len()] = {
    let mut beginnings = [[0; 2]; COMMANDS.len()];
    let mut escape = 0;
    while escape < COMMANDS.len() {
        let mut command = 0;
        while command < COMMANDS[escape].1.len() {
            let letters = COMMANDS[escape].1[command].as_bytes();
            beginnings[escape][0] |= 1 << (letters[0] - b'a');
            beginnings[escape][1] |= 1 << (letters[1] - b'a');
            command += 1;
        }
        escape += 1;
    }
    beginnings
};

#[inline(never)]
fn is_command(escape: &[u8]) -> bool {
    let [escape, behind @ ..] = escape else { return false };
    let Some(index) = COMMANDS.iter().position(|(letter, _)| letter == escape) else { return false };
    let [first, second, ..] = behind else { return false };
    let has = |letters: u32, letter: u8| letters.checked_shr(letter.wrapping_sub(b'a').into()).unwrap_or(0) & 1 == 1;
    if !has(BEGINNINGS[index][0], *first) || !has(BEGINNINGS[index][1], *second) {
        return false;
    }
    let rest = &behind[..count_letters(behind)];
    COMMANDS[index].1.iter().any(|known| known.as_bytes() == rest)
}

/// Returns the leading ASCII letters of a text that a note shows.
fn letters(text: &[u8]) -> &str {
    str::from_utf8(&text[..count_letters(text)]).unwrap_or_default()
}

fn count_letters(text: &[u8]) -> usize {
    text.iter().take(MAX_LETTERS).take_while(|byte| byte.is_ascii_alphabetic()).count()
}

impl Document<'_> {
    /// Returns whether a string has an escape that was likely meant as a backslash.
    #[inline(always)]
    pub(crate) fn is_suspicious(&self) -> bool {
        self.is_suspicious
    }

    /// Returns a note for each suspicious escape, up to a limit, and one for the rest.
    pub(crate) fn suspicious_notes(&self) -> Vec<String> {
        if !self.is_suspicious {
            return Vec::new();
        }
        let (mut notes, mut more) = (Vec::new(), 0);
        let is_escaped = |node: &&Node| node.kind == Kind::String && node.a != BORROWED;
        for node in self.nodes.iter().filter(is_escaped) {
            let (start, end) = (node.span.start as usize, node.span.end as usize);
            let bytes = self.text.as_bytes();
            let is_path = is_path(&bytes[start..end]) && !bytes[start..end].contains(&b' ');
            let mut at = start;
            while let Some(found) = memchr::memchr(b'\\', &bytes[at..end]) {
                let start = at + found;
                at = start + 2;
                let behind = letters(&bytes[at..end]);
                let of_path = is_path && !behind.is_empty() && b"nrt".contains(&bytes[start + 1]);
                if !of_path && !is_suspicious(&bytes[start + 1..end]) {
                    continue;
                }
                if notes.len() == MAX_NOTES {
                    more += 1;
                    continue;
                }
                let span = self.of_output(Span::new(start, at + behind.len()));
                let escape = bytes[start + 1] as char;
                let name = match escape {
                    'b' => "a backspace",
                    'f' => "a form feed",
                    'n' => "a line feed",
                    'r' => "a carriage return",
                    _ => "a tab",
                };
                notes.push(format!(
                    "suspicious_escape: bytes {} to {}, \\{escape}{behind}, begin with {name}; a backslash is \\\\ in JSON",
                    span.start, span.end
                ));
            }
        }
        if more > 0 {
            notes.push(format!("suspicious_escape: {more} more were not listed"));
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{caps::Caps, parse::parse};

    fn notes(text: &str) -> Vec<String> {
        parse(text, Span::new(0, text.len()), &Caps::default()).unwrap().document.suspicious_notes()
    }

    #[test]
    fn a_command_of_latex_is_noted() {
        for text in [
            r"\frac{1}{2}",
            r"a \theta",
            r"\times",
            r"\nabla f",
            r"x \neq y",
            r"\right)",
            r"\beta",
            r"\bword\b",
            r"C:\temp\report.txt",
        ] {
            assert!(!notes(&format!("[\"{text}\"]")).is_empty(), "{text}");
        }
        assert_eq!(
            notes(r#"{"tex": "\frac{1}"}"#),
            [r"suspicious_escape: bytes 9 to 14, \frac, begin with a form feed; a backslash is \\ in JSON"]
        );
    }

    #[test]
    fn white_space_and_escaped_backslashes_are_not() {
        for text in [
            r"a\nb",
            r"a\tb",
            r"\tText",
            r"line\r\nright",
            r"\nu",
            r"\to",
            r"\\frac",
            r"\\\\beta",
            r"\f",
            r"\u0008",
            r"\nequal",
            r"A:\nb c",
            r"Steps:\nfirst",
        ] {
            assert_eq!(notes(&format!("[\"{text}\"]")), [] as [String; 0], "{text}");
        }
    }

    #[test]
    fn few_of_many_are_listed() {
        let notes = notes(&format!("[\"{}\"]", r"\frac".repeat(100)));
        assert_eq!(notes.len(), MAX_NOTES + 1);
        assert_eq!(notes[MAX_NOTES], "suspicious_escape: 92 more were not listed");
    }
}
