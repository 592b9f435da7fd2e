//! The task, validated against its schema. The model first turns free text into a task. Text is never policy.

use seamgate_core::{
    Disposition, Fault, Request,
    kernel_api::{Document, Kind, NodeId, short},
    validate,
};

use super::{
    Run,
    event::Event,
    raw,
    state::{EntryKind, Purpose},
    step::Record,
};
use crate::document::source;

/// The maximum length of free text, in bytes.
const MAX_TEXT: usize = 64 * 1024;

/// The reason why a text is not a task: a short form, and a form for the model.
struct Refused {
    why: String,
    feedback: String,
}

impl Run<'_> {
    pub(super) fn task(&mut self, event: &Event) {
        let document = event.document();
        let given = event.member("task");
        match (given, &self.profile.task) {
            (None, None) => {}
            (None, Some(_)) => self.no_task("the run has no task"),
            (Some(at), None) => self.set_task(source(document, at)),
            (Some(at), Some(_)) if self.profile.frame && document.kind(at) == Kind::String => {
                let text = document.string(at);
                if text.len() > MAX_TEXT {
                    return self.no_task(&format!(
                        "the task has {} bytes; the limit is {MAX_TEXT}, which no setting changes",
                        text.len()
                    ));
                }
                self.state.frame = Some(text.to_owned());
                self.hear(text);
            }
            (Some(at), Some(_)) => {
                let text = source(document, at);
                match self.as_task(&text) {
                    Ok(task) => self.set_task(task),
                    Err(refused) => self.no_task(&refused.why),
                }
            }
        }
    }

    /// Handles the task that the model created from free text.
    pub(super) fn framed(&mut self, text: &str) {
        match self.as_task(text) {
            Ok(task) => {
                self.records.push(Record::Output { kind: "task", message: String::new() });
                self.state.frame = None;
                self.state.strikes = 0;
                self.set_task(task);
            }
            Err(refused) => self.strike("no_task", refused.feedback),
        }
    }

    fn set_task(&mut self, task: String) {
        self.state.facts.task = Some(raw(task));
        self.given = self.state.facts.given();
    }

    /// Returns a text as a task if the schema accepts it. Nothing is repaired or left out.
    fn as_task(&self, text: &str) -> Result<String, Refused> {
        let Some(contract) = &self.profile.task else {
            return Err(Refused { why: "the profile has no task".to_owned(), feedback: String::new() });
        };
        let request = Request { agent: contract.agent().to_owned(), output: text, ..Request::default() };
        let faulty = |fault: Fault| Refused { feedback: fault.message.clone(), why: fault.message };
        let report = validate(contract, &request).map_err(faulty)?;
        match (report.disposition, report.output) {
            (Disposition::Accepted, Some(task)) => Ok(task),
            _ => {
                let first = report.error.as_ref().and_then(|error| error.violations.first());
                let first = first.map(|first| format!(": {} {}", first.path, first.message)).unwrap_or_default();
                Err(Refused { why: format!("the task is not valid{first}"), feedback: report.feedback })
            }
        }
    }

    fn no_task(&mut self, message: &str) {
        self.state.end("task", short(message, 1024));
    }

    /// Counts an output without a call, a question or a valid answer.
    pub(super) fn strike(&mut self, kind: &'static str, feedback: String) {
        self.records.push(Record::Output { kind, message: short(&feedback, 1024) });
        self.state.say(EntryKind::Feedback, feedback);
        self.state.strikes += 1;
        if self.state.strikes >= 2 {
            let what = "two outputs in a row hold neither a call, a question nor a valid answer";
            self.state.end("no_answer", what);
        }
    }

    /// Returns the purpose of the next request to the model.
    pub(super) fn purpose(&self) -> Purpose {
        if self.state.frame.is_some() { Purpose::Frame } else { Purpose::Step }
    }
}

/// Returns the value of a document that is one object with one member of this name.
pub(super) fn only(document: &Document, name: &str) -> Option<NodeId> {
    let is_one = document.kind(Document::ROOT) == Kind::Object && document.count(Document::ROOT) == 1;
    is_one.then(|| document.member(Document::ROOT, name)).flatten()
}
