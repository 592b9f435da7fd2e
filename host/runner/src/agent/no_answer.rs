//! The reasons why a model has no answer.

/// The longest answer, in bytes.
pub(super) const MAX_ANSWER: usize = 8 * 1024 * 1024;

/// The reason why there is no answer.
pub(super) enum NoAnswer {
    /// The model's answer is invalid. The run is informed.
    Invalid(String),
    /// The model is unreachable. The run waits until it is reachable again.
    Unreachable(String),
    /// The run no longer needs an answer, or a signal ended this process.
    Interrupted,
}
