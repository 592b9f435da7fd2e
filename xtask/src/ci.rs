//! The checks of CI, in parts.

use std::time::Instant;

use anyhow::{Result, bail};

use crate::{
    c, conformance, deploy, edge, fuzz,
    fuzz::Span,
    generate, go, guest, hooks, install_times, java, js, mcp, monitoring, oci_check, package, python, recipes,
    run::{cargo, command, run, say},
    runtimes, test,
    toolchain::{FORMAT, LINTS},
    workflows,
};

struct Part {
    name: &'static str,
    about: &'static str,
    run: fn() -> Result<()>,
    /// `true` if it runs only if it is named, or with `--all`. The other parts take less than 40 minutes together on two
    /// cores. All parts take more than two hours, so the workflow runs them as jobs side by side.
    is_long: bool,
}

const fn part(name: &'static str, about: &'static str, run: fn() -> Result<()>) -> Part {
    Part { name, about, run, is_long: false }
}

const fn long(name: &'static str, about: &'static str, run: fn() -> Result<()>) -> Part {
    Part { name, about, run, is_long: true }
}

/// The parts, in the order in which they run. All parts after `build` need it, directly or through `package`.
const PARTS: [Part; 26] = [
    part("format", "rustfmt", || FORMAT.run(&["--all", "--check"])),
    part("generate", "what is derived is up to date", || generate::generate(true)),
    part("workflows", "actionlint and zizmor on the workflows and the action", workflows::check),
    part("build", "the component and the command line", guest::build),
    part("lints", "clippy, warnings being errors", lints),
    part("docs", "rustdoc, warnings being errors", docs),
    part("tests", "all tests; each suite of folders passes as many as it has cases", tests),
    long("validator", "the component without the kernel: all cases", guest::test_validator),
    long("conformance", "the suites of other projects", conformance::conformance),
    long("python", "the Python package", python::test),
    long("js", "the npm package", js::test),
    long("go", "the module for Go", go::test),
    long("java", "the package for Java, and its recipes", java::test),
    long("c", "the C package, and its examples in other languages", c::test),
    long("recipes", "the recipes, with their frameworks", recipes::test),
    long("hooks", "the hooks for pre-commit, and the action for GitHub", hooks::test),
    long("mcp", "the gate between real clients and servers", mcp::small),
    long("deploy", "the manifests for Kubernetes, and their profiles", deploy::check),
    long(
        "monitoring",
        "the files for Prometheus and Grafana; 5,000 calls and 100,000 verdicts as it counts them",
        monitoring::check,
    ),
    long("runtimes", "all cases in other runtimes", runtimes::quick),
    // Building a server takes as long as all the parts that run by default, so only `cargo xtask edge` does it.
    long("edge", "the gate over HTTP composes", edge::build),
    long("package", "what is published", package::package),
    long("oci", "the layouts of what is published, through a registry; after `package`", oci_check::check),
    long("install", "from an empty root to the demo, with each package; after `package`", install_times::check),
    long(
        "thorough",
        "the tests that take minutes: archives, long runs, all engines and settings of the sandbox",
        thorough,
    ),
    long("fuzz", "10,000 inputs of each fuzz target", || fuzz::fuzz(Span::Inputs(10_000), &[])),
];

/// The part that every later part needs.
const BUILD: &str = "build";

/// The parts that run before `build`, and those that need only the results of `package`.
const UNBUILT: [&str; 5] = ["format", "generate", "workflows", "oci", "install"];

pub(crate) fn names() -> [&'static str; PARTS.len()] {
    PARTS.map(|part| part.name)
}

pub(crate) fn list() {
    for Part { name, about, is_long, .. } in PARTS {
        println!("{name:12} {about}{}", if is_long { " (only by name, or with --all)" } else { "" });
    }
}

/// Runs the named parts. If none is named, runs all parts that are not long, or, with `all`, every part. Prints a
/// table, with the reason for each failure below it. Only a failure of `build` stops the other parts.
pub(crate) fn ci(named: &[String], all: bool) -> Result<()> {
    let is_named = |part: &Part| match named {
        [] => all || !part.is_long,
        _ => named.iter().any(|name| name == part.name),
    };
    let needs_build = named.is_empty() || named.iter().any(|name| !UNBUILT.contains(&name.as_str()));
    let chosen = PARTS.into_iter().filter(|part| is_named(part) || (needs_build && part.name == BUILD));
    let mut rows = Vec::new();
    let mut failed = Vec::new();
    let mut reasons = Vec::new();
    for Part { name, run, .. } in chosen {
        if failed.contains(&BUILD) {
            rows.push(format!("{name:12} skipped"));
            continue;
        }
        say(&format!("ci: {name}"));
        let start = Instant::now();
        let result = run();
        let word = if result.is_ok() { "ok" } else { "FAILED" };
        rows.push(format!("{name:12} {word:7} {:6.0} s", start.elapsed().as_secs_f64()));
        if let Err(error) = result {
            let reason = format!("ci: {name} failed: {error:#}");
            say(&reason);
            reasons.push(reason);
            failed.push(name);
        }
    }
    println!("\n{}\n", rows.join("\n"));
    reasons.iter().for_each(|reason| say(reason));
    if failed.is_empty() { Ok(()) } else { bail!("failed: {}", failed.join(", ")) }
}

/// Runs lints in the release profile, whose build is shared by all parts.
fn lints() -> Result<()> {
    LINTS.run(&["--release", "--workspace", "--all-targets", "--locked", "--", "--deny", "warnings"])
}

fn docs() -> Result<()> {
    let doc = ["doc", "--release", "--workspace", "--no-deps", "--locked"];
    run(command("cargo").args(doc).env("RUSTDOCFLAGS", "--deny warnings"))
}

fn tests() -> Result<()> {
    cargo(["test", "--quiet", "--profile", "xtask", "--package", "xtask", "--package", "xtask-generate", "--locked"])?;
    test::all()
}

fn thorough() -> Result<()> {
    let test = ["test", "--release", "--locked", "--test"];
    run(command("cargo").args(test).arg("sandbox").env("SEAMGATE_TESTS", "thorough"))?;
    run(command("cargo").args(test).args(["command_line", "--", "--ignored"]))
}
