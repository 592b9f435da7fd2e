//! The Python package: its wheel, and its tests in an environment that is pinned by version and digest.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};

use crate::{
    inside,
    install::{environment, has_python, pip, remove},
    paths,
    run::{PACKAGES, cargo, command, run, say},
    zig,
};

/// The sources of the package.
const PACKAGE: &str = "host/python";

/// The environment in which it is built and tested.
const FOLDER: &str = "target/python";

/// The time of all files in the wheel, which is the earliest that its format allows. It is fixed, so that the same
/// files result in the same bytes.
pub(crate) const EPOCH: &str = "315532800";

/// The native library, as Cargo builds it.
const NATIVE: &str = "target/release/libseamgate_python.so";

/// The native library in its published form, without its file extension.
const PUBLISHED: &str = "target/native/seamgate_python";

/// The package of the workspace with the native library.
const NATIVE_PACKAGE: &str = "seamgate-python";

/// Builds both wheels in their published form, each with a list of its contents: the native wheel for this platform,
/// which older systems can load, too, and the wheel for all other platforms.
pub(crate) fn wheels() -> Result<Vec<PathBuf>> {
    let mut wheels = Vec::new();
    if is_native() {
        cargo(["build", "--release", "--locked"])?;
        wheels.push(native_of(&for_older_systems()?, &inside::host()?)?);
    }
    wheels.push(pure()?);
    Ok(wheels)
}

/// Links the native library again, for an older C library than this system's.
fn for_older_systems() -> Result<PathBuf> {
    let zig = zig::install(std::env::consts::ARCH)?;
    let folder = Path::new("target/native");
    fs::create_dir_all(folder)?;
    let (source, library) = (folder.join("older.rs"), folder.join("older.so"));
    fs::write(&source, "pub use seamgate_python::*;\n")?;
    run(command("rustc")
        .arg(&source)
        .args([
            "--crate-name",
            "seamgate_python_older",
            "--crate-type",
            "cdylib",
            "--edition",
            "2024",
            "--cap-lints",
            "allow",
        ])
        .args([
            "--extern",
            "seamgate_python=target/release/libseamgate_python.rlib",
            "-Ldependency=target/release/deps",
        ])
        .args(["-Copt-level=3", "-Cstrip=symbols"])
        .arg(format!("-Clinker={}", zig.cc.display()))
        .arg("-o")
        .arg(&library))?;
    Ok(library)
}

/// Returns whether this command builds the native library for this platform: on Linux with x86-64.
fn is_native() -> bool {
    let is_native = cfg!(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"));
    if !is_native {
        say("skipping the native Python wheel: on this platform, only the workflow of a release builds it");
    }
    is_native
}

/// Builds the native wheel. Returns `None` except on Linux with x86-64.
fn native() -> Result<Option<PathBuf>> {
    if !is_native() {
        return Ok(None);
    }
    // Everything that runs on the host, because this package by itself would need other features of Wasmtime, and
    // compile it again.
    cargo(["build", "--release", "--locked"])?;
    native_of(Path::new(NATIVE), &inside::host()?).map(Some)
}

/// Builds the native wheel from a library that Cargo built for a platform.
pub(crate) fn native_of(made: &Path, target: &str) -> Result<PathBuf> {
    let ending = made.extension().with_context(|| format!("{} has no ending", made.display()))?;
    let library = std::path::absolute(PUBLISHED)?.with_extension(ending);
    paths::publish(made, &library, target)?;
    let tag = format!("cp310-abi3-{}", platform(&library, target)?);
    wheel(Some((NATIVE_PACKAGE, target)), |build| {
        build.env("SEAMGATE_NATIVE", &library).env("SEAMGATE_TAG", &tag);
    })
}

/// Builds the wheel for all platforms, with the component of `host/component`.
fn pure() -> Result<PathBuf> {
    wheel(None, |_| ())
}

/// Returns the systems that a library for a platform runs on, in the notation of wheels.
fn platform(library: &Path, target: &str) -> Result<String> {
    Ok(match target {
        "x86_64-pc-windows-gnu" | "x86_64-pc-windows-msvc" => "win_amd64".to_owned(),
        // The oldest system that the compiler builds for.
        "aarch64-apple-darwin" => "macosx_11_0_arm64".to_owned(),
        "x86_64-apple-darwin" => "macosx_10_12_x86_64".to_owned(),
        _ => {
            let processor = target.split('-').next().unwrap_or(target);
            format!("{}_{processor}", manylinux(&fs::read(library)?)?)
        }
    })
}

/// Returns the systems that a library for Linux runs on: those whose C library has every version of a symbol that it
/// requires.
fn manylinux(library: &[u8]) -> Result<String> {
    let needed = library.split(|byte| *byte == 0).filter_map(|text| text.strip_prefix(b"GLIBC_2."));
    let minor = |version: &[u8]| std::str::from_utf8(version).ok()?.split('.').next()?.parse::<u32>().ok();
    let newest = needed.filter_map(minor).max().context("the native half asks for no version of the C library")?;
    Ok(format!("manylinux_2_{newest}"))
}

fn wheel(around: Option<(&str, &str)>, environment: impl FnOnce(&mut std::process::Command)) -> Result<PathBuf> {
    let python = installed()?;
    // In an empty folder, so that the wheel is the only file.
    let built = Path::new(FOLDER).join("built");
    remove(&built)?;
    let root = std::env::current_dir()?;
    let inside = root.join(FOLDER).join("inside");
    inside::write(around, &inside)?;
    let mut build = command(root.join(python));
    build
        .args(["-m", "hatchling", "build", "--target", "wheel", "--directory"])
        .arg(root.join(&built))
        .current_dir(PACKAGE)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("SEAMGATE_INSIDE", inside)
        .env("SOURCE_DATE_EPOCH", EPOCH);
    environment(&mut build);
    run(&mut build)?;
    let wheels = fs::read_dir(&built)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    ensure!(wheels.len() == 1, "expected one wheel, not {} files", wheels.len());
    let wheel = Path::new(PACKAGES).join(wheels[0].file_name().context("a file")?);
    fs::create_dir_all(PACKAGES)?;
    fs::rename(&wheels[0], &wheel)?;
    say(&format!("{}: {} bytes", wheel.display(), fs::metadata(&wheel)?.len()));
    Ok(wheel)
}

/// Builds the wheel for this platform, and installs it into the environment. Returns the interpreter, or `None` without
/// Python.
pub(crate) fn install() -> Result<Option<PathBuf>> {
    if !has_python() {
        say("skipping the Python package: python3 with its module venv is missing");
        remove(Path::new(FOLDER))?;
        return Ok(None);
    }
    let wheel = native()?.map_or_else(pure, Ok)?;
    put_in(Path::new(FOLDER), &wheel)?;
    Ok(Some(interpreter()))
}

/// Returns a folder with the unpacked wheel for all platforms, for a process that has this folder first on its path.
/// The native wheel stays installed.
pub(crate) fn unpack_pure() -> Result<PathBuf> {
    let folder = Path::new(FOLDER).join("pure");
    remove(&folder)?;
    let options = ["install", "--quiet", "--no-index", "--no-deps", "--target"];
    run(pip(Path::new(FOLDER)).args(options).arg(&folder).arg(pure()?))?;
    Ok(folder)
}

/// Installs the wheel that was built last for this platform into an environment, which already has the wheel's
/// dependencies, pinned by digest.
pub(crate) fn install_wheel(environment: &Path) -> Result<()> {
    let native = format!("_{}.whl", std::env::consts::ARCH);
    let is_native = |path: &PathBuf| path.to_string_lossy().ends_with(&native);
    let version = concat!("seamgate-", env!("CARGO_PKG_VERSION"), "-");
    let mut wheels = Vec::new();
    for entry in fs::read_dir(PACKAGES)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(version) && (name.ends_with("-any.whl") || name.ends_with(&native)) {
            wheels.push(path);
        }
    }
    wheels.sort_by_key(|path| !is_native(path));
    put_in(environment, wheels.first().context("no wheel is built")?)
}

/// Builds the wheels for this machine and for all platforms, and prints how to install one.
pub(crate) fn build() -> Result<()> {
    ensure!(has_python(), "the wheels need python3 with its module venv: install them");
    let pure = pure()?;
    let wheel = native()?.unwrap_or(pure);
    say(&format!("to install it: python3 -m pip install {}", wheel.display()));
    Ok(())
}

fn put_in(environment: &Path, wheel: &Path) -> Result<()> {
    let options = ["install", "--quiet", "--no-index", "--no-deps", "--force-reinstall"];
    run(pip(environment).args(options).arg(wheel))
}

/// The parts of the second kernel, written in Python, that are compared with the first.
const TWIN: [&str; 3] = ["--cases", "--random 2000 --seed 1", "--runs 2000 --seed 1"];

/// Builds both wheels, installs each, and runs format, lints, types and tests. The tests run with both wheels.
pub(crate) fn test() -> Result<()> {
    let Some(python) = install()? else {
        return Ok(());
    };
    let pytest: &[&str] = &["pytest"];
    let checks: [&[&str]; 4] = [&["ruff", "format", "--check"], &["ruff", "check"], &["mypy"], pytest];
    let python = std::env::current_dir()?.join(python);
    checks.iter().try_for_each(|check| run(tool(&python, check).current_dir(PACKAGE)))?;
    for compared in TWIN {
        let mut compare = command(&python);
        run(compare.arg("tests/twin/compare.py").args(compared.split(' ')).env("PYTHONDONTWRITEBYTECODE", "1"))?;
    }
    let pure = std::env::current_dir()?.join(unpack_pure()?);
    run(tool(&python, pytest).current_dir(PACKAGE).env("PYTHONPATH", pure))
}

/// The program that runs in a clean environment.
pub(crate) const TRIAL: &str = "import seamgate
report = seamgate.validate({'agent': 'a', 'schema': {'type': 'integer'}}, 'Here: ```json\\n4\\n```')
assert report.success and report.data == 4, report
print('xtask:', seamgate.__version__, seamgate.backend)";

/// Installs each wheel into an environment that contains only the wheel's dependencies, and uses it: the library, and
/// the command line if the wheel has it.
pub(crate) fn try_out(wheels: &[PathBuf]) -> Result<()> {
    for wheel in wheels {
        let clean = Path::new(FOLDER).join("clean");
        remove(&clean)?;
        run(command("python3").args(["-m", "venv"]).arg(&clean))?;
        let is_pure = wheel.to_string_lossy().ends_with("-any.whl");
        if is_pure {
            // The wheel's dependencies, pinned. The native wheel has none.
            let pinned = fs::read_to_string(Path::new(PACKAGE).join("requirements.txt"))?;
            let wasmtime = pinned.split("\n").skip_while(|line| !line.starts_with("wasmtime=="));
            let lines: Vec<&str> = wasmtime.take_while(|line| line.starts_with([' ', 'w'])).collect();
            let only = clean.join("requirements.txt");
            fs::write(&only, lines.join("\n"))?;
            run(pip(&clean).args(["install", "--quiet", "--require-hashes", "--requirement"]).arg(only))?;
        }
        run(pip(&clean).args(["install", "--quiet", "--no-index"]).arg(wheel))?;
        // Each compiles what it needs, because it has nothing from an earlier trial.
        let cache = std::env::current_dir()?.join(&clean).join("cache");
        run(command(clean.join("bin/python")).args(["-c", TRIAL]).env("XDG_CACHE_HOME", &cache))?;
        if !is_pure {
            let examples = Path::new("schemas/examples");
            let contract = examples.join("triage.contract.json");
            let output = examples.join("outputs/triage.good.txt");
            let check = |program: &Path| {
                let mut check = command(program);
                check.arg("check").arg("-c").arg(&contract).arg(&output).stdout(std::process::Stdio::null());
                run(&mut check)
            };
            check(&clean.join("bin/seamgate"))?;
        }
    }
    Ok(())
}

/// Compares calls with validators for Python.
pub(crate) fn bench() -> Result<()> {
    calls(&[])
}

/// Compares one warm call with the fastest validator for Python, and writes the ratio to a file. Without Python, there
/// is no file.
pub(crate) fn figure(to: &Path) -> Result<()> {
    if to.exists() {
        fs::remove_file(to)?;
    }
    calls(&[to])
}

fn calls(arguments: &[&Path]) -> Result<()> {
    let Some(python) = install()? else {
        return Ok(());
    };
    let beside = Path::new(PACKAGE).join("benchmarks/requirements.txt");
    let install = ["install", "--quiet", "--require-hashes", "--no-deps", "--only-binary", ":all:", "--requirement"];
    run(pip(Path::new(FOLDER)).args(install).arg(beside))?;
    run(command(python).arg(Path::new(PACKAGE).join("benchmarks/calls.py")).args(arguments))
}

/// Returns a module of the environment as a command. The command leaves no files in the folder of the package.
pub(crate) fn tool(python: &impl AsRef<OsStr>, arguments: &[&str]) -> std::process::Command {
    let mut tool = command(python);
    tool.arg("-m").args(arguments).env("PYTHONDONTWRITEBYTECODE", "1").env("RUFF_NO_CACHE", "true");
    tool
}

/// Returns the interpreter of the environment, after installing it.
fn installed() -> Result<PathBuf> {
    let requirements = Path::new(PACKAGE).join("requirements.txt");
    let why = "installing what builds and tests the Python package";
    environment("python3", Path::new(FOLDER), &requirements, &["--only-binary", ":all:"], why)?;
    Ok(interpreter())
}

fn interpreter() -> PathBuf {
    Path::new(FOLDER).join("bin/python")
}
