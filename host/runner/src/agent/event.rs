//! The parts of events that a host makes: the time, answers of models, and results that are too large to be handed on.

use std::time::{SystemTime, UNIX_EPOCH};

use seamgate::{Finish, Json, ModelCall, ModelOutputEvent, TokenUsage, ToolResultEvent};
use serde::Deserialize;

/// The most bytes of each end of a result that is too large to be handed on.
pub const MAX_END: usize = 64 * 1024;

/// Returns a result of which the event has only the beginning and the end. They do not overlap. `digest` is that of the whole text,
/// which the journal keeps.
pub fn result_ends(call: &str, text: &str, digest: String) -> ToolResultEvent {
    let end = MAX_END.min(text.len() / 2);
    let mut event = ToolResultEvent::new(call);
    event.head = Some(text[..text.floor_char_boundary(end)].to_owned());
    event.tail = Some(text[text.ceil_char_boundary(text.len() - end)..].to_owned());
    event.length = Some(text.len() as u64);
    event.digest = Some(digest);
    event
}

/// An answer of a model, as it writes it: the members of the event `model_output` without those that the host knows.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The text of the answer.
    #[serde(default)]
    pub text: Option<String>,
    /// The calls that the model makes.
    #[serde(default)]
    pub calls: Option<Vec<ModelCall>>,
    /// The message as the model's server wrote it.
    #[serde(default)]
    pub message: Option<Json>,
    /// The reason for which the answer ended.
    #[serde(default)]
    pub finish: Option<Finish>,
    /// The tokens that were used.
    #[serde(default)]
    pub usage: Option<TokenUsage>,
}

impl Answer {
    /// Returns the event for the answer to the action with this key.
    pub(super) fn into_event(self, key: &str) -> ModelOutputEvent {
        let Answer { text, calls, message, finish, usage } = self;
        let mut event = ModelOutputEvent::new(key);
        event.text = text.map(Into::into);
        event.calls = calls;
        event.message = message;
        event.finish = finish;
        event.usage = usage;
        event
    }
}

/// Returns the milliseconds since 1970.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
