//! A trace that was written into memory.

/// A run with its children, in one document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rendering {
    /// The document.
    pub text: String,
    /// The faults of the run's journal and of its children's journals, one sentence each. Empty if every journal is whole.
    pub faults: Vec<String>,
}
