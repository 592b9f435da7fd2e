//! Words of shell commands.

use std::path::Path;

use crate::escape::escape_terminal;

/// Quotes a path as a word of a shell command.
pub fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "/._-+=:@%".contains(character);
    match !text.is_empty() && !text.starts_with('-') && text.chars().all(is_plain) {
        true => text,
        false => format!("'{}'", escape_terminal(&text).replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusual_paths_are_quoted() {
        for (path, word) in
            [("a/b-1.json", "a/b-1.json"), ("", "''"), ("-x", "'-x'"), ("a b", "'a b'"), ("it's", r"'it'\''s'")]
        {
            assert_eq!(shell_word(Path::new(path)), word);
        }
    }
}
