//! The module for Go. It is built from `host/go` and the pausing module, and tested in its published form.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

use crate::{
    guest::PAUSING,
    inside,
    install::{has_go, remove},
    run::{PACKAGES, command, output, root, run, say},
};

/// The sources of the module.
pub(crate) const SOURCES: &str = "host/go";

/// Files that the build adds to the module, with their names in it.
const INSIDE: [(&str, &str); 3] =
    [(PAUSING, "seamgate.wasm"), ("LICENSE-APACHE", "LICENSE-APACHE"), ("LICENSE-MIT", "LICENSE-MIT")];

/// The folder where the module is packed, and where a program imports it.
const FOLDER: &str = "target/go";

/// Adds the files of the build to the sources. Returns `false` without Go.
pub(crate) fn prepare() -> Result<bool> {
    if !has_go() {
        say("skipping the module for Go: go is missing");
        return Ok(false);
    }
    ensure!(Path::new(PAUSING).exists(), "{PAUSING} is missing: run `cargo xtask build`");
    for (from, name) in INSIDE {
        let to = Path::new(SOURCES).join(name);
        let bytes = fs::read(from).with_context(|| from.to_owned())?;
        // An unchanged file keeps its time, so that Go does not build again because of it.
        if fs::read(&to).ok().as_deref() != Some(&bytes) {
            fs::write(&to, bytes).with_context(|| to.display().to_string())?;
        }
    }
    Ok(true)
}

/// Returns `go` in a folder. The user's settings do not affect which versions it uses.
pub(crate) fn go(folder: impl AsRef<Path>, arguments: &[&str]) -> Command {
    let mut go = command("go");
    go.args(arguments).current_dir(folder).env("GOFLAGS", "-mod=readonly").env("GOWORK", "off");
    go
}

/// Builds a program of another project, which is pinned by the `go.mod` of a folder.
pub(crate) fn tool(pinned: &str, package: &str, to: &Path) -> Result<()> {
    run(&mut go(pinned, &["build", "-o", &to.display().to_string(), package]))
}

/// Checks format and lints, runs all tests, and tries the module in its published form.
pub(crate) fn test() -> Result<()> {
    if !prepare()? {
        return Ok(());
    }
    for folder in [SOURCES, "host/go/benchmarks"] {
        check(Path::new(folder))?;
    }
    run(&mut go(SOURCES, &["test", "./..."]))?;
    match has_c() {
        // The attacks cannot race, and take most of the time. The previous test already ran them.
        true => run(&mut go(SOURCES, &["test", "-race", "-skip", "Attacks|Cases|Steps", "./..."]))?,
        false => say("skipping the tests with the race detector: it needs a C compiler"),
    }
    try_out(&pack()?)
}

/// Checks format and lints of a module.
pub(crate) fn check(folder: &Path) -> Result<()> {
    let unformatted = output(command("gofmt").arg("-l").arg(folder)).context("gofmt fails")?;
    ensure!(unformatted.is_empty(), "not formatted by gofmt: {unformatted}");
    run(&mut go(folder, &["vet", "./..."]))?;
    let tools = format!("-modfile={}", root().join(SOURCES).join("tools/go.mod").display());
    run(&mut go(folder, &["tool", &tools, "staticcheck", "./..."]))
}

/// Compares calls with other validators.
pub(crate) fn bench() -> Result<()> {
    match prepare()? {
        true => run(&mut go("host/go/benchmarks", &["test", "-run", "^$", "-bench", ".", "-timeout", "30m", "."])),
        false => Ok(()),
    }
}

/// Judges a million outputs, and fails if the memory grows.
pub(crate) fn million() -> Result<()> {
    match prepare()? {
        true => run(&mut go(SOURCES, &["run", "./internal/million"])),
        false => Ok(()),
    }
}

/// Builds the program that `cargo xtask runtimes` runs. Returns `None` without Go.
pub(crate) fn answers() -> Result<Option<PathBuf>> {
    let program = Path::new(FOLDER).join("answers");
    if !prepare()? {
        remove_file(&program)?;
        return Ok(None);
    }
    fs::create_dir_all(FOLDER)?;
    let to = root().join(&program);
    run(&mut go(SOURCES, &["build", "-o", &to.display().to_string(), "./internal/answers"]))?;
    Ok(Some(program))
}

fn remove_file(path: &Path) -> Result<()> {
    match path.exists() {
        true => Ok(fs::remove_file(path)?),
        false => Ok(()),
    }
}

/// Packs the module, with the same bytes each time. Returns `None` without Go.
pub(crate) fn package() -> Result<Option<PathBuf>> {
    if !prepare()? {
        return Ok(None);
    }
    let packed = pack()?;
    let to = Path::new(PACKAGES).join(format!("seamgate-go-{}.zip", env!("CARGO_PKG_VERSION")));
    fs::create_dir_all(PACKAGES)?;
    fs::copy(packed, &to)?;
    say(&format!("{}: {} bytes", to.display(), fs::metadata(&to)?.len()));
    Ok(Some(to))
}

/// Writes the module to a folder that `go` accepts as a proxy. Returns the zip file in it.
fn pack() -> Result<PathBuf> {
    let version = env!("CARGO_PKG_VERSION");
    let proxy = Path::new(FOLDER).join("proxy");
    remove(&proxy)?;
    fs::create_dir_all(&proxy)?;
    let to = root().join(&proxy);
    inside::write(None, Path::new(SOURCES))?;
    run(&mut go(SOURCES, &["run", "./internal/pack", version, &to.display().to_string()]))?;
    Ok(proxy.join(format!("seamgate.dev/go/@v/v{version}.zip")))
}

/// Runs the first program of the README in a separate module, which downloads the packed module from its proxy.
fn try_out(packed: &Path) -> Result<()> {
    let readme = fs::read_to_string(Path::new(SOURCES).join("README.md"))?;
    let program = readme.split("```go\n").nth(1).and_then(|rest| rest.split("```").next());
    let program =
        program.filter(|program| program.starts_with("package main")).context("the README begins with a program")?;
    let user = Path::new(FOLDER).join("user");
    remove(&user)?;
    fs::create_dir_all(&user)?;
    fs::write(user.join("main.go"), program)?;
    fs::write(user.join("go.mod"), "module example.com/user\n\ngo 1.25.0\n")?;
    // The tests have put its dependencies into the cache, and a module cache can serve as a proxy, too.
    let cache = output(command("go").args(["env", "GOMODCACHE"])).context("`go env` fails")?;
    let proxy = format!("file://{},file://{cache}/cache/download", root().join(FOLDER).join("proxy").display());
    let modules = root().join(FOLDER).join("modules");
    let alone = |arguments: &[&str]| {
        let mut go = go(&user, arguments);
        // Uses a separate cache, because the user's may have the same version with other bytes.
        go.env("GOPROXY", &proxy).env("GOSUMDB", "off").env("GOMODCACHE", &modules).env("GOFLAGS", "-modcacherw");
        // Go remembers the imports of each version of a module, but this version was packed with other files before.
        go.env("GODEBUG", "goindex=0");
        go
    };
    remove(&modules)?;
    let packages = ["seamgate.dev/go", "seamgate.dev/go/contract"];
    let packages = packages.map(|name| format!("{name}@v{}", env!("CARGO_PKG_VERSION")));
    run(&mut alone(&["get", &packages[0], &packages[1]]))?;
    run(&mut alone(&["build", "-o", "user", "."]))?;
    let said = output(&mut command(root().join(&user).join("user"))).context("the program of the README fails")?;
    let expected = readme.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap_or_default();
    ensure!(
        said.trim() == expected.trim(),
        "the README says that its program prints\n{expected}\nand it prints\n{said}"
    );
    say(&format!("{}: {} bytes, tried out", packed.display(), fs::metadata(packed)?.len()));
    remove(&modules)
}

/// Returns whether there is a C compiler, which the race detector needs.
fn has_c() -> bool {
    output(command("cc").arg("--version")).is_some()
}
