//! Suites whose cases are folders or files. Each suite has the name of its folder in `tests`. `module` repeats the
//! cases and attacks of `cases` and `hostile`.
//!
//! The name of a test begins with its suite: `cargo test --release -p seamgate-tests --test suites -- cases/items/`.

mod agreement;
mod calls;
mod cases;
mod cli;
mod components;
mod gate;
mod hostile;
mod module;
mod runs;

use std::process::ExitCode;

use anyhow::Result;
use seamgate_tests::suite::{Suite, run};

fn main() -> Result<ExitCode> {
    run(&[
        Suite::new("agreement", agreement::trials),
        Suite::new("calls", calls::trials),
        Suite::new("cases", cases::trials),
        Suite::new("cli", cli::trials),
        Suite::new("components", components::trials),
        Suite::new("gate", gate::trials),
        // One attack at a time, because a clock runs for each attack.
        Suite::new("hostile", hostile::trials).in_order(),
        Suite::new("module", module::trials),
        Suite::new("runs", runs::trials),
    ])
}
