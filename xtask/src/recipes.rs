//! The recipes of docs/recipes, with the frameworks that they are for, pinned by version and digest.

use std::{fs, path::Path};

use anyhow::{Context, Result};

use crate::{
    install::{environment, packages},
    js, python,
    run::{command, root, run},
};

/// The recipes, their tests, and the files that pin the frameworks.
const RECIPES: &str = "docs/recipes";

/// Where the frameworks are installed.
const FOLDER: &str = "target/recipes";

/// Run the tests of all recipes, each with the package as it is published.
pub(crate) fn test() -> Result<()> {
    in_python()?;
    in_node()
}

fn in_python() -> Result<()> {
    let Some(tools) = python::install()? else {
        return Ok(());
    };
    let configuration = ["--config", "host/python/pyproject.toml", RECIPES];
    for check in [["ruff", "format", "--check"].as_slice(), &["ruff", "check", "--ignore", "D,S"]] {
        run(python::tool(&tools, check).args(configuration))?;
    }
    let folder = Path::new(FOLDER).join("python");
    let what = "installing LangGraph and the OpenAI Agents SDK";
    environment("python3", &folder, &Path::new(RECIPES).join("requirements.txt"), &["--only-binary", ":all:"], what)?;
    python::install_wheel(&folder)?;
    let python = root().join(folder).join("bin/python");
    run(python::tool(&python, &["unittest", "--verbose", "test_recipes"]).current_dir(RECIPES))
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
    for entry in fs::read_dir(RECIPES)? {
        let path = entry?.path();
        let is_wanted = |name: &&std::ffi::OsStr| {
            let name = name.to_string_lossy();
            name.ends_with(".mjs") || name.starts_with("ops.")
        };
        if let Some(name) = path.file_name().filter(is_wanted) {
            fs::copy(&path, below.join(name)).with_context(|| path.display().to_string())?;
        }
    }
    js::check(&below)?;
    run(command("node").args(["--test", "recipes.test.mjs"]).current_dir(below))
}
