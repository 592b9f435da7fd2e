//! The engine `jsonschema` behind `simd-json`, which reads a document as the value that `jsonschema` takes.

use anyhow::Result;
use jsonschema::{PatternOptions, Validator};
use seamgate_bench_protocol::protocol::{self, Engine, Set};
use seamgate_bench_simd_json::Reader;
use serde_json::Value;

fn main() -> Result<()> {
    protocol::serve(&protocol::plan()?, Simd::default())
}

#[derive(Default)]
struct Simd {
    reader: Reader,
}

impl Engine for Simd {
    type Compiled = Validator;

    fn compile(&mut self, set: &Set) -> Result<Validator> {
        let schema: Value = serde_json::from_slice(&std::fs::read(&set.schema)?)?;
        let options = jsonschema::options().should_validate_formats(false);
        // Its faster engine for patterns, where that takes all of the schema's.
        let linear = options.clone().with_pattern_options(PatternOptions::regex()).build(&schema);
        Ok(linear.or_else(|_| options.build(&schema)).map_err(|error| error.to_owned())?)
    }

    fn is_valid(&mut self, validator: &Validator, document: &[u8]) -> Result<bool> {
        Ok(self.reader.read(document).is_some_and(|value| validator.is_valid(&value)))
    }
}
