//! Counts the number of times that each call was permitted.
//!
//! Equal calls share a count. The same read after an effect may have a new result, so an effect resets the counts of
//! reads. Effects are counted from the beginning of the run, and nothing resets their counts.

use std::collections::BTreeMap;

/// The number of times that each call was permitted, by the digest that equal calls share, prefixed with the call's
/// [`Class`].
pub(crate) type Calls = BTreeMap<String, u64>;

/// The effect of a call on the counts of other calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Only reads, under all profiles that judge it. An effect resets its count.
    Read,
    /// Only reads under some of the profiles that judge it, or starts another agent.
    Either,
    /// Changes something, under all profiles that judge it.
    Effect,
}

impl Class {
    const ALL: [Class; 3] = [Class::Read, Class::Either, Class::Effect];

    fn prefix(self) -> &'static str {
        match self {
            Class::Read => "read:",
            Class::Either => "either:",
            Class::Effect => "",
        }
    }

    fn of(key: &str) -> Class {
        let prefixed = [Class::Read, Class::Either].into_iter().find(|class| key.starts_with(class.prefix()));
        prefixed.unwrap_or(Class::Effect)
    }

    /// Returns the key of a call in [`Calls`].
    pub(crate) fn key(self, same_call: &str) -> String {
        format!("{}{same_call}", self.prefix())
    }
}

/// Returns the number of times that calls equal to this one were permitted.
pub(crate) fn equal(calls: &Calls, same_call: &str) -> u64 {
    Class::ALL.iter().filter_map(|class| calls.get(&class.key(same_call))).sum()
}

/// Adds the counts of later calls to the counts of earlier calls.
pub(crate) fn then(before: &Calls, after: &Calls) -> Calls {
    let mut all = before.clone();
    if after.keys().any(|key| Class::of(key) == Class::Effect) {
        all.retain(|key, _| Class::of(key) != Class::Read);
    }
    for (call, times) in after {
        let count = all.entry(call.clone()).or_default();
        *count = count.saturating_add(*times);
    }
    all
}

/// Counts a call that waits for approval. It may run before other calls, or never.
pub(crate) fn add_waiting(calls: &mut Calls, same_call: &str) {
    let count = calls.entry(Class::Either.key(same_call)).or_default();
    *count = count.saturating_add(1);
}

/// Takes back one of several equal calls.
pub(crate) fn undo(calls: &mut Calls, same_call: &str) {
    let keys = Class::ALL.map(|class| class.key(same_call));
    if let Some(times) = keys.iter().find(|key| calls.contains_key(*key)).and_then(|key| calls.get_mut(key)) {
        *times = times.saturating_sub(1);
    }
    calls.retain(|_, times| *times > 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_taken_back_whatever_its_class() {
        for class in Class::ALL {
            let mut calls = Calls::from([(class.key("c"), 1)]);
            undo(&mut calls, "c");
            assert!(calls.is_empty(), "{class:?}");
        }
    }
}
