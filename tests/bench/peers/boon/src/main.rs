//! The engine `boon`, with `serde_json`. With `first SCHEMA DOCUMENT`, it writes one verdict and returns it as its exit
//! status.

use std::{path::Path, process::ExitCode};

use anyhow::{Context, Result, anyhow};
use boon::{Compiler, Format, SchemaIndex, Schemas};
use seamgate_bench_protocol::protocol::{self, Engine, Set};
use serde_json::Value;

fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|word| word == "first") {
        let schema = arguments.get(2).context("no schema")?;
        let document = std::fs::read(arguments.get(3).context("no document")?)?;
        let valid = Boon.is_valid(&compile(schema.as_ref())?, &document)?;
        println!("{valid}");
        return Ok(ExitCode::from(u8::from(!valid)));
    }
    protocol::serve(&protocol::plan()?, Boon)?;
    Ok(ExitCode::SUCCESS)
}

/// The formats that `boon` asserts in the older drafts, without a switch to disable them. Checks that always pass
/// replace them. `boon` does not allow replacing `regex`.
const FORMATS: [&str; 20] = [
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "idn-email",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "json-pointer",
    "period",
    "relative-json-pointer",
    "semver",
    "time",
    "uri",
    "uri-reference",
    "uri-template",
    "uuid",
];

struct Boon;

impl Engine for Boon {
    type Compiled = (Schemas, SchemaIndex);

    fn compile(&mut self, set: &Set) -> Result<Self::Compiled> {
        compile(&set.schema)
    }

    fn is_valid(&mut self, (schemas, index): &Self::Compiled, document: &[u8]) -> Result<bool> {
        Ok(serde_json::from_slice(document).is_ok_and(|value: Value| schemas.validate(&value, *index).is_ok()))
    }
}

fn compile(schema: &Path) -> Result<(Schemas, SchemaIndex)> {
    const PLACE: &str = "https://example.com/schema.json";
    let schema: Value = serde_json::from_slice(&std::fs::read(schema)?)?;
    let mut compiler = Compiler::new();
    for name in FORMATS {
        compiler.register_format(Format { name, func: |_| Ok(()) });
    }
    let mut schemas = Schemas::new();
    compiler.add_resource(PLACE, schema).map_err(|error| anyhow!("{error}"))?;
    let index = compiler.compile(PLACE, &mut schemas).map_err(|error| anyhow!("{error:#}"))?;
    Ok((schemas, index))
}
