//! Stands in for `rustc` while Cargo builds what is instrumented: only crates of the workspace get further flags.

use std::{
    ffi::OsString,
    process::{Command, ExitCode},
};

use anyhow::{Context, Result};

use crate::run::say;

/// The variable with the further flags, one a line. It is set while this program stands in for `rustc`.
const FLAGS: &str = "SEAMGATE_RUSTC_FLAGS";

/// Lets a `cargo` command compile the crates of the workspace with further flags.
pub(crate) fn instrument<'c>(cargo: &'c mut Command, flags: &[&str]) -> Result<&'c mut Command> {
    let this = std::env::current_exe().context("cannot find this program")?;
    Ok(cargo.env("RUSTC_WORKSPACE_WRAPPER", this).env(FLAGS, flags.join("\n")))
}

/// Runs the compiler with the further flags if Cargo started this program as `RUSTC_WORKSPACE_WRAPPER`. Returns its exit code, or
/// `None` for an ordinary start.
pub(crate) fn compile() -> Option<ExitCode> {
    let flags = std::env::var(FLAGS).ok()?;
    let mut arguments = std::env::args_os().skip(1);
    let mut compiler = Command::new(arguments.next()?);
    let arguments: Vec<OsString> = arguments.collect();
    let name = arguments.iter().skip_while(|argument| *argument != "--crate-name").nth(1);
    // Cargo asks the compiler about itself as `___`. Build scripts are not instrumented.
    let is_ours = name.is_some_and(|name| name != "___" && !name.to_string_lossy().starts_with("build_script_"));
    compiler.args(&arguments).args(flags.lines().filter(|_| is_ours));
    if is_ours && flags.lines().any(|flag| flag.starts_with("-Z")) {
        // This compiler has the option, and names it unstable. Nothing that is published is compiled so.
        compiler.env("RUSTC_BOOTSTRAP", "1");
    }
    Some(match compiler.status() {
        Ok(status) => u8::try_from(status.code().unwrap_or(1)).map_or(ExitCode::FAILURE, ExitCode::from),
        Err(error) => {
            say(&format!("cannot run the compiler: {error}"));
            ExitCode::FAILURE
        }
    })
}
