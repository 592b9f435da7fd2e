//! The command line, by cases. Each file of `tests/cli` contains commands and their output.

use std::{fs, path::Path};

use anyhow::{Context, Result, bail};
use seamgate_tests::{
    console::{again, fresh},
    suite::{Trial, trial},
};

/// Returns a test for each file.
pub(crate) fn trials() -> Result<Vec<Trial>> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/cli"));
    let mut trials = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_stem().context("a name")?.to_string_lossy().into_owned();
        if path.extension().is_some_and(|end| end == "console") {
            trials.push(trial(name.clone(), move || case(&path, &name)));
        }
    }
    Ok(trials)
}

/// Runs the commands of a file in order, in a new folder.
fn case(path: &Path, name: &str) -> Result<()> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli").join(name);
    fresh(&folder);
    let text = fs::read_to_string(path)?;
    let shown: Vec<&str> = text.lines().collect();
    let Some(is) = again(&folder, &shown) else {
        return Ok(());
    };
    let is = is.join("\n") + "\n";
    if std::env::var_os("BLESS").is_some() {
        return Ok(fs::write(path, is)?);
    }
    bail!("{}: prints otherwise now; if that is meant, BLESS=1:\n{is}", path.display());
}
