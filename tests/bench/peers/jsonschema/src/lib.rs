//! The settings with which the benchmark uses `jsonschema`.

use anyhow::Result;
use jsonschema::{PatternOptions, Validator};
use seamgate_bench_protocol::protocol::Set;
use serde_json::Value;

/// Compiles a set's schema; `format` is an annotation.
///
/// # Errors
///
/// The schema cannot be read, or `jsonschema` does not take it.
pub fn compile(set: &Set) -> Result<Validator> {
    let schema: Value = serde_json::from_slice(&std::fs::read(&set.schema)?)?;
    let options = jsonschema::options().should_validate_formats(false);
    // Its faster engine for patterns, where that takes all of the schema's.
    let linear = options.clone().with_pattern_options(PatternOptions::regex()).build(&schema);
    Ok(linear.or_else(|_| options.build(&schema)).map_err(|error| error.to_owned())?)
}
