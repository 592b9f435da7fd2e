//! Deletes the folders of runs in such a way that a crash leaves nothing that reads as a run.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use seamgate::digest;

use crate::run_dir::Lock;

/// The file name of a run's journal, and its name while the folder is being deleted. It is deleted last.
const JOURNAL: &str = "journal.ndjson";
const PRUNED_JOURNAL: &str = "pruned.ndjson";

/// Renames the folder of a run for deletion, and returns the new path. The new name begins with `prefix`: readers of
/// runs skip names that begin so. [Sync](seamgate::sync_folder) the parent folder afterwards, then
/// [delete](delete_rest) the renamed one.
///
/// # Errors
///
/// [`io::ErrorKind::ResourceBusy`] if a process is continuing the run; the folder is a symbolic link; or the system
/// denies renaming it.
pub fn set_aside(run: &Path, prefix: &str) -> io::Result<PathBuf> {
    if !fs::symlink_metadata(run)?.is_dir() {
        return Err(io::Error::other("it is a symbolic link: name the folder itself"));
    }
    let (Some(parent), Some(name)) = (run.parent(), run.file_name()) else {
        return Err(io::Error::other("it has no name: name it from the folder that it is in"));
    };
    let Some(lock) = Lock::try_take(run)? else {
        return Err(io::Error::new(io::ErrorKind::ResourceBusy, "a process goes on with it"));
    };
    // The name of the folder may already have the maximum length.
    let hex = digest(name.as_encoded_bytes());
    let hex = hex.rsplit(':').next().unwrap_or_default();
    let aside = parent.join(format!("{prefix}{}", &hex[..hex.len().min(16)]));
    if fs::symlink_metadata(&aside).is_ok() {
        delete_rest(&aside)?;
    }
    // Windows renames no folder that contains an open file.
    let lock = cfg!(unix).then_some(lock);
    let renamed = fs::rename(run, &aside);
    drop(lock);
    renamed.map(|()| aside)
}

/// Deletes a folder that was [set aside](set_aside), or the part of it that an interruption left. Follows no symbolic
/// links. The journal is renamed first and deleted last, so that each partly deleted folder can be recognized.
///
/// # Errors
///
/// The folder is a symbolic link, or is not a partly deleted run; or the system denies deleting it.
pub fn delete_rest(folder: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(folder)?.is_dir() {
        return Err(io::Error::other("it is not a folder"));
    }
    let journal = folder.join(PRUNED_JOURNAL);
    match fs::rename(folder.join(JOURNAL), &journal) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let is_ours = is_file(&journal) || fs::read_dir(folder)?.next().is_none();
            if !is_ours {
                return Err(io::Error::other(format!(
                    "it is no rest of a deleted run, as it has neither {JOURNAL} nor {PRUNED_JOURNAL}: rename it"
                )));
            }
        }
        Err(error) => return Err(error),
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name() == PRUNED_JOURNAL {
            continue;
        }
        // A link is removed, and its target stays.
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    match fs::remove_file(&journal) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::remove_dir(folder)
}

fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file())
}

#[cfg(test)]
mod tests {
    use seamgate::sync_folder;

    use super::*;

    const PREFIX: &str = ".pruned-";

    /// A folder that is removed at the end of a test.
    struct Place(PathBuf);

    impl Place {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("seamgate-prune-{}-{name}", std::process::id()));
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(&folder).expect("a folder");
            Place(folder)
        }

        fn run(&self, name: &str) -> PathBuf {
            let run = self.0.join(name);
            fs::create_dir_all(run.join("artifacts")).expect("a folder");
            fs::create_dir_all(run.join("children/c1")).expect("a folder");
            fs::write(run.join(JOURNAL), "lines").expect("written");
            fs::write(run.join("children/c1").join(JOURNAL), "lines").expect("written");
            fs::write(run.join("artifacts/00"), "text").expect("written");
            run
        }

        fn names(&self) -> Vec<String> {
            let inside = fs::read_dir(&self.0).expect("a folder");
            let mut names: Vec<_> =
                inside.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
            names.sort();
            names
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn delete_run(run: &Path) -> io::Result<()> {
        let aside = set_aside(run, PREFIX)?;
        sync_folder(run.parent().expect("a folder"))?;
        delete_rest(&aside)
    }

    #[test]
    fn a_run_is_deleted_whole_and_alone() {
        let place = Place::new("whole");
        let (one, _) = (place.run("one"), place.run("two"));
        let long = place.run(&"x".repeat(255));
        delete_run(&one).expect("deleted");
        delete_run(&long).expect("deleted");
        assert_eq!(place.names(), ["two"]);
    }

    #[cfg(unix)]
    #[test]
    fn no_link_is_followed() {
        use std::os::unix::fs::symlink;
        let (place, away) = (Place::new("links"), Place::new("away"));
        let kept = away.run("kept");
        let run = place.run("run");
        symlink(&kept, run.join("link")).expect("a link");
        symlink(&kept, run.join("artifacts/link")).expect("a link");
        symlink(&kept, place.0.join(".pruned-link")).expect("a link");
        symlink(&kept, place.0.join("named")).expect("a link");
        assert!(delete_run(&place.0.join("named")).expect_err("a link").to_string().contains("symbolic link"));
        delete_run(&run).expect("deleted");
        assert!(delete_rest(&place.0.join(".pruned-link")).is_err());
        assert_eq!(place.names(), [".pruned-link", "named"]);
        assert!(kept.join(JOURNAL).is_file() && kept.join("artifacts/00").is_file());
    }

    #[test]
    fn a_run_that_a_process_goes_on_with_stays() {
        let place = Place::new("locked");
        let run = place.run("run");
        let lock = Lock::take(&run).expect("locked");
        assert_eq!(delete_run(&run).expect_err("locked").kind(), io::ErrorKind::ResourceBusy);
        assert!(run.join(JOURNAL).is_file());
        drop(lock);
        delete_run(&run).expect("deleted");
    }

    #[test]
    fn a_rest_of_each_moment_is_cleaned_and_no_other_folder_is() {
        let place = Place::new("rests");
        // The folder renamed; the journal renamed, too; everything but the journal deleted; empty.
        let renamed = place.run(".pruned-1");
        let second = place.run(".pruned-2");
        fs::rename(second.join(JOURNAL), second.join(PRUNED_JOURNAL)).expect("renamed");
        fs::create_dir_all(place.0.join(".pruned-3")).expect("a folder");
        fs::write(place.0.join(".pruned-3").join(PRUNED_JOURNAL), "lines").expect("written");
        fs::create_dir_all(place.0.join(".pruned-4")).expect("a folder");
        for rest in place.names() {
            delete_rest(&place.0.join(rest)).expect("cleaned");
        }
        assert!(place.names().is_empty() && !renamed.exists());
        let other = place.0.join(".pruned-notes");
        fs::create_dir_all(&other).expect("a folder");
        fs::write(other.join("notes"), "mine").expect("written");
        assert!(delete_rest(&other).expect_err("another folder").to_string().contains("no rest of"));
        assert!(other.join("notes").is_file());
    }
}
