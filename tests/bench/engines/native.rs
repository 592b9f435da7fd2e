//! The engine that the others are compared with: `serde_json` and `jsonschema`, in the caller's own process.

use anyhow::Result;
use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

mod protocol;

use protocol::{Engine, Set};

fn main() -> Result<()> {
    protocol::serve(&protocol::plan()?, Native)
}

struct Native;

impl Engine for Native {
    type Compiled = Validator;

    fn compile(&mut self, set: &Set) -> Result<Validator> {
        let schema: Value = serde_json::from_slice(&std::fs::read(&set.schema)?)?;
        let options = jsonschema::options().should_validate_formats(false);
        // Its faster engine for patterns, where that takes all of the schema's.
        let linear = options.clone().with_pattern_options(PatternOptions::regex()).build(&schema);
        Ok(linear.or_else(|_| options.build(&schema)).map_err(|error| error.to_owned())?)
    }

    fn is_valid(&mut self, validator: &Validator, document: &[u8]) -> Result<bool> {
        Ok(serde_json::from_slice(document).is_ok_and(|value: Value| validator.is_valid(&value)))
    }
}
