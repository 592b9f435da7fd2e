//! What is derived from WIT, the tables and the limits.

use anyhow::Result;

use crate::run;

/// Write what is derived, or check it. What does so is a program of its own, which no other command needs.
pub(crate) fn generate(check: bool) -> Result<()> {
    let mut arguments = vec!["run", "--profile", "xtask", "--quiet", "--locked", "--package", "xtask-generate"];
    if check {
        arguments.extend(["--", "--check"]);
    }
    run::cargo(arguments)
}
