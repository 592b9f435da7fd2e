//! Zig, which is a package on PyPI. It compiles C and links for other processors, and for older C libraries than this
//! system's.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use anyhow::Result;

use crate::install::environment;

/// The oldest supported C library, which is the oldest that Rust's standard library supports.
pub(crate) const GLIBC: &str = "2.17";

/// Programs that call Zig.
pub(crate) struct Zig {
    /// Compiles C, and links.
    pub(crate) cc: PathBuf,
    /// Creates archives.
    pub(crate) ar: PathBuf,
}

/// Installs Zig for a processor on Linux. The processor has its compiler's name.
pub(crate) fn install(processor: &str) -> Result<Zig> {
    let folder = std::path::absolute("target/zig")?;
    let pinned = Path::new("xtask/zig/requirements.txt");
    environment("python3", &folder, pinned, &["--no-deps", "--only-binary", ":all:"], "installing Zig, which links,")?;
    let python = folder.join("bin/python");
    // Rust's crates pass the target, too, in a form that Zig does not accept.
    let cc = format!(
        "for option; do shift; case $option in --target=*) ;; *) set -- \"$@\" \"$option\" ;; esac; done\n\
         exec '{}' -m ziglang cc -target {processor}-linux-gnu.{GLIBC} \"$@\"",
        python.display()
    );
    let ar = format!("exec '{}' -m ziglang ar \"$@\"", python.display());
    let program = |name: &str, script: String| {
        let path = folder.join(format!("{processor}-{name}"));
        fs::write(&path, format!("#!/bin/sh\n{script}\n"))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        anyhow::Ok(path)
    };
    Ok(Zig { cc: program("cc", cc)?, ar: program("ar", ar)? })
}
