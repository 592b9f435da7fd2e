//! Hostile components in `tests/components`. The library and the command line reject each component when it is loaded,
//! or stop it when it is called, as its text specifies.

use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Output, Stdio},
    sync::LazyLock,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use seamgate::{Disposition, Gate, Request};
use seamgate_tests::{
    fixture::{Fixture, ended, fixtures, gate},
    suite::{Trial, trial},
};

/// A gate with the built-in component, which judges at the same time.
static ORDINARY: LazyLock<Gate> = LazyLock::new(|| Gate::new().expect("a gate"));

/// A time limit that no component reaches.
const PATIENCE: Duration = Duration::from_secs(10);

/// Returns a test for each component.
pub(crate) fn trials() -> Result<Vec<Trial>> {
    let fixtures = fixtures()?.into_iter();
    Ok(fixtures.map(|fixture| trial(fixture.name.clone(), move || check(&fixture))).collect())
}

fn check(Fixture { name, wasm, expected }: &Fixture) -> Result<()> {
    ensure!(expected.len() == 1, "the text must say in one line what is done and how that ends");
    let (what, outcome) = &expected[0];
    let start = Instant::now();
    let told = match gate(wasm.clone()) {
        Err(error) if what == "load" => format!("{:#}", anyhow::Error::from(error)),
        Err(error) => format!("refused: {error}"),
        Ok(_) if what == "load" => "loaded".to_owned(),
        Ok(gate) => {
            let first = ended(&gate, what);
            let second = ended(&gate, what);
            ensure!(first == second, "the next instance ends otherwise: {first}; {second}");
            first
        }
    };
    let took = start.elapsed();
    ensure!(told.contains(outcome.as_str()) && took <= PATIENCE, "expected {outcome}, is {told}, after {took:?}");
    let contract = r#"{"agent":"a","schema":true}"#;
    let report = ORDINARY.validate_with(contract, &Request::new("", "{}"))?.report;
    ensure!(report.disposition == Disposition::Accepted, "the next verdict is {}", report.to_json());
    by_command(name, wasm, what, outcome)
}

/// Checks the same with the command line, which must end with an error and must not panic.
fn by_command(name: &str, wasm: &[u8], what: &str, outcome: &str) -> Result<()> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("components");
    fs::create_dir_all(&folder)?;
    let file = folder.join(format!("{name}.wasm"));
    fs::write(&file, wasm)?;
    let message = match outcome.split_once(": ") {
        Some((code, "")) if what != "load" => code,
        Some((_, message)) if what != "load" => message,
        _ => outcome,
    };
    let file = file.to_str().context("UTF-8")?;
    let commands: &[&[&str]] = match what {
        "load" => &[&["inspect", file], &["check", "-c", file, "--agent", "a"], &["check", "--ndjson", "-c", file]],
        "call" => &[&["check", "--ndjson", "-c", file]],
        "inspect" => &[&["inspect", file]],
        _ => &[&["check", "-c", file, "--agent", "a"], &["check", "--picture", "-c", file, "--agent", "a"]],
    };
    for arguments in commands {
        let output = command(arguments, b"{}\n")?;
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        let status = if what == "load" { 2 } else { 5 };
        ensure!(
            output.status.code() == Some(status) && text.contains(message) && !text.contains("panicked"),
            "{arguments:?}: {:?}: {text}",
            output.status.code()
        );
    }
    Ok(())
}

/// Runs the command line with this standard input.
fn command(arguments: &[&str], input: &[u8]) -> Result<Output> {
    let test = std::env::current_exe()?;
    let seamgate = test.parent().and_then(Path::parent).context("target/PROFILE")?.join("seamgate");
    let mut command = Command::new(seamgate);
    command
        .args(arguments)
        .env_remove("RUST_LOG")
        .env("XDG_CACHE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/user-cache"));
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().context("`cargo xtask build` builds seamgate")?;
    // The process may end before it has read its input.
    let _ = child.stdin.take().context("piped")?.write_all(input);
    Ok(child.wait_with_output()?)
}
