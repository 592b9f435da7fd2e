//! Running the tests, and counting them: a suite that runs too few has lost its cases.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader, pipe},
    path::Path,
};

use anyhow::{Context, Result, ensure};

use crate::run::{command, run, say};

const ALL: [&str; 4] = ["test", "--release", "--locked", "--no-fail-fast"];

/// Run the tests that arguments of `cargo test` choose.
pub(crate) fn some(arguments: &[String]) -> Result<()> {
    run(command("cargo").args(ALL).args(arguments))
}

/// Rewrite what the tests expect.
pub(crate) fn bless() -> Result<()> {
    let suites = ["cases", "calls", "hostile", "agreement", "cli_cases", "gate"];
    run(command("cargo").args(ALL).args(suites.map(|suite| format!("--test={suite}"))).env("BLESS", "1"))
}

/// Run all tests. Each suite must pass a test, and a suite of folders as many as it has cases.
pub(crate) fn all() -> Result<()> {
    let (reader, writer) = pipe()?;
    say("cargo test --release --locked --no-fail-fast");
    // One pipe for both: the name of a suite is on standard error, its count on standard output.
    let mut child = command("cargo").args(ALL).stdout(writer.try_clone()?).stderr(writer).spawn()?;
    let mut counts = Counts::default();
    for line in BufReader::new(reader).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        counts.read(&line);
    }
    ensure!(child.wait()?.success(), "a test failed");
    let suites = entries("tests/tests")?;
    let suites = suites.iter().filter_map(|name| name.strip_suffix(".rs"));
    let mut expected: BTreeMap<String, usize> = suites.map(|suite| (suite.to_owned(), 1)).collect();
    expected.extend(cases()?);
    for (suite, cases) in expected {
        let passed = counts.passed.get(&suite).copied().unwrap_or_default();
        ensure!(passed >= cases, "suite '{suite}' passed {passed} tests; it must pass {cases} at least");
    }
    Ok(())
}

/// How many cases each suite of folders has.
fn cases() -> Result<[(String, usize); 8]> {
    let in_groups = |suite: &str| -> Result<(String, usize)> {
        let folder = Path::new("tests").join(suite);
        let mut count = 0;
        for group in entries(&folder)?.iter().map(|group| folder.join(group)).filter(|group| group.is_dir()) {
            // A group may have a contract beside its cases.
            count += entries(&group)?.iter().filter(|name| suite == "hostile" || group.join(name).is_dir()).count();
        }
        Ok((suite.to_owned(), count))
    };
    // One of the components is put into another.
    let components = ("components".to_owned(), entries("tests/components")?.len() - 1);
    let cases = in_groups("cases")?;
    // Attacks, too, but not all of them can be a request.
    let module = ("module".to_owned(), cases.1);
    let commands = ("cli_cases".to_owned(), entries("tests/cli")?.len());
    // Beside their server.
    let sessions = ("gate".to_owned(), entries("tests/gate")?.len() - 1);
    Ok([
        commands,
        sessions,
        in_groups("agreement")?,
        in_groups("calls")?,
        cases,
        components,
        in_groups("hostile")?,
        module,
    ])
}

fn entries(folder: impl AsRef<Path>) -> Result<Vec<String>> {
    let folder = folder.as_ref();
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

/// What `cargo test` says of each suite.
#[derive(Default)]
struct Counts {
    suite: Option<String>,
    passed: BTreeMap<String, usize>,
}

impl Counts {
    fn read(&mut self, line: &str) {
        let line = line.trim();
        if let Some(program) = line.strip_prefix("Running ").or(line.strip_prefix("Doc-tests ")) {
            let name = program.strip_prefix("tests/").and_then(|name| name.split(".rs (").next());
            // A suite of several files is a folder with a `main.rs`.
            self.suite = name.map(|name| name.strip_suffix("/main").unwrap_or(name).to_owned());
        }
        let passed = line.strip_prefix("test result: ok. ").and_then(|rest| rest.split(' ').next()?.parse().ok());
        if let (Some(suite), Some(passed)) = (&self.suite, passed) {
            self.passed.insert(suite.clone(), passed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Counts;

    #[test]
    fn only_suites_are_counted() {
        let mut counts = Counts::default();
        let said = "     Running unittests src/lib.rs (target/release/deps/seamgate-0)
test result: ok. 7 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
     Running tests/cases.rs (target/release/deps/cases-0)
test result: ok. 799 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 4.45s
     Running tests/gate/main.rs (target/release/deps/gate-0)
test result: ok. 80 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 9.00s
   Doc-tests seamgate
test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s";
        said.lines().for_each(|line| counts.read(line));
        assert_eq!(counts.passed.into_iter().collect::<Vec<_>>(), [("cases".to_owned(), 799), ("gate".to_owned(), 80)]);
    }
}
