//! The recipes of docs/recipes, with the frameworks that they are for, pinned by version and digest.

use std::{fs, path::Path};

use anyhow::{Context, Result};

use crate::{
    install::{environment, has_python, packages},
    js, python,
    run::{command, root, run, say},
};

/// The recipes, their tests, and the files that pin the frameworks.
const RECIPES: &str = "docs/recipes";

/// What runs in Node, and what it reads.
const SCRIPTS: [&str; 2] = ["ai_sdk_loop.mjs", "recipes.test.mjs"];
const DOCUMENTS: [&str; 2] = ["ops.profile.json", "ops.lock.json"];

/// Where the frameworks are installed.
const FOLDER: &str = "target/recipes";

/// What reads the spans of a trace with OpenTelemetry's own messages.
const SPANS: &str = "tests/otlp";

/// Run the tests of all recipes, each with the package as it is published.
pub(crate) fn test() -> Result<()> {
    in_python()?;
    in_node()?;
    spans()
}

/// Read what `seamgate trace --otlp` writes with OpenTelemetry's messages.
fn spans() -> Result<()> {
    if !has_python() {
        say("skipping the spans of a trace: python3 with its module venv is missing");
        return Ok(());
    }
    let folder = Path::new(FOLDER).join("otlp");
    let requirements = Path::new(SPANS).join("requirements.txt");
    environment("python3", &folder, &requirements, &["--only-binary", ":all:"], "installing OpenTelemetry's messages")?;
    run(command(root().join(folder).join("bin/python")).arg(Path::new(SPANS).join("check.py")))
}

fn in_python() -> Result<()> {
    let Some(tools) = python::install()? else {
        return Ok(());
    };
    let configuration = ["--config", "host/python/pyproject.toml", RECIPES];
    for check in [["ruff", "format", "--check"].as_slice(), &["ruff", "check", "--ignore", "D,S"]] {
        run(python::tool(&tools, check).args(configuration).arg(SPANS))?;
    }
    let folder = Path::new(FOLDER).join("python");
    let what = "installing LangGraph and the OpenAI Agents SDK";
    environment("python3", &folder, &Path::new(RECIPES).join("requirements.txt"), &["--only-binary", ":all:"], what)?;
    python::install_wheel(&folder)?;
    let python = root().join(folder).join("bin/python");
    // The user's own cache is left alone.
    let cache = root().join(FOLDER).join("cache");
    let tests = ["unittest", "--verbose", "test_recipes"];
    run(python::tool(&python, &tests).current_dir(RECIPES).env("XDG_CACHE_HOME", cache))
}

fn in_node() -> Result<()> {
    let Some(packed) = js::package()? else {
        return Ok(());
    };
    let folder = Path::new(FOLDER).join("node");
    packages(&folder, Path::new(RECIPES), "installing the Vercel AI SDK")?;
    // Below the framework, where Node finds it.
    let below = folder.join("recipes");
    js::install(&packed, &below)?;
    for name in [SCRIPTS.as_slice(), &DOCUMENTS].concat() {
        fs::copy(Path::new(RECIPES).join(name), below.join(name)).with_context(|| name.to_owned())?;
    }
    js::check(&below, &SCRIPTS)?;
    run(command("node").args(["--test", "recipes.test.mjs"]).current_dir(below))
}
