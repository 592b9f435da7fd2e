//! Tests the recipes of docs/recipes, with the frameworks that they are for, pinned by version and digest.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use crate::{
    go,
    install::{environment, has_python, packages},
    js, python,
    run::{command, root, run, say},
    scale,
};

/// The recipes, their tests, and the files that pin the frameworks.
const RECIPES: &str = "docs/recipes";

/// The files that the Node programs read.
const DOCUMENTS: [&str; 2] = ["ops.profile.json", "ops.lock.json"];

/// The programs of `ask`, whose types are checked.
const TYPED: [&str; 8] = [
    "anthropic_ask",
    "fastapi_route",
    "instructor_beside",
    "langchain_parser",
    "openai_ask",
    "order",
    "pydantic_ai_loop",
    "pydantic_ai_validator",
];

/// The folder where the frameworks are installed.
const FOLDER: &str = "target/recipes";

/// The program that parses the spans of a trace with OpenTelemetry's own messages.
const SPANS: &str = "tests/otlp";

/// The program that parses receipts with third-party libraries.
const RECEIPTS: &str = "tests/receipts";

/// Runs the tests of all recipes, each with the package in its published form.
pub(crate) fn test() -> Result<()> {
    in_go()?;
    let python = in_python()?;
    let is_node = in_node()?;
    if let Some(tools) = python.filter(|_| is_node) {
        types(&tools)?;
    }
    read_elsewhere()
}

/// Checks the types of all snippets of the documentation, and of the recipes of `ask`.
fn types(tools: &Path) -> Result<()> {
    let folder = root().join(FOLDER);
    let mut pages = ["README.md", "host/python/README.md", "host/js/README.md"].map(str::to_owned).to_vec();
    for of in ["docs", RECIPES] {
        for entry in fs::read_dir(of)? {
            let path = entry?.path();
            if path.extension().is_some_and(|ending| ending == "md") {
                pages.push(path.display().to_string());
            }
        }
    }
    pages.sort();
    pages.extend(TYPED.map(|name| format!("{RECIPES}/{name}.py")));
    let check = Path::new(RECIPES).join("check_snippets.py");
    run(command(folder.join("python/bin/python"))
        .arg(check)
        .arg(root().join(tools))
        .arg(folder.join("node"))
        .arg(js::compiler())
        .args(pages)
        .env("PYTHONDONTWRITEBYTECODE", "1"))
}

/// Parses seamgate's output with third-party libraries in Python: the spans of a trace, and receipts.
fn read_elsewhere() -> Result<()> {
    if !has_python() {
        say("skipping spans and receipts that others read: python3 with its module venv is missing");
        return Ok(());
    }
    for (program, name, what) in [
        (SPANS, "otlp", "installing OpenTelemetry's messages"),
        (RECEIPTS, "receipts", "installing what reads signed statements"),
    ] {
        let folder = Path::new(FOLDER).join(name);
        let requirements = Path::new(program).join("requirements.txt");
        environment("python3", &folder, &requirements, &["--only-binary", ":all:"], what)?;
        run(command(root().join(folder).join("bin/python")).arg(Path::new(program).join("check.py")))?;
    }
    Ok(())
}

/// Returns the interpreter that has the tools, or `None` without Python.
fn in_python() -> Result<Option<PathBuf>> {
    let Some(tools) = python::install()? else {
        return Ok(None);
    };
    let configuration = ["--config", "host/python/pyproject.toml", RECIPES];
    for check in [["ruff", "format", "--check"].as_slice(), &["ruff", "check", "--ignore", "D,PT027,S"]] {
        run(python::tool(&tools, check).args(configuration).arg(SPANS))?;
    }
    let folder = Path::new(FOLDER).join("python");
    let what = "installing the clients and frameworks of the recipes in Python";
    environment("python3", &folder, &Path::new(RECIPES).join("requirements.txt"), &["--only-binary", ":all:"], what)?;
    python::install_wheel(&folder)?;
    let python = root().join(folder).join("bin/python");
    // The user's own cache is not used.
    let cache = root().join(FOLDER).join("cache");
    let tests = ["unittest", "--verbose", "test_ask", "test_clients", "test_fastapi", "test_recipes"];
    let seamgate = root().join("target/release/seamgate");
    let mut tests = python::tool(&python, &tests);
    run(tests.current_dir(RECIPES).env("XDG_CACHE_HOME", cache).env("SEAMGATE", seamgate))?;
    Ok(Some(tools))
}

/// Runs the recipes in Go, if it is installed.
fn in_go() -> Result<()> {
    let folder = Path::new(RECIPES).join("go");
    if !go::prepare()? {
        return Ok(());
    }
    go::check(&folder)?;
    run(&mut go::go(folder, &["test", "./..."]))
}

/// Runs the recipes in Node. Returns whether there is Node.
fn in_node() -> Result<bool> {
    let Some(packed) = js::package()? else {
        return Ok(false);
    };
    let folder = Path::new(FOLDER).join("node");
    packages(
        &folder,
        Path::new(RECIPES),
        "installing the clients and frameworks of the recipes in Node, and Pyright,",
    )?;
    // Placed below the framework, where Node finds it.
    let below = folder.join("recipes");
    js::install(&packed, &below)?;
    let mut scripts = Vec::new();
    for entry in fs::read_dir(RECIPES)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".mjs") {
            scripts.push(name);
        }
    }
    scripts.sort();
    let scripts: Vec<&str> = scripts.iter().map(String::as_str).collect();
    for name in [scripts.as_slice(), &DOCUMENTS].concat() {
        fs::copy(Path::new(RECIPES).join(name), below.join(name)).with_context(|| name.to_owned())?;
    }
    js::check(&below, &scripts)?;
    let tests = scripts.into_iter().filter(|name| name.ends_with(".test.mjs"));
    run(command("node").arg("--test").args(tests).current_dir(below))?;
    // The recipe for Restate is tested by a separate program, which is killed.
    scale::few_runs(&packed)?;
    Ok(true)
}
