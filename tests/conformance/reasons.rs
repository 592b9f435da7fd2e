//! Why tests fail: kept by hand, and held to be neither short of a failure nor ahead of one.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use serde::Deserialize;

use crate::{Test, kept};

/// A reason, and the tests that fail for it.
#[derive(Deserialize)]
pub(crate) struct Reason {
    /// Whose it is: `seamgate`, the name of a dependency, or `suite` where what it expects is not what the standard says.
    pub(crate) of: String,
    pub(crate) reason: String,
    pub(crate) tests: Vec<String>,
}

/// What `reasons.json` holds, and what is wrong with it beside the tests.
pub(crate) struct Reasons {
    pub(crate) all: Vec<Reason>,
    /// Failures without a reason, and reasons without a failure.
    pub(crate) wrong: Vec<String>,
}

impl Reasons {
    pub(crate) fn of(tests: &[&Test]) -> Result<Self> {
        let all: Vec<Reason> = kept("reasons.json")?;
        let mut explained = BTreeSet::new();
        for name in all.iter().flat_map(|reason| &reason.tests) {
            ensure!(explained.insert(name.as_str()), "reasons.json names {name} twice");
        }
        let mut wrong = Vec::new();
        for test in tests {
            match (&test.failure, explained.remove(test.name.as_str())) {
                (Some(failure), false) => {
                    wrong.push(format!("{} fails, and reasons.json does not say why: {failure}", test.name))
                }
                (None, true) => wrong.push(format!("{} passes, and reasons.json says why it fails", test.name)),
                _ => {}
            }
        }
        wrong.extend(explained.iter().map(|name| format!("there is no test {name}, which reasons.json names")));
        Ok(Reasons { all, wrong })
    }
}
