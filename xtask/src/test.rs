//! Runs the tests and counts them, because a suite that runs too few tests has lost its cases.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader, pipe},
    path::Path,
};

use anyhow::{Context, Result, ensure};

use crate::run::{command, run, say};

const ALL: [&str; 4] = ["test", "--release", "--locked", "--no-fail-fast"];

/// The folder with a folder for each test binary. That folder has a file or a folder for each module.
const BINARIES: &str = "tests/tests";

/// The binary whose modules are suites of folders.
const SUITES: &str = "suites";

/// Runs the tests that arguments of `cargo test` select.
pub(crate) fn some(arguments: &[String]) -> Result<()> {
    run(command("cargo").args(ALL).args(arguments))
}

/// Rewrites all expected results: those of all suites, and those of individual tests in other binaries.
pub(crate) fn bless() -> Result<()> {
    let suites = ["--test=suites"].as_slice();
    let others = ["--test=core", "--test=kernel", "--test=command_line", "--test=mcp", "--test=repository", "--"];
    let writers = ["claims::", "clean::", "trace::", "scripts::", "documents::"];
    for chosen in [suites, &[others.as_slice(), &writers].concat()] {
        run(command("cargo").args(ALL).args(chosen).env("BLESS", "1"))?;
    }
    Ok(())
}

/// Runs all tests. Each module must pass at least one test, and a suite of folders must pass as many as it has cases.
pub(crate) fn all() -> Result<()> {
    let (reader, writer) = pipe()?;
    say("cargo test --release --locked --no-fail-fast");
    // Uses one pipe for both streams: the name of a binary is on standard error, and its results are on standard
    // output.
    let mut child = command("cargo").args(ALL).stdout(writer.try_clone()?).stderr(writer).spawn()?;
    let mut counts = Counts::default();
    for line in BufReader::new(reader).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        counts.read(&line);
    }
    ensure!(child.wait()?.success(), "{}", counts.failures());
    let mut expected: BTreeMap<String, usize> = modules()?.into_iter().map(|module| (module, 1)).collect();
    expected.extend(cases()?.map(|(suite, cases)| (format!("{SUITES}/{suite}"), cases)));
    for (module, cases) in expected {
        let passed = counts.passed.get(&module).copied().unwrap_or_default();
        ensure!(passed >= cases, "'{module}' passed {passed} tests; it must pass {cases} at least");
    }
    Ok(())
}

/// Returns the modules with tests, as `BINARY/MODULE`. Tests in the binary's own file are in the module `main`.
fn modules() -> Result<Vec<String>> {
    let mut modules = Vec::new();
    for binary in entries(BINARIES)? {
        let folder = Path::new(BINARIES).join(&binary);
        for entry in entries(&folder)? {
            let path = folder.join(&entry);
            let file = if path.is_dir() { path.join("mod.rs") } else { path };
            let module = entry.strip_suffix(".rs").unwrap_or(&entry);
            let is_suite = binary == SUITES && module != "main";
            let has_tests = || Ok::<_, anyhow::Error>(fs::read_to_string(&file)?.contains("#[test]"));
            if is_suite || (file.exists() && has_tests()?) {
                modules.push(format!("{binary}/{module}"));
            }
        }
    }
    Ok(modules)
}

/// Returns the number of cases in each suite of folders.
fn cases() -> Result<[(&'static str, usize); 9]> {
    let in_groups = |suite: &str| -> Result<usize> {
        let folder = Path::new("tests").join(suite);
        let mut count = 0;
        for group in entries(&folder)?.iter().map(|group| folder.join(group)).filter(|group| group.is_dir()) {
            // A group may have files that its cases share.
            count += entries(&group)?.iter().filter(|name| suite == "hostile" || group.join(name).is_dir()).count();
        }
        Ok(count)
    };
    let cases = in_groups("cases")?;
    Ok([
        ("agreement", in_groups("agreement")?),
        ("calls", in_groups("calls")?),
        ("cases", cases),
        ("cli", entries("tests/cli")?.len()),
        // One of the components is plugged into another.
        ("components", entries("tests/components")?.len() - 1),
        // All except the server.
        ("gate", entries("tests/gate")?.len() - 1),
        ("hostile", in_groups("hostile")?),
        // Includes attacks, but not all of them can be a request.
        ("module", cases),
        // Each run is played unchanged, and with random changes.
        ("runs", 2 * in_groups("runs")?),
    ])
}

fn entries(folder: impl AsRef<Path>) -> Result<Vec<String>> {
    let folder = folder.as_ref();
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

/// The maximum number of lines of failed tests' output that an error repeats.
const REPEATED: usize = 100;

/// The number of passed tests in each module, and the output of failed tests, read from the output of `cargo test`.
#[derive(Default)]
struct Counts {
    binary: Option<String>,
    suite: Option<String>,
    passed: BTreeMap<String, usize>,
    failed: Vec<String>,
    /// The output of failed tests, one line per entry.
    said: Vec<String>,
    is_saying: bool,
}

impl Counts {
    /// Returns the names of the failed tests, and their output, truncated. Cargo fails without a failed test if a test
    /// ended its process, or if something did not compile.
    fn failures(&self) -> String {
        let Counts { failed, said, .. } = self;
        if failed.is_empty() && said.is_empty() {
            return "cargo test failed, and no test said so: its last lines are above".to_owned();
        }
        let cut = match said.len().checked_sub(REPEATED) {
            Some(more) if more > 0 => format!("\n... {more} more lines are above"),
            _ => String::new(),
        };
        let repeated: String = said.iter().take(REPEATED).map(|line| format!("\n{line}")).collect();
        let names = if failed.is_empty() { "a program of tests".to_owned() } else { failed.join(", ") };
        format!("failed: {names}{repeated}{cut}")
    }

    /// Collects the names of failed tests, and the text below `failures:` for each of them.
    fn read_failure(&mut self, line: &str) {
        let binary = self.binary.as_deref().unwrap_or("unit tests");
        if let Some(name) = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED")) {
            self.failed.push(format!("{binary} {name}"));
        }
        match line {
            // A test ended the process of all tests.
            _ if line.starts_with("process didn't exit successfully") => self.said.push(line.to_owned()),
            "failures:" => self.is_saying = !self.is_saying,
            _ if line.starts_with("test result: ") => self.is_saying = false,
            _ if self.is_saying && !line.is_empty() => self.said.push(line.to_owned()),
            _ => {}
        }
    }

    fn read(&mut self, line: &str) {
        let line = line.trim();
        self.read_failure(line);
        if let Some(program) = line.strip_prefix("Running ").or(line.strip_prefix("Doc-tests ")) {
            let name = program.strip_prefix("tests/").and_then(|name| name.split_once("/main.rs ("));
            (self.binary, self.suite) = (name.map(|(name, _)| name.to_owned()), None);
        }
        let Some(binary) = &self.binary else { return };
        if binary == SUITES {
            // A suite prints its name, followed by the number of tests that it passed.
            if let Some(name) = line.strip_prefix("Suite ") {
                self.suite = Some(format!("{binary}/{name}"));
            }
            let passed = line.strip_prefix("test result: ok. ").and_then(|rest| rest.split(' ').next()?.parse().ok());
            if let (Some(suite), Some(passed)) = (&self.suite, passed) {
                self.passed.insert(suite.clone(), passed);
            }
        } else if let Some(name) = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... ok")) {
            let module = name.split_once("::").map_or("main", |(module, _)| module);
            *self.passed.entry(format!("{binary}/{module}")).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Counts;

    #[test]
    fn passed_tests_count_for_their_suite_or_module() {
        let mut counts = Counts::default();
        let said = "     Running unittests src/lib.rs (target/release/deps/seamgate-0)
test escape::it_escapes ... ok
test result: ok. 7 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
     Running tests/core/main.rs (target/release/deps/core-0)
test finish::words ... ok
test merging::places ... FAILED
test numbers::digits ... ok
test numbers::limits ... ok
test numbers::all ... ignored
test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
     Running tests/layers/main.rs (target/release/deps/layers-0)
test no_folder_has_a_circle ... ok
     Running tests/suites/main.rs (target/release/deps/suites-0)

       Suite cases
test cases/items/whole ... ok
test result: ok. 799 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 4.45s

       Suite gate
test gate/pages ... FAILED

failures:

---- gate/pages ----
the answer differs

failures:
    gate/pages

test result: FAILED. 79 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 9.00s
   Doc-tests seamgate
test src/lib.rs - (line 5) ... ok
test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s";
        said.lines().for_each(|line| counts.read(line));
        let passed: Vec<_> = counts.passed.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        assert_eq!(passed, [("core/finish", 1), ("core/numbers", 2), ("layers/main", 1), ("suites/cases", 799)]);
        let expected = "failed: core merging::places, suites gate/pages\n---- gate/pages ----\nthe answer differs";
        assert_eq!(counts.failures(), expected);
    }
}
