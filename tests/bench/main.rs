//! What seamgate costs, next to validating in one's own process: one run, one machine, one table, one chart.
//!
//! `cargo xtask bench` installs the engines and runs this; `results/` is what it writes. Every engine is a program of
//! its own (`engines/`), started once, that answers when it is asked to judge a document. So all of them judge the same
//! document within the same second, and what else the machine does meets them alike.

mod chart;
mod engines;
mod figures;
mod machine;
mod measure;
mod plan;
mod table;

use std::{fs, path::Path};

use anyhow::{Context, Result};

fn main() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // target/release/deps/engines-…
    let program = std::env::current_exe()?;
    let release = program.ancestors().nth(2).context("not where cargo puts a benchmark")?;
    let installed = release.parent().context("no target folder")?.join("bench");

    let plan = plan::Plan::make(&installed)?;
    let machine = machine::Machine::this();
    let engines = engines::start(release, &installed, &plan)?;
    let measured = measure::measure(&engines, &plan)?;
    let figures = figures::Figures::of(&engines.all, &plan, &measured);

    let results = root.join("bench/results");
    fs::create_dir_all(&results)?;
    let table = table::markdown(&plan, &measured, &figures, &machine, &engines.skipped);
    fs::write(results.join("README.md"), &table)?;
    fs::write(results.join("chart.svg"), chart::svg(&figures, &machine))?;
    // The details, after the first two tables, are for the file.
    println!("{}", table.split("## Sets").next().unwrap_or(&table));
    Ok(())
}
