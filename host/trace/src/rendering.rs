//! A trace that was rendered into memory.

/// A run with its children, in one document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rendering {
    /// The document.
    pub text: String,
    /// The faults of the journals of the run and its children, one sentence each. Empty if every journal is intact.
    pub faults: Vec<String>,
}
