//! Names of tools with `*`, which stands for any text.

/// Returns whether a name in a profile is a pattern.
pub(crate) fn is_pattern(name: &str) -> bool {
    name.contains('*')
}

/// Returns whether a pattern matches a whole name.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Returns the rank of a name or pattern among those that match a tool. A name ranks above all patterns. A pattern with
/// more text before its first `*` ranks above other patterns.
pub(crate) fn rank(pattern: &str) -> usize {
    pattern.find('*').unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name, is) in [
            ("*", "a", true),
            ("get_*", "get_", true),
            ("get_*", "get_a", true),
            ("get_*", "forget_a", false),
            ("*_get", "a_get", true),
            ("*_get", "a_get_b", false),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "acb", false),
            ("ab*bc", "abc", false),
            ("get", "get", true),
            ("get", "get_a", false),
            ("g.t", "get", false),
            ("**", "x", true),
        ] {
            assert_eq!(matches(pattern, name), is, "{pattern} {name}");
        }
    }
}
