// Copied from `guest/core/src/finish.rs` by `cargo xtask generate`. Do not edit: edit that file, and run it.
//! The reasons why a producer stops: the gate's words, and those of the common APIs.
//!
//! The core owns this file. `cargo xtask generate` copies it to `host/src/types/finish.rs` for the library.

use std::{fmt, str::FromStr};

use crate::Finish;

/// The gate's word for each reason, followed by the words of the common APIs, in lower case with `_` between words.
/// `schemas/request.schema.json` lists the same words as the APIs write them, and `tests/tests/core/finish.rs` compares
/// the two lists.
const WORDS: [(Finish, &[&str]); 6] = [
    (
        Finish::Stop,
        &[
            "stop",
            "completed",
            "end_turn",
            "stop_sequence",
            "finish",
            "finished",
            "stop_criteria_met",
            "complete",
            "eos",
            "eos_token",
            "word",
        ],
    ),
    (
        Finish::Length,
        &[
            "length",
            // A status. Its cause may also be a filter, but in either case the text is cut off.
            "incomplete",
            "max_output_tokens",
            "max_tokens",
            "model_context_window_exceeded",
            "error_limit",
            "model_length",
            "limit",
            "token_limit",
            "time_limit",
        ],
    ),
    (Finish::Refusal, &["refusal"]),
    (
        Finish::ContentFilter,
        &[
            "content_filter",
            "safety",
            "recitation",
            "language",
            "blocklist",
            "prohibited_content",
            "spii",
            "model_armor",
            "image_safety",
            "image_prohibited_content",
            "image_recitation",
            "guardrail_intervened",
            "content_filtered",
            "error_toxic",
        ],
    ),
    (
        Finish::ToolCall,
        &[
            "tool_call",
            "tool_calls",
            "function_call",
            "tool_use",
            // The provider runs its own tools, and continues when it is asked to.
            "pause_turn",
            "malformed_function_call",
            "unexpected_tool_call",
            "too_many_tool_calls",
            "malformed_tool_use",
        ],
    ),
    (
        Finish::Unknown,
        &[
            "unknown",
            "other",
            "error",
            "failed",
            "cancelled",
            "user_cancel",
            "timeout",
            "abort",
            "compaction",
            "finish_reason_unspecified",
            "missing_thought_signature",
            "no_image",
            "image_other",
            "malformed_model_output",
            "insufficient_system_resource",
            "load",
            "unload",
            "none",
            "not_finished",
        ],
    ),
];

impl Finish {
    /// Returns all recognized words and their meanings. For each reason, the gate's word comes first.
    pub fn words() -> impl Iterator<Item = (&'static str, Finish)> {
        WORDS.into_iter().flat_map(|(finish, words)| words.iter().map(move |word| (*word, finish)))
    }

    /// Returns the gate's word, which is used on the wire.
    pub fn as_str(self) -> &'static str {
        let ours = Finish::words().find(|(_, finish)| *finish == self);
        ours.map_or("unknown", |(word, _)| word)
    }
}

/// Parses the gate's words and those of the common APIs. Ignores case, and accepts `-` and spaces instead of `_`.
impl FromStr for Finish {
    type Err = UnknownFinish;

    fn from_str(word: &str) -> Result<Self, UnknownFinish> {
        let same = |byte: u8, known: u8| match byte {
            b'-' | b' ' => known == b'_',
            byte => byte.to_ascii_lowercase() == known,
        };
        let is = |known: &str| {
            word.len() == known.len() && word.bytes().zip(known.bytes()).all(|(byte, known)| same(byte, known))
        };
        Finish::words().find(|(known, _)| is(known)).map(|(_, finish)| finish).ok_or(UnknownFinish)
    }
}

/// An unknown word for the reason why a producer stopped. It is an error rather than `unknown`, because a typing error
/// would otherwise cause a truncated text to be requested again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownFinish;

impl fmt::Display for UnknownFinish {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("must be ")?;
        for (_, words) in WORDS {
            write!(formatter, "{}, ", words[0])?;
        }
        formatter.write_str("or a common API's word for one of these; pass unknown for any other word")
    }
}

impl std::error::Error for UnknownFinish {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_there_once_and_is_read_as_what_it_means() {
        let mut words: Vec<&str> = Finish::words().map(|(word, _)| word).collect();
        for (word, finish) in Finish::words() {
            assert_eq!(word.parse(), Ok(finish), "{word}");
            assert!(word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{word}");
        }
        words.sort_unstable();
        let total = words.len();
        words.dedup();
        assert_eq!(words.len(), total);
    }

    #[test]
    fn our_words_are_those_on_the_wire() {
        let ours = WORDS.map(|(finish, _)| finish.as_str());
        assert_eq!(ours, ["stop", "length", "refusal", "content_filter", "tool_call", "unknown"]);
    }

    #[test]
    fn words_are_read_as_apis_write_them() {
        for (word, finish) in [
            ("STOP", Finish::Stop),
            ("end_turn", Finish::Stop),
            ("COMPLETE", Finish::Stop),
            ("MAX_TOKENS", Finish::Length),
            ("Max Tokens", Finish::Length),
            ("content-filter", Finish::ContentFilter),
            ("SAFETY", Finish::ContentFilter),
            ("tool-calls", Finish::ToolCall),
            ("tool_use", Finish::ToolCall),
            ("FINISH_REASON_UNSPECIFIED", Finish::Unknown),
        ] {
            assert_eq!(word.parse(), Ok(finish), "{word}");
        }
    }

    #[test]
    fn other_words_are_not_read() {
        for word in ["", " ", "_", "done", "stopp", "sto", "stop ", " stop", "max__tokens", "ſtop", "max\u{a0}tokens"]
        {
            assert_eq!(word.parse::<Finish>(), Err(UnknownFinish), "{word:?}");
        }
        let said = UnknownFinish.to_string();
        assert!(said.starts_with("must be stop, length, refusal, content_filter, tool_call, unknown, or "), "{said}");
    }
}
