//! Keeps the folder names of this machine out of the published files.

use std::{
    fs,
    io::BufRead,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use crate::run::root;

/// Returns the folders whose names compilers write into their output, each with a word to replace it: the sources of
/// packages, and this repository.
pub(crate) fn folders() -> Result<[(PathBuf, &'static str); 2]> {
    let cargo = match std::env::var_os("CARGO_HOME") {
        Some(cargo) => PathBuf::from(cargo),
        None => std::env::home_dir().context("the user has no home folder")?.join(".cargo"),
    };
    Ok([(cargo.join("registry/src"), "registry"), (root(), "seamgate")])
}

/// Writes machine code that was built for a platform in its published form, without the names of these folders. For
/// macOS, it is unchanged, because the linker signs its output; there, the workflow has the compiler omit the names.
pub(crate) fn publish(from: &Path, to: &Path, target: &str) -> Result<()> {
    if !target.ends_with("-apple-darwin") {
        return write_without(from, to);
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::copy(from, to).with_context(|| from.display().to_string())?;
    Ok(())
}

/// Writes machine code of the host without the names of these folders, which occur in messages of panics.
///
/// The compiler could omit them with a flag, but flags apply to each crate, so Wasmtime would be compiled twice: for
/// development and for publishing. Instead, each name is replaced by other text of the same length, because a message
/// contains the length of its text.
pub(crate) fn write_without(from: &Path, to: &Path) -> Result<()> {
    let mut code = fs::read(from).with_context(|| from.display().to_string())?;
    for (folder, word) in folders()? {
        replace(&mut code, folder.as_os_str().as_encoded_bytes(), word)?;
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(to, code).with_context(|| to.display().to_string())
}

/// Replaces each occurrence of a path by a word.
fn replace(code: &mut [u8], path: &[u8], word: &str) -> Result<()> {
    let Some(first) = path.first() else { return Ok(()) };
    let mut at = 0;
    // Searches for the byte with the standard library, because this code is not optimised.
    loop {
        let skipped = code.get(at..).unwrap_or_default().skip_until(*first)?;
        if skipped == 0 {
            return Ok(());
        }
        let start = at + skipped - 1;
        at += skipped;
        if let Some(found) = code.get_mut(start..start + path.len()).filter(|found| found == &path) {
            let padded = word.bytes().chain(std::iter::repeat(b'_'));
            found.iter_mut().zip(padded).for_each(|(byte, by)| *byte = by);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::replace;

    #[test]
    fn a_path_is_replaced_wherever_it_stands() {
        let mut code = b"/a/b/c/x.rs\0/a/b/c//a/b/d /a/b/".to_vec();
        replace(&mut code, b"/a/b/c", "here").expect("no error");
        assert_eq!(code, b"here__/x.rs\0here__//a/b/d /a/b/");
        // A word that is too long is truncated.
        replace(&mut code, b"/a/b", "elsewhere").expect("no error");
        assert_eq!(code, b"here__/x.rs\0here__/else/d else/");
    }
}
