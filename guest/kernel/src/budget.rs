//! The limits of a run: decides whether another call is within the budget.

use crate::{
    counts::{Calls, Class, equal, then},
    decision::Reason,
    facts::Used,
    profile::Budget,
};

/// Checks whether the budget allows another call. Equal calls share a digest. `reserved` is the number of equal calls
/// that other runs may be permitted in the meantime.
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
    let equal = equal(&used.calls, same_call);
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

/// Returns the used budget after another call.
pub(crate) fn spend(used: &Used, same_call: &str, class: Class) -> Used {
    let more = Calls::from([(class.key(same_call), 1)]);
    Used { tool_calls: used.tool_calls.saturating_add(1), calls: then(&used.calls, &more), ..used.clone() }
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
        // A call that only some profiles regard as a read resets no count, and its own count is not reset.
        assert!(permit("e", Class::Either) && !permit("r", Class::Read));
        assert!(permit("w", Class::Effect));
        assert_eq!([0; 3].map(|_| permit("r", Class::Read)), [true, true, false]);
        // A loop of a write and a read ends because the writes are counted.
        assert!(permit("w", Class::Effect) && permit("r", Class::Read) && !permit("w", Class::Effect));
        assert!(permit("e", Class::Either) && !permit("e", Class::Either));
        assert_eq!(used.tool_calls, 9);
    }
}
