//! Rates: the number of calls of a tool that are permitted within a sliding window.

use std::{collections::BTreeMap, fmt::Display};

use seamgate_core::kernel_api::quote;

/// The maximum number of calls in a rate. It bounds the number of times that are stored for a tool.
const MAX_COUNT: usize = 1_000;

/// The units of a rate, with their milliseconds.
const UNITS: [(&str, u64); 4] = [("second", 1_000), ("minute", 60_000), ("hour", 3_600_000), ("day", 86_400_000)];

/// The times of the last permitted calls, in ascending order, by the full name of a tool with a rate.
pub(crate) type Recent = BTreeMap<String, Vec<u64>>;

/// A limit such as `10/minute`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rate {
    count: usize,
    unit: &'static str,
    window_ms: u64,
}

impl Rate {
    /// Parses a rate. `None` if the text is invalid.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (count, unit) = text.split_once('/')?;
        let (unit, window_ms) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
        let is_number = !count.starts_with('0') && count.bytes().all(|byte| byte.is_ascii_digit());
        let count = count.parse::<usize>().ok().filter(|count| is_number && (1..=MAX_COUNT).contains(count))?;
        Some(Rate { count, unit, window_ms })
    }

    /// Checks whether another call of a tool may run now. The error says when it may run.
    pub(crate) fn check(&self, tool: &str, recent: &Recent, now: u64) -> Result<(), String> {
        let times = recent.get(tool).map_or(&[][..], Vec::as_slice);
        // Times after `now`, from before the clock was set back, count as inside the window.
        let Some(first) = times.len().checked_sub(self.count).and_then(|place| times.get(place)) else {
            return Ok(());
        };
        let left = first.saturating_add(self.window_ms).saturating_sub(now);
        if left == 0 {
            return Ok(());
        }
        let (calls, seconds) = (counted(self.count, "call"), counted(left.div_ceil(1_000), "second"));
        let tool = quote(tool, 128);
        Err(format!("{tool} is limited to {calls} per {}: the next one may run in {seconds}", self.unit))
    }
}

fn counted(number: impl Display, noun: &str) -> String {
    let number = number.to_string();
    if number == "1" { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Adds the times of further permitted calls of a tool. Keeps only the times that its rates need.
pub(crate) fn add(recent: &mut Recent, tool: &str, rates: &[&Rate], more: &[u64], now: u64) {
    let Some(count) = rates.iter().map(|rate| rate.count).max() else { return };
    let window_ms = rates.iter().map(|rate| rate.window_ms).max().unwrap_or_default();
    let times = recent.entry(tool.to_owned()).or_default();
    times.extend(more);
    times.sort_unstable();
    times.drain(..times.len().saturating_sub(count));
    times.retain(|time| time.saturating_add(window_ms) > now);
}

/// Adds a call of a tool that is permitted now.
pub(crate) fn add_now(recent: &mut Recent, tool: &str, rates: &[&Rate], now: u64) {
    // After the clock was set back, the call gets the time of the last one, so that the others stay in the window.
    let last = recent.get(tool).and_then(|times| times.last()).copied();
    add(recent, tool, rates, &[last.unwrap_or_default().max(now)], now);
}

/// Takes back one call of a tool, which was not sent. Takes back the first call, so that no other call leaves the
/// window earlier than it otherwise would.
pub(crate) fn undo(recent: &mut Recent, tool: &str) {
    if let Some(times) = recent.get_mut(tool).filter(|times| !times.is_empty()) {
        times.remove(0);
    }
    recent.retain(|_, times| !times.is_empty());
}

/// Counts as many calls of a tool as its rates permit, because the number of calls that were made is unknown.
pub(crate) fn fill(recent: &mut Recent, tool: &str, rates: &[&Rate], now: u64) {
    let count = rates.iter().map(|rate| rate.count).max().unwrap_or_default();
    add(recent, tool, rates, &vec![now; count], now);
}

/// Merges the times of two runs. Keeps the last times of each tool, because no rate needs more.
pub(crate) fn merged(one: &Recent, other: &Recent) -> Recent {
    let mut all = one.clone();
    for (tool, more) in other {
        let times = all.entry(tool.clone()).or_default();
        times.extend(more);
        times.sort_unstable();
        times.drain(..times.len().saturating_sub(MAX_COUNT));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_a_number_and_a_unit() {
        for (text, expected) in [
            ("10/minute", Some((10, 60_000))),
            ("1/second", Some((1, 1_000))),
            ("1000/day", Some((1_000, 86_400_000))),
            ("5/hour", Some((5, 3_600_000))),
            ("0/minute", None),
            ("1001/minute", None),
            ("010/minute", None),
            ("+1/minute", None),
            ("-1/minute", None),
            ("1.5/minute", None),
            ("10/minutes", None),
            ("10/Minute", None),
            ("10 / minute", None),
            ("10/week", None),
            ("/minute", None),
            ("10", None),
            ("10/", None),
            ("99999999999999999999/day", None),
            ("", None),
        ] {
            assert_eq!(Rate::read(text).map(|rate| (rate.count, rate.window_ms)), expected, "{text:?}");
        }
    }
}
