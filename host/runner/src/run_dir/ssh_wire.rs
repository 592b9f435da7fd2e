//! Numbers and strings in the wire format of SSH (RFC 4251, section 5).

use std::io;

/// Removes a number from the beginning of a message.
pub(super) fn number(rest: &mut &[u8]) -> io::Result<u32> {
    let (number, after) = rest.split_first_chunk().ok_or_else(invalid)?;
    *rest = after;
    Ok(u32::from_be_bytes(*number))
}

/// Removes a string from the beginning of a message.
pub(super) fn string<'a>(rest: &mut &'a [u8]) -> io::Result<&'a [u8]> {
    let length = number(rest)? as usize;
    let (string, after) = rest.split_at_checked(length).ok_or_else(invalid)?;
    *rest = after;
    Ok(string)
}

/// Appends a string to a message.
pub(super) fn push_string(message: &mut Vec<u8>, string: &[u8]) -> io::Result<()> {
    message.extend(u32::try_from(string.len()).map_err(io::Error::other)?.to_be_bytes());
    message.extend(string);
    Ok(())
}

pub(super) fn invalid() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "its answer is invalid")
}
