//! Suites of folders: each case is a separate test, so that its name can select it, and a failure names it.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result, ensure};
use libtest_mimic::Arguments;

/// A test of a suite.
pub struct Trial {
    name: String,
    test: Box<dyn FnOnce() -> Result<()> + Send>,
}

/// Creates a test with this name. In the output, the name of the suite precedes it.
pub fn trial(name: impl Into<String>, test: impl FnOnce() -> Result<()> + Send + 'static) -> Trial {
    Trial { name: name.into(), test: Box::new(test) }
}

/// A suite: a name, and a function that lists its tests.
pub struct Suite {
    name: &'static str,
    trials: fn() -> Result<Vec<Trial>>,
    is_in_order: bool,
}

impl Suite {
    /// Creates a suite whose tests run in parallel.
    pub fn new(name: &'static str, trials: fn() -> Result<Vec<Trial>>) -> Self {
        Suite { name, trials, is_in_order: false }
    }

    /// Runs one test at a time, unless the command line sets the number of threads.
    pub fn in_order(self) -> Self {
        Suite { is_in_order: true, ..self }
    }

    /// Runs the tests that the command line selects. Returns whether all of them passed.
    fn passes(&self, arguments: &Arguments) -> Result<bool> {
        let is_selected = |name: &str| match arguments.filter.as_deref() {
            Some(filter) if arguments.exact => name == filter,
            Some(filter) => name.contains(filter),
            None => true,
        };
        let mut selected = Vec::new();
        for Trial { name, test } in (self.trials)()? {
            let name = format!("{}/{name}", self.name);
            if is_selected(&name) {
                let test = move || test().map_err(|error| format!("{error:#}").into());
                selected.push(libtest_mimic::Trial::test(name, test));
            }
        }
        if selected.is_empty() {
            return Ok(true);
        }
        let mut arguments = arguments.clone();
        if self.is_in_order {
            arguments.test_threads.get_or_insert(1);
        }
        if !arguments.list {
            println!("\n       Suite {}", self.name);
        }
        Ok(!libtest_mimic::run(&arguments, selected).has_failed())
    }
}

/// Runs the tests that the command line selects, one suite after the other. `NAME/…` selects only from the suite with
/// this name. Any other filter selects from all suites.
///
/// # Errors
///
/// Returns an error if the tests of a suite cannot be listed.
pub fn run(suites: &[Suite]) -> Result<ExitCode> {
    let arguments = Arguments::from_args();
    let named = arguments.filter.as_deref().and_then(|filter| filter.split_once('/')).map(|(name, _)| name);
    let is_suite = suites.iter().any(|suite| Some(suite.name) == named);
    let mut all_pass = true;
    for suite in suites.iter().filter(|suite| !is_suite || Some(suite.name) == named) {
        all_pass &= suite.passes(&arguments)?;
    }
    Ok(if all_pass { ExitCode::SUCCESS } else { ExitCode::from(101) })
}

/// Returns the folders in a folder, sorted by name.
///
/// # Errors
///
/// Returns an error if the folder cannot be read.
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

/// Returns whether `BLESS` is `core`. In this case, the tests rewrite the expected results without a build of the
/// component, for changes of the core or the kernel alone. The next test run compares the component again.
pub fn core_alone() -> bool {
    env::var_os("BLESS").is_some_and(|bless| bless == "core")
}

/// Compares JSON text with a file of a case. With `BLESS`, writes the file and removes the file `other` of the case.
///
/// # Errors
///
/// Returns an error if the file is missing, or if its text is different.
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
