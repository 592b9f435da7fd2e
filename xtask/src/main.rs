//! The commands of this repository. `cargo xtask` alone lists them.

mod bench;
mod c;
mod ci;
mod conformance;
mod coverage;
mod cross;
mod debian;
mod demo;
mod demo_agent;
mod demo_llm;
mod deploy;
mod edge;
mod fuzz;
mod generate;
mod go;
mod guest;
mod hooks;
mod inside;
mod install;
mod install_times;
mod java;
mod js;
mod mcp;
mod monitoring;
mod oci;
mod oci_check;
mod package;
mod page;
mod paths;
mod peers;
mod python;
mod recipes;
mod release;
mod run;
mod runtimes;
mod scale;
mod source;
mod test;
mod toolchain;
mod twice;
mod windows;
mod workflows;
mod wrapper;
mod zig;

use std::{path::PathBuf, process::ExitCode, time::Instant};

use anyhow::Result;
use clap::{Parser, Subcommand, builder::PossibleValuesParser};

use run::say;

/// The commands of this repository.
#[derive(Parser)]
#[command(bin_name = "cargo xtask", disable_help_subcommand = true, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

/// All commands except `generate`, `install-times`, `peers`, `notes`, `action-digests`, `materials`, `pack` and `ci`
/// build the component and the command line first.
#[derive(Subcommand)]
enum Command {
    /// Build the component (host/component/harness.wasm) and the command line.
    Build,
    /// Show outputs and their verdicts, a harness step, and a fault that the host survives.
    Demo,
    /// Show `seamgate run` with llm, a program of another project. Installs it.
    DemoLlm,
    /// Run all tests.
    ///
    /// Without arguments, also fail if a suite passed fewer tests than it has cases, or if a module passed none.
    Test {
        /// Arguments of `cargo test`, such as `--test suites -- cases/items/`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Rewrite everything that tests expect: results of all suites, traces, and the consoles and tables of pages.
    ///
    /// Look at the diff before you commit it.
    Bless,
    /// Generate files from wit/ and schemas/: types in Rust, TypeScript, Python, Go and Java, the header of the C
    /// package, schemas, tables.
    Generate {
        /// Write nothing; fail if a file is out of date.
        #[arg(long)]
        check: bool,
    },
    /// Run the fuzz targets.
    Fuzz {
        /// How long each target runs, in seconds.
        #[arg(default_value_t = 60)]
        seconds: u32,
        /// The targets to run; all by default.
        #[arg(value_parser = PossibleValuesParser::new(fuzz::names()))]
        targets: Vec<String>,
    },
    /// Compare with other validators, and rewrite tests/bench/results. Installs them.
    ///
    /// Fails if a figure misses its required limit.
    Bench {
        /// Compare only with the validators in Rust, in fewer rounds, and write nothing.
        #[arg(long)]
        rust: bool,
        /// Measure only the cost of `seamgate check --ndjson --metrics`.
        #[arg(long, conflicts_with = "rust")]
        metrics: bool,
    },
    /// Build the Python wheels, the native one and the one for all platforms, and print how to install them.
    ///
    /// `cargo xtask ci python` tests them.
    Python {
        /// Measure calls instead.
        #[arg(value_parser = ["bench"])]
        bench: Option<String>,
    },
    /// Build the npm package, and print how to install it.
    ///
    /// `cargo xtask ci js` tests it in Node, in a browser and in workerd.
    Js {
        /// Measure calls instead.
        #[arg(value_parser = ["bench"])]
        bench: Option<String>,
    },
    /// Build and test the module for Go, also in its published form.
    Go {
        /// Compare calls with other validators, or judge a million outputs and watch the memory.
        #[arg(value_parser = ["bench", "million"])]
        what: Option<String>,
    },
    /// Build and test the package for Java and its recipes.
    Java {
        /// Compare calls with other validators, judge a million outputs and watch the memory, or pin the files that
        /// Maven fetches.
        #[arg(value_parser = ["bench", "million", "pin"])]
        what: Option<String>,
    },
    /// Build the C package, test it, run its examples in other languages, and pack it.
    C {
        /// Compare calls with other validators, or judge a million outputs and watch the memory.
        #[arg(value_parser = ["bench", "million"])]
        what: Option<String>,
    },
    /// Run the recipes of docs/recipes. Installs their frameworks.
    Recipes,
    /// Test the hooks for pre-commit and the action for GitHub. Installs pre-commit.
    Hooks,
    /// Measure receipts of runs and of verdicts, and rewrite tests/receipts/README.md.
    Receipts,
    /// Compare all cases in other runtimes, and rewrite tests/runtimes/README.md. Installs them.
    Runtimes,
    /// Test the gate over HTTP with requests and under load, and rewrite tests/edge/README.md.
    ///
    /// The first run builds the server, `wasmtime serve`, which takes minutes.
    Edge,
    /// Run `seamgate mcp` between real clients and servers, under load, and against AgentDojo, and rewrite their
    /// tables. Installs them.
    Mcp {
        /// The part; all of them by default.
        #[arg(value_parser = PossibleValuesParser::new(mcp::names()))]
        part: Option<String>,
    },
    /// Judge an archive on Ray and Spark, run many agents in parallel, and load the gate over HTTP; rewrite
    /// tests/scale/README.md. Installs the engines.
    Scale {
        /// The part; all of them by default.
        #[arg(value_parser = PossibleValuesParser::new(scale::names()))]
        part: Option<String>,
    },
    /// Run the suites of JSON, JSON Schema, JSON Type Definition and SchemaStore, and rewrite
    /// tests/conformance/README.md.
    Conformance,
    /// Compare verdicts and matches with other validators and with V8. Installs them.
    Peers {
        /// The peer; all of them by default.
        #[arg(value_parser = PossibleValuesParser::new(peers::names()))]
        name: Option<String>,
        /// For a validator, the number of schemas, or `=SEED` for one of them. For `patterns`, the number of pairs and
        /// a SEED, or a FILE of patterns, or `table` to rewrite tests/patterns.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Measure which lines, regions and branches the tests reach, and rewrite tests/coverage/README.md.
    ///
    /// Fails if a figure is below its minimum in tests/coverage/least.json. Builds everything once more, into
    /// target/coverage.
    Coverage {
        /// Measure only guest/core and guest/kernel, which takes a tenth of the time, and only print the figures.
        #[arg(long)]
        guest: bool,
    },
    /// Build the published files, with digests, into target/package.
    Package {
        /// Build from two fresh clones of the last commit instead, and fail if a byte differs. Takes half an hour or
        /// more.
        #[arg(long)]
        twice: bool,
    },
    /// Build the command line and the Python wheel for Linux on aarch64, and run all cases in them under QEMU. Installs
    /// the required programs.
    Cross,
    /// Measure the time from an empty container root to the end of `seamgate demo`, with each package.
    ///
    /// Rewrites tests/install/README.md. Requires the files of `cargo xtask package`.
    InstallTimes,
    /// Build the command line, the Python wheel and the npm addon for Windows on x86-64, and run all cases in them
    /// under Wine.
    ///
    /// Unpacks a compiler and Wine below target/windows, and installs Node for Windows there.
    Windows,
    /// Check the tag of a release against the version, and print the notes from CHANGELOG.md.
    Notes {
        /// The tag: `v` and the version.
        tag: String,
        /// The address to which relative links of the changelog are resolved.
        #[arg(long)]
        base: Option<String>,
    },
    /// Add the digests of a release to those of the command lines that the action for GitHub installs.
    ActionDigests {
        /// `SHA256SUMS` of the release.
        sums: PathBuf,
    },
    /// Write the bill of materials and the licences of the command line for this platform into a folder.
    Materials {
        /// The folder.
        folder: PathBuf,
    },
    /// Pack the Python wheel and the npm addon from libraries that were built on another platform.
    Pack {
        /// The platform, in the compiler's notation.
        target: String,
        /// The library for Python.
        python: PathBuf,
        /// The library for Node.
        node: PathBuf,
    },
    /// Build the page that judges outputs in a browser, into target/page, and serve it on this machine.
    Page,
    /// Build the component with `cargo component`, and run the cases through it. Installs it.
    CargoComponent,
    /// Run the checks of CI, and report which part failed and how long each part took.
    Ci {
        /// The parts to run; by default, all except the long ones.
        #[arg(value_parser = PossibleValuesParser::new(ci::names()))]
        parts: Vec<String>,
        /// Run all parts, as before a release.
        #[arg(long, conflicts_with = "parts")]
        all: bool,
        /// List the parts.
        #[arg(long)]
        list: bool,
    },
}

fn main() -> ExitCode {
    if let Some(code) = wrapper::compile() {
        return code;
    }
    match dispatch(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(command: Command) -> Result<()> {
    std::env::set_current_dir(run::root())?;
    let start = Instant::now();
    let needs_no_build = matches!(
        command,
        Command::Generate { .. }
            | Command::Package { twice: true }
            | Command::InstallTimes
            | Command::ActionDigests { .. }
            | Command::Peers { .. }
            | Command::Notes { .. }
            | Command::Materials { .. }
            | Command::Pack { .. }
            | Command::Ci { .. }
    );
    if !needs_no_build {
        guest::build()?;
    }
    match command {
        Command::Build => {}
        Command::Demo => {
            demo::demo()?;
            demo_agent::demo()?;
            demo::end();
        }
        Command::DemoLlm => demo_llm::demo()?,
        Command::Test { arguments } => match arguments.is_empty() {
            true => test::all()?,
            false => test::some(&arguments)?,
        },
        Command::Bless => test::bless()?,
        Command::Generate { check } => generate::generate(check)?,
        Command::Fuzz { seconds, targets } => fuzz::fuzz(fuzz::Span::Seconds(seconds), &targets)?,
        Command::Bench { metrics: true, .. } => bench::metrics()?,
        Command::Bench { rust: true, .. } => bench::rust()?,
        Command::Bench { .. } => bench::bench()?,
        Command::Python { bench: None } => python::build()?,
        Command::Python { bench: Some(_) } => python::bench()?,
        Command::Js { bench: None } => js::build()?,
        Command::Js { bench: Some(_) } => js::bench()?,
        Command::Go { what } => match what.as_deref() {
            None => go::test()?,
            Some("bench") => go::bench()?,
            Some(_) => go::million()?,
        },
        Command::Java { what } => match what.as_deref() {
            None => java::test()?,
            Some("bench") => java::bench()?,
            Some("million") => java::million()?,
            Some(_) => java::pin()?,
        },
        Command::C { what } => match what.as_deref() {
            None => c::test()?,
            Some("bench") => c::bench()?,
            Some(_) => c::million()?,
        },
        Command::Recipes => recipes::test()?,
        Command::Hooks => hooks::test()?,
        Command::Receipts => {
            run::cargo(["run", "--release", "--locked", "--example", "receipts"])?;
        }
        Command::Runtimes => runtimes::runtimes()?,
        Command::Edge => edge::edge()?,
        Command::Conformance => conformance::conformance()?,
        Command::Mcp { part } => mcp::mcp(part.as_deref())?,
        Command::Scale { part } => scale::scale(part.as_deref())?,
        Command::Peers { name, arguments } => peers::peers(name.as_deref(), &arguments)?,
        Command::Coverage { guest } => coverage::coverage(guest)?,
        Command::Package { twice: false } => package::package()?,
        Command::Package { twice: true } => twice::package()?,
        Command::Cross => cross::cross()?,
        Command::InstallTimes => install_times::write()?,
        Command::Windows => windows::windows()?,
        Command::Notes { tag, base } => release::print_notes(&tag, base.as_deref())?,
        Command::ActionDigests { sums } => release::add_digests(&sums)?,
        Command::Materials { folder } => package::materials(&folder)?,
        Command::Pack { target, python, node } => package::pack(&target, &python, &node)?,
        Command::Page => js::page()?,
        Command::CargoComponent => guest::cargo_component()?,
        Command::Ci { list: true, .. } => ci::list(),
        Command::Ci { parts, all, list: false } => ci::ci(&parts, all)?,
    }
    say(&format!("done in {:.0} s", start.elapsed().as_secs_f64()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::{Arguments, Command};

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn arguments_of_cargo_test_are_passed_on() {
        let given = ["--test", "suites", "--", "--exact", "cases/items/whole"];
        let parsed = Arguments::parse_from(["xtask", "test"].iter().chain(&given));
        let Command::Test { arguments } = parsed.command else { panic!("another command") };
        assert_eq!(arguments, given);
    }
}
