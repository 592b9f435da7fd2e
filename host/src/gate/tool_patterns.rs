//! Names of tools in profiles: a name, or a pattern in which `*` matches any text.

/// Returns whether a name in a profile is a pattern.
pub fn is_tool_pattern(name: &str) -> bool {
    name.contains('*')
}

/// Returns whether a name or pattern in a profile matches the name of a tool.
pub fn matches_tool(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Returns the rank of a name or pattern among those that match a tool. The one with the highest rank applies: an exact
/// name, otherwise the pattern with the most text before its first `*`.
pub fn tool_pattern_rank(pattern: &str) -> usize {
    pattern.find('*').unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn star_stands_for_any_characters() {
        for (pattern, name, is_match) in [
            ("get_*", "get_user", true),
            ("get_*", "get_", true),
            ("get_*", "forget_user", false),
            ("*_user", "get_user", true),
            ("*", "", true),
            ("get", "get", true),
            ("get", "get_user", false),
            ("", "a", false),
            ("a*a", "a", false),
            ("a*b*a", "aba", true),
            ("a*b*a", "aa", false),
            ("*b*", "abc", true),
            ("**", "x", true),
            ("a*é", "aé", true),
        ] {
            assert_eq!(matches_tool(pattern, name), is_match, "{pattern} {name}");
        }
    }
}
