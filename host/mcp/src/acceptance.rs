//! Records that a person accepts an edited profile that may allow more. The record is a file in the folder of the run.

use std::{fs, io, path::Path};

use seamgate::{digest, read_named, write_private};

/// The name of the file. It contains the digest of the complete profile.
const NAME: &str = "accepted";
/// The longest file, in bytes.
const MAX: usize = 256;

/// Accepts the profile with this complete text for the run in `folder`.
///
/// # Errors
///
/// The file cannot be written.
pub fn accept(folder: &Path, text: &str) -> io::Result<()> {
    let path = folder.join(NAME);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    write_private(&path, format!("{}\n", digest(text.as_bytes())).as_bytes())
}

/// Returns whether a person has accepted the profile with this complete text for the run in `folder`.
pub(crate) fn is_accepted(folder: &Path, text: &str) -> bool {
    let path = folder.join(NAME);
    path.is_file() && read_named(&path, MAX).is_ok_and(|said| said.trim_ascii() == digest(text.as_bytes()).as_bytes())
}
