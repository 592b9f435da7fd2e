//! The vectors of JSON Type Definition: verdicts with the exact places of errors, and invalid definitions.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::Result;
use seamgate::{Disposition, Fault, Report};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    Test,
    sandbox::{Contract, Said, Sandbox, with_each},
};

pub(crate) const NAME: &str = "JSON Type Definition";

#[derive(Deserialize)]
struct Vector {
    schema: Box<RawValue>,
    instance: Box<RawValue>,
    errors: Vec<Error>,
}

/// RFC 8927, section 3.2: where in the instance and where in the definition.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Error {
    instance_path: Vec<String>,
    schema_path: Vec<String>,
}

pub(crate) fn run(sandbox: &Sandbox, suite: &Path) -> Result<Vec<Test>> {
    let vectors: BTreeMap<String, Vector> = serde_json::from_slice(&fs::read(suite.join("validation.json"))?)?;
    let invalid: BTreeMap<String, Box<RawValue>> =
        serde_json::from_slice(&fs::read(suite.join("invalid_schemas.json"))?)?;
    let vectors: Vec<_> = vectors.into_iter().collect();
    let mut tests = with_each(&vectors, |(name, vector)| {
        let verdict = sandbox.judge(&Contract::of("jtd", vector.schema.get()), vector.instance.get().as_bytes());
        let expected: Vec<Places> =
            vector.errors.iter().map(|error| (pointer(&error.instance_path), pointer(&error.schema_path))).collect();
        let is = |report: &Report| {
            (report.disposition == Disposition::Accepted) == expected.is_empty()
                && places(report) == sorted(expected.clone())
        };
        let as_expected = verdict.as_ref().is_ok_and(is);
        Test {
            group: "validation, with the places of errors".to_owned(),
            name: format!("validation: {name}"),
            failure: (!as_expected).then(|| Said::by(&verdict)),
        }
    })?;
    let invalid: Vec<_> = invalid.into_iter().collect();
    tests.extend(with_each(&invalid, |(name, schema)| {
        let verdict = sandbox.judge(&Contract::of("jtd", schema.get()), b"null");
        let is_refused = matches!(verdict, Err(Fault::BadContract { .. }));
        Test {
            group: "definitions that are none".to_owned(),
            name: format!("invalid_schemas: {name}"),
            failure: (!is_refused).then(|| Said::by(&verdict)),
        }
    })?);
    Ok(tests)
}

/// The places in the instance and in the definition.
type Places = (String, String);

fn places(report: &Report) -> Vec<Places> {
    let places = report.violations().iter().map(|wrong| (wrong.pointer.clone(), wrong.schema_path.clone()));
    sorted(places.collect())
}

fn sorted(mut places: Vec<Places>) -> Vec<Places> {
    places.sort();
    places
}

/// RFC 6901.
fn pointer(steps: &[String]) -> String {
    steps.iter().map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1"))).collect()
}
