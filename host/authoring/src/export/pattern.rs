//! Patterns that have the same meaning in every regular expression engine.

use regex_syntax::ParserBuilder;

/// Returns `true` if a pattern uses nothing that engines interpret differently: look-around, back-references, word
/// boundaries, classes that depend on Unicode, flags, and operators inside classes.
pub(super) fn is_portable(pattern: &str) -> bool {
    let mut characters = pattern.chars().peekable();
    // Inside a class: whether it is negated, and the last character.
    let mut class: Option<(bool, char)> = None;
    while let Some(character) = characters.next() {
        let next = characters.peek().copied();
        match (character, &mut class) {
            ('\\', _) => {
                let Some(escaped) = characters.next() else { return false };
                let is_negated = class.is_some_and(|(is_negated, _)| is_negated);
                let is_plain = match escaped {
                    'd' | 'w' => !is_negated,
                    'n' | 'r' | 't' | 'f' | 'v' => true,
                    other => other.is_ascii_punctuation(),
                };
                if !is_plain {
                    return false;
                }
                if let Some((_, last)) = &mut class {
                    *last = ' ';
                }
            }
            (']', Some(_)) => class = None,
            (character, Some((_, last))) => {
                let is_operator = "&-~".contains(character) && next == Some(character);
                if character == '[' || is_operator || (character == '^' && *last == '[') {
                    return false;
                }
                *last = character;
            }
            ('[', None) => {
                let is_negated = next == Some('^');
                if is_negated {
                    characters.next();
                }
                // An empty class, or one that begins with a bracket or a hyphen, has several interpretations.
                if matches!(characters.peek(), Some(']' | '-')) {
                    return false;
                }
                class = Some((is_negated, ' '));
            }
            ('(', None) if next == Some('?') => {
                characters.next();
                if characters.next() != Some(':') {
                    return false;
                }
            }
            _ => {}
        }
    }
    class.is_none() && ParserBuilder::new().unicode(false).utf8(false).build().parse(pattern).is_ok()
}

#[cfg(test)]
mod tests {
    use super::is_portable;

    #[test]
    fn what_engines_read_alike_is_portable() {
        for pattern in
            ["", "^a", "b$", "^[a-z]+$", "^(?:a|ab)$", r"^\d{4}-\d{2}$", r"[\w.]+@", r"a\.b", "[^abc]", "a{2,3}?"]
        {
            assert!(is_portable(pattern), "{pattern}");
        }
        let others = [
            "(?=a)",
            "(?!a)",
            "(?<=a)b",
            "(?<name>a)",
            r"(a)\1",
            r"\bword\b",
            r"\D",
            r"\W",
            r"\s",
            r"\S",
            r"\p{L}",
            r"[^\d]",
            "(?i:a)",
            "[a",
            "a{",
            "[[a]",
            "[a&&b]",
            "[]a]",
            "[-a]",
            r"\u0041",
            r"\cJ",
            "(",
        ];
        for pattern in others {
            assert!(!is_portable(pattern), "{pattern}");
        }
    }
}
