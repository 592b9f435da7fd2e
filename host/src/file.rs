//! Files at paths that anybody may have chosen: reads up to a limit that never block on a pipe or a device, and files
//! that only their owner can read.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    path::Path,
};

/// The largest contract, schema or list that the library reads, in bytes: 8 MiB.
pub const MAX_FILE: usize = 8 * 1024 * 1024;

/// Opens a regular file by a path that the user did not type: a path from a folder or a contract, or one at which an agent
/// may have put another file. Follows links. Rejects a pipe or a device at once, without waiting for its other end.
///
/// # Errors
///
/// The file cannot be opened, or is not a regular file.
pub fn open_regular(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        // Without this flag, opening a pipe waits for its other end.
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        std::os::unix::fs::OpenOptionsExt::custom_flags(options, i32::try_from(flags.bits()).unwrap_or_default());
    }
    let file = options.open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "must be a regular file")),
    }
}

/// Reads a whole regular file by a name that the user did not type.
pub(crate) fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    read_regular_to(path, MAX_FILE)
}

/// Reads a whole regular file of at most `limit` bytes.
pub(crate) fn read_regular_to(path: &Path, limit: usize) -> io::Result<Vec<u8>> {
    read_to(open_regular(File::options().read(true), path)?, limit)
}

/// Reads a whole file or pipe that the user named.
///
/// # Errors
///
/// The file cannot be read, or has more than `limit` bytes.
pub fn read_named(path: &Path, limit: usize) -> io::Result<Vec<u8>> {
    read_to(File::open(path)?, limit)
}

/// Returns the length of a regular file in bytes. `None` for a pipe.
///
/// # Errors
///
/// The system cannot read the file's metadata.
pub fn length(file: &File) -> io::Result<Option<usize>> {
    let metadata = file.metadata()?;
    Ok(metadata.is_file().then(|| usize::try_from(metadata.len()).unwrap_or(usize::MAX)))
}

fn read_to(file: File, limit: usize) -> io::Result<Vec<u8>> {
    let too_large = |bytes: String| {
        let message = format!("the file has {bytes} bytes; the limit is {limit}");
        Err(io::Error::new(io::ErrorKind::FileTooLarge, message))
    };
    if let Some(length) = length(&file)?.filter(|length| *length > limit) {
        return too_large(length.to_string());
    }
    let mut bytes = Vec::new();
    // One byte more than the limit shows that the file is too long, or endless.
    file.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > limit { too_large(format!("more than {limit}")) } else { Ok(bytes) }
}

/// Creates a file. Removes any file, link or pipe of the same name first, and does not follow it.
///
/// # Errors
///
/// The old file cannot be removed, or the new one cannot be created.
pub fn create_anew(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => options.create_new(true).open(path),
    }
}

/// Writes a file that only its owner can read, and syncs it. Replaces any file, link or pipe of the same name, and does not
/// follow it.
///
/// # Errors
///
/// The file cannot be replaced or written.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = File::options();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = create_anew(&mut options, path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Syncs the names in a folder, so that they survive a crash. An empty path is the working folder. Does nothing on Windows, where
/// folders cannot be opened.
///
/// # Errors
///
/// The folder cannot be opened or synced.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match cfg!(unix) {
        true => File::open(folder)?.sync_all(),
        false => Ok(()),
    }
}

/// Removes all rights of other users from an open file. Returns whether they had any.
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
