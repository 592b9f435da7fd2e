//! Generates files from WIT, the tables and the limits.

use anyhow::Result;

use crate::run;

/// Writes the generated files, or checks them. A separate package generates them, so that other commands need not build
/// it.
pub(crate) fn generate(check: bool) -> Result<()> {
    let mut arguments = vec!["run", "--profile", "xtask", "--quiet", "--locked", "--package", "xtask-generate"];
    if check {
        arguments.extend(["--", "--check"]);
    }
    run::cargo(arguments)
}
