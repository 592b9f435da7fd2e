//! The final answer: checks its contract, its evidence, and the kinds of evidence that the profile requires.

use std::borrow::Cow;

use seamgate_core::{
    Disposition, NamedList, Observation, Request,
    kernel_api::{Document, Json, Kind, Path, digest},
    validate,
};

use super::{
    Run,
    event::Event,
    state::{Form, Seen},
};
use crate::{
    document::{CAPS, text_in},
    observe::observe,
    profile::Need,
    result::{Body, Given, ToolResult},
};

/// The verdict on an output as a final answer.
pub(super) enum Judged {
    Answer(String),
    /// Not a final answer, with the reason for the model.
    Not(String),
    /// The verdict needs the texts of these artifacts.
    Need(Vec<String>),
}

impl Run<'_> {
    pub(super) fn judge_answer(&self, text: &str, event: &Event) -> Judged {
        let Some(contract) = &self.profile.final_contract else {
            return Judged::Not("This agent has no final answer.".to_owned());
        };
        let mut need = Vec::new();
        let mut evidence = Vec::new();
        for (index, call) in self.state.calls.iter().enumerate() {
            let Some(seen) = &call.seen else { continue };
            match self.text_of(index, seen, text, event) {
                Ok(shown) => evidence.push(as_evidence(seen, shown)),
                Err(artifact) => need.push(artifact),
            }
        }
        if !need.is_empty() {
            need.dedup();
            return Judged::Need(need);
        }
        let lists = self.state.facts.lists.iter();
        let request = Request {
            agent: contract.agent().to_owned(),
            output: text,
            finish: event.finish(),
            lists: lists.map(|(name, values)| NamedList { name: name.clone(), values: values.clone() }).collect(),
            evidence: Some(Cow::Owned(evidence)),
            invalid_utf8: None,
        };
        match validate(contract, &request) {
            Ok(report) => match (report.disposition, report.output) {
                (Disposition::Accepted, Some(document)) => match self.lacking(&document).first() {
                    None => Judged::Answer(document),
                    Some(need) => Judged::Not(lacks(need)),
                },
                _ => Judged::Not(report.feedback),
            },
            Err(fault) => Judged::Not(format!("The answer could not be judged: {}", fault.message)),
        }
    }

    /// Returns the text against which claims are checked. A text that is no longer in the state is recreated from its
    /// artifact, if the answer cites it.
    fn text_of(&self, index: usize, seen: &Seen, answer: &str, event: &Event) -> Result<String, String> {
        if let Some(text) = &seen.text {
            return Ok(text.clone());
        }
        let is_gone = matches!(seen.form, Form::Json | Form::Text | Form::Returned) && !seen.is_invalid();
        if !is_gone || !answer.contains(&seen.id) {
            return Ok(String::new());
        }
        let brought = event.members("artifacts").find(|(name, _)| *name == seen.artifact);
        let text = brought.map(|(_, at)| event.document().string(at)).filter(|text| digest(text) == seen.artifact);
        let Some(text) = text else { return Err(seen.artifact.clone()) };
        let observed = |body: Body| {
            let result = ToolResult { is_error: seen.is_error, body };
            let made = self.facts().and_then(|facts| observe(self.profile, &facts, &self.as_call(index), &result));
            made.map(|made| made.text).unwrap_or_default()
        };
        Ok(match seen.form {
            Form::Json => observed(Body::Json(text.to_owned())),
            Form::Returned => match Json::read(text, &CAPS) {
                Ok(document) => Given::each(&document, Document::ROOT, None, |given| observed(Body::Returned(given))),
                Err(_) => String::new(),
            },
            _ => observed(Body::Text(text.to_owned())),
        })
    }

    /// Returns the number of observations that support a kind.
    fn supporting(&self, kind: &str) -> usize {
        let seen = self.state.calls.iter().filter_map(|call| call.seen.as_ref());
        seen.filter(|seen| !seen.is_error && seen.kinds.iter().any(|other| other == kind)).count()
    }

    /// Returns the missing kinds of evidence that a document does not explain.
    fn lacking(&self, document: &str) -> Vec<&Need> {
        let document = Json::read(document, &CAPS).ok();
        let is_explained = |need: &Need| {
            let (Some(document), Some(path)) = (&document, &need.or_explained) else { return false };
            Path::select(&path.selectors, document, Document::ROOT).into_iter().any(|at| explains(document, at, need))
        };
        self.missing().into_iter().filter(|need| !is_explained(need)).collect()
    }

    /// Returns the kinds of evidence with fewer supporting observations than the profile requires.
    pub(super) fn missing(&self) -> Vec<&Need> {
        self.profile.evidence.iter().filter(|need| self.supporting(&need.kind) < need.min).collect()
    }

    /// Returns whether the model could answer now.
    pub(super) fn could_answer(&self) -> bool {
        self.missing().iter().all(|need| need.or_explained.is_some())
    }
}

/// Returns whether a value explains missing evidence. Text does. An object, or a list of objects, must name the kind.
fn explains(document: &Document, at: seamgate_core::kernel_api::NodeId, need: &Need) -> bool {
    match document.kind(at) {
        Kind::String => !document.string(at).trim().is_empty(),
        Kind::Array => document.items(at).any(|item| explains(document, item, need)),
        Kind::Object => {
            text_in(document, at, "kind") == Some(&need.kind)
                || text_in(document, at, &need.kind).is_some_and(|text| !text.trim().is_empty())
        }
        _ => false,
    }
}

fn lacks(need: &Need) -> String {
    let explained = match &need.or_explained {
        Some(path) => format!(", or explain at {} why there is none", path.text),
        None => String::new(),
    };
    format!("The answer lacks evidence of the kind {}: find at least {}{explained}.", need.kind, need.min)
}

fn as_evidence(seen: &Seen, text: String) -> Observation {
    Observation {
        id: seen.id.clone(),
        kinds: seen.kinds.clone(),
        text,
        labels: seen.labels.clone(),
        confidence: seen.confidence,
        complete: seen.complete,
        limitations: seen.limitations.clone(),
    }
}
