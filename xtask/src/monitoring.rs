//! Checks the files for Prometheus, Grafana and the OpenTelemetry Collector. Prometheus and the parsers of its formats
//! are pinned by version and digest.

use std::{env, path::Path};

use anyhow::Result;

use crate::{
    debian,
    install::{environment, has_python},
    run::{command, output, root, run, say},
};

/// The folder of the programs that check, and of the files that pin the others.
const PINNED: &str = "tests/monitoring";

/// The folder where these programs are installed.
const FOLDER: &str = "target/monitoring";

/// The command line, which must have been built.
const SEAMGATE: &str = "target/release/seamgate";

/// Checks the files, and then runs Prometheus with them. Its counts for 5,000 calls must match the journals of the
/// calls, and its counts for 100,000 requests for verdicts must match the answers.
pub(crate) fn check() -> Result<()> {
    let is_debian = ["apt-get", "dpkg-deb"].iter().all(|tool| output(command(tool).arg("--version")).is_some());
    if !is_debian || !cfg!(all(target_os = "linux", target_arch = "x86_64")) || !has_python() {
        say("skipping the files for monitoring: they need Debian on x86-64, and python3 with its module venv");
        return Ok(());
    }
    let unpacked = root().join(FOLDER).join("debian");
    let pinned = format!("{PINNED}/debian.txt");
    debian::unpack(&unpacked, &pinned, "Prometheus and its node exporter, 110 MB,")?;
    let python = Path::new(FOLDER).join("python");
    let requirements = Path::new(PINNED).join("requirements.txt");
    let what = "installing the models of Grafana's dashboards and a parser of OpenMetrics";
    environment("python3", &python, &requirements, &["--only-binary", ":all:"], what)?;

    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([unpacked.join("usr/bin")].into_iter().chain(env::split_paths(&path)))?;
    let script = |name: &str| {
        let mut script = command(root().join(&python).join("bin/python"));
        script.arg("-B").arg(Path::new(PINNED).join(name)).env("PATH", &path);
        script
    };
    run(script("check.py").arg(Path::new(FOLDER).join("check")))?;
    run(script("load.py").args([SEAMGATE, "target/monitoring/load", "--calls", "5000", "--turns", "0"]))
}
