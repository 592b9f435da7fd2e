//! How large what is read may be: an output, a document, a contract.

/// Longer texts have offsets that a span does not hold.
pub(crate) const MAX_TEXT: usize = u32::MAX as usize - 1;

/// Limits of a document, beyond which it is not judged by its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Caps {
    pub(crate) bytes: usize,
    pub(crate) depth: usize,
    pub(crate) string_bytes: usize,
    pub(crate) array_items: usize,
    pub(crate) object_members: usize,
}

impl Default for Caps {
    fn default() -> Self {
        Caps { bytes: 1024 * 1024, depth: 64, string_bytes: 64 * 1024, array_items: 10_000, object_members: 1_000 }
    }
}

/// Limits of a contract itself. Compiling recurses with its depth, well inside the stack at this one.
pub(crate) const CONTRACT_CAPS: Caps = Caps {
    bytes: 8 * 1024 * 1024,
    depth: 96,
    string_bytes: 1024 * 1024,
    array_items: 1_000_000,
    object_members: 100_000,
};
