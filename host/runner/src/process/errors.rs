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

/// Passes on what a program writes to its standard error, escaped, so that it cannot change what else the terminal shows.
///
/// Values of secrets are hidden. The receiver that this returns hangs up at the end.
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
            // A line without its end goes on in the next one.
            let mut goes_on = false;
            while matches!((&mut input).take(limit).read_until(b'\n', &mut line), Ok(length) if length > 0) {
                let is_whole = line.ends_with(b"\n") || (line.len() as u64) < limit;
                let text = String::from_utf8_lossy(&line).into_owned();
                let told = if is_whole { secrets.hide(text) } else { secrets.hide_cut(text) };
                // Where a value could go on over a cut, the rest of its line is left out.
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
