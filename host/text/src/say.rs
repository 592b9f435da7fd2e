//! Messages to a person.

use std::io::Write;

/// Writes a message to standard error, with a line end. If that fails, nobody is listening.
pub fn say(text: &str) {
    let _ = writeln!(anstream::stderr(), "{text}");
}
