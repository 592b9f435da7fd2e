//! Limits of a run -> whether there is room for one more call.

use crate::{decision::Reason, facts::Used, profile::Budget};

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
    let equal = used.calls.get(same_call).copied().unwrap_or_default();
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
pub(crate) fn spend(used: &Used, same_call: &str) -> Used {
    let mut used = used.clone();
    used.tool_calls = used.tool_calls.saturating_add(1);
    let equal = used.calls.entry(same_call.to_owned()).or_default();
    *equal = equal.saturating_add(1);
    used
}
