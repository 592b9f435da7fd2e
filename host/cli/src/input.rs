//! Reads what a command judges: a file, or standard input.

use std::{
    fs,
    io::{self, BufRead, Read},
    path::Path,
};

use anyhow::{Context, Result};
use seamgate::{Fault, Limits};

use crate::error::FaultError;

/// The name of an input for a person.
pub(crate) fn name(file: Option<&Path>) -> String {
    file.map_or_else(|| "standard input".to_owned(), |file| file.display().to_string())
}

/// An open input, and its length if it is a regular file.
pub(crate) fn open(file: Option<&Path>) -> Result<(Box<dyn Read>, Option<usize>)> {
    let Some(path) = file else {
        return Ok((Box::new(io::stdin()), stdin_length()));
    };
    let context = || format!("cannot read {}", path.display());
    let file = fs::File::open(path).with_context(context)?;
    let length = seamgate::length(&file).with_context(context)?;
    Ok((Box::new(file), length))
}

/// A whole output. Reads nothing of a file that is too large, and no pipe beyond the limit.
pub(crate) fn read(file: Option<&Path>) -> Result<Vec<u8>> {
    let limit = Limits::default().output_bytes;
    let too_large = |bytes, more| FaultError(Fault::InputTooLarge { bytes, limit, more });
    let (input, length) = open(file)?;
    if let Some(bytes) = length.filter(|bytes| *bytes > limit) {
        return Err(too_large(bytes, false).into());
    }
    let mut output = Vec::new();
    // One byte more than the limit shows that the input is too long, or endless.
    let read = input.take(limit as u64 + 1).read_to_end(&mut output);
    read.with_context(|| format!("cannot read {}", name(file)))?;
    if output.len() > limit {
        return Err(too_large(output.len(), true).into());
    }
    Ok(output)
}

/// The length of the rest of standard input, if it is a regular file.
fn stdin_length() -> Option<usize> {
    #[cfg(unix)]
    {
        use std::{io::Seek, os::fd::AsFd};
        let mut file = fs::File::from(io::stdin().as_fd().try_clone_to_owned().ok()?);
        let length = seamgate::length(&file).ok()??;
        let read = usize::try_from(file.stream_position().ok()?).ok()?;
        Some(length.saturating_sub(read))
    }
    #[cfg(not(unix))]
    None
}

/// Skip the rest of a line. Gives its length.
pub(crate) fn skip_line(input: &mut impl BufRead) -> io::Result<usize> {
    let mut skipped = 0;
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(skipped);
        }
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let length = end.map_or(buffer.len(), |end| end + 1);
        input.consume(length);
        if end.is_some() {
            return Ok(skipped + length - 1);
        }
        skipped += length;
    }
}
