//! The standard error of programs.

use std::{
    io::{self, BufRead, BufReader, Read},
    sync::{
        Arc,
        mpsc::{self, Receiver},
    },
};

use seamgate_text::{Level, escape_terminal, say_with};

use super::spawn;
use crate::secrets::Secrets;

/// The longest line that is passed on, in bytes.
const MAX_TOLD: u64 = 2048;

/// Passes on a program's standard error, escaped, so that the program cannot change other text on the terminal.
///
/// Hides the values of secrets. The returned receiver hangs up at the end.
pub(super) fn tell_errors(
    stderr: Option<impl Read + Send + 'static>,
    name: &str,
    secrets: &Arc<Secrets>,
) -> io::Result<Receiver<()>> {
    let (at_end, ended) = mpsc::channel();
    if let Some(stderr) = stderr {
        let (name, secrets) = (escape_terminal(name), Arc::clone(secrets));
        spawn(move || {
            let _at_end = at_end;
            let mut input = BufReader::new(stderr);
            let mut line = Vec::new();
            let limit = MAX_TOLD + secrets.margin() as u64;
            // `true` if the line has no end yet, and continues in the next one.
            let mut goes_on = false;
            while matches!((&mut input).take(limit).read_until(b'\n', &mut line), Ok(length) if length > 0) {
                let is_whole = line.ends_with(b"\n") || (line.len() as u64) < limit;
                let text = String::from_utf8_lossy(&line).into_owned();
                let told = if is_whole { secrets.hide(text) } else { secrets.hide_cut(text) };
                // If a value could continue beyond a cut, the rest of its line is omitted.
                if !goes_on || secrets.is_empty() {
                    let text = format!("{name}: {}", escape_terminal(told.trim_end()));
                    say_with(Level::Info, &text, &[("program", &name)]);
                }
                goes_on = !is_whole;
                line.clear();
            }
        })?;
    }
    Ok(ended)
}
