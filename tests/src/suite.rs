//! Suites of folders: each case is a test of its own, so a name filters them and a failure names one.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result, ensure};
pub use libtest_mimic::{Arguments, Trial};

/// A test of this name.
pub fn trial(name: impl Into<String>, test: impl FnOnce() -> Result<()> + Send + 'static) -> Trial {
    Trial::test(name, move || test().map_err(|error| format!("{error:#}").into()))
}

/// Run the tests that the command line names, as libtest would.
pub fn run(trials: Vec<Trial>) -> ExitCode {
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// The same, one after the other, unless the command line says otherwise: for tests that a clock ends.
pub fn run_in_order(trials: Vec<Trial>) -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(1);
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The folders in a folder, by name.
///
/// # Errors
///
/// It cannot be read.
pub fn folders(parent: &Path) -> Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(parent).with_context(|| parent.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            folders.push(path);
        }
    }
    folders.sort();
    Ok(folders)
}

/// While only the core or the kernel changes, `BLESS=core` rewrites what is expected without a build of the component. The next
/// test compares them again.
pub fn core_alone() -> bool {
    env::var_os("BLESS").is_some_and(|bless| bless == "core")
}

/// Hold JSON text to a file of a case, or with `BLESS`, write it there. The case has no file `other` then.
///
/// # Errors
///
/// The file differs, or is missing.
pub fn expect(folder: &Path, file: &str, other: &str, json: &str) -> Result<()> {
    let path = folder.join(file);
    if env::var_os("BLESS").is_some() {
        if fs::read_to_string(&path).ok().as_deref() != Some(json) {
            fs::write(&path, json)?;
        }
        let _ = fs::remove_file(folder.join(other));
        return Ok(());
    }
    let expected =
        fs::read_to_string(&path).with_context(|| format!("{file} is missing; `cargo xtask bless` writes it"))?;
    ensure!(
        expected == json,
        "{file} differs; if that is meant, `cargo xtask bless` rewrites it\n--- expected\n{expected}\n--- is\n{json}"
    );
    Ok(())
}
