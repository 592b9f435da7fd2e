//! Why tests fail: kept by hand, and held to be neither short of a failure nor ahead of one.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::Test;

/// A reason, and the tests that fail for it.
#[derive(Deserialize)]
pub(crate) struct Reason {
    /// Whose it is: `seamgate`, the name of a dependency, or `suite`.
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
        let all: Vec<Reason> = serde_json::from_str(include_str!("reasons.json")).context("reasons.json")?;
        let mut explained = BTreeMap::new();
        for (index, name) in
            all.iter().enumerate().flat_map(|(index, one)| one.tests.iter().map(move |name| (index, name)))
        {
            ensure!(explained.insert(name.as_str(), index).is_none(), "reasons.json names {name} twice");
        }
        let mut wrong = Vec::new();
        for test in tests {
            match (&test.failure, explained.remove(test.name.as_str())) {
                (Some(failure), None) => {
                    wrong.push(format!("{} fails, and reasons.json does not say why: {failure}", test.name))
                }
                (None, Some(_)) => wrong.push(format!("{} passes, and reasons.json says why it fails", test.name)),
                _ => {}
            }
        }
        wrong.extend(explained.keys().map(|name| format!("there is no test {name}, which reasons.json names")));
        Ok(Reasons { all, wrong })
    }
}
