//! Text for people: escaped for a terminal, truncated, counted, and written to standard error.

mod escape;
#[expect(unreachable_pub, reason = "the core exports it")]
mod hidden;
mod log;
mod pointer;
mod shell;
mod words;

pub use escape::{escape_terminal, visible_json, without_hidden};
pub use log::{Level, hide_in_log, is_log_json, log, log_as_json, say, say_with, warn};
pub use pointer::{escaped, unescaped};
pub use shell::shell_word;
pub use words::{also, count, shorten, tool_name, truncate, with_sources};
