//! Words: determines the text of each word of a line, if it depends only on the line.

use std::iter::Peekable;

use super::scanner::{Entry, Scan, Scanner, Unreadable, Word, is_name};

/// The part of a word that has been read.
#[derive(Default)]
struct Part {
    text: String,
    /// `true` if the text depends on more than the line.
    is_unknown: bool,
    is_glob: bool,
    commands: Vec<Scan>,
}

impl Scanner<'_> {
    /// Reads the word that begins at this position. It ends before a blank or an operator.
    pub(super) fn word(&mut self, scan: &mut Scan) -> Result<Entry, Unreadable> {
        let begin = self.at;
        let mut part = Part::default();
        let mut has_brace = false;
        while let Some(char) = self.peek() {
            match char {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')' => break,
                '\\' => self.escape(&mut part, scan)?,
                '\'' => {
                    self.at += 1;
                    part.text.push_str(self.until('\'')?);
                }
                '"' => self.double_quotes(&mut part, scan)?,
                '$' => self.dollar(&mut part, scan, false)?,
                '`' => self.backquotes(&mut part, scan, false)?,
                '~' if self.at == begin => self.home_prefix(&mut part),
                '~' if self.text[begin..self.at].ends_with(['=', ':']) && &self.text[begin..self.at] != "=" => {
                    scan.doubt("a ~ within a word");
                    part.is_unknown = true;
                    self.at += 1;
                }
                char => {
                    match char {
                        '#' if self.depth > 0 => scan.doubt("a # in a substitution"),
                        '*' | '?' | '[' => part.is_glob = true,
                        '{' => has_brace = true,
                        char if char.is_control() || !char.is_ascii() && char.is_whitespace() => {
                            scan.doubt("a character that a word cannot have");
                        }
                        _ => {}
                    }
                    part.text.push(char);
                    self.at += char.len_utf8();
                }
            }
        }
        let source = &self.text[begin..self.at];
        // Braces expand to several words.
        let is_brace = source.starts_with('{') && !matches!(source, "{" | "{}");
        let is_several = is_brace || has_brace && (source.contains(',') || source.contains(".."));
        // A shell may replace it with the path of a program (zsh).
        let is_program = source.len() > 1 && source.starts_with('=') && !matches!(source, "==" | "=~");
        let is_known = !(part.is_unknown || is_several || is_program);
        let name = source.split_once('=').map(|(name, _)| name).filter(|name| is_name(name));
        Ok(Entry {
            name: name.map(str::to_owned),
            word: Word { text: is_known.then_some(part.text), is_glob: part.is_glob, source: source.to_owned() },
            commands: part.commands,
            is_seen: false,
        })
    }

    /// Reads `<(…)` or `>(…)`.
    pub(super) fn process(&mut self) -> Result<Entry, Unreadable> {
        self.at += 2;
        let commands = vec![self.substitution()?];
        Ok(Entry { word: Word::unknown("a substitution"), commands, ..Entry::default() })
    }

    fn escape(&mut self, part: &mut Part, scan: &mut Scan) -> Result<(), Unreadable> {
        self.at += 1;
        let escaped = self.peek().ok_or("the command ends in a backslash")?;
        self.at += escaped.len_utf8();
        if escaped == '\n' {
            scan.doubt("a line is continued within a word");
        } else {
            part.text.push(escaped);
        }
        if escaped == '$' && matches!(self.peek(), Some('\'' | '"')) {
            scan.doubt("a quote after an escaped $");
        }
        Ok(())
    }

    fn double_quotes(&mut self, part: &mut Part, scan: &mut Scan) -> Result<(), Unreadable> {
        self.at += 1;
        while let Some(char) = self.peek() {
            match char {
                '"' => {
                    self.at += 1;
                    return Ok(());
                }
                '\\' => {
                    self.at += 1;
                    let escaped = self.peek().ok_or("a quote is not closed")?;
                    self.at += escaped.len_utf8();
                    match escaped {
                        '\n' => scan.doubt("a line is continued within a word"),
                        '$' | '`' | '"' | '\\' => part.text.push(escaped),
                        other => part.text.extend(['\\', other]),
                    }
                }
                '$' => self.dollar(part, scan, true)?,
                '`' => self.backquotes(part, scan, true)?,
                char => {
                    part.text.push(char);
                    self.at += char.len_utf8();
                }
            }
        }
        Err("a quote is not closed")
    }

    fn backquotes(&mut self, part: &mut Part, scan: &mut Scan, is_quoted: bool) -> Result<(), Unreadable> {
        self.at += 1;
        let text = self.until('`')?;
        part.is_unknown = true;
        if text.contains('\\') || is_quoted && text.contains('"') {
            scan.doubt("a substitution with escapes");
            return Ok(());
        }
        part.commands.push(self.inner(text)?);
        Ok(())
    }

    fn dollar(&mut self, part: &mut Part, scan: &mut Scan, is_quoted: bool) -> Result<(), Unreadable> {
        self.at += 1;
        let rest = self.rest();
        let is_unknown = match rest.bytes().next() {
            Some(b'(') if rest.starts_with("((") => {
                let inner = self.balanced('(', ')')?;
                if !is_plain_arithmetic(inner) {
                    scan.doubt("arithmetic that may run code");
                }
                true
            }
            Some(b'(') => match document(rest).filter(|_| is_quoted) {
                Some((body, length)) => {
                    part.text.push_str(body);
                    self.at += length;
                    false
                }
                None => {
                    self.at += 1;
                    part.commands.push(self.substitution()?);
                    true
                }
            },
            Some(b'{') => {
                let inner = self.balanced('{', '}')?;
                let name = inner.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')).unwrap_or_default();
                if !(is_name(name) || !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())) {
                    scan.doubt("an expansion that may run code");
                }
                self.hold_index(scan);
                true
            }
            Some(b'\'') if !is_quoted => {
                self.at += 1;
                let text = self.until_unescaped()?;
                match unescaped(text) {
                    Some(text) => {
                        part.text.push_str(&text);
                        false
                    }
                    None => true,
                }
            }
            Some(b'"') if !is_quoted => {
                scan.doubt("a translated text");
                true
            }
            Some(b'[' | b'=' | b'~' | b'^' | b'+') => {
                scan.doubt("an expansion that may run code");
                true
            }
            Some(first) if first.is_ascii_alphabetic() || first == b'_' => {
                let is_end = |char: char| !(char.is_ascii_alphanumeric() || char == '_');
                self.at += rest.find(is_end).unwrap_or(rest.len());
                self.hold_index(scan);
                true
            }
            Some(first) if first.is_ascii_digit() || b"@*#?-$!".contains(&first) => {
                self.at += 1;
                self.hold_index(scan);
                true
            }
            _ => {
                part.text.push('$');
                false
            }
        };
        part.is_unknown |= is_unknown;
        Ok(())
    }

    /// Records a doubt about an index after a variable, because zsh evaluates it.
    fn hold_index(&self, scan: &mut Scan) {
        if self.peek() == Some('[') {
            scan.doubt("an item of a list");
        }
    }

    fn home_prefix(&mut self, part: &mut Part) {
        let rest = &self.rest()[1..];
        let is_alone = rest.is_empty() || rest.starts_with([' ', '\t', '\n', ';', '&', '|', '<', '>', ')', '/']);
        match self.home.filter(|_| is_alone) {
            Some(home) => part.text.push_str(home),
            None => part.is_unknown = true,
        }
        self.at += 1;
    }
}

/// Returns whether `((…))` has only numbers and operators.
fn is_plain_arithmetic(text: &str) -> bool {
    let inner = text.strip_prefix("((").and_then(|text| text.strip_suffix("))")).unwrap_or("(");
    inner.bytes().all(|byte| byte.is_ascii_digit() || b" +-*/%<>=!&|".contains(&byte)) && !inner.contains("<<")
}

/// Reads `(cat <<'MARK'…)`: returns the text that it prints, and the length. `None` if the text has characters that
/// older shells mistake for quotes, or for the end.
fn document(rest: &str) -> Option<(&str, usize)> {
    let (mark, lines) = rest.strip_prefix("(cat <<'")?.split_once("'\n")?;
    if mark.is_empty() || !mark.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return None;
    }
    let at = lines.find(mark)?;
    let body = lines[..at].strip_suffix('\n')?;
    let after = lines[at + mark.len()..].strip_prefix('\n')?;
    let end = after.trim_start_matches([' ', '\n']).strip_prefix(')')?;
    let mut depth = 0_i32;
    for char in body.chars() {
        match char {
            '(' => depth += 1,
            ')' => depth -= 1,
            '\'' | '"' | '`' | '\\' | '$' | '#' => return None,
            _ => {}
        }
        if depth < 0 {
            return None;
        }
    }
    (depth == 0).then(|| (body.trim_end_matches('\n'), rest.len() - end.len()))
}

/// Decodes the text of `$'…'`, if it is valid text.
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
        // Zero ends the text, and a byte above ASCII is part of a character.
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
        let read = |source: &str| {
            let mut scanner = Scanner::new(source, Some("/home/anna"));
            scanner.word(&mut Scan::default()).expect("a word").word.text
        };
        let cases = [
            ("git", "git"),
            ("g'i't", "git"),
            (r"g\it", "git"),
            (r#""g"it"#, "git"),
            (r"$'\x67it'", "git"),
            (r"$'\147it'", "git"),
            (r"$'g\u0069t'", "git"),
            (r#""a\d\"b""#, r#"a\d"b"#),
            (r"'a'\''b'", "a'b"),
            ("~/x", "/home/anna/x"),
            ("'~'/x", "~/x"),
            ("''", ""),
            ("\"$(cat <<'EOF'\na (b)\n\nEOF\n)\"", "a (b)"),
        ];
        for (source, expected) in cases {
            assert_eq!(read(source).as_deref(), Some(expected), "{source}");
        }
        for source in [
            "$x",
            "g${y}it",
            "$(x)",
            "`x`",
            "{a,b}",
            "{a,{}}",
            "@{a,b}",
            "{1..2}",
            "~bob/x",
            "$((1))",
            "=git",
            r"$'\0'",
            "a$'\\xff'",
            "of=~/x",
            "a:~/x",
        ] {
            assert_eq!(read(source), None, "{source}");
        }
    }
}
