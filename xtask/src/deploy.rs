//! Checks the manifests for Kubernetes. Kustomize builds them, and Kubernetes' schemas and `tests/deploy/check.py`
//! check them. Both programs are pinned by version and digest.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};

use crate::{
    go,
    install::{environment, has_go, has_python},
    run::{command, root, run, say},
};

/// The Kustomize base.
const BASE: &str = "deploy/kubernetes";

/// The folder of the program that checks, and of the files that pin the others.
const PINNED: &str = "tests/deploy";

/// The folder where these programs are installed.
const FOLDER: &str = "target/deploy";

/// The command line, which must have been built.
const SEAMGATE: &str = "target/release/seamgate";

/// Lints the profiles, builds the base, and checks the result. Any finding is an error.
pub(crate) fn check() -> Result<()> {
    run(command(SEAMGATE).args(["lint", "--strict"]).args(profiles()?))?;
    if !has_go() || !has_python() {
        say("skipping the manifests for Kubernetes: go, or python3 with its module venv, is missing");
        return Ok(());
    }
    let kustomize = root().join(FOLDER).join("kustomize");
    go::tool(PINNED, "sigs.k8s.io/kustomize/kustomize/v5", &kustomize)?;
    let python = Path::new(FOLDER).join("python");
    let requirements = Path::new(PINNED).join("requirements.txt");
    environment("python3", &python, &requirements, &["--only-binary", ":all:"], "installing Kubernetes' schemas")?;

    let manifest = Path::new(FOLDER).join("built.yaml");
    run(command(kustomize).args(["build", BASE, "--output"]).arg(&manifest))?;
    run(command(python.join("bin/kubernetes-validate")).args(["--strict", "--quiet"]).arg(&manifest))?;
    run(command(python.join("bin/python")).arg(Path::new(PINNED).join("check.py")).arg(&manifest))
}

/// Returns the profiles in the folders of the base.
fn profiles() -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for folder in fs::read_dir(BASE).context(BASE)? {
        let folder = folder?.path();
        if folder.is_dir() {
            for file in fs::read_dir(&folder)? {
                let path = file?.path();
                found.extend(path.to_string_lossy().ends_with(".profile.json").then_some(path));
            }
        }
    }
    found.sort();
    ensure!(!found.is_empty(), "{BASE} has no profile");
    Ok(found)
}
