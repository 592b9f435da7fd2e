//! Words: what a word of a line is, if its text alone says so.

use std::iter::Peekable;

use brush_parser::{
    ParserOptions,
    word::{self, ParameterExpr, WordPiece, WordPieceWithSource},
};

/// A word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Its text. `None`: that depends on more than the line.
    pub(super) text: Option<String>,
    /// Whether the shell puts names of files in its place.
    pub(super) is_glob: bool,
    /// As the line writes it.
    pub(super) source: String,
}

/// What is found in words beside their texts.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A command in a substitution.
    Command(String),
    /// Something that is not exact.
    Doubt(&'static str),
}

impl Word {
    /// A word that is its own text.
    pub(super) fn literal(text: &str) -> Self {
        Word { text: Some(text.to_owned()), is_glob: false, source: text.to_owned() }
    }

    /// Returns its text if it is one and the same word for the program.
    pub(super) fn exact(&self) -> Option<&str> {
        self.text.as_deref().filter(|_| !self.is_glob)
    }

    /// Returns how it is shown.
    pub(super) fn shown(&self) -> &str {
        self.text.as_deref().unwrap_or(&self.source)
    }
}

/// Reads a word.
pub(super) fn read(source: &str, home: Option<&str>, found: &mut Vec<Found>) -> Word {
    let mut state = State { text: Some(String::new()), is_glob: false, home, found };
    match word::parse(source, &ParserOptions::default()) {
        Ok(pieces) => state.pieces(&pieces, false),
        Err(_) => {
            state.text = None;
            state.found.push(Found::Doubt("a word cannot be read"));
        }
    }
    // A shell may have a program's path in its place (zsh).
    if source.starts_with('=') && source.len() > 1 && !source.starts_with("==") {
        state.text = None;
    }
    // A bracket alone is the name of a test.
    Word { text: state.text, is_glob: state.is_glob && source != "[", source: source.to_owned() }
}

/// Finds the commands in a here-document.
pub(super) fn read_document(source: &str, found: &mut Vec<Found>) {
    let quoted: String = format!("\"{}\"", source.replace('"', "\\\""));
    read(&quoted, None, found);
}

struct State<'s> {
    text: Option<String>,
    is_glob: bool,
    home: Option<&'s str>,
    found: &'s mut Vec<Found>,
}

impl State<'_> {
    fn add(&mut self, text: &str) {
        if let Some(own) = &mut self.text {
            own.push_str(text);
        }
    }

    fn doubt(&mut self, why: &'static str) {
        self.text = None;
        self.found.push(Found::Doubt(why));
    }

    fn pieces(&mut self, pieces: &[WordPieceWithSource], is_quoted: bool) {
        for piece in pieces {
            self.piece(&piece.piece, is_quoted);
        }
    }

    fn piece(&mut self, piece: &WordPiece, is_quoted: bool) {
        match piece {
            WordPiece::Text(text) if is_quoted => self.add(text),
            WordPiece::Text(text) => self.plain(text),
            WordPiece::SingleQuotedText(text) => self.add(text),
            WordPiece::AnsiCQuotedText(text) => match unescaped(text) {
                Some(text) => self.add(&text),
                None => self.text = None,
            },
            WordPiece::DoubleQuotedSequence(pieces) => self.pieces(pieces, true),
            WordPiece::EscapeSequence(text) => {
                let escaped = text.strip_prefix('\\').unwrap_or(text);
                match escaped {
                    "\n" => {}
                    _ if !is_quoted || escaped.starts_with(['$', '`', '"', '\\']) => self.add(escaped),
                    _ => self.add(text),
                }
            }
            WordPiece::TildePrefix(user) if user.is_empty() => match self.home {
                Some(home) => {
                    let home = home.to_owned();
                    self.add(&home);
                }
                None => self.text = None,
            },
            WordPiece::GettextDoubleQuotedSequence(_) => self.doubt("a translated text"),
            WordPiece::TildePrefix(_) => self.text = None,
            WordPiece::ParameterExpansion(ParameterExpr::Parameter { indirect: false, parameter }) => {
                self.text = None;
                if matches!(parameter, word::Parameter::NamedWithIndex { .. }) {
                    self.doubt("an item of a list");
                }
            }
            WordPiece::ParameterExpansion(_) => self.doubt("an expansion that may run code"),
            WordPiece::CommandSubstitution(text) => match document_of(text).filter(|_| is_quoted) {
                Some(document) => self.add(document),
                None => {
                    self.text = None;
                    self.found.push(Found::Command(text.clone()));
                }
            },
            WordPiece::BackquotedCommandSubstitution(text) => {
                self.text = None;
                match text.contains('\\') {
                    true => self.doubt("a substitution with escapes"),
                    false => self.found.push(Found::Command(text.clone())),
                }
            }
            WordPiece::ArithmeticExpression(expression) => {
                self.text = None;
                if expression.value.contains(['[', '`', '(']) || expression.value.contains("$(") {
                    self.doubt("arithmetic that may run code");
                }
            }
        }
    }

    /// Text without quotes around it.
    fn plain(&mut self, text: &str) {
        if text.contains(['(', ')']) {
            return self.doubt("a pattern that may run code");
        }
        if text.contains(['*', '?', '[']) {
            self.is_glob = true;
        }
        if text.contains(['$', '`', '<', '>', '&', ';', '|', '\n']) {
            return self.doubt("a word cannot be read");
        }
        self.add(text);
        if text.contains('{') && !text.contains("{}") && !text.contains("@{") {
            // Braces stand for several words.
            self.text = None;
        }
    }
}

/// Returns the text that `cat` prints of a quoted here-document, if a command is nothing else.
fn document_of(command: &str) -> Option<&str> {
    let rest = command.trim().strip_prefix("cat <<")?.strip_prefix('\'')?;
    let (mark, rest) = rest.split_once("'\n")?;
    if mark.is_empty() || !mark.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return None;
    }
    let (body, end) = rest.rsplit_once('\n').unwrap_or(("", rest));
    let is_end =
        |line: &str| line == mark || line.strip_prefix('\'').and_then(|line| line.strip_suffix('\'')) == Some(mark);
    (is_end(end) && !body.lines().any(is_end)).then_some(body)
}

/// Returns what a text in `$'…'` stands for, if that is text.
fn unescaped(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        if char != '\\' {
            out.push(char);
            continue;
        }
        let code = match chars.next()? {
            'n' => 10,
            't' => 9,
            'r' => 13,
            'a' => 7,
            'b' => 8,
            'e' | 'E' => 27,
            'f' => 12,
            'v' => 11,
            escaped @ ('\\' | '\'' | '"' | '?') => escaped as u32,
            'x' => number(&mut chars, 16, 2, 0, 0)?,
            'u' => number(&mut chars, 16, 4, 0, 0)?,
            'U' => number(&mut chars, 16, 8, 0, 0)?,
            first @ '0'..='7' => number(&mut chars, 8, 2, first.to_digit(8)?, 1)?,
            _ => return None,
        };
        // Zero ends the text, and a byte above ASCII is a part of a character.
        if code == 0 || (0x80..=0xff).contains(&code) {
            return None;
        }
        out.push(char::from_u32(code)?);
    }
    Some(out)
}

fn number(
    chars: &mut Peekable<impl Iterator<Item = char>>,
    radix: u32,
    most: usize,
    mut value: u32,
    mut digits: usize,
) -> Option<u32> {
    let most = most + digits;
    while digits < most
        && let Some(digit) = chars.peek().and_then(|char| char.to_digit(radix))
    {
        value = value.checked_mul(radix)?.checked_add(digit)?;
        digits += 1;
        chars.next();
    }
    (digits > 0).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_the_text_that_a_shell_gives_a_program() {
        let read = |source: &str| read(source, Some("/home/anna"), &mut Vec::new()).text;
        let cases = [
            ("git", "git"),
            ("g'i't", "git"),
            (r"g\it", "git"),
            (r#""g"it"#, "git"),
            (r"$'\x67it'", "git"),
            (r"$'\147it'", "git"),
            (r"$'g\u0069t'", "git"),
            (r#""a\d\"b""#, r#"a\d"b"#),
            ("~/x", "/home/anna/x"),
            ("'~'/x", "~/x"),
            ("''", ""),
            ("gi\\\nt", "git"),
        ];
        for (source, expected) in cases {
            assert_eq!(read(source).as_deref(), Some(expected), "{source}");
        }
        for source in ["$x", "g${y}it", "$(x)", "`x`", "{a,b}", "~bob/x", "$((1))", "=git", r"$'\0'", "a$'\\xff'"] {
            assert_eq!(read(source), None, "{source}");
        }
    }
}
