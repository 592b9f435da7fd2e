//! The npm packages: `seamgate`, for Node, browsers and Workers, and a package with the native addon for each platform.
//! They are built from `host/js` and the metered component, and tested in their packed form.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::{
    guest::{EMBEDDED, METERED},
    inside,
    install::{has_node, packages, remove},
    page, paths,
    run::{PACKAGES, cargo, command, output, root, run, say},
};

/// The sources of the package, and the files that pin its tools.
const SOURCES: &str = "host/js";

/// The native addon for Linux, as Cargo builds it and as it is published.
const ADDON: [&str; 2] = ["target/release/libseamgate_node.so", "target/js/seamgate.node"];

/// The platforms that have an addon. Each line has the name of the platform's package, and the compiler's name for the
/// platform.
const PLATFORMS: &str = "host/js/platforms.json";

/// Tests that test something other than the package in the Node that runs them. They are the same with each backend.
const APART: [&str; 9] = [
    "browser.test.mjs",
    "bundlers.test.mjs",
    "edge.test.mjs",
    "install.test.mjs",
    "package.test.mjs",
    "receipt-page.test.mjs",
    "replies.test.mjs",
    "serve.test.mjs",
    "workerd.test.mjs",
];

/// The folder where tools are installed, and where the package is built.
const FOLDER: &str = "target/js";

/// Builds and packs the packages, with the same bytes each time. The first one is `seamgate`. Returns `None` without
/// Node.
pub(crate) fn package() -> Result<Option<Vec<PathBuf>>> {
    if !has_node() {
        say("skipping the npm package: node with npm is missing");
        return Ok(None);
    }
    // Always the same packages, so that Wasmtime is not compiled again with other features.
    cargo(["build", "--release", "--locked", "--lib"])?;
    let made = Path::new(ADDON[0]);
    ensure!(made.exists(), "{} is missing: on this platform, only the workflow of a release builds it", made.display());
    package_of(made, &inside::host()?).map(Some)
}

/// Builds and packs `seamgate`, and the package of an addon that Cargo built for a platform.
pub(crate) fn package_of(made: &Path, target: &str) -> Result<Vec<PathBuf>> {
    ensure!(Path::new(METERED).exists(), "{METERED} is missing: run `cargo xtask build`");
    let what = "installing jco, TypeScript, bundlers, a browser and workerd, which make and test the npm package,";
    packages(Path::new(FOLDER), Path::new(SOURCES), what)?;

    // Works in a copy below the tools, where Node finds them. The sources are not changed.
    let work = Path::new(FOLDER).join("build");
    remove(&work)?;
    copy(Path::new(SOURCES), &work)?;
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(licence, work.join(licence)).with_context(|| licence.to_owned())?;
    }
    let version = env!("CARGO_PKG_VERSION");
    let platform = platform(target)?;
    paths::publish(made, Path::new(ADDON[1]), target)?;
    inside::write(None, &work)?;
    inside::write(Some(("seamgate-node", target)), &work.join("inside"))?;
    run(command("node")
        .arg("build.mjs")
        .arg(root().join(METERED))
        .args([version, &platform])
        .arg(root().join(ADDON[1]))
        .arg(root().join(EMBEDDED))
        .current_dir(&work))?;

    fs::create_dir_all(PACKAGES)?;
    let mut packed = Vec::new();
    for (made, name) in [("package", "seamgate".to_owned()), ("addon", format!("seamgate-{platform}"))] {
        // No scripts are run: npm packs the files as they are.
        let pack = ["pack", "--silent", "--ignore-scripts", "--pack-destination"];
        run(command("npm").args(pack).arg(root().join(PACKAGES)).current_dir(work.join(made)))?;
        let file = Path::new(PACKAGES).join(format!("{name}-{version}.tgz"));
        say(&format!("{}: {} bytes", file.display(), fs::metadata(&file)?.len()));
        packed.push(file);
    }
    Ok(packed)
}

/// Returns the name of a platform in its package.
fn platform(target: &str) -> Result<String> {
    let platforms: Vec<Value> = serde_json::from_str(&fs::read_to_string(PLATFORMS)?)?;
    let known = platforms.iter().find(|platform| platform["target"] == target);
    let name = known.and_then(|platform| platform["name"].as_str());
    let name = name.with_context(|| format!("{PLATFORMS} has no line with the target {target}: add one"))?;
    Ok(name.to_owned())
}

/// Builds the package and the addon for this platform, and prints how to install them.
pub(crate) fn build() -> Result<()> {
    let packed = package()?.context("the npm package needs node with npm: install them")?;
    let files: Vec<String> = packed.iter().map(|path| path.display().to_string()).collect();
    say(&format!("to install it: npm install {}", files.join(" ")));
    Ok(())
}

/// Installs the packed package into a separate folder, and runs its tests there, in Node, in a browser and in workerd.
pub(crate) fn test() -> Result<()> {
    let Some(packed) = package()? else {
        return Ok(());
    };
    let first = packed.iter().map(fs::read).collect::<io::Result<Vec<_>>>()?;
    package()?;
    for (path, first) in packed.iter().zip(first) {
        ensure!(fs::read(path)? == first, "{}: packing again gives other bytes", path.display());
    }

    // The lints do not apply to the files of the build.
    let build = Path::new(FOLDER).join("build");
    for made in ["package", "addon", "inside", "dist", "src/component", "src/native"] {
        remove(&build.join(made))?;
    }
    check(&build, &["."])?;

    let tests = beside_tests(&packed)?;
    page::write(&tests, &tests.join("page"))?;
    // Chromium is unpacked into this folder.
    let unpacked = root().join(FOLDER).join("browser");
    fs::create_dir_all(&unpacked)?;
    let mut names = Vec::new();
    for entry in fs::read_dir(tests.join("test"))? {
        let name = entry?.file_name();
        if name.to_string_lossy().ends_with(".test.mjs") {
            names.push(Path::new("test").join(name));
        }
    }
    names.sort();
    let run_with = |names: &[PathBuf], backend: &str| {
        let test = ["--test", "--test-timeout=120000"];
        let mut node = command("node");
        node.args(test).args(names).current_dir(&tests).env("TMPDIR", &unpacked).env("SEAMGATE_BACKEND", backend);
        run(&mut node)
    };
    run_with(&names, "native")?;
    // The fallback runs the same tests, except for those that test something other than the package in this Node.
    names.retain(|name| !APART.iter().any(|apart| name.ends_with(apart)));
    run_with(&names, "webassembly")
}

/// Builds the page that judges outputs in a browser, and serves it.
pub(crate) fn page() -> Result<()> {
    let Some(packed) = package()? else {
        bail!("the page needs node with npm: install them");
    };
    let installed = Path::new(FOLDER).join("page");
    install(&packed, &installed)?;
    page::serve(&installed)
}

/// Checks format and lints of files in a folder, by the rules of the package.
pub(crate) fn check(folder: &Path, files: &[&str]) -> Result<()> {
    let biome = root().join(FOLDER).join("node_modules/.bin/biome");
    let rules = folder.join("biome.json");
    if !rules.exists() {
        fs::copy(Path::new(SOURCES).join("biome.json"), rules)?;
    }
    run(command(biome).args(["check", "--error-on-warnings"]).args(files).current_dir(folder))
}

/// Returns TypeScript's compiler. The tools must be installed.
pub(crate) fn compiler() -> PathBuf {
    root().join(FOLDER).join("node_modules/typescript/bin/tsc")
}

/// Compares calls with Ajv.
pub(crate) fn bench() -> Result<()> {
    match package()? {
        Some(packed) => run(command("node").arg("benchmarks/calls.mjs").current_dir(beside_tests(&packed)?)),
        None => Ok(()),
    }
}

/// Returns a folder with the installed package, and its tests, demo and examples beside it.
fn beside_tests(packed: &[PathBuf]) -> Result<PathBuf> {
    let folder = Path::new(FOLDER).join("clean");
    install(packed, &folder)?;
    for part in ["test", "browser", "examples", "benchmarks"] {
        copy(&Path::new(SOURCES).join(part), &folder.join(part))?;
    }
    fs::copy(Path::new(SOURCES).join("README.md"), folder.join("README.md"))?;
    Ok(folder)
}

/// Installs the packages into a separate folder.
pub(crate) fn install(packed: &[PathBuf], folder: &Path) -> Result<()> {
    install_with(packed, folder, &[])
}

/// Installs the packages as npm does on Windows with x86-64.
pub(crate) fn install_for_windows(packed: &[PathBuf], folder: &Path) -> Result<()> {
    // npm rejects a named package for another platform, no matter which system is specified. `--force` overrides this.
    install_with(packed, folder, &["--os=win32", "--cpu=x64", "--force"])
}

fn install_with(packed: &[PathBuf], folder: &Path, options: &[&str]) -> Result<()> {
    remove(folder)?;
    fs::create_dir_all(folder)?;
    // Without this file, npm would use the enclosing folder as the package.
    fs::write(folder.join("package.json"), "{ \"private\": true, \"type\": \"module\" }\n")?;
    let install = ["install", "--offline", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts"];
    let packed = packed.iter().map(|path| root().join(path));
    run(command("npm").args(install).args(options).args(packed).current_dir(folder))
}

/// Copies the files of a folder that git tracks or would add.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let listed = output(command("git").args(["ls-files", "-co", "--exclude-standard", "-z"]).arg(from));
    let listed = listed.with_context(|| format!("git does not list {}", from.display()))?;
    let mut any = false;
    for file in listed.split('\0').filter(|file| !file.is_empty()) {
        let target = to.join(Path::new(file).strip_prefix(from)?);
        fs::create_dir_all(target.parent().unwrap_or(to))?;
        fs::copy(file, &target).with_context(|| file.to_owned())?;
        any = true;
    }
    if !any {
        bail!("git lists no files in {}", from.display());
    }
    Ok(())
}
