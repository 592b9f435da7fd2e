//! Reads files up to a limit, and never waits for a pipe or a device that stands in place of a file.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read},
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

/// Read a whole regular file by a name that the user did not type.
pub(crate) fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    read_regular_to(path, MAX_FILE)
}

/// The same for a file of at most so many bytes.
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
