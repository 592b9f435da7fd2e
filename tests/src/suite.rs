//! Suites of folders: each case is a test of its own, so a name filters them and a failure names one.

use std::process::ExitCode;

use anyhow::Result;
pub use libtest_mimic::{Arguments, Trial};

/// A test of this name.
pub fn trial(name: impl Into<String>, test: impl FnOnce() -> Result<()> + Send + 'static) -> Trial {
    Trial::test(name, move || test().map_err(|error| format!("{error:#}").into()))
}

/// Run the tests that the command line names, as libtest would.
pub fn run(trials: Vec<Trial>) -> ExitCode {
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// The same, one after the other, unless the command line says otherwise: for tests that a clock ends.
pub fn run_in_order(trials: Vec<Trial>) -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(1);
    libtest_mimic::run(&arguments, trials).exit_code()
}
