//! Reads the inputs that a command line names: files, pipes, or standard input. Each is read only once.

use std::{
    fs,
    io::{self, BufRead, Read},
    path::Path,
};

use anyhow::{Context, Result, bail};
use seamgate::{Fault, Limits, read_named};

use crate::error::FaultError;

/// The name that stands for standard input in place of a file.
const STANDARD: &str = "-";

/// Returns the name of an input for a person.
pub(crate) fn name(file: Option<&Path>) -> String {
    file.filter(|file| !is_standard(file))
        .map_or_else(|| "standard input".to_owned(), |file| file.display().to_string())
}

/// Returns whether a file name on the command line stands for standard input.
pub(crate) fn is_standard(file: &Path) -> bool {
    file == Path::new(STANDARD)
}

/// An input of a command line: the option that names it, and the file.
pub(crate) type Named<'a> = (String, &'a Path);

/// Returns standard input as an input for [`read_once`], for a command that reads it by default.
pub(crate) fn standard(what: &str) -> Named<'static> {
    (what.to_owned(), Path::new(STANDARD))
}

/// Returns the options that name lists, as inputs for [`read_once`].
pub(crate) fn of_lists(lists: &[(String, std::path::PathBuf)]) -> impl Iterator<Item = Named<'_>> {
    lists.iter().map(|(name, file)| (format!("--list {name}"), file.as_path()))
}

/// Rejects two inputs that are the same pipe, or both standard input, because the second reader would find nothing.
pub(crate) fn read_once<'a>(inputs: impl IntoIterator<Item = Named<'a>>) -> Result<()> {
    let mut before: Vec<(String, Vec<Stream>)> = Vec::new();
    for (what, file) in inputs {
        let streams = Stream::of(file);
        let is_same = |(_, others): &&(String, Vec<Stream>)| others.iter().any(|other| streams.contains(other));
        if let Some((other, _)) = before.iter().find(is_same) {
            let both = if *other == what { format!("twice for {what}") } else { format!("for {other} and for {what}") };
            bail!(
                "{} can be read only once, but is named {both}: name a file, or another pipe, for one of them",
                name(Some(file))
            );
        }
        before.push((what, streams));
    }
    Ok(())
}

/// An input whose bytes can be read only once.
#[derive(PartialEq)]
enum Stream {
    Standard,
    /// A pipe or a socket, by its device number and inode number.
    #[cfg(unix)]
    Pipe(u64, u64),
}

impl Stream {
    /// Returns the streams that a file name denotes. There are none if the file can be read again. Standard input may
    /// be a pipe that also has a name.
    fn of(file: &Path) -> Vec<Stream> {
        let mut streams = Vec::new();
        if is_standard(file) {
            streams.push(Stream::Standard);
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::{FileTypeExt, MetadataExt};
            let metadata =
                if is_standard(file) { standard_file().and_then(|file| file.metadata()) } else { fs::metadata(file) };
            // A file that cannot be opened is reported when it is read.
            if let Ok(metadata) = metadata
                && (metadata.file_type().is_fifo() || metadata.file_type().is_socket())
            {
                streams.push(Stream::Pipe(metadata.dev(), metadata.ino()));
            }
        }
        streams
    }
}

/// Returns another handle to standard input.
#[cfg(unix)]
fn standard_file() -> io::Result<fs::File> {
    use std::os::fd::AsFd;
    Ok(fs::File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

/// Reads a complete file or pipe that the user named. `-` stands for standard input.
pub(crate) fn named(file: &Path, limit: usize) -> io::Result<Vec<u8>> {
    if is_standard(file) { read_all(io::stdin().lock(), Vec::new(), limit) } else { read_named(file, limit) }
}

/// Reads a file or pipe that the user named. If it begins with `magic`, the larger limit applies. Opens it only once.
pub(crate) fn named_by_magic(file: &Path, magic: &[u8], [limit, larger]: [usize; 2]) -> io::Result<Vec<u8>> {
    let (mut input, length): (Box<dyn Read>, _) = if is_standard(file) {
        (Box::new(io::stdin().lock()), None)
    } else {
        let file = fs::File::open(file)?;
        let length = seamgate::length(&file)?;
        (Box::new(file), length)
    };
    // One byte more than the file has detects its end.
    let mut start = Vec::with_capacity(length.map_or(0, |length| length.min(larger) + 1));
    input.by_ref().take(magic.len() as u64).read_to_end(&mut start)?;
    let limit = if start == magic { larger } else { limit };
    match length.filter(|length| *length > limit) {
        Some(length) => Err(too_large(&length.to_string(), limit)),
        None => read_all(input, start, limit),
    }
}

fn read_all(input: impl Read, mut bytes: Vec<u8>, limit: usize) -> io::Result<Vec<u8>> {
    // One byte more than the limit shows that the input is too long, or endless.
    input.take((limit + 1).saturating_sub(bytes.len()) as u64).read_to_end(&mut bytes)?;
    if bytes.len() > limit { Err(too_large(&format!("more than {limit}"), limit)) } else { Ok(bytes) }
}

fn too_large(bytes: &str, limit: usize) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("the file has {bytes} bytes; the limit is {limit}"))
}

/// Returns a text without the byte order mark that some editors write at its beginning.
pub(crate) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text)
}

/// Returns an open input, and its length if it is a regular file.
pub(crate) fn open(file: Option<&Path>) -> Result<(Box<dyn Read>, Option<usize>)> {
    let Some(path) = file else {
        return Ok((Box::new(io::stdin()), stdin_length()));
    };
    let context = || format!("cannot read {}", path.display());
    let file = fs::File::open(path).with_context(context)?;
    let length = seamgate::length(&file).with_context(context)?;
    Ok((Box::new(file), length))
}

/// Reads a complete output. Reads nothing of a file that is too large, and nothing of a pipe beyond the limit.
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

/// Returns the length of the rest of standard input, if it is a regular file.
fn stdin_length() -> Option<usize> {
    #[cfg(unix)]
    {
        use std::io::Seek;
        let mut file = standard_file().ok()?;
        let length = seamgate::length(&file).ok()??;
        let read = usize::try_from(file.stream_position().ok()?).ok()?;
        Some(length.saturating_sub(read))
    }
    #[cfg(not(unix))]
    None
}

/// Skips the rest of a line. Returns its length.
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
