//! The compiler that builds the component: the ordinary one, if it has the WebAssembly target or may add it. Otherwise
//! Debian's, with the source of its library.

use std::{path::Path, process::Command};

use anyhow::{Result, bail};

use crate::run::{command, output, run, say};

pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// Debian's compiler, the source of its library, and its linker.
const DEBIAN: [&str; 5] = ["rustc-web", "cargo-web", "rust-web-src", "rust-web-llvm", "lld-22"];

/// A compiler that can build for WebAssembly.
pub(crate) enum Toolchain {
    /// The one that `cargo` uses here.
    Ordinary,
    /// Debian's, which also builds the standard library.
    Debian,
}

impl Toolchain {
    /// Find a compiler. If there is none, say so and install one.
    pub(crate) fn find() -> Result<Self> {
        if has_target() {
            say("building the component with the installed toolchain");
            return Ok(Toolchain::Ordinary);
        }
        // This variable forbids to add toolchains.
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

    /// `cargo`, configured to build for the target.
    pub(crate) fn cargo(&self) -> Command {
        let mut cargo = command(match self {
            Toolchain::Ordinary => "cargo",
            Toolchain::Debian => "/usr/bin/cargo",
        });
        self.configure(&mut cargo);
        cargo
    }

    /// Flags for its compiler. A panic is a trap, whose words nobody reads: where the standard library is built anyway, they are
    /// left out of it, which makes the component 6 % smaller.
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

    /// Have a program that calls a compiler call this one.
    pub(crate) fn configure(&self, program: &mut Command) {
        if let Toolchain::Debian = self {
            // `cargo component` runs `rustc` by its name.
            let path = std::env::var("PATH").unwrap_or_default();
            // To build the standard library is unstable. Debian's release compiler does it with these variables.
            program
                .env("PATH", format!("/usr/bin:{path}"))
                .env("CARGO", "/usr/bin/cargo")
                .env("RUSTC", "/usr/bin/rustc")
                .env("RUSTC_BOOTSTRAP", "1")
                .env("CARGO_UNSTABLE_BUILD_STD", "std,panic_abort")
                // No traces: there is nowhere to print them.
                .env("CARGO_UNSTABLE_BUILD_STD_FEATURES", "")
                .env_remove("RUSTUP_TOOLCHAIN");
        }
    }
}

/// Install Debian's compiler, unless it is there.
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
    say(&format!("installing Debian's compiler ({})", DEBIAN.join(" ")));
    let root = output(command("id").arg("-u")).as_deref() == Some("0");
    let apt = |arguments: &[&str]| {
        let mut apt = command(if root { "apt-get" } else { "sudo" });
        if !root {
            apt.arg("apt-get");
        }
        run(apt.args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    apt(&["update", "--quiet"])?;
    let install = ["install", "--yes", "--quiet", "--no-install-recommends"];
    apt(&[&install[..], &DEBIAN].concat())?;
    if !has_debian() {
        bail!("Debian's compiler is installed, but the source of its library is missing");
    }
    Ok(())
}
