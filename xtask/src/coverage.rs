//! Measures which lines, regions and branches of the source the tests reach.
//!
//! The ordinary compiler instruments the crates of the workspace. `llvm-cov` and `llvm-profdata` of the same LLVM
//! version read the counters. They come from rustup's component `llvm-tools` or from a distribution's package `llvm`.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::{
    install::remove,
    run::{command, output, root, run, say},
    wrapper::instrument,
};

/// The folder of the build, the counters and the list of missed lines.
const FOLDER: &str = "target/coverage";

const FLAGS: [&str; 2] = ["-Cinstrument-coverage", "-Zcoverage-options=branch"];

/// The source folders that are measured.
const MEASURED: [&str; 10] = [
    "guest/core",
    "guest/kernel",
    "host/src",
    "host/runner",
    "host/mcp",
    "host/cli",
    "host/hook",
    "host/serve",
    "host/receipt",
    "host/trace",
];

/// The page, and the file with the minimum figures.
const PAGE: &str = "tests/coverage/README.md";
const LEAST: &str = "tests/coverage/least.json";

/// The test binaries that reach the guest's code natively.
const GUEST_TESTS: [&str; 3] = ["core", "kernel", "suites"];

/// A number of places, and the number of those that the tests reach.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    count: u64,
    covered: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    lines: Count,
    regions: Count,
    branches: Count,
}

impl Count {
    fn add(&mut self, other: Count) {
        self.count += other.count;
        self.covered += other.covered;
    }

    /// Returns the percentage, truncated to two decimal places.
    fn percent(self) -> f64 {
        (self.covered * 10_000).checked_div(self.count).map_or(100.0, |hundredths| hundredths as f64 / 100.0)
    }
}

impl Counts {
    /// Reads the summary of a file.
    fn read(summary: &Value) -> Self {
        let count = |what: &str| {
            let number = |name: &str| summary[what][name].as_u64().unwrap_or_default();
            Count { count: number("count"), covered: number("covered") }
        };
        Counts { lines: count("lines"), regions: count("regions"), branches: count("branches") }
    }

    fn named(self) -> [(&'static str, Count); 3] {
        [("lines", self.lines), ("regions", self.regions), ("branches", self.branches)]
    }
}

/// Runs the tests with counters, and writes the page.
pub(crate) fn coverage(is_guest: bool) -> Result<()> {
    let folder = root().join(FOLDER);
    let counted = counted(is_guest, &folder)?;
    let files = files(&counted.export(&["--summary-only"])?)?;
    fs::write(folder.join("missed.txt"), missed(&counted.export(&["--format=lcov"])?))?;
    let all = by_folder(&files);
    let table = table(&all);
    println!("{table}\nwhat is missed: {FOLDER}/missed.txt");
    // A test that fails does not cost the figures of all others.
    counted.tested?;
    if is_guest {
        return Ok(());
    }
    let before = fs::read_to_string(PAGE).with_context(|| PAGE.to_owned())?;
    fs::write(PAGE, with_table(&before, &table).with_context(|| format!("{PAGE} has no table"))?)?;
    let least: Value = serde_json::from_str(&fs::read_to_string(LEAST)?).with_context(|| LEAST.to_owned())?;
    let fallen = fallen(&all, &least)?;
    if fallen.is_empty() {
        return Ok(());
    }
    bail!("the tests reach less than {LEAST} requires: {}", fallen.join("; "))
}

/// The counts of a run of the tests.
struct Counted {
    /// `llvm-cov`.
    cov: PathBuf,
    /// The merged counters.
    merged: PathBuf,
    /// The programs that were run.
    programs: Vec<PathBuf>,
    /// Whether all tests passed.
    tested: Result<()>,
}

impl Counted {
    /// Exports the counts with these arguments of `llvm-cov export`.
    fn export(&self, arguments: &[&str]) -> Result<String> {
        let mut export = command(&self.cov);
        export.arg("export").args(arguments).arg("--instr-profile").arg(&self.merged);
        self.programs.iter().for_each(|program| {
            export.arg("--object").arg(program);
        });
        output(&mut export).with_context(|| format!("{} reads no counters", self.cov.display()))
    }
}

/// Builds the tests with counters, and runs them.
fn counted(is_guest: bool, folder: &Path) -> Result<Counted> {
    let [cov, profdata] = [tool("llvm-cov")?, tool("llvm-profdata")?];
    let counters = folder.join("counters");
    remove(&counters)?;
    fs::create_dir_all(&counters)?;
    let build = folder.join("build");
    let chosen: Vec<&str> = match is_guest {
        // The tests are not selected by package, because Wasmtime would then be built with other features.
        true => ["--lib"].into_iter().chain(GUEST_TESTS.into_iter().flat_map(|name| ["--test", name])).collect(),
        false => Vec::new(),
    };
    let cargo = |arguments: &[&str]| {
        let mut cargo = command("cargo");
        cargo.args(arguments).args(["--release", "--locked", "--target-dir"]).arg(&build).args(&chosen);
        cargo
    };
    say("building the tests with counters");
    // Tests start the command line, which building the tests does not build.
    let bins = ["build", "--release", "--locked", "--bins", "--target-dir"];
    run(instrument(command("cargo").args(bins).arg(&build), &FLAGS)?)?;
    let listed = instrument(&mut cargo(&["test", "--no-run", "--message-format=json-render-diagnostics"]), &FLAGS)?
        .stderr(std::process::Stdio::inherit())
        .output()?;
    ensure!(listed.status.success(), "the tests cannot be built with counters: {}", listed.status);
    let mut programs = programs(&String::from_utf8_lossy(&listed.stdout));
    let command_line = build.join("release/seamgate");
    if !programs.contains(&command_line) {
        programs.push(command_line);
    }
    let mut tests = cargo(&["test", "--no-fail-fast"]);
    // Processes of one program share eight files.
    tests.env("LLVM_PROFILE_FILE", counters.join("%8m.profraw"));
    let tested = run(instrument(&mut tests, &FLAGS)?);
    let merged = folder.join("merged.profdata");
    // A test that kills a program leaves truncated counters.
    let merge = ["merge", "--sparse", "--failure-mode=all", "--output"];
    run(command(&profdata).args(merge).arg(&merged).arg(&counters))?;
    Ok(Counted { cov, merged, programs, tested })
}

/// Adds up the counts of each measured folder.
fn by_folder(files: &[(String, Counts)]) -> BTreeMap<&'static str, Counts> {
    let mut all: BTreeMap<&str, Counts> = BTreeMap::new();
    for (path, counts) in files {
        if let Some(folder) = MEASURED.into_iter().find(|folder| path.starts_with(&format!("{folder}/"))) {
            let sum = all.entry(folder).or_default();
            sum.lines.add(counts.lines);
            sum.regions.add(counts.regions);
            sum.branches.add(counts.branches);
        }
    }
    all
}

/// Writes the table of figures.
fn table(all: &BTreeMap<&str, Counts>) -> String {
    let mut table =
        "| source | lines | | regions | | branches | |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n".to_owned();
    for (folder, Counts { lines, regions, branches }) in all {
        let cell = |count: &Count| format!("{:.2} % | {}", count.percent(), count.count);
        table.push_str(&format!("| `{folder}` | {} | {} | {} |\n", cell(lines), cell(regions), cell(branches)));
    }
    table
}

/// Returns the figures that are lower than the minimum.
fn fallen(all: &BTreeMap<&str, Counts>, least: &Value) -> Result<Vec<String>> {
    let mut fallen = Vec::new();
    for (folder, least) in least.as_object().into_iter().flatten() {
        let counts = all.get(folder.as_str()).with_context(|| format!("{LEAST}: {folder} is not measured"))?;
        for (what, count) in counts.named() {
            let least = least[what].as_f64().with_context(|| format!("{LEAST}: {folder} has no number of {what}"))?;
            if count.percent() < least {
                fallen.push(format!("{folder}: {} % of {what}, at least {least} %", count.percent()));
            }
        }
    }
    Ok(fallen)
}

/// Finds an LLVM tool whose version matches the compiler's, in the toolchain or in the path.
fn tool(name: &str) -> Result<PathBuf> {
    let about = output(command("rustc").arg("-vV")).context("rustc is not there")?;
    let of = |label: &str| about.lines().find_map(|line| line.strip_prefix(label)).unwrap_or_default();
    let (host, major) = (of("host: "), of("LLVM version: ").split('.').next().unwrap_or_default());
    let sysroot = output(command("rustc").args(["--print", "sysroot"])).context("rustc is not there")?;
    let own = Path::new(&sysroot).join("lib/rustlib").join(host).join("bin").join(name);
    let path = env::var_os("PATH").unwrap_or_default();
    let named = [format!("{name}-{major}"), name.to_owned()];
    let others = env::split_paths(&path).flat_map(|folder| named.clone().map(|name| folder.join(name)));
    let is_right = |program: &PathBuf| {
        program.exists()
            && output(command(program).arg("--version"))
                .is_some_and(|version| version.contains(&format!("LLVM version {major}.")))
    };
    [own].into_iter().chain(others).find(is_right).with_context(|| {
        format!(
            "needs {name} of LLVM {major}, the version of this compiler: rustup component add llvm-tools, or install the package llvm-{major}"
        )
    })
}

/// Returns the programs that Cargo built, from its messages.
fn programs(messages: &str) -> Vec<PathBuf> {
    let executable = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().map(PathBuf::from)
    };
    messages.lines().filter_map(executable).collect()
}

/// Returns the counts of each source file, by its path in the repository.
fn files(export: &str) -> Result<Vec<(String, Counts)>> {
    let export: Value = serde_json::from_str(export)?;
    let root = root();
    let files = export["data"].as_array().into_iter().flatten().flat_map(|data| data["files"].as_array());
    let counted = files.flatten().filter_map(|file| {
        let path = Path::new(file["filename"].as_str()?).strip_prefix(&root).ok()?;
        Some((path.display().to_string(), Counts::read(&file["summary"])))
    });
    Ok(counted.filter(|(path, _)| !is_test(path)).collect())
}

/// Returns whether a file contains only tests.
fn is_test(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/")
}

/// Lists the lines that no test reaches, as `PATH:LINE`, from a report in the lcov format.
fn missed(lcov: &str) -> String {
    let root = root().display().to_string();
    let mut listed = String::new();
    let mut file = None;
    for line in lcov.lines() {
        if let Some(path) = line.strip_prefix("SF:") {
            let path = path.strip_prefix(&root).map(|path| path.trim_start_matches('/'));
            file = path.filter(|path| !is_test(path) && MEASURED.iter().any(|folder| path.starts_with(folder)));
        } else if let (Some(file), Some((at, "0"))) =
            (file, line.strip_prefix("DA:").and_then(|rest| rest.split_once(',')))
        {
            listed.push_str(&format!("{file}:{at}\n"));
        }
    }
    listed
}

/// Replaces the table of figures in the page.
fn with_table(page: &str, table: &str) -> Option<String> {
    let start = page.find("| source |")?;
    let end = page[start..].find("\n\n").map_or(page.len(), |length| start + length + 1);
    Some(format!("{}{table}{}", &page[..start], &page[end..]))
}
