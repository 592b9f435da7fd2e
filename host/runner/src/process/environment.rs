//! The part of this process's environment that a program inherits.

use std::{ffi::OsStr, path::PathBuf, process::Command};

/// The variables of this process's environment that a program gets.
#[derive(Clone, Copy)]
pub enum Inherited<'a> {
    /// All of them.
    All,
    /// The variables with these names.
    Only(&'a [String]),
}

impl Inherited<'_> {
    /// Creates a command with the inherited environment.
    pub(super) fn command(self, program: &OsStr) -> Command {
        let Inherited::Only(names) = self else { return Command::new(program) };
        // The program is looked up in this process's `PATH`, whether or not the program inherits that.
        let mut command = Command::new(found(program).unwrap_or_else(|| program.into()));
        command.env_clear().envs(names.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        command
    }
}

/// Looks up a program without a folder in this process's `PATH`, and returns its file.
fn found(name: &OsStr) -> Option<PathBuf> {
    if name.as_encoded_bytes().contains(&b'/') {
        return None;
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}
