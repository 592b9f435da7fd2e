//! Copies of sources, for packages that are published without the folders around them.

use std::{fs, path::Path};

use anyhow::{Context, Result, bail};

/// Files and the paths of their copies.
const FILES: [(&str, &str); 4] = [
    ("guest/core/src/finish.rs", "host/src/types/finish.rs"),
    ("guest/core/src/hidden.rs", "host/text/src/hidden.rs"),
    ("LICENSE-APACHE", "host/python/LICENSE-APACHE"),
    ("LICENSE-MIT", "host/python/LICENSE-MIT"),
];

/// The folders of the WIT packages.
const WIT: [&str; 2] = ["wit", "wit/harness"];

/// Returns the path and the text of each copy.
pub(super) fn all() -> Result<Vec<(String, String)>> {
    let mut copies = Vec::new();
    for (from, to) in FILES {
        copies.push((to.to_owned(), copy(from)?));
    }
    for folder in WIT {
        let to = format!("host/{folder}");
        let names = wit_files(folder)?;
        for name in &names {
            copies.push((format!("{to}/{name}"), copy(&format!("{folder}/{name}"))?));
        }
        if !Path::new(&to).exists() {
            fs::create_dir_all(&to).context(to)?;
            continue;
        }
        if let Some(name) = wit_files(&to)?.iter().find(|name| !names.contains(name)) {
            bail!("{to}/{name} is a copy of {folder}/{name}, which no longer exists: delete the copy");
        }
    }
    Ok(copies)
}

/// Returns the text of a copy. Rust sources begin with the file that they are copied from; everything else is copied
/// unchanged. In WIT, a comment before `package` documents the package, and only one file may have that.
fn copy(from: &str) -> Result<String> {
    let text = fs::read_to_string(from).with_context(|| from.to_owned())?;
    Ok(match from.ends_with(".rs") {
        true => format!(
            "// Copied from `{from}` by `cargo xtask generate`. Do not edit: edit that file, and run it.\n{text}"
        ),
        false => text,
    })
}

/// Returns the names of the WIT files in a folder, sorted.
fn wit_files(folder: &str) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.to_owned())? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".wit") {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}
