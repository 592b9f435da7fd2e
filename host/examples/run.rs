//! Asks a producer until its output is valid: `cargo run --release --example run`.

use std::error::Error;

use seamgate::{Finish, Gate, Produced, Request};

const CONTRACT: &str = r#"{
    "agent": "greeter",
    "schema": { "type": "object", "required": ["greeting"] },
    "retry": { "limit": 2 }
}"#;

/// Stands for a call to a model.
fn ask_the_model(prompt: &str) -> Result<String, std::io::Error> {
    println!("prompt:\n{prompt}\n");
    let has_feedback = prompt.contains("must have member");
    Ok(if has_feedback { r#"{"greeting": "Hello"}"# } else { r#"{"greting": "Hello"}"# }.to_owned())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut gate = Gate::new()?;
    gate.register(CONTRACT)?;
    let prompt = format!("Greet the reader.\n\n{}", gate.describe("greeter")?);
    let outcome = gate.retry(&Request::new("greeter", ""), |feedback| {
        let prompt = format!("{prompt}\n{}", feedback.unwrap_or_default());
        ask_the_model(&prompt).map(|output| Produced::from(output).finish(Finish::Stop))
    })?;
    match outcome.output() {
        Some(document) => println!("attempt {}: {document}", outcome.attempts),
        None => println!("no output after {} attempts: {}", outcome.attempts, outcome.stop),
    }
    Ok(())
}
