//! Confines a program to the paths that it needs, on systems that support this: Linux, with Landlock.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::Deserialize;

/// The paths that a program may access, in addition to the system's programs and libraries, which it may read.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paths {
    /// Files and folders that it may read and execute.
    #[serde(default)]
    pub read: Vec<PathBuf>,
    /// Files and folders that it may also write.
    #[serde(default)]
    pub write: Vec<PathBuf>,
    /// The opened files and folders themselves.
    #[serde(skip)]
    opened: Option<Arc<os::Opened>>,
}

impl Paths {
    /// Resolves the paths from a folder, and opens them. From then on, the program may access these files and folders,
    /// no matter what replaces them.
    ///
    /// # Errors
    ///
    /// A path does not exist, leads over a link below the folder, or lies inside a path that the program may write. In
    /// the last two cases, a program could choose what it accesses.
    pub fn open(&mut self, folder: &Path) -> Result<(), String> {
        let folder = folder.canonicalize().map_err(|error| format!("{}: {error}", folder.display()))?;
        for path in self.read.iter_mut().chain(&mut self.write) {
            let named = path.clone();
            *path = folder.join(&named).components().collect();
            let real = path.canonicalize().map_err(|error| format!("{}: {error}", named.display()))?;
            if real != *path {
                return Err(format!(
                    "{} leads to {}: name that path, without links and \"..\"",
                    named.display(),
                    real.display()
                ));
            }
        }
        for path in self.read.iter().chain(&self.write) {
            let is_around = |other: &&PathBuf| path.starts_with(other) && path != *other;
            if let Some(outer) = self.write.iter().find(is_around) {
                return Err(format!(
                    "{} lies inside {}, which the program may write: leave it out",
                    path.display(),
                    outer.display()
                ));
            }
        }
        self.opened = Some(Arc::new(os::Opened::new(&self.read, &self.write)?));
        Ok(())
    }
}

pub use os::is_supported;

pub(super) use os::confine;

#[cfg(target_os = "linux")]
mod os {
    use std::{
        io,
        os::fd::OwnedFd,
        path::{Component, Path, PathBuf},
    };

    use landlock::{
        ABI, Access, AccessFs, BitFlags, PathBeneath, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError,
        RulesetStatus, Scope, path_beneath_rules,
    };
    use rustix::fs::{FileType, Mode, OFlags, fstat, openat};

    use super::Paths;

    /// The version of the ABI to request. An older system enforces the part that it supports.
    const ABI_ASKED: ABI = ABI::V5;

    /// The first version that confines signals and abstract sockets.
    const ABI_SCOPES: ABI = ABI::V6;

    /// The paths that the system's programs need to start.
    const SYSTEM: [&str; 9] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/proc", "/sys"];
    /// Devices that hold no data.
    const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

    /// Files and folders that a program may access.
    #[derive(Debug)]
    pub(super) struct Opened(Vec<Open>);

    #[derive(Debug)]
    struct Open {
        descriptor: OwnedFd,
        is_folder: bool,
        is_writable: bool,
    }

    impl Opened {
        pub(super) fn new(read: &[PathBuf], write: &[PathBuf]) -> Result<Self, String> {
            let paths = read.iter().map(|path| (path, false)).chain(write.iter().map(|path| (path, true)));
            let opened = paths.map(|(path, is_writable)| {
                open(path, is_writable).map_err(|error| format!("{}: {error}", path.display()))
            });
            opened.collect::<Result<_, _>>().map(Opened)
        }
    }

    /// Opens an absolute path one component at a time, without following links.
    fn open(path: &Path, is_writable: bool) -> io::Result<Open> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut descriptor = rustix::fs::open("/", flags, Mode::empty())?;
        for component in path.components().filter(|component| *component != Component::RootDir) {
            descriptor = openat(&descriptor, component.as_os_str(), flags, Mode::empty())?;
            if FileType::from_raw_mode(fstat(&descriptor)?.st_mode) == FileType::Symlink {
                return Err(io::Error::other("it leads over a link"));
            }
        }
        let is_folder = FileType::from_raw_mode(fstat(&descriptor)?.st_mode) == FileType::Directory;
        Ok(Open { descriptor, is_folder, is_writable })
    }

    impl Open {
        fn rule(&self) -> PathBeneath<&OwnedFd> {
            let all: BitFlags<AccessFs> = match self.is_writable {
                true => AccessFs::from_all(ABI_ASKED),
                false => AccessFs::from_read(ABI_ASKED),
            };
            let allowed = if self.is_folder { all } else { all & AccessFs::from_file(ABI_ASKED) };
            PathBeneath::new(&self.descriptor, allowed)
        }
    }

    /// Returns whether this system can confine a program.
    pub fn is_supported() -> bool {
        std::thread::scope(|scope| scope.spawn(|| confine(&Paths::default())).join())
            .is_ok_and(|confined| confined.is_ok_and(|is_enforced| is_enforced))
    }

    /// Confines this thread and all programs that it starts from now on. Returns whether the system enforces this.
    ///
    /// This cannot be undone, so the thread must end after the programs.
    pub(in crate::process) fn confine(paths: &Paths) -> io::Result<bool> {
        let restrict = || -> Result<RulesetStatus, RulesetError> {
            let opened = paths.opened.iter().flat_map(|opened| &opened.0);
            let status = Ruleset::default()
                .handle_access(AccessFs::from_all(ABI_ASKED))?
                .scope(Scope::from_all(ABI_SCOPES))?
                .create()?
                .add_rules(path_beneath_rules(SYSTEM, AccessFs::from_read(ABI_ASKED)))?
                .add_rules(path_beneath_rules(DEVICES, AccessFs::from_all(ABI_ASKED)))?
                .add_rules(opened.map(|open| Ok::<_, RulesetError>(open.rule())))?
                .restrict_self()?;
            Ok(status.ruleset)
        };
        let status = restrict().map_err(io::Error::other)?;
        Ok(status != RulesetStatus::NotEnforced)
    }
}

#[cfg(not(target_os = "linux"))]
mod os {
    use std::{io, path::PathBuf};

    use super::Paths;

    /// Empty, because nothing is confined on this system.
    #[derive(Debug)]
    pub(super) struct Opened;

    impl Opened {
        pub(super) fn new(_: &[PathBuf], _: &[PathBuf]) -> Result<Self, String> {
            Ok(Opened)
        }
    }

    /// Returns whether this system can confine a program.
    pub fn is_supported() -> bool {
        false
    }

    pub(in crate::process) fn confine(_: &Paths) -> io::Result<bool> {
        Ok(false)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    fn open(folder: &Path, read: &[&str], write: &[&str]) -> Result<Paths, String> {
        let [read, write] = [read, write].map(|paths| paths.iter().map(PathBuf::from).collect());
        let mut paths = Paths { read, write, opened: None };
        paths.open(folder).map(|()| paths)
    }

    #[test]
    fn no_program_chooses_what_it_reaches() {
        let made = tempfile::tempdir().expect("a folder");
        let folder = made.path();
        for name in ["work/cache", "data", "workshop"] {
            fs::create_dir_all(folder.join(name)).expect("a folder");
        }
        fs::write(folder.join("data/a.txt"), "a").expect("a file");
        symlink(folder.join("data"), folder.join("work/link")).expect("a link");
        symlink("data", folder.join("alias")).expect("a link");

        for (read, write, wrong) in [
            (&["data"][..], &["work"][..], None),
            (&["data/a.txt", "./data"], &["work", "workshop"], None),
            (&[], &["work", "work"], None),
            (&["work/cache"], &[], None),
            (&[], &["work", "work/cache"], Some("which the program may write")),
            (&["work/cache"], &["work"], Some("which the program may write")),
            (&["alias"], &[], Some("name that path")),
            (&["alias/a.txt"], &[], Some("name that path")),
            (&[], &["work/link"], Some("name that path")),
            (&["work/../data"], &[], Some("name that path")),
            (&["gone"], &[], Some("gone")),
        ] {
            match (open(folder, read, write), wrong) {
                (Ok(_), None) => {}
                (Err(why), Some(wrong)) => assert!(why.contains(wrong), "{read:?} {write:?}: {why}"),
                (result, _) => panic!("{read:?} {write:?}: {result:?}"),
            }
        }
    }

    #[test]
    fn a_link_above_the_folder_is_followed_once() {
        let made = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(made.path().join("real/data")).expect("a folder");
        symlink("real", made.path().join("project")).expect("a link");
        assert!(open(&made.path().join("project"), &["data"], &[]).is_ok());
    }
}
