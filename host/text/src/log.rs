//! Messages on standard error, as lines for a person or as lines of JSON for a log.
//!
//! `tracing-subscriber` writes JSON too, but only for its own events. All messages of commands must be in the log, in
//! the same form, so this module writes both.

use std::{
    io::Write,
    sync::{Mutex, OnceLock, PoisonError},
    time::SystemTime,
};

use anstream::adapter::strip_str;
use serde_json::{Map, Value};

use crate::{escape::visible_json, words::truncate};

/// The longest message and the longest field, in bytes.
const MAX_MESSAGE: usize = 8 * 1024;
const MAX_FIELD: usize = 1024;
/// The maximum number of sets of secrets that are hidden.
const MAX_HIDDEN: usize = 64;
/// The prefix of messages for a person.
const PREFIX: &str = "seamgate: ";

/// The command of this process, if its messages are lines of JSON.
static COMMAND: OnceLock<String> = OnceLock::new();

/// Hides secrets in a text.
type Hide = Box<dyn Fn(String) -> String + Send>;

static HIDDEN: Mutex<Vec<Hide>> = Mutex::new(Vec::new());

/// The severity of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// The command cannot continue.
    Error,
    /// Something failed, but the command continues.
    Warn,
    /// Something happened.
    Info,
    /// Details for diagnosing a problem.
    Debug,
    /// Details of each step.
    Trace,
}

impl Level {
    fn as_str(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warn => "warn",
            Level::Info => "info",
            Level::Debug => "debug",
            Level::Trace => "trace",
        }
    }
}

/// Writes all further messages of this process as lines of JSON, which contain `command`.
pub fn log_as_json(command: &str) {
    let _ = COMMAND.set(command.to_owned());
}

/// Returns whether messages are written as lines of JSON.
pub fn is_log_json() -> bool {
    COMMAND.get().is_some()
}

/// Hides secrets in all further lines of JSON.
pub fn hide_in_log(hide: impl Fn(String) -> String + Send + 'static) {
    let mut hidden = HIDDEN.lock().unwrap_or_else(PoisonError::into_inner);
    if hidden.len() < MAX_HIDDEN {
        hidden.push(Box::new(hide));
    }
}

/// Writes a message to standard error, with a line end. Ignores failures, because nobody is listening then.
pub fn say(text: &str) {
    say_with(Level::Info, text, &[]);
}

/// Writes a message about a failure, as [`say`] does.
pub fn warn(text: &str) {
    say_with(Level::Warn, text, &[]);
}

/// Writes a message as [`say`] does. In a log, it also has its level and its fields.
pub fn say_with(level: Level, text: &str, fields: &[(&str, &str)]) {
    if is_log_json() {
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value)));
        log(level, None, text, fields.collect());
    } else {
        let _ = writeln!(anstream::stderr(), "{text}");
    }
}

/// Writes a line of JSON to standard error. `target` is the part of the program that writes it.
pub fn log(level: Level, target: Option<&str>, text: &str, fields: Map<String, Value>) {
    let Some(command) = COMMAND.get() else { return };
    let line = line(SystemTime::now(), level, command, target, text, fields);
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

fn line(
    time: SystemTime,
    level: Level,
    command: &str,
    target: Option<&str>,
    text: &str,
    fields: Map<String, Value>,
) -> String {
    let text = strip_str(text).to_string();
    let message = text.trim().trim_start_matches(PREFIX);
    let message = truncate(&hidden(message.to_owned()), MAX_MESSAGE);
    let own = [
        ("time", Some(humantime::format_rfc3339_millis(time).to_string())),
        ("level", Some(level.as_str().to_owned())),
        ("command", Some(command.to_owned())),
        ("target", target.map(str::to_owned)),
        ("message", Some(message)),
    ];
    let mut members: Vec<(String, Value)> =
        own.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into()))).collect();
    for (name, value) in fields {
        let value = match value {
            Value::String(text) => truncate(&hidden(text), MAX_FIELD).into(),
            other => other,
        };
        if members.iter().all(|(other, _)| *other != name) {
            members.push((name, value));
        }
    }
    let members: Vec<String> =
        members.into_iter().map(|(name, value)| format!("{}:{value}", Value::from(name))).collect();
    visible_json(&format!("{{{}}}\n", members.join(",")))
}

fn hidden(text: String) -> String {
    HIDDEN.lock().unwrap_or_else(PoisonError::into_inner).iter().fold(text, |text, hide| hide(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_is_one_line_of_bounded_length() {
        let hostile =
            format!("seamgate: \u{1b}[31mred\u{202e}\n{{\"level\":\"error\"}} s3cret {}", "x".repeat(100_000));
        hide_in_log(|text| text.replace("s3cret", "secret:a"));
        let fields = [("tool".to_owned(), Value::from(hostile.clone())), ("level".to_owned(), Value::from("x"))];
        let line = line(SystemTime::UNIX_EPOCH, Level::Warn, "mcp", None, &hostile, fields.into_iter().collect());
        let start = r#"{"time":"1970-01-01T00:00:00.000Z","level":"warn","command":"mcp","message":""#;
        assert!(line.starts_with(start), "{line}");
        assert!(line.ends_with("}\n") && line.matches('\n').count() == 1 && line.len() < 12_000, "{line}");
        assert!(!line.contains("s3cret") && !line.contains('\u{202e}') && !line.contains('\u{1b}'), "{line}");
        let read: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(read["level"], Value::from("warn"), "a field cannot replace a member");
    }
}
