//! Scans a line: removes words, comments and here-documents from it by strict rules.
//!
//! The result is a skeleton of operators, reserved words and placeholders, which a parser can interpret in only one
//! way.

use super::scanner::{Entry, Scan, Scanner, Unreadable, Word};

/// The beginning of a placeholder.
const MARK: &str = "qzw";
/// The deepest nesting of substitutions.
const MAX_DEPTH: usize = 8;
/// The operators, the longer ones first.
const OPERATORS: [&str; 19] =
    ["&>>", "<<<", ";;&", "&&", "||", ";;", ";&", "|&", "&>", ">>", ">|", ">&", "<>", "<&", ";", "&", "|", "<", ">"];
/// Words that represent themselves although they contain other characters than names do.
const SIGNS: [&str; 11] = ["!", "!=", "=", "==", "=~", "{", "}", "[", "]", "[[", "]]"];
/// Reserved words before which a subshell may follow.
const RESERVED: [&str; 11] = ["!", "{", "if", "then", "elif", "else", "while", "until", "do", "time", "in"];

impl Scan {
    /// Adds a word. A name represents itself, and any other word gets a placeholder.
    fn push(&mut self, entry: Entry) {
        let source = &entry.word.source;
        let is_own = is_plain(source) || SIGNS.contains(&source.as_str());
        if is_own && entry.word.text.is_some() && entry.commands.is_empty() {
            self.skeleton.push_str(source);
        } else {
            let name = entry.name.as_ref().map(|name| format!("{name}=")).unwrap_or_default();
            self.skeleton.push_str(&format!("{name}{MARK}{}q", self.entries.len()));
            self.entries.push(entry);
        }
        self.skeleton.push(' ');
    }
}

/// Scans the text of a line.
pub(super) fn scan(text: &str, home: Option<&str>) -> Result<Scan, Unreadable> {
    let mut scanner = Scanner::new(text, home);
    let scan = scanner.list()?;
    if scanner.at < text.len() { Err("a bracket is not opened") } else { Ok(scan) }
}

/// Returns the word for a word of a skeleton.
pub(super) fn find(entries: &mut [Entry], source: &str) -> (Word, Vec<Scan>) {
    let (name, mark) = match source.split_once('=') {
        Some((name, mark)) if !name.is_empty() => (Some(name), mark),
        _ => (None, source),
    };
    let index = mark.strip_prefix(MARK).and_then(|rest| rest.strip_suffix('q')).and_then(|rest| rest.parse().ok());
    let Some(entry) = index.and_then(|index: usize| entries.get_mut(index)) else {
        return (Word::literal(source), Vec::new());
    };
    entry.is_seen = true;
    let mut word = entry.word.clone();
    if let (None, Some(assigned)) = (name, &entry.name) {
        // Only the value.
        let begin = assigned.len() + 1;
        word.source.drain(..begin);
        word.text = word.text.map(|text| text[begin..].to_owned());
    }
    (word, std::mem::take(&mut entry.commands))
}

impl<'t> Scanner<'t> {
    /// Scans the commands of a substitution, including its closing bracket.
    pub(super) fn substitution(&mut self) -> Result<Scan, Unreadable> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("the command is nested too deeply");
        }
        let scan = self.list()?;
        self.depth -= 1;
        if self.peek() != Some(')') {
            return Err("a bracket is not closed");
        }
        self.at += 1;
        Ok(scan)
    }

    /// Scans a complete text that is nested in another one.
    pub(super) fn inner(&self, text: &str) -> Result<Scan, Unreadable> {
        if self.depth >= MAX_DEPTH {
            return Err("the command is nested too deeply");
        }
        let mut scanner = Scanner { text, at: 0, home: self.home, depth: self.depth + 1 };
        let scan = scanner.list()?;
        if scanner.at < text.len() { Err("a bracket is not opened") } else { Ok(scan) }
    }

    /// Scans commands up to the end of the text, or to a bracket that closes more than they open.
    fn list(&mut self) -> Result<Scan, Unreadable> {
        let mut scan = Scan::default();
        let mut open = 0_usize;
        let mut document: Option<(&str, bool)> = None;
        // `true` after a word of a command.
        let mut is_after_word = false;
        while let Some(char) = self.peek() {
            let before = self.text[..self.at].chars().next_back();
            match char {
                ' ' | '\t' => self.at += 1,
                '\\' if self.rest().starts_with("\\\n") => {
                    self.at += 2;
                    if !matches!(before, Some(' ' | '\t')) || self.peek() == Some('#') {
                        scan.doubt("a line is continued within a word");
                    }
                }
                '#' => {
                    if self.depth > 0 {
                        scan.doubt("a # in a substitution");
                    }
                    if before.is_some_and(|before| !" \t\n;&|(".contains(before)) {
                        scan.doubt("a # that may be no comment");
                    }
                    self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                }
                '\n' => {
                    self.at += 1;
                    scan.skeleton.push('\n');
                    is_after_word = false;
                    if let Some((mark, is_expanded)) = document.take() {
                        self.document(mark, is_expanded, &mut scan)?;
                    }
                }
                '(' if self.rest().starts_with("((") => {
                    scan.doubt("arithmetic, or a subshell in a subshell");
                    self.balanced('(', ')')?;
                    scan.skeleton.push_str(" : ");
                }
                '(' => {
                    self.at += 1;
                    open += 1;
                    if is_after_word {
                        scan.doubt("a function, a list or a pattern");
                    }
                    if scan.skeleton.ends_with(' ') && matches!(before, Some(before) if !before.is_whitespace()) {
                        // `a=(`
                        scan.skeleton.pop();
                    }
                    scan.skeleton.push_str("( ");
                    is_after_word = false;
                }
                ')' => {
                    if open == 0 && self.depth > 0 {
                        break;
                    }
                    self.at += 1;
                    open = open.saturating_sub(1);
                    scan.skeleton.push_str(") ");
                    is_after_word = false;
                }
                ';' | '&' | '|' | '<' | '>' => {
                    let rest = self.rest();
                    if rest.starts_with("<(") || rest.starts_with(">(") {
                        if is_after_word && !matches!(before, Some(' ' | '\t')) {
                            scan.doubt("a substitution within a word");
                        }
                        let entry = self.process()?;
                        if self.peek().is_some_and(|next| !" \t\n;&|)".contains(next)) {
                            scan.doubt("a substitution within a word");
                        }
                        scan.push(entry);
                        is_after_word = true;
                    } else if rest.starts_with("<<") && !rest.starts_with("<<<") {
                        let is_numbered = before.is_some_and(|before| !" \t\n;&|".contains(before)) && !is_after_word;
                        if self.depth > 0 || document.is_some() || is_numbered {
                            return Err("a here-document that shells read in different ways");
                        }
                        document = Some(self.mark()?);
                        scan.skeleton.push(' ');
                    } else {
                        let operator = OPERATORS.into_iter().find(|operator| rest.starts_with(operator));
                        let operator = operator.ok_or("an operator is not known")?;
                        self.at += operator.len();
                        if operator.contains('>') && self.peek() == Some('!') {
                            scan.doubt("a redirection that shells read in different ways");
                        }
                        scan.skeleton.push_str(operator);
                        if !operator.contains(['<', '>']) {
                            scan.skeleton.push(' ');
                            is_after_word = false;
                        }
                    }
                }
                _ => {
                    let entry = self.word(&mut scan)?;
                    let source = entry.word.source.as_str();
                    let is_redirected = matches!(self.peek(), Some('<' | '>'));
                    if document.is_some() && source.contains('\n') {
                        return Err("a here-document that shells read in different ways");
                    }
                    if source == "=~" {
                        scan.doubt("a regular expression");
                    }
                    if self.depth > 0 && source == "case" {
                        scan.doubt("a case in a substitution");
                    }
                    if is_redirected && source.starts_with('{') {
                        scan.doubt("a redirection sets a variable");
                    }
                    is_after_word = !RESERVED.contains(&source);
                    if is_redirected && source.bytes().all(|byte| byte.is_ascii_digit()) {
                        if source.len() > 2 {
                            scan.doubt("the number of a redirection");
                        }
                        scan.skeleton.push_str(source);
                        is_after_word = false;
                    } else {
                        scan.push(entry);
                    }
                }
            }
        }
        match document {
            Some(_) => Err("a here-document does not end"),
            None => Ok(scan),
        }
    }

    /// Scans `<<` and the mark after it. Returns the mark, and whether the shell expands the here-document.
    fn mark(&mut self) -> Result<(&'t str, bool), Unreadable> {
        let unreadable = "a here-document with an unusual mark";
        let rest = self.rest();
        let begin = rest[2..].trim_start_matches([' ', '\t']);
        let quote = begin.chars().next().filter(|char| matches!(char, '\'' | '"'));
        let inside = &begin[usize::from(quote.is_some())..];
        let is_end = |char: char| !(char.is_ascii_alphanumeric() || char == '_');
        let length = inside.find(is_end).ok_or("a here-document does not end")?;
        let (mark, mut after) = inside.split_at(length);
        if let Some(quote) = quote {
            after = after.strip_prefix(quote).ok_or(unreadable)?;
        }
        if mark.is_empty() || !after.starts_with([' ', '\t', '\n', ';', '&', '|', '>']) {
            return Err(unreadable);
        }
        self.at += rest.len() - after.len();
        Ok((mark, quote.is_none()))
    }

    /// Scans the lines of a here-document.
    fn document(&mut self, mark: &str, is_expanded: bool, scan: &mut Scan) -> Result<(), Unreadable> {
        while let Some((line, _)) =
            self.rest().split_once('\n').or(Some((self.rest(), ""))).filter(|_| !self.rest().is_empty())
        {
            self.at = (self.at + line.len() + 1).min(self.text.len());
            if line == mark {
                return Ok(());
            }
            if is_expanded && line.ends_with('\\') {
                return Err("a here-document that shells read in different ways");
            }
            if is_expanded && (line.contains('`') || ["$(", "${", "$["].iter().any(|start| line.contains(start))) {
                scan.doubt("a here-document that may run code");
            }
        }
        Err("a here-document does not end")
    }
}

/// Returns whether a word has only characters without a special meaning.
fn is_plain(source: &str) -> bool {
    let is_own = |byte: u8| byte.is_ascii_alphanumeric() || b"_./:,@%+-".contains(&byte);
    !source.is_empty() && source.bytes().all(is_own) && !source.starts_with(MARK)
}
