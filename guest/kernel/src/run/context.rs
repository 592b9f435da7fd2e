//! Context: values from declared sources only, each validated against its schema. Values that are left out are
//! recorded.

use seamgate_core::{
    Fault,
    kernel_api::{Document, Json, NodeId, quote, short},
};

use super::{Run, event::Event, raw, step::Record};
use crate::{
    document::{CAPS, source},
    observe::united,
};

/// The maximum size of a value, in bytes.
const MAX_VALUE: usize = 256 * 1024;

impl Run<'_> {
    pub(super) fn context(&mut self, event: &Event) {
        for (name, at) in event.members("context") {
            self.take_value(name, event.document(), at);
        }
        self.require_context();
    }

    /// Replaces a value of the context. The previous value no longer applies, even if the new one is invalid.
    pub(super) fn context_changed(&mut self, event: &Event) -> Result<(), Fault> {
        let (Some(name), Some(at)) = (event.text("name"), event.member("value")) else { return Ok(()) };
        if self.state.facts.context.remove(name).is_some() {
            // The model may have read the previous value.
            let source = self.profile.context.iter().find(|source| source.name == name);
            let read = source.and_then(|source| united(&self.state.facts.labels, &source.labels));
            self.state.facts.labels = read.unwrap_or_else(|| std::mem::take(&mut self.state.facts.labels));
        }
        self.take_value(name, event.document(), at);
        self.require_context();
        self.judge_asked_again()
    }

    fn require_context(&mut self) {
        let lacks = |name: &str| !self.state.facts.context.contains_key(name);
        let lacking = self.profile.context.iter().find(|source| source.is_required && lacks(&source.name));
        if let Some(lacking) = lacking {
            let message =
                format!("the context {} is required, and is not there or not valid", quote(&lacking.name, 64));
            self.state.end("context", message);
        }
        self.given = self.state.facts.given();
    }

    fn take_value(&mut self, name: &str, document: &Document, at: NodeId) {
        let value = source(document, at);
        let wrong = match self.profile.context.iter().find(|source| source.name == name) {
            None => Some(("undeclared", "the profile does not declare it".to_owned())),
            Some(_) if value.len() > MAX_VALUE => Some((
                "too_large",
                format!("it has {} bytes; the limit is {MAX_VALUE}, which no setting changes", value.len()),
            )),
            Some(declared) => declared.schema.as_ref().and_then(|schema| {
                let violations = match Json::read(&value, &CAPS) {
                    Ok(json) => schema.violations(&json),
                    Err(violations) => violations,
                };
                violations.first().map(|first| ("invalid", format!("{} {}", first.path, first.message)))
            }),
        };
        match wrong {
            None => {
                self.state.facts.context.insert(name.to_owned(), raw(value));
            }
            Some((code, message)) => {
                let (name, message) = (short(name, 128), short(&message, 512));
                self.records.push(Record::LeftOut { what: "context", name, code, message });
            }
        }
    }
}
