//! Files are read to a bound, and nothing that is no file is waited for.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read},
    path::Path,
};

/// The longest contract, schema or list that is read, in bytes: 8 MiB.
pub const MAX_FILE: usize = 8 * 1024 * 1024;

/// Open a regular file, by a name that this user did not type: a folder or a contract led to it, or an agent could have
/// put something in its place. Links are followed. A pipe or a device is refused, and not waited for.
///
/// # Errors
///
/// It cannot be opened, or is no regular file.
pub fn open_regular(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        // Without this, to open a pipe waits for its other end.
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        std::os::unix::fs::OpenOptionsExt::custom_flags(options, i32::try_from(flags.bits()).unwrap_or_default());
    }
    let file = options.open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "must be a regular file")),
    }
}

/// Read a regular file to its end, by a name that this user did not type.
pub(crate) fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    read_to(open_regular(File::options().read(true), path)?, MAX_FILE)
}

/// Read what a user named, which may be a pipe, to its end. It has at most `limit` bytes.
///
/// # Errors
///
/// It cannot be read, or is longer.
pub fn read_named(path: &Path, limit: usize) -> io::Result<Vec<u8>> {
    read_to(File::open(path)?, limit)
}

/// The length of a file that has one: a pipe has none.
///
/// # Errors
///
/// The system does not say it.
pub fn length(file: &File) -> io::Result<Option<usize>> {
    let metadata = file.metadata()?;
    Ok(metadata.is_file().then(|| usize::try_from(metadata.len()).unwrap_or(usize::MAX)))
}

fn read_to(file: File, limit: usize) -> io::Result<Vec<u8>> {
    let too_large = |bytes: String| {
        let message = format!("has {bytes} bytes; at most {limit} are read");
        Err(io::Error::new(io::ErrorKind::FileTooLarge, message))
    };
    if let Some(length) = length(&file)?.filter(|length| *length > limit) {
        return too_large(length.to_string());
    }
    let mut bytes = Vec::new();
    // One byte more than is taken shows that it is too long, or without end.
    file.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > limit { too_large(format!("more than {limit}")) } else { Ok(bytes) }
}
