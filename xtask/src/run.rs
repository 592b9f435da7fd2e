//! Runs programs, and reports which ones.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Child, Command},
};

use anyhow::{Context, Result, bail};

/// Returns the root of the repository.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// The folder of published packages. Cargo writes crates to it, too.
pub(crate) const PACKAGES: &str = "target/package";

pub(crate) fn say(what: &str) {
    eprintln!("xtask: {what}");
}

/// Returns a command without the environment variables of the enclosing `cargo run`, because they belong to another
/// build.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") || name == "CARGO" {
            command.env_remove(name);
        }
    }
    command
}

/// Runs a command to its end. If it fails, the error names it.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    finish(start(command)?)
}

/// A running command.
pub(crate) struct Started {
    line: String,
    child: Child,
}

/// Starts a command, and returns without waiting.
pub(crate) fn start(command: &mut Command) -> Result<Started> {
    let line = line(command);
    say(&line);
    let child = command.spawn().with_context(|| format!("cannot run {line}"))?;
    Ok(Started { line, child })
}

/// Waits for the end of a command. If it fails, the error names it.
pub(crate) fn finish(Started { line, mut child }: Started) -> Result<()> {
    let status = child.wait().with_context(|| format!("cannot run {line}"))?;
    if !status.success() {
        bail!("{line}: {status}");
    }
    Ok(())
}

/// Returns the output of a command, or `None` if it fails.
pub(crate) fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Returns a command that runs a program with a folder as its root, without system privileges. `None` if this system
/// allows no user namespaces.
pub(crate) fn rooted(folder: &Path) -> Option<Command> {
    let unshare = || {
        let mut unshare = command("unshare");
        unshare.args(["--map-root-user", "chroot"]);
        unshare
    };
    output(unshare().args(["/", "/bin/true"]))?;
    let mut rooted = unshare();
    rooted.arg(folder);
    Some(rooted)
}

/// Returns a command that runs a program in the way of a container runtime: the folder is its root, with `/proc` and
/// `/dev` in it. `system` names folders of this system that are also in the root, read-only, at the same paths. `None`
/// if this system allows no user namespaces.
pub(crate) fn contained(folder: &Path, system: &[PathBuf]) -> Option<Command> {
    const SCRIPT: &str = r#"
        root=$1
        shift
        for folder in /proc /dev; do
            mkdir -p "$root$folder"
            mount --rbind "$folder" "$root$folder"
        done
        while [ "$1" != -- ]; do
            mkdir -p "$root$1"
            mount --bind "$1" "$root$1"
            mount -o remount,bind,ro "$root$1"
            shift
        done
        shift
        exec chroot "$root" "$@"
    "#;
    let unshare = || {
        let mut unshare = command("unshare");
        unshare.args(["--map-root-user", "--mount", "sh", "-ec"]);
        unshare
    };
    output(unshare().arg("exec chroot / /bin/true"))?;
    let mut contained = unshare();
    contained.args([SCRIPT, "sh"]).arg(folder).args(system).arg("--");
    Some(contained)
}

pub(crate) fn cargo<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Result<()> {
    run(command("cargo").args(arguments))
}

fn line(command: &Command) -> String {
    let words: Vec<_> =
        std::iter::once(command.get_program()).chain(command.get_args()).map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}
