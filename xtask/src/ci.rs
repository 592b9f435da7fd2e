//! The checks of CI, in parts.

use std::time::Instant;

use anyhow::{Result, bail};

use crate::{
    c, conformance, edge, fuzz,
    fuzz::Span,
    generate, go, guest, hooks, java, js, mcp, package, python, recipes,
    run::{cargo, command, run, say},
    runtimes, test,
    toolchain::{FORMAT, LINTS},
};

struct Part {
    name: &'static str,
    about: &'static str,
    run: fn() -> Result<()>,
}

/// The parts, in the order in which they run. All after `build` need it.
const PARTS: [Part; 20] = [
    Part { name: "format", about: "rustfmt", run: || FORMAT.run(&["--all", "--check"]) },
    Part { name: "generate", about: "what is derived is up to date", run: || generate::generate(true) },
    Part { name: "build", about: "the component and the command line", run: guest::build },
    Part { name: "lints", about: "clippy, warnings being errors", run: lints },
    Part { name: "docs", about: "rustdoc, warnings being errors", run: docs },
    Part { name: "tests", about: "all tests; each suite of folders passes as many as it has cases", run: tests },
    Part { name: "validator", about: "the component without the kernel: all cases", run: guest::test_validator },
    Part { name: "conformance", about: "the suites of other projects", run: conformance::conformance },
    Part { name: "python", about: "the Python package", run: python::test },
    Part { name: "js", about: "the npm package", run: js::test },
    Part { name: "go", about: "the module for Go", run: go::test },
    Part { name: "java", about: "the package for Java, and its recipes", run: java::test },
    Part { name: "c", about: "the C package, and its examples in other languages", run: c::test },
    Part { name: "recipes", about: "the recipes, with their frameworks", run: recipes::test },
    Part { name: "hooks", about: "the hooks for pre-commit, and the action for GitHub", run: hooks::test },
    Part { name: "mcp", about: "the gate between real clients and servers", run: mcp::small },
    Part { name: "runtimes", about: "all cases in other runtimes", run: runtimes::quick },
    // To build a server takes as long as all of this: `cargo xtask edge` does it.
    Part { name: "edge", about: "the gate over HTTP composes", run: edge::build },
    Part { name: "package", about: "what is published", run: package::package },
    Part { name: "fuzz", about: "10,000 inputs of each fuzz target", run: || fuzz::fuzz(Span::Inputs(10_000), &[]) },
];

/// The part that every later part needs.
const BUILD: &str = "build";

pub(crate) fn names() -> [&'static str; PARTS.len()] {
    PARTS.map(|part| part.name)
}

pub(crate) fn list() {
    for Part { name, about, .. } in PARTS {
        println!("{name:12} {about}");
    }
}

/// Runs the parts named, or all, and prints a table, with the reason of each failure below it. A part that fails stops
/// no other but `build`.
pub(crate) fn ci(named: &[String]) -> Result<()> {
    let is_named = |part: &Part| named.is_empty() || named.iter().any(|name| name == part.name);
    let needs_build = named.is_empty() || named.iter().any(|name| name != "format" && name != "generate");
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

/// Runs lints in the release profile, whose build serves every part.
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
