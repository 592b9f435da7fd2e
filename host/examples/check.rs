//! Checks one output: `cargo run --release --example check`.

use std::error::Error;

use seamgate::{Disposition, Finish, Gate, Request};

const CONTRACT: &str = r#"{
    "agent": "weather",
    "schema": {
        "type": "object",
        "required": ["city", "celsius"],
        "properties": { "city": { "type": "string" }, "celsius": { "type": "number" } }
    }
}"#;

fn main() -> Result<(), Box<dyn Error>> {
    let mut gate = Gate::new()?;
    gate.register(CONTRACT)?;
    for output in [
        "Here is the weather:\n```json\n{\"city\": \"Oslo\", \"celsius\": -3.5}\n```",
        "{\"city\": \"Oslo\", \"celsius\": \"cold\"}",
    ] {
        let report = gate.validate(&Request::new("weather", output).finish(Finish::Stop))?.report;
        match (report.disposition, &report.output) {
            (Disposition::Accepted, Some(document)) => println!("use {document}"),
            _ => println!("send back:\n{}", report.feedback),
        }
    }
    Ok(())
}
