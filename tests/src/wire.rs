//! Compares the answers of `wire` with those of the library.

use anyhow::{Result, bail, ensure};
use serde_json::Value;

/// An answer or a fault, as JSON text.
pub type Answer = Result<String, String>;

/// The id of requests. The answer must contain the same digits.
pub const ID: &str = "[1.50]";

/// Returns an answer to a request with this id, without its envelope. Returns `None` for any other text.
pub fn unwrapped(answer: &str) -> Option<Answer> {
    let inner = |member: &str| {
        let begin = format!("{{\"id\":{ID},\"{member}\":");
        Some(answer.strip_prefix(begin.as_str())?.strip_suffix('}')?.to_owned())
    };
    inner("result").map(Ok).or_else(|| inner("fault").map(Err))
}

/// Checks that an answer of `wire` has the same bytes as the native one. Compares only the messages of faults, because
/// their spans refer to another text.
///
/// # Errors
///
/// Returns an error if the answers differ, or if a fault is not JSON.
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
