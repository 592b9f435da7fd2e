//! The engine `jsonschema` with `simd-json`, which reads a document as the value type of `jsonschema`.

use anyhow::Result;
use jsonschema::Validator;
use seamgate_bench_protocol::protocol::{self, Engine, Set};
use seamgate_bench_simd_json::Reader;

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
        seamgate_bench_jsonschema::compile(set)
    }

    fn is_valid(&mut self, validator: &Validator, document: &[u8]) -> Result<bool> {
        Ok(self.reader.read(document).is_some_and(|value| validator.is_valid(&value)))
    }
}
