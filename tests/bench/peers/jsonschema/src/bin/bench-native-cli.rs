//! The smallest command line that validates: it reads a schema and a document, and returns a verdict and an exit
//! status.

use std::process::ExitCode;

use anyhow::{Context, Result};
use serde_json::Value;

fn main() -> Result<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    let mut read = || -> Result<Value> {
        let path = arguments.next().context("usage: PROGRAM SCHEMA DOCUMENT")?;
        Ok(serde_json::from_slice(&std::fs::read(path)?)?)
    };
    let validator = jsonschema::options()
        .should_validate_formats(false)
        .with_pattern_options(jsonschema::PatternOptions::regex())
        .build(&read()?)
        .map_err(|error| error.to_owned())?;
    let valid = validator.is_valid(&read()?);
    println!("{valid}");
    Ok(ExitCode::from(u8::from(!valid)))
}
