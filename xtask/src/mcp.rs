//! `seamgate mcp` between real clients and real servers, under load, and against the attacks of AgentDojo. What is installed is pinned by
//! version and digest.

use std::{
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};

use crate::{
    install::{environment, has_node, has_python, packages},
    run::{cargo, command, output, root, run, say},
};

/// The programs and scenarios.
const SOURCES: &str = "tests/mcp";

/// Where clients and servers are installed.
const FOLDER: &str = "target/mcp";

/// The command line, as the build leaves it.
const SEAMGATE: &str = "target/release/seamgate";

/// The page that gets AgentDojo's table.
const PAGE: &str = "docs/mcp-security.md";

/// What can be run, by name.
type Part = (&'static str, fn() -> Result<()>);
const PARTS: [Part; 5] = [
    ("differential", differential),
    ("conformance", conformance),
    ("agentdojo", agentdojo),
    ("bench", || program("bench")),
    ("load", || program("load")),
];

pub(crate) fn names() -> [&'static str; PARTS.len()] {
    PARTS.map(|(name, _)| name)
}

/// Run the part of this name, or all of them.
pub(crate) fn mcp(named: Option<&str>) -> Result<()> {
    let chosen = PARTS.into_iter().filter(|(name, _)| named.is_none_or(|named| named == *name));
    chosen.into_iter().try_for_each(|(_, part)| part())
}

/// Some clients and servers, with and without the gate, in less than a minute. The command line must have been built.
pub(crate) fn small() -> Result<()> {
    if !has_python() || !has_node() {
        say("skipping clients and servers: they need node with npm, and python3 with its module venv");
        return Ok(());
    }
    run(compare()?.arg("--small"))
}

/// All clients and servers. It writes the table of `tests/mcp/README.md`.
fn differential() -> Result<()> {
    let inspector = Path::new(FOLDER).join("inspector");
    packages(&inspector, &Path::new(SOURCES).join("inspector"), "installing the inspector")?;
    let page = Path::new(SOURCES).join("README.md");
    let mut compare = compare()?;
    compare.arg("--sqlite").arg(python("sqlite")?).arg("--inspector").arg(root().join(inspector));
    run(compare.arg("--write").arg(page))
}

/// The comparison, with what it needs installed.
fn compare() -> Result<Command> {
    let [clients, servers] = ["clients", "servers"].map(python);
    let node = Path::new(FOLDER).join("node");
    packages(&node, &Path::new(SOURCES).join("node"), "installing the SDK and servers for Node")?;
    // Beside the packages, where Node finds them.
    for name in ["sdk.mjs", "client.mjs", "stateless.mjs"] {
        fs::copy(Path::new(SOURCES).join("node").join(name), node.join(name))?;
    }
    let path = output(command("node").args(["-p", "process.execPath"])).context("node does not run")?;
    let mut compare = script("python3", "differential.py");
    let places: [(&str, PathBuf); 5] = [
        ("seamgate", root().join(SEAMGATE)),
        ("node", path.into()),
        ("modules", root().join(node).join("node_modules")),
        ("clients", clients?),
        ("servers", servers?),
    ];
    compare.args(places.into_iter().flat_map(|(name, path)| [OsString::from(format!("--{name}")), path.into()]));
    Ok(compare)
}

/// The protocol's own suite. It writes its lines of `tests/mcp/README.md`.
fn conformance() -> Result<()> {
    let folder = Path::new(FOLDER).join("conformance");
    let sources = Path::new(SOURCES).join("conformance");
    packages(&folder, &sources, "installing the conformance suite, with a Node that runs it")?;
    // Beside the packages, where Node finds them.
    for name in ["authorize.mjs", "server.mjs", "stateless.mjs"] {
        fs::copy(sources.join(name), folder.join(name))?;
    }
    let modules = root().join(folder).join("node_modules");
    // Where there is none for this system, that of the system must do.
    let nodes = ["x64", "arm64"].map(|kind| modules.join(format!("node-linux-{kind}/bin/node")));
    let node = nodes.into_iter().find(|path| path.exists()).unwrap_or_else(|| "node".into());
    let mut compare = script("python3", "conformance/compare.py");
    compare.arg("--seamgate").arg(root().join(SEAMGATE));
    compare.arg("--node").arg(node).arg("--modules").arg(modules);
    run(compare.arg("--write").arg(Path::new(SOURCES).join("README.md")))
}

/// A script, which finds what all share. It would leave folders beside what it imports.
fn script(python: impl AsRef<OsStr>, name: &str) -> Command {
    let mut script = command(python);
    script.env("PYTHONPATH", SOURCES).arg("-B").arg(Path::new(SOURCES).join(name));
    script
}

/// A virtual environment of this name. Gives its programs.
fn python(name: &str) -> Result<PathBuf> {
    let folder = Path::new(FOLDER).join(name);
    let requirements = Path::new(SOURCES).join(name).join("requirements.txt");
    let what = format!("installing {SOURCES}/{name}");
    environment("python3", &folder, &requirements, &["--only-binary", ":all:"], &what)?;
    Ok(root().join(folder).join("bin"))
}

/// All tasks and attacks of AgentDojo. It writes the tables of the page about security.
fn agentdojo() -> Result<()> {
    let programs = python("agentdojo")?;
    let mut replay = script(programs.join("python"), "agentdojo/replay.py");
    replay.arg("--seamgate").arg(root().join(SEAMGATE));
    run(replay.args(["--write", PAGE]))
}

/// A part of the program that measures. It writes its table of `tests/mcp/README.md`.
fn program(part: &str) -> Result<()> {
    cargo(["build", "--release", "--locked", "--example", "mcp"])?;
    run(command("target/release/examples/mcp").arg(part))
}
