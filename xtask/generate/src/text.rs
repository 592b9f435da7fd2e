//! Names and lines, as each language has them.

/// Lines are at most this long, in every language.
pub(super) const WIDTH: usize = 120;

/// `quarantine-reason` -> `quarantine_reason`, which is also its word in JSON.
pub(super) fn snake(name: &str) -> String {
    name.replace('-', "_")
}

/// `quarantine-reason` -> `QuarantineReason`.
pub(super) fn pascal(name: &str) -> String {
    let capital = |word: &str| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_uppercase() + rest
    };
    name.split('-').map(capital).collect()
}

/// `dead-end` -> `deadEnd`.
pub(super) fn camel(name: &str) -> String {
    let pascal = pascal(name);
    let (first, rest) = pascal.split_at(pascal.len().min(1));
    first.to_lowercase() + rest
}

/// Wraps words in lines of at most `width` characters.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Paragraphs as lines with a blank one between them, each after `prefix`.
pub(super) fn commented(paragraphs: &[String], prefix: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, paragraph) in paragraphs.iter().enumerate() {
        if index > 0 {
            lines.push(prefix.trim_end().to_owned());
        }
        lines.extend(wrap(paragraph, WIDTH - prefix.len()).iter().map(|line| format!("{prefix}{line}")));
    }
    lines
}
