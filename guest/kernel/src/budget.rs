//! Limits of a run -> whether there is room for one more call.
//!
//! Equal calls count together. After an effect, a read is a new question, so the counts of reads start anew. Effects count from the
//! beginning of the run: nothing that changes something ends their count.

use std::collections::BTreeMap;

use crate::{decision::Reason, facts::Used, profile::Budget};

/// How often each call was permitted, by the digest that equal ones share, with the prefix of its [`Class`].
pub(crate) type Calls = BTreeMap<String, u64>;

/// What a call means for the counts of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// It only reads, by all who judge it. Its count starts anew after an effect.
    Read,
    /// It only reads by some who judge it, or it starts another agent.
    Either,
    /// It changes something, by all who judge it.
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

    fn key(self, same_call: &str) -> String {
        format!("{}{same_call}", self.prefix())
    }
}

/// Checks whether the budget has room for a call. Equal calls share a digest. `reserved` is the number of equal calls that may be
/// permitted to others meanwhile.
pub(crate) fn check(budget: &Budget, used: &Used, same_call: &str, reserved: u64) -> Result<(), Reason> {
    let limits = [
        ("tool calls", budget.tool_calls, used.tool_calls),
        ("tokens", budget.tokens, used.tokens),
        ("milliseconds", budget.ms, used.ms),
    ];
    for (unit, limit, used) in limits {
        if let Some(limit) = limit
            && used >= limit
        {
            return Err(Reason::new("budget", format!("the budget of {limit} {unit} is used up")));
        }
    }
    let equal = Class::ALL.iter().filter_map(|class| used.calls.get(&class.key(same_call))).sum::<u64>();
    match budget.same_call {
        Some(limit) if equal.saturating_add(reserved) >= limit && equal < limit => {
            let message =
                format!("equal calls are limited to {limit}, and others that run meanwhile may make this one");
            Err(Reason::new("same_call", message))
        }
        Some(limit) if equal >= limit => {
            let times = if limit == 1 { "once".to_owned() } else { format!("{limit} times") };
            Err(Reason::new("same_call", format!("this call, with equal arguments, was already permitted {times}")))
        }
        _ => Ok(()),
    }
}

/// The use of budgets after one more call.
pub(crate) fn spend(used: &Used, same_call: &str, class: Class) -> Used {
    let more = Calls::from([(class.key(same_call), 1)]);
    Used { tool_calls: used.tool_calls.saturating_add(1), calls: then(&used.calls, &more), ..used.clone() }
}

/// Counts calls, and others that were made after them.
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

/// Counts a call that waits for approval: it may run before others do, or not at all.
pub(crate) fn add_waiting(calls: &mut Calls, same_call: &str) {
    let count = calls.entry(Class::Either.key(same_call)).or_default();
    *count = count.saturating_add(1);
}

/// Takes back one of equal calls.
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
    fn reads_count_anew_after_an_effect_and_effects_do_not() {
        let budget = Budget { same_call: Some(2), ..Budget::default() };
        let mut used = Used::default();
        let mut permit = |call: &str, class: Class| {
            let is_permitted = check(&budget, &used, call, 0).is_ok();
            if is_permitted {
                used = spend(&used, call, class);
            }
            is_permitted
        };
        assert_eq!([0; 3].map(|_| permit("r", Class::Read)), [true, true, false]);
        // What some call a read ends no count, and its own is not ended.
        assert!(permit("e", Class::Either) && !permit("r", Class::Read));
        assert!(permit("w", Class::Effect));
        assert_eq!([0; 3].map(|_| permit("r", Class::Read)), [true, true, false]);
        // A loop of a write and a read ends with the writes.
        assert!(permit("w", Class::Effect) && permit("r", Class::Read) && !permit("w", Class::Effect));
        assert!(permit("e", Class::Either) && !permit("e", Class::Either));
        assert_eq!(used.tool_calls, 9);
    }

    #[test]
    fn a_count_is_taken_back_whatever_its_class() {
        for class in Class::ALL {
            let mut calls = spend(&Used::default(), "c", class).calls;
            undo(&mut calls, "c");
            assert!(calls.is_empty(), "{class:?}");
        }
    }
}
