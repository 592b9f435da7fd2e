//! The engine that the macro of `jsonschema` generates: a validator for each schema, compiled into this program. With
//! the additional argument `simd`, `simd-json` reads the documents instead of `serde_json`.

use anyhow::{Context, Result};
use seamgate_bench_protocol::protocol::{self, Engine, Set};
use seamgate_bench_simd_json::Reader;
use serde_json::Value;

/// A generated validator.
type IsValid = fn(&Value) -> bool;

include!(concat!(env!("OUT_DIR"), "/validators.rs"));

fn main() -> Result<()> {
    let simd = std::env::args().nth(3).is_some_and(|word| word == "simd");
    protocol::serve(&protocol::plan()?, Generated { simd: simd.then(Reader::default) })
}

struct Generated {
    /// The reader of the documents, if `serde_json` does not read them.
    simd: Option<Reader>,
}

impl Engine for Generated {
    type Compiled = IsValid;

    fn compile(&mut self, set: &Set) -> Result<Self::Compiled> {
        let found = VALIDATORS.iter().find(|(name, _)| *name == set.name);
        found.map(|(_, is_valid)| *is_valid).context("no validator was generated: `cargo xtask bench` does that")
    }

    fn is_valid(&mut self, is_valid: &Self::Compiled, document: &[u8]) -> Result<bool> {
        let value = match &mut self.simd {
            Some(reader) => reader.read(document),
            None => serde_json::from_slice(document).ok(),
        };
        Ok(value.is_some_and(|value| is_valid(&value)))
    }
}
