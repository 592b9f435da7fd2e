//! The conformance suites of other projects, pinned by version and digest, which run through the sandbox.

use std::path::Path;

use anyhow::Result;

use crate::{
    run::{command, run},
    source::{distribution, krate, schemastore},
};

/// The folder that the suites are downloaded to.
const FOLDER: &str = "target/conformance";

pub(crate) fn conformance() -> Result<()> {
    let suite = |package: &str, what: &str| distribution(package, &Path::new(FOLDER).join(package), what);
    let json_schema = suite("jsonschema", "loading JSON-Schema-Test-Suite, in the source of Python's jsonschema,")?;
    let json = suite("pyjson5", "loading JSONTestSuite, in the source of Python's pyjson5,")?;
    let jtd = krate("jtd", "loading the crate jtd, which has the vectors of JSON Type Definition")?;
    let schemastore = schemastore()?;
    run(command("cargo")
        .args(["run", "--release", "--locked", "--example", "conformance", "--"])
        .arg(json_schema.join("json"))
        .arg(jtd.join("json-typedef-spec/tests"))
        .arg(json.join("third-party/JSONTestSuite/test_parsing"))
        .arg(schemastore.join("vendor/schemastore/src")))
}
