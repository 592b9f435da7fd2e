//! The reference engine: `serde_json` and `jsonschema` in the process of the caller. With the additional argument
//! `errors`, it also returns the text and the place of every error, as a report does.

use std::hint::black_box;

use anyhow::{Result, ensure};
use jsonschema::Validator;
use seamgate_bench_protocol::{
    protocol::{self, Engine, Plan, Set},
    threads,
};
use serde_json::Value;

fn main() -> Result<()> {
    let errors = std::env::args().nth(3).is_some_and(|word| word == "errors");
    protocol::serve(&protocol::plan()?, Native { errors })
}

struct Native {
    errors: bool,
}

impl Engine for Native {
    type Compiled = Validator;

    fn compile(&mut self, set: &Set) -> Result<Validator> {
        seamgate_bench_jsonschema::compile(set)
    }

    fn is_valid(&mut self, validator: &Validator, document: &[u8]) -> Result<bool> {
        Ok(if self.errors { black_box(errors(validator, document)).is_empty() } else { is_valid(validator, document) })
    }

    fn answer(&mut self, line: &str, plan: &Plan, compiled: &[Result<Validator>]) -> Result<Value> {
        ensure!(line == "threads", "nothing answers {line:?}");
        Ok(threads::throughput(&threads::documents(plan, threads::SMALL)?, |set, document| {
            black_box(compiled[set].as_ref().is_ok_and(|validator| is_valid(validator, document)));
        }))
    }
}

fn is_valid(validator: &Validator, document: &[u8]) -> bool {
    serde_json::from_slice(document).is_ok_and(|value: Value| validator.is_valid(&value))
}

/// Returns the place and the text of every error.
fn errors(validator: &Validator, document: &[u8]) -> Vec<(String, String)> {
    match serde_json::from_slice::<Value>(document) {
        Ok(value) => {
            let errors = validator.iter_errors(&value);
            errors.map(|error| (error.instance_path().to_string(), error.to_string())).collect()
        }
        Err(error) => vec![(String::new(), error.to_string())],
    }
}
