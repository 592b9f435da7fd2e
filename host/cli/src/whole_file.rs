//! Writes files that appear completely or not at all.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use seamgate::create_anew;

/// Writes a file atomically.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    // This does not follow a link of that name.
    let written = create_anew(fs::File::options().write(true), Path::new(&part)).and_then(|mut file| {
        file.write_all(bytes)?;
        fs::rename(&part, path)
    });
    written.inspect_err(|_| {
        let _ = fs::remove_file(&part);
    })
}
