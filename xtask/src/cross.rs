//! Builds the published files for Linux on aarch64 on another machine, and runs them under QEMU.
//!
//! Nothing is installed on the system: Debian's packages are unpacked into a folder. They contain the standard library
//! for Debian's compiler, QEMU, and a Python interpreter for the other processor.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

use crate::{
    debian,
    guest::{BUILT, EMBEDDED},
    install::{has_python, remove},
    package, paths, python,
    run::{PACKAGES, command, output, root, run, say},
    toolchain,
    zig::{self, Zig},
};

const TARGET: &str = "aarch64-unknown-linux-gnu";

/// The folder for everything that is installed and built.
const FOLDER: &str = "target/cross";

/// Debian's packages, pinned. Each line has a package's name, architecture, version and SHA-256.
const DEBIAN: &str = "xtask/cross/debian.txt";

/// The packages of the workspace to build. They are always the same, so that Wasmtime has the same features each time.
const BUILD: [&str; 9] = [
    "build",
    "--release",
    "--locked",
    "--package",
    "seamgate-cli",
    "--package",
    "seamgate-python",
    "--package",
    "seamgate-component",
];

/// Builds the command line and the wheel for Linux on aarch64. Runs both under QEMU, and all cases in the wheel.
pub(crate) fn cross() -> Result<()> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")) {
        say("skipping aarch64: it is built on Linux with x86-64");
        return Ok(());
    }
    ensure!(has_python(), "this needs python3 with its module venv: install them");
    let debian = debian()?;
    let zig = zig::install("aarch64")?;
    let platform = Platform { root: &debian, zig: &zig };

    // The machine code is produced by the same program as for this processor, under QEMU.
    let folder = std::path::absolute(FOLDER)?.join("component");
    fs::create_dir_all(&folder)?;
    run(platform.cargo().args(BUILD).args(["--example", "component"]).env("SEAMGATE_EMBED", "nothing"))?;
    for from in [BUILT, EMBEDDED] {
        keep(&folder.join(Path::new(from).file_name().context("a file")?), &fs::read(from)?)?;
    }
    let code = folder.join("code");
    run(platform.program(&made("examples/component")).arg("code").arg(EMBEDDED).arg(&code))?;
    keep(&folder.join("harness.cwasm"), &fs::read(&code)?)?;
    run(platform
        .cargo()
        .args(BUILD)
        .args(["--lib", "--bins", "--example", "component"])
        .env("SEAMGATE_EMBED", &folder))?;

    let version = env!("CARGO_PKG_VERSION");
    fs::create_dir_all(PACKAGES)?;
    let program = Path::new(PACKAGES).join(format!("seamgate-{version}-aarch64-linux"));
    paths::write_without(&made("seamgate"), &program)?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
    say(&format!("{}: {} bytes", program.display(), fs::metadata(&program)?.len()));
    let wheel = python::native_of(&made("libseamgate_python.so"), TARGET)?;
    try_out(&platform, &program, &wheel)?;
    package::digests(Path::new(PACKAGES), &[program, wheel])
}

/// Returns the path of a file that Cargo built for the other processor.
fn made(name: &str) -> PathBuf {
    Path::new(FOLDER).join(TARGET).join("release").join(name)
}

/// Writes a file if its content changes. If the file keeps its time, Cargo does not build again because of it.
pub(crate) fn keep(path: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(path).ok().as_deref() != Some(bytes) {
        fs::write(path, bytes).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// The tools that build for the other processor, and that run the programs.
struct Platform<'a> {
    /// The folder with Debian's packages.
    root: &'a Path,
    zig: &'a Zig,
}

impl Platform<'_> {
    /// Returns Debian's `cargo`, with the standard library of the other processor.
    fn cargo(&self) -> Command {
        let mut cargo = command("/usr/bin/cargo");
        let path = std::env::var("PATH").unwrap_or_default();
        let sysroot = self.root.join("usr");
        cargo
            .env("PATH", format!("/usr/bin:{path}"))
            .env("CARGO", "/usr/bin/cargo")
            .env("RUSTC", "/usr/bin/rustc")
            .env("CARGO_BUILD_TARGET", TARGET)
            .env("CARGO_TARGET_DIR", FOLDER)
            .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", &self.zig.cc)
            .env(
                "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS",
                format!("--sysroot={} -Cstrip=symbols", sysroot.display()),
            )
            .env("CC_aarch64_unknown_linux_gnu", &self.zig.cc)
            .env("AR_aarch64_unknown_linux_gnu", &self.zig.ar)
            .env_remove("RUSTUP_TOOLCHAIN");
        cargo
    }

    /// Returns a command that runs a program of the other processor under QEMU.
    fn program(&self, program: &Path) -> Command {
        let mut qemu = command(self.root.join("usr/bin/qemu-aarch64-static"));
        qemu.arg("-L").arg(self.root).arg(program);
        qemu
    }
}

/// Judges an output with both. Then sends the wheel every request of the other runtimes. It must return the same bytes,
/// and use the same fuel.
fn try_out(platform: &Platform, program: &Path, wheel: &Path) -> Result<()> {
    let examples = Path::new("schemas/examples");
    let (contract, output) = (examples.join("triage.contract.json"), examples.join("outputs/triage.good.txt"));
    let quiet = std::process::Stdio::null();
    run(platform.program(program).args(["check", "-c"]).arg(contract).arg(output).stdout(quiet))?;

    let unpacked = std::path::absolute(FOLDER)?.join("wheel");
    remove(&unpacked)?;
    run(command("python3").args(["-m", "zipfile", "-e"]).arg(wheel).arg(&unpacked))?;
    let interpreter = platform.root.join("usr/bin/python3.11");
    run(platform.program(&interpreter).args(["-c", python::TRIAL]).env("PYTHONPATH", &unpacked))?;
    let mut asked = platform.program(&interpreter);
    asked.arg("tests/runtimes/python.py");
    run(command("cargo").args(["build", "--release", "--locked", "--example", "runtimes"]))?;
    fs::create_dir_all("target/runtimes")?;
    run(command("target/release/examples/runtimes")
        .arg(asked.get_program())
        .args(asked.get_args())
        .env("PYTHONPATH", &unpacked))
}

/// Unpacks Debian's packages. Returns the folder.
fn debian() -> Result<PathBuf> {
    toolchain::debian()?;
    let pinned = fs::read_to_string(DEBIAN)?;
    let library = pinned.lines().find_map(|line| line.strip_prefix("libstd-rust-web-dev arm64 ")).context(DEBIAN)?;
    let library = library.split('+').next().unwrap_or(library);
    let compiler = output(command("/usr/bin/rustc").arg("--version")).context("Debian's rustc does not run")?;
    ensure!(
        compiler.starts_with(&format!("rustc {library} ")),
        "{DEBIAN} pins the library of rustc {library}, and this is {compiler}: pin that one's"
    );
    let folder = root().join(FOLDER).join("debian");
    debian::unpack(&folder, DEBIAN, &format!("Debian's packages for {TARGET}"))?;
    // The folder in which the compiler looks for the library of a platform.
    let library = folder.join("usr/lib/rustlib").join(TARGET);
    ensure!(library.is_dir(), "Debian's packages have no library for {TARGET}");
    Ok(folder)
}
