//! Finds the keyword of a contract that uses the most fuel.

use std::time::{Duration, Instant};

use seamgate::{Fault, FuelUse, Gate, Limits, Options};
use seamgate_text::escaped;
use serde_json::Value;

/// The keywords that can use a lot of fuel for one value. All other keywords use little.
const COSTLY: &[&str] = &[
    "$dynamicRef",
    "$ref",
    "allOf",
    "anyOf",
    "contains",
    "dependencies",
    "dependentSchemas",
    "else",
    "enum",
    "format",
    "if",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
];

/// The time after which the search tries no further contracts.
const MAX_TIME: Duration = Duration::from_secs(3);

/// Returns a hint for a fault about fuel: the keyword that uses the most, and the option that raises the limit.
///
/// `contract` is the text of the contract. `judge` repeats the failed call on another gate, and returns the fuel that
/// it used. The search calls it repeatedly for at most three seconds, each time with another keyword removed. Other
/// faults have no hint.
pub fn hint(fault: &Fault, contract: Option<&str>, judge: impl Fn(&Gate) -> Option<u64>) -> Option<String> {
    let Fault::OutOfFuel { limit, used_by, .. } = fault else { return None };
    let limits = match used_by {
        FuelUse::Compiling => Limits::default().contract_fuel(*limit).contract_fuel_per_byte(0),
        _ => Limits::default().fuel(*limit).fuel_per_byte(0),
    };
    let found = contract.and_then(|contract| Search::new(contract, limits, judge)?.run());
    let raise = "raise the limit with `seamgate check --fuel N`";
    Some(match (found, used_by) {
        (Some((keyword, _)), FuelUse::Compiling) => {
            format!("without the keyword {keyword}, the contract compiles; change it, or {raise}")
        }
        (Some((keyword, fuel)), _) => {
            format!("without the keyword {keyword}, the verdict takes {fuel} fuel; change it, or {raise}")
        }
        (None, _) => format!("no single keyword takes most of it; {raise}"),
    })
}

/// A search for the innermost keyword without which a call ends within its limits.
struct Search<J> {
    contract: Value,
    limits: Limits,
    judge: J,
    start: Instant,
}

impl<J: Fn(&Gate) -> Option<u64>> Search<J> {
    fn new(contract: &str, limits: Limits, judge: J) -> Option<Self> {
        let contract = serde_json::from_str(contract).ok()?;
        Some(Search { contract, limits, judge, start: Instant::now() })
    }

    /// Returns the JSON Pointer of the keyword, and the fuel that the call uses without it.
    fn run(mut self) -> Option<(String, u64)> {
        let mut found = None;
        let mut within = String::new();
        while let Some((keyword, fuel)) = self.step(&within) {
            within.clone_from(&keyword);
            found = Some((keyword, fuel));
        }
        found
    }

    /// Tries the contract without each of the outermost costly keywords within a value.
    fn step(&mut self, within: &str) -> Option<(String, u64)> {
        let mut keywords = Vec::new();
        outermost(self.contract.pointer(within)?, within, &mut keywords);
        for (parent, name) in keywords {
            if self.start.elapsed() > MAX_TIME {
                return None;
            }
            let members = self.contract.pointer_mut(&parent)?.as_object_mut()?;
            let keyword = members.remove(name)?;
            let fuel = self.attempt();
            let members = self.contract.pointer_mut(&parent)?.as_object_mut()?;
            members.insert(name.to_owned(), keyword);
            if let Some(fuel) = fuel {
                return Some((format!("{parent}/{name}"), fuel));
            }
        }
        None
    }

    /// Makes the call with the present form of the contract.
    fn attempt(&self) -> Option<u64> {
        let mut gate = Gate::with(Options::default().limits(self.limits.clone())).ok()?;
        gate.register(&self.contract.to_string()).ok()?;
        (self.judge)(&gate)
    }
}

/// Collects the costly keywords within a value that are not inside another one. Each has its parent's JSON Pointer and
/// its name.
fn outermost(value: &Value, at: &str, found: &mut Vec<(String, &'static str)>) {
    match value {
        Value::Object(members) => {
            for (name, inner) in members {
                match COSTLY.iter().find(|keyword| *keyword == name) {
                    Some(keyword) => found.push((at.to_owned(), *keyword)),
                    None => outermost(inner, &format!("{at}/{}", escaped(name)), found),
                }
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                outermost(inner, &format!("{at}/{index}"), found);
            }
        }
        _ => {}
    }
}
