//! Lines, each with its number and the digest of the line before it.

use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::value::RawValue;

use super::{JournalError, VERSION};
use crate::digest::digest;

/// The longest line, in bytes: 64 MiB.
pub(crate) const MAX_LINE: usize = 64 * 1024 * 1024;

/// The number and the digest that the next line begins with.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Chain {
    /// The number of the next line.
    pub(crate) n: u64,
    /// The digest of the line before it; empty for the first.
    before: String,
}

/// The content of a line, as JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line<'l> {
    /// The description of the run.
    Run(&'l str),
    Event(&'l str),
    Record(&'l str),
    Action(&'l str),
    /// The end of a step.
    State(&'l str),
    /// The change to another component, before the first step that the new one decided.
    Component(&'l str),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLine<'l> {
    n: u64,
    before: &'l str,
    #[serde(borrow)]
    run: Option<&'l RawValue>,
    #[serde(borrow)]
    event: Option<&'l RawValue>,
    #[serde(borrow)]
    record: Option<&'l RawValue>,
    #[serde(borrow)]
    action: Option<&'l RawValue>,
    #[serde(borrow)]
    state: Option<&'l RawValue>,
    #[serde(borrow)]
    component: Option<&'l RawValue>,
}

/// The reason why a line is not the next one.
pub(crate) enum Wrong {
    /// The line itself is wrong. Describes how.
    Here(String),
    /// The line does not follow the line before it: one of the two has been changed.
    Chain,
    /// A later version wrote it.
    Newer(u64),
}

impl<'l> Line<'l> {
    /// Writes the line as text that follows the lines of a chain.
    pub(crate) fn write(self, chain: &mut Chain) -> String {
        let (kind, value) = match self {
            Line::Run(value) => ("run", value),
            Line::Event(value) => ("event", value),
            Line::Record(value) => ("record", value),
            Line::Action(value) => ("action", value),
            Line::State(value) => ("state", value),
            Line::Component(value) => ("component", value),
        };
        let line = format!(r#"{{"n":{},"before":"{}","{kind}":{value}}}"#, chain.n, chain.before);
        chain.follow(&line);
        line
    }

    /// Reads the line that comes next.
    pub(crate) fn read(chain: &mut Chain, text: &'l str) -> Result<Self, Wrong> {
        let is_first = chain.n == 0;
        if let Some(version) = is_first.then(|| version(text)).flatten().filter(|version| *version > VERSION) {
            return Err(Wrong::Newer(version));
        }
        let raw: RawLine = serde_json::from_str(text).map_err(|error| {
            Wrong::Here(format!("it is changed: it is not a line of a journal from column {} on", error.column()))
        })?;
        if raw.n != chain.n {
            return Err(Wrong::Here(format!("it is changed, or a line is missing before it: its \"n\" is {}", raw.n)));
        }
        let line = match (raw.run, raw.event, raw.record, raw.action, raw.state, raw.component) {
            (Some(value), None, None, None, None, None) if is_first => Line::Run(value.get()),
            (None, Some(value), None, None, None, None) if !is_first => Line::Event(value.get()),
            (None, None, Some(value), None, None, None) if !is_first => Line::Record(value.get()),
            (None, None, None, Some(value), None, None) if !is_first => Line::Action(value.get()),
            (None, None, None, None, Some(value), None) if !is_first => Line::State(value.get()),
            (None, None, None, None, None, Some(value)) if !is_first => Line::Component(value.get()),
            _ => {
                let others = "one of `event`, `record`, `action`, `state` and `component`";
                let expected = if is_first { "`run`" } else { others };
                return Err(Wrong::Here(format!("it is changed: it must have {expected}")));
            }
        };
        if raw.before != chain.before {
            return Err(Wrong::Chain);
        }
        chain.follow(text);
        Ok(line)
    }
}

impl Chain {
    fn follow(&mut self, line: &str) {
        self.n += 1;
        self.before = digest(line.as_bytes());
    }

    /// Returns whether a line is the last one of the chain.
    pub(crate) fn ends_with(&self, line: &str) -> bool {
        self.before == digest(line.as_bytes())
    }

    /// Returns the chain after a line with this number.
    pub(crate) fn after(n: u64, line: &str) -> Self {
        Chain { n: n + 1, before: digest(line.as_bytes()) }
    }

    /// Returns whether the bytes can be the remains of the next line after a crash: its beginning, followed by zeros
    /// that a file system may put where nothing was written yet. Any other bytes were tampered with.
    pub(crate) fn is_cut(&self, bytes: &[u8]) -> bool {
        let zeros = bytes.iter().rev().take_while(|byte| **byte == 0).count();
        let bytes = &bytes[..bytes.len() - zeros];
        let text = match str::from_utf8(bytes) {
            Ok(text) => text,
            // A character may be truncated, too.
            Err(error) if error.error_len().is_none() => {
                str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
            }
            Err(_) => return false,
        };
        let head = format!(r#"{{"n":{},"before":"{}","#, self.n, self.before);
        let is_begun = text.bytes().zip(head.bytes()).all(|(one, other)| one == other);
        // A truncated number is invalid, but its beginning is valid: `1.`, `1e`, `-`.
        let is_json = match serde_json::from_str::<IgnoredAny>(text.trim_end_matches(['.', '-', '+', 'e', 'E'])) {
            // Only the line end is missing.
            Ok(_) => text.ends_with('}'),
            Err(error) => error.is_eof(),
        };
        is_begun && is_json
    }

    /// Returns whether `other` contains the digest of `this`, as the line after `this` would.
    fn is_followed(&self, this: &str, other: &str) -> bool {
        serde_json::from_str::<RawLine>(other).is_ok_and(|raw| raw.before == digest(this.as_bytes()))
    }
}

/// Returns the format version of a journal that begins with this line.
fn version(line: &str) -> Option<u64> {
    #[derive(Deserialize)]
    struct First {
        run: RunHead,
    }
    #[derive(Deserialize)]
    struct RunHead {
        journal: u64,
    }
    serde_json::from_str(line).ok().map(|First { run }| run.journal)
}

/// Checks the order of a journal's lines: a run, then steps. A change of the component comes before a step.
#[derive(Debug, Clone, Default)]
pub(crate) struct Checked {
    pub(crate) chain: Chain,
    place: Place,
}

/// The place between two lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    /// After the first line, or after the end of a step.
    #[default]
    Between,
    /// After a change of the component.
    Changed,
    /// After the event of a step.
    InStep,
}

impl From<Chain> for Checked {
    /// Creates a check that continues after the end of a step, or after the first line.
    fn from(chain: Chain) -> Self {
        Checked { chain, place: Place::Between }
    }
}

impl Checked {
    /// Checks the next line. `next` returns the line after it, if the caller can read that one.
    ///
    /// # Errors
    ///
    /// An error that names the changed line.
    pub(crate) fn take<'l>(
        &mut self,
        journal: &str,
        text: &'l str,
        next: impl FnOnce() -> Option<String>,
    ) -> Result<Line<'l>, JournalError> {
        let n = self.chain.n;
        let fail = |line, message: &str| {
            Err(JournalError::Line { journal: journal.to_owned(), line, message: message.to_owned() })
        };
        let line = match Line::read(&mut self.chain, text) {
            Ok(line) => line,
            Err(Wrong::Newer(version)) => return Err(JournalError::Newer { journal: journal.to_owned(), version }),
            Err(Wrong::Here(message)) => return fail(n, &message),
            // The line after this one shows which of the two has been changed.
            Err(Wrong::Chain) => {
                return match next() {
                    Some(next) if self.chain.is_followed(text, &next) && n > 0 => {
                        fail(n - 1, "it is changed: the line after it has another digest of it")
                    }
                    None if n > 0 => fail(n, "it is changed, or the line before it is: it has another digest of that"),
                    _ => fail(n, "it is changed: it has another digest of the line before it"),
                };
            }
        };
        self.place = match (self.place, line) {
            (Place::Between, Line::Run(_)) | (Place::InStep, Line::State(_)) => Place::Between,
            (Place::Between, Line::Component(_)) => Place::Changed,
            (Place::Between | Place::Changed, Line::Event(_)) | (Place::InStep, Line::Record(_) | Line::Action(_)) => {
                Place::InStep
            }
            _ => return fail(n, "it is changed: a step is an event, what it led to, and a state"),
        };
        Ok(line)
    }
}
