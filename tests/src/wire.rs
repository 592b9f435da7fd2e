//! Answers of `wire`, beside those of the library.

use anyhow::{Result, bail, ensure};
use serde_json::Value;

/// An answer or a fault, as JSON text.
pub type Answer = Result<String, String>;

/// The id of requests: a value whose digits must come back.
pub const ID: &str = "[1.50]";

/// Returns an answer to a request with this id, without its envelope. `None` if it is no such answer.
pub fn unwrapped(answer: &str) -> Option<Answer> {
    let inner = |member: &str| {
        let begin = format!("{{\"id\":{ID},\"{member}\":");
        Some(answer.strip_prefix(begin.as_str())?.strip_suffix('}')?.to_owned())
    };
    inner("result").map(Ok).or_else(|| inner("fault").map(Err))
}

/// Checks that an answer of `wire` has the same bytes as the native one. Of faults only the messages, because spans of
/// violations are offsets into another text there.
///
/// # Errors
///
/// They differ, or a fault is not JSON.
pub fn same(native: &Answer, wire: &Answer) -> Result<()> {
    let message = |fault: &str| -> Result<Value> { Ok(serde_json::from_str::<Value>(fault)?["message"].take()) };
    match (native, wire) {
        (Ok(native), Ok(wire)) => ensure!(native == wire, "native and wire differ:\n  {native}\n  {wire}"),
        (Err(native), Err(wire)) => {
            ensure!(message(native)? == message(wire)?, "native and wire differ:\n  {native}\n  {wire}");
        }
        _ => bail!("native and wire differ:\n  {native:?}\n  {wire:?}"),
    }
    Ok(())
}
