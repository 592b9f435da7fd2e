//! Acts as `rustc` while Cargo builds instrumented programs. Only crates of the workspace get the additional flags.

use std::{
    ffi::OsString,
    process::{Command, ExitCode},
};

use anyhow::{Context, Result};

use crate::run::say;

/// The variable with the additional flags, one per line. It is set while this program acts as `rustc`.
const FLAGS: &str = "SEAMGATE_RUSTC_FLAGS";

/// Makes a `cargo` command compile the crates of the workspace with additional flags.
pub(crate) fn instrument<'c>(cargo: &'c mut Command, flags: &[&str]) -> Result<&'c mut Command> {
    let this = std::env::current_exe().context("cannot find this program")?;
    Ok(cargo.env("RUSTC_WORKSPACE_WRAPPER", this).env(FLAGS, flags.join("\n")))
}

/// Runs the compiler with the additional flags if Cargo started this program as `RUSTC_WORKSPACE_WRAPPER`. Returns the
/// compiler's exit code, or `None` for an ordinary start.
pub(crate) fn compile() -> Option<ExitCode> {
    let flags = std::env::var(FLAGS).ok()?;
    let mut arguments = std::env::args_os().skip(1);
    let mut compiler = Command::new(arguments.next()?);
    let arguments: Vec<OsString> = arguments.collect();
    let name = arguments.iter().skip_while(|argument| *argument != "--crate-name").nth(1);
    // Cargo queries the compiler with the crate name `___`. Build scripts are not instrumented.
    let is_ours = name.is_some_and(|name| name != "___" && !name.to_string_lossy().starts_with("build_script_"));
    compiler.args(&arguments).args(flags.lines().filter(|_| is_ours));
    if is_ours && flags.lines().any(|flag| flag.starts_with("-Z")) {
        // The option is unstable, and this variable enables it. Published files are never compiled in this way.
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
