//! Builds the published files in two clones, and compares every byte.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Error, Result, bail};

use crate::{
    install::remove,
    package::published,
    run::{PACKAGES, command, root, run, say},
};

/// The folder of the clones.
const FOLDER: &str = "target/twice";

/// The folder of both clones, one after the other. Panic messages in native code contain file names below it, and the
/// linker orders strings by their hashes, so builds in two folders differ.
const CLONE: &str = "clone";

/// The folders of the packages.
const BUILDS: [&str; 2] = ["first", "second"];

/// Builds the packages in two fresh clones of the last commit, one after the other. Fails unless every file has the
/// same bytes in both. Then removes them.
pub(crate) fn package() -> Result<()> {
    let folder = root().join(FOLDER);
    remove(&folder)?;
    fs::create_dir_all(&folder)?;
    let clone = folder.join(CLONE);
    let builds = BUILDS.map(|name| folder.join(name));
    for build in &builds {
        run(command("git").args(["clone", "--quiet"]).arg(root()).arg(&clone))?;
        run(command("cargo").args(["xtask", "package"]).current_dir(&clone).env_remove("CARGO_TARGET_DIR"))?;
        fs::rename(clone.join(PACKAGES), build)?;
        remove(&clone)?;
    }
    let [first, second] = &builds;
    let compared = compare(first, second)?;
    for difference in &compared.differences {
        say(difference);
    }
    if !compared.differences.is_empty() {
        bail!("{} of {} files differ: see {FOLDER}", compared.differences.len(), compared.files);
    }
    say(&format!("two builds: {} files, {} bytes, 0 bytes differ", compared.files, compared.bytes));
    remove(&folder)
}

/// The result of comparing two folders of packages.
struct Compared {
    files: usize,
    bytes: u64,
    /// A line for each file that differs.
    differences: Vec<String>,
}

/// Compares the files of two folders of packages, byte by byte.
fn compare(first: &Path, second: &Path) -> Result<Compared> {
    let names = |folder| Ok::<Vec<String>, Error>(published(folder)?.into_iter().map(|(name, _)| name).collect());
    let [names, others] = [names(first)?, names(second)?];
    let mut compared = Compared { files: names.len(), bytes: 0, differences: Vec::new() };
    let missing = others.iter().filter(|name| !names.contains(name));
    compared.differences.extend(missing.map(|name| format!("{name}: only in the second build")));
    for name in &names {
        if !others.contains(name) {
            compared.differences.push(format!("{name}: only in the first build"));
            continue;
        }
        let [a, b] = [read(first, name)?, read(second, name)?];
        compared.bytes += a.len() as u64;
        if a != b {
            let count = a.iter().zip(&b).filter(|(a, b)| a != b).count() + a.len().abs_diff(b.len());
            let at = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
            compared.differences.push(format!("{name}: {count} bytes differ, the first at {at}"));
        }
    }
    Ok(compared)
}

/// Reads a published file. The lists of other files' contents are in a subfolder.
fn read(folder: &Path, name: &str) -> Result<Vec<u8>> {
    let paths: [PathBuf; 2] = [folder.join(name), folder.join("inside").join(name)];
    let path = paths.iter().find(|path| path.exists());
    let path = path.with_context(|| format!("{} has no {name}", folder.display()))?;
    fs::read(path).with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::compare;
    use crate::{install::remove, package::DIGESTS};

    fn folder(path: &Path, files: &[(&str, &str)]) {
        fs::create_dir_all(path.join("inside")).expect("a folder");
        let digests: String = files.iter().map(|(name, _)| format!("digest  {name}\n")).collect();
        fs::write(path.join(DIGESTS), digests).expect("digests");
        for (name, text) in files {
            fs::write(path.join(name), text).expect("a file");
        }
        if let Some((name, _)) = files.first() {
            fs::rename(path.join(name), path.join("inside").join(name)).expect("a file");
        }
    }

    #[test]
    fn every_difference_of_two_builds_is_found() {
        let base = std::env::temp_dir().join(format!("seamgate-xtask-twice-{}", std::process::id()));
        let [first, second, same] = ["a", "b", "c"].map(|name| base.join(name));
        folder(&first, &[("list", "1"), ("same", "abc"), ("changed", "abcd"), ("longer", "abc"), ("gone", "")]);
        folder(&second, &[("list", "2"), ("same", "abc"), ("changed", "axcy"), ("longer", "abcde"), ("new", "")]);
        folder(&same, &[("list", "2"), ("same", "abc"), ("changed", "axcy"), ("longer", "abcde"), ("new", "")]);
        let found = compare(&first, &second).expect("both folders are whole");
        assert_eq!(
            found.differences,
            [
                "new: only in the second build",
                "list: 1 bytes differ, the first at 0",
                "changed: 2 bytes differ, the first at 1",
                "longer: 2 bytes differ, the first at 3",
                "gone: only in the first build",
            ]
        );
        let found = compare(&second, &same).expect("both folders are whole");
        assert_eq!((found.files, found.bytes, found.differences.len()), (5, 13, 0));
        remove(&base).expect("the folders are removed");
    }
}
