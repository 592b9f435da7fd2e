//! A run's folder as typed steps. It needs no profile: the journal says all.

use std::path::{Path, PathBuf};

use seamgate::{JournalError, JournalLine, JournalReader, LineKind};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use crate::error::TraceError;

/// JSON as it is written.
pub(crate) type Json = Box<RawValue>;

/// What run it is, as the first line says.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct About {
    pub(crate) run: String,
    pub(crate) agent: String,
    pub(crate) profile: String,
    pub(crate) component: String,
}

/// An event and what it led to.
#[derive(Debug)]
pub(crate) struct Step {
    /// From 1.
    pub(crate) number: u64,
    /// The run's time, in milliseconds since 1970: the greatest one seen.
    pub(crate) at: u64,
    pub(crate) event: Event,
    pub(crate) records: Vec<Record>,
    pub(crate) actions: Vec<Action>,
    /// Its lines as the journal has them, for projections.
    pub(crate) lines: Vec<JournalLine>,
}

/// An event of any type: see `schemas/event.schema.json`. What a type does not have is empty.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Event {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) at: u64,
    pub(crate) key: String,
    pub(crate) call: String,
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) from: String,
    pub(crate) method: String,
    pub(crate) run: String,
    pub(crate) session: String,
    pub(crate) principal: String,
    pub(crate) mode: String,
    pub(crate) name: String,
    pub(crate) decision: String,
    pub(crate) digest: String,
    pub(crate) outcome: String,
    pub(crate) reason: String,
    pub(crate) effect: String,
    pub(crate) status: String,
    pub(crate) finish: String,
    pub(crate) retry: bool,
    pub(crate) duration_ms: Option<u64>,
    pub(crate) ttl_s: Option<u64>,
    pub(crate) calls: Vec<Json>,
    pub(crate) usage: Option<Usage>,
    pub(crate) parent: Option<Parent>,
    pub(crate) text: Option<Json>,
    pub(crate) message: Option<Json>,
    pub(crate) task: Option<Json>,
    pub(crate) value: Option<Json>,
    pub(crate) result: Option<Json>,
    pub(crate) document: Option<Json>,
    pub(crate) used: Option<Json>,
    pub(crate) head: Option<Json>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Usage {
    pub(crate) input: u64,
    pub(crate) output: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Parent {
    pub(crate) run: String,
    pub(crate) call: String,
}

/// A record of any type: see `schemas/record.schema.json`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Record {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) what: String,
    pub(crate) name: String,
    pub(crate) call: String,
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) permit: String,
    pub(crate) effect: String,
    pub(crate) digest: String,
    pub(crate) arguments: String,
    pub(crate) arguments_digest: String,
    pub(crate) reasons: Vec<Reason>,
    pub(crate) approval: Option<Approval>,
    pub(crate) status: String,
    pub(crate) id: String,
    pub(crate) kinds: Vec<String>,
    pub(crate) labels: Vec<String>,
    pub(crate) confidence: String,
    pub(crate) complete: bool,
    pub(crate) limitations: Vec<String>,
    pub(crate) artifact: String,
    pub(crate) bytes: u64,
    pub(crate) found: Option<Json>,
    pub(crate) duration_ms: Option<u64>,
    pub(crate) tools: Vec<String>,
    pub(crate) hidden: Vec<Hidden>,
    pub(crate) from: String,
    pub(crate) method: String,
    pub(crate) document: Option<Json>,
    pub(crate) calls: Vec<String>,
    pub(crate) entries: u64,
    pub(crate) request: Option<Json>,
    pub(crate) steps: u64,
    pub(crate) budgets: Budgets,
    #[serde(rename = "kind")]
    pub(crate) output: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Reason {
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) violations: Vec<Violated>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Violated {
    pub(crate) path: String,
    pub(crate) message: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Hidden {
    pub(crate) tool: String,
    pub(crate) code: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Approval {
    pub(crate) principal: String,
    pub(crate) at: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Budgets {
    pub(crate) tool_calls: u64,
    pub(crate) tokens: u64,
    pub(crate) ms: u64,
}

/// An action of any type: see `schemas/action.schema.json`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Action {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) key: String,
    pub(crate) purpose: String,
    pub(crate) prompt: Reference,
    pub(crate) expires: u64,
    pub(crate) call: String,
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) effect: String,
    pub(crate) arguments: String,
    pub(crate) approval: Option<Approval>,
    pub(crate) ask: Ask,
    pub(crate) question: String,
    pub(crate) run: String,
    pub(crate) agent: String,
    pub(crate) reason: String,
    pub(crate) task: Option<Json>,
    pub(crate) status: String,
    pub(crate) document: Option<Json>,
    pub(crate) reasons: Vec<Stop>,
    pub(crate) missing: Vec<String>,
    pub(crate) uncertain: Vec<Json>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Ask {
    pub(crate) digest: String,
    pub(crate) by: Vec<String>,
    pub(crate) expires: u64,
    pub(crate) view: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Stop {
    pub(crate) code: String,
    pub(crate) message: String,
}

/// What stands in a line in place of a large value.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Reference {
    pub(crate) artifact: String,
}

/// The steps of a run, one after another. What is damaged ends them: [`fault`](Steps::fault) says so then.
pub(crate) struct Steps {
    pub(crate) folder: PathBuf,
    pub(crate) about: About,
    reader: JournalReader,
    number: u64,
    at: u64,
    fault: Option<String>,
}

impl Steps {
    /// Opens the folder of a run. A run without a whole line is an error.
    pub(crate) fn open(folder: &Path) -> Result<Self, TraceError> {
        let mut reader = JournalReader::open(folder)?;
        let folder = folder.to_owned();
        let Some(lines) = reader.next() else {
            return Err(TraceError::NotBegun { folder });
        };
        let Some(first) = lines?.into_iter().next().filter(|line| line.kind == LineKind::Run) else {
            return Err(TraceError::NoRun { folder });
        };
        match read(&first) {
            Ok(about) => Ok(Steps { folder, about, reader, number: 0, at: 0, fault: None }),
            Err(message) => Err(TraceError::FirstLine { folder, message }),
        }
    }

    /// After the last step: what is wrong with the journal.
    pub(crate) fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// An artifact of the folder: a whole result or a prompt.
    pub(crate) fn artifact(&self, digest: &str) -> Result<Option<String>, JournalError> {
        self.reader.artifact(digest)
    }

    /// A text of an event, also if it is an artifact. Else, the JSON.
    pub(crate) fn text(&self, value: &Json) -> String {
        if let Ok(text) = serde_json::from_str::<String>(value.get()) {
            return text;
        }
        match serde_json::from_str::<Reference>(value.get()) {
            Ok(Reference { artifact }) if !artifact.is_empty() => match self.artifact(&artifact) {
                Ok(Some(text)) => text,
                Ok(None) => format!("(the artifact {artifact} is missing)"),
                Err(error) => format!("({error})"),
            },
            _ => value.get().to_owned(),
        }
    }

    /// A line with its event as it was sent: what projections read.
    pub(crate) fn whole(&self, line: &JournalLine) -> Result<String, JournalError> {
        let kind = match line.kind {
            LineKind::Event => return Ok(format!("{{\"event\":{}}}", self.reader.whole(&line.json)?)),
            LineKind::Record => "record",
            LineKind::Action => "action",
            _ => "state",
        };
        Ok(format!("{{\"{kind}\":{}}}", line.json))
    }

    fn typed(&mut self, lines: Vec<JournalLine>) -> Result<Step, String> {
        let mut step = Step {
            number: self.number + 1,
            at: self.at,
            event: Event::default(),
            records: Vec::new(),
            actions: Vec::new(),
            lines: Vec::new(),
        };
        for line in &lines {
            match line.kind {
                LineKind::Event => step.event = read(line)?,
                LineKind::Record => step.records.push(read(line)?),
                LineKind::Action => step.actions.push(read(line)?),
                _ => {}
            }
        }
        step.at = step.at.max(step.event.at);
        step.lines = lines;
        self.number = step.number;
        self.at = step.at;
        Ok(step)
    }
}

impl Iterator for Steps {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        if self.fault.is_some() {
            return None;
        }
        let Some(lines) = self.reader.next() else {
            self.fault = self.reader.torn().map(|torn| {
                format!(
                    "the last step is torn, and no part of the run: {} bytes, lines {} to {} (\"n\")",
                    torn.bytes,
                    torn.lines.start,
                    torn.lines.end.max(torn.lines.start + 1) - 1
                )
            });
            return None;
        };
        match lines.map_err(|error| error.to_string()).and_then(|lines| self.typed(lines)) {
            Ok(step) => Some(step),
            Err(message) => {
                self.fault = Some(message);
                None
            }
        }
    }
}

/// A line of the type that it says.
fn read<T: DeserializeOwned>(line: &JournalLine) -> Result<T, String> {
    serde_json::from_str(&line.json)
        .map_err(|error| format!("line {} (\"n\":{}): this version cannot read it: {error}", line.n + 1, line.n))
}

/// The folder of a child in its parent's, by the call that started it. None if that is no key of a call.
pub(crate) fn child_folder(parent: &Path, call: &str) -> Option<PathBuf> {
    let number = call.strip_prefix('c')?;
    let is_number = !number.is_empty() && number.len() <= 20 && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| parent.join("children").join(call))
}
