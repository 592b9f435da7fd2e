//! Lists of scopes, as in requests for tokens (RFC 6749, section 3.3).

use super::super::endpoint::is_of_scope;

/// The longest list, in bytes.
pub(super) const MAX_SCOPE: usize = 4096;

/// Merges lists of scopes, without duplicates and invalid names. Returns `None` if no scope is left, or if there are
/// too many to request.
pub(super) fn joined<'s>(lists: impl IntoIterator<Item = Option<&'s str>>) -> Option<String> {
    let mut all: Vec<&str> = Vec::new();
    let mut length = 0;
    for scope in lists.into_iter().flatten().flat_map(|list| list.split(' ')) {
        if scope.is_empty() || !scope.bytes().all(is_of_scope) || all.contains(&scope) {
            continue;
        }
        length += scope.len() + 1;
        if length > MAX_SCOPE {
            return None;
        }
        all.push(scope);
    }
    (!all.is_empty()).then(|| all.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_joined_without_repetition() {
        assert_eq!(joined([Some("a b"), None, Some("b  c a")]).as_deref(), Some("a b c"));
        assert_eq!(joined([Some("a \u{1b}[2J \"q\" \\ é b")]).as_deref(), Some("a b"));
        assert_eq!(joined([None, Some(" ")]), None);
        assert_eq!(joined([Some("x".repeat(MAX_SCOPE).as_str())]), None);
    }
}
