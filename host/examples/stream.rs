//! Uses items while the output is still coming: `cargo run --release --example stream`.

use std::error::Error;

use seamgate::{Finish, Gate, Request};

const CONTRACT: &str = r#"{
    "agent": "names",
    "schema": { "type": "array", "items": { "type": "string" } },
    "items": { "path": "$[*]" }
}"#;

fn main() -> Result<(), Box<dyn Error>> {
    let mut gate = Gate::new()?;
    gate.register(CONTRACT)?;
    let mut session = gate.session(&Request::new("names", ""))?;
    for chunk in ["[\"An", "na\", \"B", "o\", \"Cleo\"", "]"] {
        let progress = session.push(chunk.as_bytes())?;
        for item in &progress.items {
            println!("item {} is complete at byte {}", item.index, item.span.end);
        }
        if let Some(dead_end) = progress.dead_end {
            println!("no further text can repair this: {}", dead_end.message);
            break;
        }
    }
    let verdict = session.finish(Finish::Stop)?;
    println!("{}: {}", verdict.report.disposition.as_str(), verdict.report.output.as_deref().unwrap_or_default());
    Ok(())
}
