//! Files that only their owner can read, by names that this user did not type.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::Path,
};

/// Create a file. Removes any file, link or pipe of the same name, and does not follow it.
pub(crate) fn create_anew(options: &mut fs::OpenOptions, path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => options.create_new(true).open(path),
    }
}

/// Write a file that only its owner can read.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = File::options();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = create_anew(&mut options, path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Take all rights of other users from an open file. Gives whether they had any.
pub(crate) fn restrict(file: &File) -> io::Result<bool> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mut permissions = file.metadata()?.permissions();
        if permissions.mode() & 0o077 != 0 {
            permissions.set_mode(0o600);
            file.set_permissions(permissions)?;
            return Ok(true);
        }
    }
    #[cfg(not(unix))]
    let _ = file;
    Ok(false)
}
