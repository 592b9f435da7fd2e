//! Contracts of a revision in Git, named as Git names them: `REVISION:PATH`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

/// The maximum number of files that are read from a revision.
const MAX_FILES: usize = 10_000;

/// A contract or a folder of contracts, and the files that it can reference.
pub(crate) struct Revision {
    /// The name of the contract, for messages.
    pub(crate) name: String,
    /// The contract or the folder.
    pub(crate) path: PathBuf,
    /// The copies of the files.
    _folder: TempDir,
}

/// Returns the contract of a revision. `None` if the name is that of a file, or has no colon.
///
/// A path is relative to the top folder of the repository, and one that begins with `./` to the current folder. Without
/// a path, it is that of `other`.
///
/// # Errors
///
/// Git is missing, the current folder is in no repository, or the revision has no such file.
pub(crate) fn read(name: &Path, other: &Path) -> Result<Option<Revision>> {
    let text = name.to_string_lossy();
    let Some((revision, path)) = text.split_once(':').filter(|_| !name.exists()) else { return Ok(None) };
    if revision.is_empty() || revision.starts_with('-') {
        return Ok(None);
    }
    let here = Path::new(".");
    let (base, path) = match path {
        "" if other.is_absolute() => {
            bail!("'{text}': name the file after the colon, because the other path is absolute")
        }
        "" => (here.to_owned(), other.to_string_lossy().into_owned()),
        path if path.starts_with("./") => (here.to_owned(), path.to_owned()),
        path => (PathBuf::from(git(here, &["rev-parse", "--show-toplevel"])?.trim_end()), path.to_owned()),
    };
    let path: PathBuf = Path::new(&path).components().filter(|part| part.as_os_str() != ".").collect();
    let object = |path: &Path| format!("{revision}:./{}", with_slashes(path));
    let is_folder =
        git(&base, &["cat-file", "-t", &object(&path)]).with_context(|| format!("'{text}'"))?.trim() == "tree";
    let within = if is_folder { path.as_path() } else { path.parent().unwrap_or(Path::new("")) };
    let mut list = vec!["ls-tree", "-r", "-z", "--name-only", revision];
    let (within, folder) = (with_slashes(within), TempDir::new().context("cannot make a temporary folder")?);
    let within = format!("{within}/");
    if within != "/" {
        list.extend(["--", &within]);
    }
    let names = git(&base, &list)?;
    let names: Vec<&str> = names.split('\0').filter(|name| name.ends_with(".json")).collect();
    if names.len() > MAX_FILES {
        bail!("'{text}': the folder has {} files; the limit is {MAX_FILES}", names.len());
    }
    // A contract can only name files in its folder.
    for name in names {
        let copy = folder.path().join(name);
        fs::create_dir_all(copy.parent().unwrap_or(folder.path()))?;
        fs::write(&copy, output(&base, &["cat-file", "blob", &object(Path::new(name))])?)?;
    }
    Ok(Some(Revision {
        name: format!("{revision}:{}", with_slashes(&path)),
        path: folder.path().join(&path),
        _folder: folder,
    }))
}

/// Returns a path as Git writes it.
fn with_slashes(path: &Path) -> String {
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// Returns the text that Git writes to standard output.
fn git(folder: &Path, arguments: &[&str]) -> Result<String> {
    String::from_utf8(output(folder, arguments)?).context("git: a name is not UTF-8")
}

/// Returns the bytes that Git writes to standard output.
fn output(folder: &Path, arguments: &[&str]) -> Result<Vec<u8>> {
    let done = Command::new("git").arg("-C").arg(folder).args(arguments).output().context("cannot run git")?;
    if !done.status.success() {
        let message = String::from_utf8_lossy(&done.stderr);
        bail!("git: {}", message.trim_start_matches("fatal: ").lines().next().unwrap_or("it failed"));
    }
    Ok(done.stdout)
}
