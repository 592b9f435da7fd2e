//! Keeps the valid items of a list, and asks only for the others: `cargo run --release --example items`.

use std::error::Error;

use seamgate::{Gate, Request};

const CONTRACT: &str = r#"{
    "agent": "triage",
    "schema": {
        "type": "array",
        "items": {
            "type": "object",
            "required": ["issue", "severity"],
            "properties": { "issue": { "type": "string" }, "severity": { "enum": ["high", "low"] } }
        }
    },
    "items": { "path": "$[*]", "key": "issue" }
}"#;

fn main() -> Result<(), Box<dyn Error>> {
    let mut gate = Gate::new()?;
    gate.register(CONTRACT)?;
    let judge = |output| gate.validate(&Request::new("triage", output)).map(|verdict| verdict.report);

    let first = judge(r#"[{"issue": "K-1", "severity": "high"}, {"issue": "K-2", "severity": "urgent"}]"#)?;
    for item in &first.quarantined {
        println!("item {} is in quarantine: {}", item.index, item.violations[0].message);
    }
    println!("\n{}\n", first.feedback);

    let second = judge(r#"[{"issue": "K-2", "severity": "high"}]"#)?;
    let merged = gate.merge(&[first, second], &Request::new("triage", ""))?.report;
    println!("{}: {}", merged.disposition.as_str(), merged.output.as_deref().unwrap_or_default());
    Ok(())
}
