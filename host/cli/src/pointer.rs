//! JSON Pointers (RFC 6901).

/// Escapes a member's name for a JSON Pointer.
pub(crate) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
