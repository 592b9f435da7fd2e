//! The reasons why a model has no answer.

/// The longest answer, in bytes.
pub(super) const MAX_ANSWER: usize = 8 * 1024 * 1024;

/// The reason why there is no answer.
pub(super) enum NoAnswer {
    /// The model's answer is invalid. The run learns of it.
    Invalid(String),
    /// The model is out of reach. The run waits until it is there again.
    Unreachable(String),
    /// The run needs no answer any more, or a signal ended this process.
    Interrupted,
}
