//! Reads the lines that a program or a client writes.

use std::io::{BufRead, BufReader, ErrorKind, Read};

/// The longest line, in bytes. A program that writes a longer line is treated as if it had ended.
pub const MAX_LINE: u64 = 64 * 1024 * 1024;

/// Input from a program or a client.
pub enum Wrote {
    /// A line, without its end.
    Line(String),
    /// The beginning of a line that is not UTF-8, with U+FFFD in place of invalid bytes.
    NotText(String),
    /// The last line, which has no line end.
    Unended(String),
    /// A line longer than [`MAX_LINE`]. Nothing follows.
    TooLong,
    /// The end. Nothing follows.
    End,
}

/// Reads lines until `take` returns `false`, or until there are no more.
pub fn read_lines(input: impl Read, mut take: impl FnMut(Wrote) -> bool) {
    let mut input = BufReader::with_capacity(64 * 1024, input);
    loop {
        let mut line = Vec::new();
        let read = (&mut input).take(MAX_LINE).read_until(b'\n', &mut line);
        let is_whole = line.ends_with(b"\n");
        let wrote = match read {
            Ok(length) if length as u64 == MAX_LINE && !is_whole => {
                take(Wrote::TooLong);
                Wrote::End
            }
            Ok(length) if length > 0 => {
                while line.last().is_some_and(|last| matches!(last, b'\n' | b'\r')) {
                    line.pop();
                }
                match String::from_utf8(line) {
                    Ok(line) if is_whole => Wrote::Line(line),
                    Ok(line) => Wrote::Unended(line),
                    Err(error) => {
                        let bytes = error.as_bytes();
                        Wrote::NotText(String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]).into_owned())
                    }
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            _ => Wrote::End,
        };
        let is_end = matches!(wrote, Wrote::End);
        if !take(wrote) || is_end {
            return;
        }
    }
}
