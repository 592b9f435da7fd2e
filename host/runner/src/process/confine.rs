//! Confines a program to the paths that it needs, where the system can: Landlock, on Linux.

use std::path::PathBuf;

use serde::Deserialize;

/// The paths that a program may reach, besides programs and libraries of the system, which it may read.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paths {
    /// Files and folders that it may read, and run.
    #[serde(default)]
    pub read: Vec<PathBuf>,
    /// Files and folders that it may also write.
    #[serde(default)]
    pub write: Vec<PathBuf>,
}

pub use os::is_supported;

pub(super) use os::confine;

#[cfg(target_os = "linux")]
mod os {
    use std::io;

    use landlock::{
        ABI, Access, AccessFs, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus,
        path_beneath_rules,
    };

    use super::Paths;

    /// What is asked for. An older system enforces what it knows of it.
    const ABI_ASKED: ABI = ABI::V5;

    /// What programs of the system need to start.
    const SYSTEM: [&str; 9] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/proc", "/sys"];
    /// Devices that hold no data.
    const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

    /// Returns whether this system can confine a program.
    pub fn is_supported() -> bool {
        std::thread::scope(|scope| scope.spawn(|| confine(&Paths::default())).join())
            .is_ok_and(|confined| confined.is_ok_and(|is_enforced| is_enforced))
    }

    /// Confines this thread and all programs that it starts from now on, and returns whether the system enforces it.
    ///
    /// There is no way back: the thread must end after the programs.
    pub(in crate::process) fn confine(paths: &Paths) -> io::Result<bool> {
        let restrict = || -> Result<RulesetStatus, RulesetError> {
            let status = Ruleset::default()
                .handle_access(AccessFs::from_all(ABI_ASKED))?
                .create()?
                .add_rules(path_beneath_rules(SYSTEM, AccessFs::from_read(ABI_ASKED)))?
                .add_rules(path_beneath_rules(&paths.read, AccessFs::from_read(ABI_ASKED)))?
                .add_rules(path_beneath_rules(DEVICES, AccessFs::from_all(ABI_ASKED)))?
                .add_rules(path_beneath_rules(&paths.write, AccessFs::from_all(ABI_ASKED)))?
                .restrict_self()?;
            Ok(status.ruleset)
        };
        let status = restrict().map_err(io::Error::other)?;
        Ok(status != RulesetStatus::NotEnforced)
    }
}

#[cfg(not(target_os = "linux"))]
mod os {
    use std::io;

    use super::Paths;

    /// Returns whether this system can confine a program.
    pub fn is_supported() -> bool {
        false
    }

    pub(in crate::process) fn confine(_: &Paths) -> io::Result<bool> {
        Ok(false)
    }
}
