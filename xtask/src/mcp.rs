//! Runs `seamgate mcp` between real clients and real servers, under load, and against the attacks of AgentDojo.
//! Everything that is installed is pinned by version and digest.

use std::{
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

use crate::{
    install::{environment, has_go, has_node, has_python, packages},
    run::{cargo, command, output, root, run, say},
};

/// The programs and scenarios.
const SOURCES: &str = "tests/mcp";

/// The folder where clients and servers are installed.
const FOLDER: &str = "target/mcp";

/// The command line, as the build creates it.
const SEAMGATE: &str = "target/release/seamgate";

/// The page with AgentDojo's table.
const PAGE: &str = "docs/mcp-security.md";

/// A part that can be run by its name.
type Part = (&'static str, fn() -> Result<()>);
const PARTS: [Part; 6] = [
    ("differential", differential),
    ("decoders", decoders),
    ("conformance", conformance),
    ("agentdojo", agentdojo),
    ("bench", || program("bench")),
    ("load", || program("load")),
];

pub(crate) fn names() -> [&'static str; PARTS.len()] {
    PARTS.map(|(name, _)| name)
}

/// Runs the part with this name, or all parts.
pub(crate) fn mcp(named: Option<&str>) -> Result<()> {
    let chosen = PARTS.into_iter().filter(|(name, _)| named.is_none_or(|named| named == *name));
    chosen.into_iter().try_for_each(|(_, part)| part())
}

/// Tests some clients and servers with and without the gate, and some messages for decoders, in less than two minutes.
/// The command line must have been built.
pub(crate) fn small() -> Result<()> {
    if !has_python() || !has_node() {
        say("skipping clients, servers and decoders: they need node with npm, and python3 with its module venv");
        return Ok(());
    }
    run(compare()?.arg("--small"))?;
    run(decode()?.args(["--count", "2000", "--calls", "200"]))
}

/// Compares all clients and servers, and writes the table of `tests/mcp/README.md`.
fn differential() -> Result<()> {
    let inspector = Path::new(FOLDER).join("inspector");
    packages(&inspector, &Path::new(SOURCES).join("inspector"), "installing the inspector")?;
    let page = Path::new(SOURCES).join("README.md");
    let mut compare = compare()?;
    compare.arg("--sqlite").arg(python("sqlite")?).arg("--inspector").arg(root().join(inspector));
    run(compare.arg("--write").arg(page))
}

/// Returns the command for the comparison, after installing everything that it needs.
fn compare() -> Result<Command> {
    let [clients, servers] = ["clients", "servers"].map(python);
    let (node, modules) = node("node", &["sdk.mjs", "client.mjs", "stateless.mjs"])?;
    let mut compare = script("python3", "differential.py");
    places(
        &mut compare,
        [
            ("seamgate", root().join(SEAMGATE)),
            ("node", node),
            ("modules", modules),
            ("clients", clients?),
            ("servers", servers?),
        ],
    );
    Ok(compare)
}

/// Installs the packages for Node, and copies programs from a folder of the sources. Returns Node, and the folder of
/// the packages.
fn node(sources: &str, programs: &[&str]) -> Result<(PathBuf, PathBuf)> {
    let folder = Path::new(FOLDER).join("node");
    packages(&folder, &Path::new(SOURCES).join("node"), "installing the SDK and servers for Node")?;
    // Placed beside the packages, where Node finds them.
    for name in programs {
        fs::copy(Path::new(SOURCES).join(sources).join(name), folder.join(name))?;
    }
    let node = output(command("node").args(["-p", "process.execPath"])).context("node does not run")?;
    Ok((node.into(), root().join(folder).join("node_modules")))
}

/// Appends options whose values are paths.
fn places<const N: usize>(command: &mut Command, places: [(&str, PathBuf); N]) {
    command.args(places.into_iter().flat_map(|(name, path)| [OsString::from(format!("--{name}")), path.into()]));
}

/// Compares all decoders on all messages, and writes the table of `tests/mcp/README.md`.
fn decoders() -> Result<()> {
    ensure!(has_go(), "the decoders of Go need go, 1.25 or later: install it");
    let page = Path::new(SOURCES).join("README.md");
    let mut decode = decode()?;
    places(&mut decode, [("sqlite", python("sqlite")?), ("write", page)]);
    run(&mut decode)
}

/// Returns the command that compares what decoders read, after installing and building everything that it needs.
/// Without Go, its decoders are omitted.
fn decode() -> Result<Command> {
    let clients = python("clients")?;
    let (node, modules) = node("decoders", &["canonical.mjs", "read.mjs", "serve.mjs"])?;
    cargo(["build", "--release", "--locked", "--example", "decoders"])?;
    cargo(["build", "--release", "--locked", "--package", "seamgate-decoders-serde"])?;
    let mut decode = script("python3", "decoders/compare.py");
    places(
        &mut decode,
        [
            ("seamgate", root().join(SEAMGATE)),
            ("decoders", root().join("target/release/examples/decoders")),
            ("serde", root().join("target/release/decoders-serde")),
            ("node", node),
            ("modules", modules),
            ("clients", clients),
        ],
    );
    if has_go() {
        let program = root().join(FOLDER).join("decoders-go");
        let sources = Path::new(SOURCES).join("decoders/go");
        // Uses only the modules in go.sum.
        let build = ["build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-o"];
        run(command("go").arg("-C").arg(sources).args(build).arg(&program).arg("."))?;
        places(&mut decode, [("go", program)]);
    } else {
        say("leaving out the decoders of Go: they need go, 1.25 or later");
    }
    Ok(decode)
}

/// Runs the protocol's own suite for servers and for clients, and writes the suite's tables in `tests/mcp/README.md`.
fn conformance() -> Result<()> {
    let folder = Path::new(FOLDER).join("conformance");
    let sources = Path::new(SOURCES).join("conformance");
    packages(&folder, &sources, "installing the conformance suite, with a Node that runs it")?;
    // Placed beside the packages, where Node finds them.
    for name in ["authorize.mjs", "server.mjs", "stateless.mjs"] {
        fs::copy(sources.join(name), folder.join(name))?;
    }
    let modules = root().join(folder).join("node_modules");
    // If there is none for this system, the system's own Node is used.
    let nodes = ["x64", "arm64"].map(|kind| modules.join(format!("node-linux-{kind}/bin/node")));
    let node = nodes.into_iter().find(|path| path.exists()).unwrap_or_else(|| "node".into());
    // Both tables are written, even if there are failures in the first.
    let parts = ["conformance/compare.py", "conformance/clients.py"].map(|name| {
        let mut part = script("python3", name);
        places(
            &mut part,
            [
                ("seamgate", root().join(SEAMGATE)),
                ("node", node.clone()),
                ("modules", modules.clone()),
                ("write", Path::new(SOURCES).join("README.md")),
            ],
        );
        run(&mut part)
    });
    parts.into_iter().collect()
}

/// Returns the command for a script that imports the shared modules, and that writes no cache folders beside them.
fn script(python: impl AsRef<OsStr>, name: &str) -> Command {
    let mut script = command(python);
    script.env("PYTHONPATH", SOURCES).arg("-B").arg(Path::new(SOURCES).join(name));
    script
}

/// Creates a virtual environment with this name. Returns the folder of its programs.
fn python(name: &str) -> Result<PathBuf> {
    let folder = Path::new(FOLDER).join(name);
    let requirements = Path::new(SOURCES).join(name).join("requirements.txt");
    let what = format!("installing {SOURCES}/{name}");
    environment("python3", &folder, &requirements, &["--only-binary", ":all:"], &what)?;
    Ok(root().join(folder).join("bin"))
}

/// Runs all tasks and attacks of AgentDojo, and writes the tables of the page about security.
fn agentdojo() -> Result<()> {
    let programs = python("agentdojo")?;
    ["replay", "two_sessions"].into_iter().try_for_each(|name| {
        let mut replay = script(programs.join("python"), &format!("agentdojo/{name}.py"));
        replay.arg("--seamgate").arg(root().join(SEAMGATE));
        run(replay.args(["--write", PAGE]))
    })
}

/// Runs a part of the measuring program, and writes its table in `tests/mcp/README.md`.
fn program(part: &str) -> Result<()> {
    cargo(["build", "--release", "--locked", "--example", "mcp"])?;
    run(command("target/release/examples/mcp").arg(part))
}
