//! The standard error of programs.

use std::{
    io::{self, BufRead, BufReader, Read},
    sync::mpsc::{self, Receiver},
};

use seamgate_text::{escape_terminal, say};

use super::spawn;

/// The longest line that is passed on, in bytes.
const MAX_TOLD: u64 = 2048;

/// Passes on what a program writes to its standard error, escaped, so that it cannot change what else the terminal shows.
///
/// The receiver that this returns hangs up at the end.
pub(super) fn tell_errors(stderr: Option<impl Read + Send + 'static>, name: &str) -> io::Result<Receiver<()>> {
    let (at_end, ended) = mpsc::channel();
    if let Some(stderr) = stderr {
        let name = escape_terminal(name);
        spawn(move || {
            let _at_end = at_end;
            let mut input = BufReader::new(stderr);
            let mut line = Vec::new();
            while matches!((&mut input).take(MAX_TOLD).read_until(b'\n', &mut line), Ok(length) if length > 0) {
                say(&format!("{name}: {}", escape_terminal(String::from_utf8_lossy(&line).trim_end())));
                line.clear();
            }
        })?;
    }
    Ok(ended)
}
