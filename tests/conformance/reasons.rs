//! The reasons why tests fail: maintained by hand, and checked to cover exactly the failures.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use serde::Deserialize;

use crate::{Test, kept};

/// A reason, and the tests that fail for it.
#[derive(Deserialize)]
pub(crate) struct Reason {
    /// Whose it is: `seamgate`, the name of a dependency, or `suite` where what it expects is not what the standard says.
    pub(crate) of: String,
    /// The answer of seamgate, in the word of `Said`.
    pub(crate) verdict: String,
    pub(crate) reason: String,
    pub(crate) tests: Vec<String>,
}

/// The contents of `reasons.json`, and its mistakes compared with the tests.
pub(crate) struct Reasons {
    pub(crate) all: Vec<Reason>,
    /// Failures without a reason, and reasons without a failure.
    pub(crate) wrong: Vec<String>,
}

impl Reasons {
    pub(crate) fn of(tests: &[&Test]) -> Result<Self> {
        let all: Vec<Reason> = kept("reasons.json")?;
        let mut explained = BTreeMap::new();
        for (reason, name) in all.iter().flat_map(|reason| reason.tests.iter().map(move |name| (reason, name))) {
            ensure!(explained.insert(name.as_str(), reason).is_none(), "reasons.json names {name} twice");
        }
        let mut wrong = Vec::new();
        for test in tests {
            let name = &test.name;
            match (&test.failure, explained.remove(name.as_str())) {
                (Some(said), Some(reason)) if said.word != reason.verdict => {
                    wrong.push(format!("{name} fails otherwise than reasons.json says: {}", said.line));
                }
                (Some(said), None) => {
                    wrong.push(format!("{name} fails, and reasons.json does not say why: {}", said.line))
                }
                (None, Some(_)) => wrong.push(format!("{name} passes, and reasons.json says why it fails")),
                (Some(_), Some(_)) | (None, None) => {}
            }
        }
        wrong.extend(explained.keys().map(|name| format!("there is no test {name}, which reasons.json names")));
        Ok(Reasons { all, wrong })
    }
}
