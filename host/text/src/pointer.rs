//! JSON Pointers (RFC 6901).

/// Returns the name of the member that a token of a JSON Pointer refers to.
pub fn unescaped(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// Escapes a member's name for a JSON Pointer.
pub fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
