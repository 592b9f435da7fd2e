//! The conformance suites: loaded, pinned by version and digest, and run through the sandbox.

use std::path::Path;

use anyhow::Result;

use crate::{
    run::{command, run},
    source::{distribution, krate, schemastore},
};

/// What is loaded goes here.
const FOLDER: &str = "target/conformance";

pub(crate) fn conformance() -> Result<()> {
    let suite = |package: &str, what: &str| distribution(package, &Path::new(FOLDER).join(package), what);
    let json_schema =
        suite("jsonschema", "JSON-Schema-Test-Suite is in the source of Python's jsonschema: loading it")?;
    let json = suite("pyjson5", "JSONTestSuite is in the source of Python's pyjson5: loading it")?;
    let jtd = krate("jtd", "the vectors of JSON Type Definition are in the crate jtd: loading it, and what it names")?;
    let schemastore = schemastore()?;
    run(command("cargo")
        .args(["run", "--release", "--locked", "--example", "conformance", "--"])
        .arg(json_schema.join("json"))
        .arg(jtd.join("json-typedef-spec/tests"))
        .arg(json.join("third-party/JSONTestSuite/test_parsing"))
        .arg(schemastore.join("vendor/schemastore/src")))
}
