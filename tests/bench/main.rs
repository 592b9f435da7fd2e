//! Measures the cost of seamgate compared with validation in the caller's process: three runs on one machine, one
//! table, and one chart.
//!
//! `cargo xtask bench` installs the engines and runs this program, which writes `results/`. Every engine is a separate
//! program (`engines/`), which is started once and judges a document on request. All engines judge the same document
//! within the same second, so that other load on the machine affects all of them equally.

mod apart;
mod chart;
mod engines;
mod figures;
mod machine;
mod measure;
mod plan;
mod statements;
mod table;

use std::{fs, path::Path};

use anyhow::{Context, Result, ensure};

/// The extent of the measurements.
#[derive(Clone, Copy, PartialEq)]
enum Extent {
    /// Every engine, for the results.
    All,
    /// With `--rust`, only the engines in Rust, in one run, for use while working on speed.
    Rust,
}

impl Extent {
    /// Returns the number of runs, each with new processes. The median run counts.
    fn runs(self) -> usize {
        if self == Extent::All { 3 } else { 1 }
    }

    /// Returns the number of times that every engine judges every document in a run. The load of the machine varies, so
    /// the median round counts.
    fn rounds(self) -> usize {
        3
    }

    /// Returns the number of processes to start for measuring a first verdict.
    fn starts(self) -> usize {
        if self == Extent::All { 11 } else { 5 }
    }
}

fn main() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // target/release/deps/engines-…
    let program = std::env::current_exe()?;
    let release = program.ancestors().nth(2).context("not where cargo puts a benchmark")?;
    let target = release.parent().context("no target folder")?;
    let installed = target.join("bench");

    let extent = if std::env::args().any(|word| word == "--rust") { Extent::Rust } else { Extent::All };

    let plan = plan::Plan::make(&installed)?;
    let machine = machine::Machine::this();
    let apart = apart::Apart::of(extent, target, &installed)?;
    let mut runs = Vec::new();
    for run in 1..=extent.runs() {
        eprintln!("bench: run {run} of {}", extent.runs());
        let engines = engines::start(release, &installed, &plan, extent)?;
        let measured = measure::measure(&engines, &plan, extent)?;
        let figures = figures::Figures::of(&engines.all, &plan, &measured, &apart);
        runs.push((engines.skipped, measured, figures));
    }
    let headlines = figures::Headline::medians(runs.iter().map(|(_, _, figures)| &figures.headlines[..]));
    runs.sort_by(|(_, _, one), (_, _, other)| one.order().total_cmp(&other.order()));
    let (skipped, measured, figures) = &runs[runs.len() / 2];

    let table = table::markdown(&plan, measured, figures, &headlines, &machine, skipped);
    // The details after the first two tables are only in the file.
    println!("{}", table.split("## Sets").next().unwrap_or(&table));
    if extent == Extent::All {
        let results = root.join("bench/results");
        fs::create_dir_all(&results)?;
        fs::write(results.join("README.md"), &table)?;
        statements::write(root.parent().context("no workspace")?, figures)?;
        fs::write(results.join("chart.svg"), chart::svg(figures, &machine))?;
    }
    let missed: Vec<String> = headlines.iter().filter_map(figures::Headline::miss).collect();
    ensure!(missed.is_empty(), "figures that miss what is wanted at least:\n{}", missed.join("\n"));
    Ok(())
}
