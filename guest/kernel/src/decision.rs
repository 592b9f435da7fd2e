//! Decisions about calls, and the reasons for them.

use std::collections::BTreeMap;

use seamgate_core::{Violation, kernel_api::json};
use serde::Serialize;

use crate::{facts::Changed, proof::Proof};

/// The reason why a call may not run, or needs approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Reason {
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) violations: Vec<Violation>,
}

impl Reason {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Reason { code, message: message.into(), violations: Vec::new() }
    }

    /// Returns a text that only equal reasons share. The message alone is not enough, because it names only the first
    /// place in the arguments.
    pub(crate) fn identity(&self) -> String {
        match &self.violations[..] {
            [] | [_] => self.message.clone(),
            all => {
                format!("{}; {}", self.message, all.iter().map(|one| &one.pointer[..]).collect::<Vec<_>>().join(" "))
            }
        }
    }

    /// Creates a reason from violations in the arguments. The message contains the first violation.
    pub(crate) fn wrong(code: &'static str, what: &str, violations: Vec<Violation>) -> Self {
        let message = match violations.first() {
            Some(first) => format!("{what}: {} {}", first.path, first.message),
            None => what.to_owned(),
        };
        Reason { code, message, violations }
    }
}

/// The decision about a call. See `schemas/decision.schema.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Decision {
    pub(crate) permit: &'static str,
    pub(crate) key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) server: Option<String>,
    pub(crate) tool: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) effect: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) arguments: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) digest: Option<String>,
    pub(crate) message: String,
    pub(crate) reasons: Vec<Reason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) allowed: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ask: Option<AskView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) approval: Option<Used>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) origins: Vec<Proof>,
    /// The secrets whose values the host inserts when it sends the call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) secrets: Vec<Secret>,
    pub(crate) facts: Changed,
}

/// The request for approval that a person sees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct AskView {
    pub(crate) key: String,
    pub(crate) digest: String,
    pub(crate) by: Vec<String>,
    /// The public keys with which these principals must sign their decisions.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) keys: BTreeMap<String, Vec<String>>,
    pub(crate) expires: u64,
    pub(crate) view: String,
}

/// A secret of a call, in the form that decisions and actions contain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Secret {
    /// A JSON Pointer into the arguments.
    pub(crate) at: String,
    pub(crate) name: String,
}

/// The approval that a call uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Used {
    pub(crate) principal: String,
    pub(crate) at: u64,
    /// `true` if a person gave the approval for another call of the run and it also covers this one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) remembered: bool,
}

pub(crate) const ALLOW: &str = "allow";
pub(crate) const DENY: &str = "deny";
pub(crate) const APPROVAL: &str = "approval";

impl Decision {
    pub(crate) fn to_json(&self) -> String {
        json(self)
    }
}
