//! The compiler that builds the component. It is the ordinary compiler if that has the WebAssembly target or may add
//! it, and otherwise Debian's, with the source of its standard library.

use std::{
    io::{IsTerminal, stdin},
    path::Path,
    process::Command,
};

use anyhow::{Result, bail};

use crate::run::{cargo, command, output, run, say};

pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// Debian's packages with the compiler, the source of its standard library, and its linker.
const DEBIAN: [&str; 5] = ["rustc-web", "cargo-web", "rust-web-src", "rust-web-llvm", "lld-22"];

/// A compiler that can build for WebAssembly.
pub(crate) enum Toolchain {
    /// The compiler that `cargo` uses on this machine.
    Ordinary,
    /// Debian's compiler. The standard library is then built, too.
    Debian,
}

impl Toolchain {
    /// Finds a compiler. If there is none, reports that and installs one.
    pub(crate) fn find() -> Result<Self> {
        if has_target() {
            say("building the component with the installed toolchain");
            return Ok(Toolchain::Ordinary);
        }
        // This variable forbids adding toolchains.
        let may_add = std::env::var_os("RUSTUP_AUTO_INSTALL").is_none_or(|value| value != "0");
        if may_add && output(command("rustup").arg("--version")).is_some() {
            say(&format!("adding the target {TARGET} with rustup: the component is built for it"));
            if run(command("rustup").args(["target", "add", TARGET])).is_ok() && has_target() {
                return Ok(Toolchain::Ordinary);
            }
            say("rustup could not add it");
        }
        debian()?;
        say("building the component with Debian's compiler and its library source");
        Ok(Toolchain::Debian)
    }

    /// Returns `cargo`, configured to build for the target.
    pub(crate) fn cargo(&self) -> Command {
        let mut cargo = command(match self {
            Toolchain::Ordinary => "cargo",
            Toolchain::Debian => "/usr/bin/cargo",
        });
        self.configure(&mut cargo);
        cargo
    }

    /// Returns flags for the compiler. A panic is a trap, whose message is never shown. If the standard library is
    /// built anyway, the messages are omitted from it, which makes the component 6 % smaller.
    pub(crate) fn flags(&self) -> &'static [&'static str] {
        match self {
            Toolchain::Ordinary => &[],
            Toolchain::Debian => &["-Zunstable-options", "-Cpanic=immediate-abort"],
        }
    }

    pub(crate) fn rustc(&self) -> Command {
        command(match self {
            Toolchain::Ordinary => "rustc",
            Toolchain::Debian => "/usr/bin/rustc",
        })
    }

    /// Configures a program that calls a compiler to call this one.
    pub(crate) fn configure(&self, program: &mut Command) {
        if let Toolchain::Debian = self {
            // `cargo component` runs `rustc` by its name.
            let path = std::env::var("PATH").unwrap_or_default();
            // Building the standard library is unstable. With these variables, Debian's release compiler does it.
            program
                .env("PATH", format!("/usr/bin:{path}"))
                .env("CARGO", "/usr/bin/cargo")
                .env("RUSTC", "/usr/bin/rustc")
                .env("RUSTC_BOOTSTRAP", "1")
                .env("CARGO_UNSTABLE_BUILD_STD", "std,panic_abort")
                // Without backtraces, because there is nowhere to print them.
                .env("CARGO_UNSTABLE_BUILD_STD_FEATURES", "")
                .env_remove("RUSTUP_TOOLCHAIN");
        }
    }
}

/// Installs Debian's compiler, unless it is already installed.
pub(crate) fn debian() -> Result<()> {
    if has_debian() { Ok(()) } else { install_debian() }
}

fn has_target() -> bool {
    let libraries = output(command("rustc").args(["--print", "target-libdir", "--target", TARGET]));
    libraries.is_some_and(|path| Path::new(&path).is_dir())
}

fn has_debian() -> bool {
    let sysroot = output(command("/usr/bin/rustc").args(["--print", "sysroot"]));
    sysroot.is_some_and(|sysroot| Path::new(&sysroot).join("lib/rustlib/src/rust/library/std").is_dir())
        && Path::new("/usr/bin/cargo").exists()
}

fn install_debian() -> Result<()> {
    if output(command("apt-get").arg("--version")).is_none() {
        bail!(
            "the component needs a compiler for {TARGET}; run `rustup target add {TARGET}`, \
             or install a Rust toolchain that has it"
        );
    }
    say("the component needs a compiler for WebAssembly, which this machine lacks: Debian's, about 920 MB");
    install(&DEBIAN)?;
    if !has_debian() {
        bail!("Debian's compiler is installed, but the source of its library is missing");
    }
    Ok(())
}

/// Installs packages of Debian. On a terminal, asks the user first. Without the necessary privileges, prints the
/// command to run.
fn install(packages: &[&str]) -> Result<()> {
    let options = ["install", "--yes", "--quiet", "--no-install-recommends"];
    let line = format!("apt-get {} {}", options.join(" "), packages.join(" "));
    if output(command("id").arg("-u")).as_deref() != Some("0") {
        bail!("only root may install packages; run this, and then the same command again:\n\n    sudo {line}\n");
    }
    if stdin().is_terminal() {
        eprint!("xtask: run `{line}`? [y/N] ");
        let mut answer = String::new();
        stdin().read_line(&mut answer)?;
        if !matches!(answer.trim(), "y" | "Y" | "yes") {
            bail!("nothing was installed; to go on, run `{line}`, and then the same command again");
        }
    }
    let apt = |arguments: &[&str]| run(command("apt-get").args(arguments).env("DEBIAN_FRONTEND", "noninteractive"));
    apt(&["update", "--quiet"])?;
    apt(&[options.as_slice(), packages].concat())
}

/// A command of `cargo` that is missing in some toolchains, and the Debian package that contains it.
pub(crate) struct Tool {
    name: &'static str,
    package: &'static str,
}

/// `cargo fmt`.
pub(crate) const FORMAT: Tool = Tool { name: "fmt", package: "rustfmt-web" };

/// `cargo clippy`.
pub(crate) const LINTS: Tool = Tool { name: "clippy", package: "rust-web-clippy" };

impl Tool {
    /// Runs the command. If it is missing in the toolchain of this machine, uses Debian's, and installs it if
    /// necessary.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<()> {
        let Tool { name, package } = self;
        if output(command("cargo").args([name, "--version"])).is_some() {
            return cargo([&[*name], arguments].concat());
        }
        debian()?;
        if !Path::new("/usr/bin").join(format!("cargo-{name}")).exists() {
            say(&format!("the Rust of this machine has no `cargo {name}`: installing Debian's ({package})"));
            install(&[package])?;
        }
        say(&format!("the Rust of this machine has no `cargo {name}`: this is Debian's"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path =
            std::env::join_paths([Path::new("/usr/bin").to_owned()].into_iter().chain(std::env::split_paths(&path)))?;
        // Its compiler has another version, and would build everything again in the other one's folder.
        let mut debian = command("/usr/bin/cargo");
        run(debian.arg(name).args(arguments).env("PATH", path).env("CARGO_TARGET_DIR", "target/debian"))
    }
}
