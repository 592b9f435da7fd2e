//! What is done to this repository by command. `cargo xtask` alone lists them.

mod bench;
mod conformance;
mod demo;
mod demo_llm;
mod edge;
mod fuzz;
mod guest;
mod install;
mod js;
mod meter;
mod package;
mod peers;
mod python;
mod run;
mod runtimes;
mod source;
mod toolchain;

use std::{process::ExitCode, time::Instant};

use anyhow::{Result, bail};

use run::{cargo, say};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  build            build the component (host/component/validator.wasm) and the command line
  demo             build, then show outputs and their verdicts, a harness step, and a fault that leaves the host working
  demo-llm         build, then show `seamgate run` around a program of another project, llm, which it installs
  test [ARG…]      build, then run all tests; further arguments go to `cargo test`
  fuzz [SECONDS] [TARGET…]
                   build, then run the fuzz targets, each for so long (60)
  bless            rewrite the expected reports of tests/cases and the table of tests/hostile; look at the diff before you commit it
  bench            build, install what seamgate is compared with, and measure; rewrites tests/bench/results
  python           build, make the wheel of the package for Python, and run its tests
  js [bench]       build, make the package for JavaScript, and run its tests in Node, in a browser and in workerd; or measure
                   its calls
  runtimes         build, install other runtimes, and compare all cases through them; rewrites tests/runtimes/README.md
  edge             build, compose the gate over HTTP, install `wasmtime serve`, and test both with requests and under load;
                   rewrites tests/edge/README.md
  js [bench]       make the package for JavaScript (target/package) and test it, in Node, in a browser and in workerd; or measure
                   its calls
  conformance      build, load the suites of JSON, JSON Schema, JSON Type Definition and SchemaStore, and run them; rewrites
                   tests/conformance/README.md
  peers [NAME] [ARG…]
                   compare with what others say: `patterns` with V8, on 100,000 pairs made at random, or on so many from a
                   SEED, on the patterns of a FILE, or on those of `table`, tests/patterns, which it rewrites; `hyperjump`,
                   `ajv` and `jsonschema`, on 6,000 schemas made at random, or on so many
  package          build what is published, into target/package, with digests
  cargo-component  build the component with `cargo component` too, and hold it to the same cases
  ci               what CI runs: format, lints, documentation, tests, conformance, the packages for Python and JavaScript, other
                   runtimes, what is published, and a short run of the fuzz targets, warnings being errors
";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    match dispatch(&command, &rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(command: &str, rest: &[String]) -> Result<()> {
    std::env::set_current_dir(run::root())?;
    let start = Instant::now();
    match command {
        "build" => {
            guest::build()?;
        }
        "demo" => {
            guest::build()?;
            demo::demo()?;
        }
        "demo-llm" => {
            guest::build()?;
            demo_llm::demo()?;
        }
        "test" => {
            guest::build()?;
            test(rest)?;
        }
        "bless" => {
            guest::build()?;
            let tests = ["test", "--release", "--test", "cases", "--test", "hostile"];
            run::run(run::command("cargo").args(tests).env("BLESS", "1"))?;
        }
        "fuzz" => fuzz::fuzz(rest)?,
        "bench" => {
            guest::build()?;
            bench::bench()?;
        }
        "python" => {
            guest::build()?;
            python::test()?;
        }
        "runtimes" => {
            guest::build()?;
            runtimes::runtimes()?;
        }
        "edge" => {
            guest::build()?;
            edge::edge()?;
        }
        "js" => match rest.first().map(String::as_str) {
            None => {
                guest::build()?;
                js::test()?;
            }
            Some("bench") => {
                guest::build()?;
                js::bench()?;
            }
            Some(other) => bail!("js: there is nothing to do by the name '{other}'; there is 'bench'"),
        },
        "conformance" => {
            guest::build()?;
            conformance::conformance()?;
        }
        "peers" => peers::peers(rest)?,
        "package" => {
            guest::build()?;
            package::package()?;
        }
        "cargo-component" => {
            guest::build()?;
            guest::cargo_component()?;
        }
        "ci" => ci()?,
        "" | "help" | "--help" | "-h" => {
            print!("{USAGE}");
            return Ok(());
        }
        other => bail!("there is no command '{other}'\n\n{USAGE}"),
    }
    say(&format!("{command}: done in {:.0} s", start.elapsed().as_secs_f64()));
    Ok(())
}

fn test(rest: &[String]) -> Result<()> {
    let test = ["test", "--release", "--locked"];
    cargo(test.into_iter().chain(rest.iter().map(String::as_str)))
}

fn ci() -> Result<()> {
    cargo(["fmt", "--all", "--check"])?;
    guest::build()?;
    // The release profile throughout: what it builds serves every step.
    cargo(["clippy", "--release", "--workspace", "--all-targets", "--locked", "--", "--deny", "warnings"])?;
    run::run(
        run::command("cargo")
            .args(["doc", "--release", "--workspace", "--no-deps", "--locked"])
            .env("RUSTDOCFLAGS", "--deny warnings"),
    )?;
    test(&[])?;
    conformance::conformance()?;
    python::test()?;
    js::test()?;
    runtimes::runtimes()?;
    // That it composes. To build a server for it takes as long as all of this.
    edge::build()?;
    package::package()?;
    // So long each: what a change broke is mostly found at once.
    fuzz::fuzz(&["10".to_owned()])
}
