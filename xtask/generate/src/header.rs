//! The header of the C package, from the functions that `host/c` exports and their comments.

use std::{fs, path::Path};

use anyhow::{Context, Result, bail};
use cbindgen::{Builder, Config};

use crate::HEAD;

/// The folder of the package.
const PACKAGE: &str = "host/c";

/// The modules that export something, in the order of the header.
const MODULES: [&str; 7] = ["status", "value", "gate", "session", "instance", "attempts", "kernel"];

/// The comment before the declarations.
const ABOUT: &str = "
 * The C interface of seamgate, the gate for the output of language models. host/c/README.md shows how to use it.
 *
 * Texts go in as a pointer and a length. They need not end in a NUL byte. A null pointer is allowed
 * where the length is 0, and is an empty text. All texts but outputs must be UTF-8.
 *
 * Texts come out as a seamgate_text, which the caller frees with seamgate_text_free. A function
 * writes it in any case: the result if it returns SEAMGATE_STATUS_OK, and otherwise the fault, as JSON
 * text. It does not read what was there before, so free a text before you pass its place again.
 *
 * The library checks null pointers, lengths and UTF-8, and answers with
 * SEAMGATE_STATUS_BAD_ARGUMENT. It cannot check that as many bytes as the length says are there, or
 * that a handle was not freed.
 *
 * Threads: any number of threads may use one gate at once. Those that use one session, instance or
 * attempts at once take turns. Freeing is for the last user alone. No function calls back.
 *
 * No panic of the library gets out of it: it becomes SEAMGATE_STATUS_INTERNAL, and its message goes
 * to standard error, too. If the process has no memory left, it ends.
";

/// Returns the text of the header.
pub(super) fn of(version: &str) -> Result<String> {
    let package = Path::new(PACKAGE);
    let config = Config::from_file(package.join("cbindgen.toml")).map_err(anyhow::Error::msg)?;
    let exports = fs::read_dir(package.join("src")).context("the modules of the C package")?;
    for entry in exports {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if fs::read_to_string(&path)?.contains("no_mangle") && !MODULES.contains(&name.as_str()) {
            bail!("{}: it exports functions, and xtask/generate/src/header.rs does not name it", path.display());
        }
    }
    let modules = MODULES.map(|name| package.join("src").join(format!("{name}.rs")));
    let builder = modules.into_iter().fold(Builder::new().with_config(config), Builder::with_src);
    let bindings = builder
        .with_header(format!("/*\n * {}\n *{ABOUT} */", HEAD.replace('`', "")))
        .with_after_include(format!("\n/** The version of this header. */\n#define SEAMGATE_VERSION \"{version}\""))
        .generate()?;
    let mut header = Vec::new();
    bindings.write(&mut header);
    Ok(String::from_utf8(header)?)
}
