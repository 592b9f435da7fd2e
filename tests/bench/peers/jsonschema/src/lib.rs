//! The settings with which the benchmark uses `jsonschema`.

use anyhow::Result;
use jsonschema::{PatternOptions, Validator};
use seamgate_bench_protocol::protocol::Set;
use serde_json::Value;

/// Compiles a set's schema. `format` is an annotation.
///
/// # Errors
///
/// Returns an error if the schema cannot be read, or if `jsonschema` rejects it.
pub fn compile(set: &Set) -> Result<Validator> {
    let schema: Value = serde_json::from_slice(&std::fs::read(&set.schema)?)?;
    let options = jsonschema::options().should_validate_formats(false);
    // The faster pattern engine, if it supports all patterns of the schema.
    let linear = options.clone().with_pattern_options(PatternOptions::regex()).build(&schema);
    Ok(linear.or_else(|_| options.build(&schema)).map_err(|error| error.to_owned())?)
}
