//! Removes backslashes that Markdown needs and JSON does not allow: `\\*` and `\\_` in prose. In a pattern, a command,
//! a formula or a path, the backslash may be intended. Such a text has two readings, and is not repaired.

/// Words in the names of members that hold patterns, formulas or code.
const PATTERNS: [&str; 5] = ["regex", "regexp", "pattern", "tex", "latex"];
const CODE: [&str; 10] = ["command", "cmd", "script", "shell", "sh", "bash", "glob", "code", "expr", "arg"];

/// Words in the names of members that hold paths.
const PATHS: [&str; 6] = ["path", "file", "filename", "dir", "directory", "folder"];

/// The escapes of one string.
pub(super) struct Escapes<'t> {
    content: &'t str,
    /// `true` if backslashes before asterisks and underscores may be intended.
    stars_in_doubt: bool,
    underscores_in_doubt: bool,
}

impl<'t> Escapes<'t> {
    /// Creates the escapes for the content of a string in the member with this name.
    pub(super) fn of(content: &'t str, name: &str) -> Self {
        // Matches names such as `filePath` and `file_paths`.
        let is_named = |words: &[&str]| {
            let is_word = |word: &str| {
                let word = word.to_ascii_lowercase();
                words.contains(&&*word) || word.strip_suffix('s').is_some_and(|one| words.contains(&one))
            };
            name.split(|character: char| !character.is_ascii_alphanumeric()).any(|part| {
                let from = part.rfind(|character: char| character.is_ascii_uppercase()).unwrap_or_default();
                is_word(part) || is_word(&part[from..]) || is_word(&part[..from])
            })
        };
        // Double backslashes, and common syntax of patterns and formulas.
        let signs = ["\\\\", "^", "$", "(?", ".*", ".+", ":\\"];
        let in_doubt = signs.iter().any(|sign| content.contains(sign)) || is_named(&PATTERNS);
        Escapes {
            content,
            stars_in_doubt: in_doubt || is_named(&CODE) || is_named(&PATHS),
            underscores_in_doubt: in_doubt || (is_named(&PATHS) && !content.contains('/')),
        }
    }

    /// Returns whether the backslash at an offset is a Markdown escape of the character after it.
    pub(super) fn has(&self, at: usize, escaped: char) -> bool {
        let (before, after) = (&self.content[..at], &self.content[at + 1 + escaped.len_utf8()..]);
        match escaped {
            // Excludes globs, and patterns that repeat the previous character.
            '*' => {
                let is_glob = before.ends_with(['/', '.']) || after.starts_with(['/', '.', '+', '?', '{']);
                !self.stars_in_doubt && !is_glob
            }
            '_' => !self.underscores_in_doubt,
            // Characters that would begin a heading, an item or a quote.
            '#' | '-' | '+' | '>' => {
                let is_last = after.starts_with([' ', '#', '\\']);
                // A heading has at most six marks.
                let marks = before.bytes().rev().take(12).take_while(|byte| matches!(byte, b'#' | b'\\')).count();
                !self.stars_in_doubt && is_last && begins_line(&before[..at - marks])
            }
            '.' => {
                let line = before.trim_end_matches(|digit: char| digit.is_ascii_digit());
                !self.stars_in_doubt && line.len() < at && after.starts_with(' ') && begins_line(line)
            }
            _ => false,
        }
    }
}

/// Returns whether the last line of a text is blank. Line ends may be escaped.
fn begins_line(before: &str) -> bool {
    let line = before.trim_end_matches([' ', '\t']);
    line.is_empty() || line.ends_with('\n') || line.ends_with("\\n")
}
