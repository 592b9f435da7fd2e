//! The reason why there is no verdict: an error of the caller, never of the producer.

use serde::Serialize;

use crate::{json::json, types::Violation};

/// The kind of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultCode {
    BadRequest,
    BadContract,
    BadProfile,
    UnknownAgent,
    Sealed,
}

/// The reason why the validator gave no verdict. See `fault` in `wit/types.wit`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub code: FaultCode,
    pub message: String,
    pub violations: Vec<Violation>,
    pub agents: Vec<String>,
}

impl Fault {
    pub fn new(code: FaultCode, message: impl Into<String>) -> Self {
        Fault { code, message: message.into(), violations: Vec::new(), agents: Vec::new() }
    }

    /// Creates a fault for a caller's document with these violations. The message contains the first violation.
    pub fn wrong(code: FaultCode, document: &str, violations: Vec<Violation>) -> Self {
        let message = match violations.first() {
            Some(first) => format!("{document}: {} {}", first.path, first.message),
            None => format!("{document} is wrong"),
        };
        Fault { violations, ..Fault::new(code, message) }
    }

    /// Creates a fault for a request with these violations.
    pub fn bad_request(violations: Vec<Violation>) -> Self {
        Fault::wrong(FaultCode::BadRequest, "request", violations)
    }

    /// Returns `{"fault":…,"message":…,"detail":{…}}`.
    pub fn to_json(&self) -> String {
        #[derive(Serialize)]
        struct Wire<'f> {
            fault: FaultCode,
            message: &'f str,
            detail: Detail<'f>,
        }
        #[derive(Serialize)]
        struct Detail<'f> {
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            violations: &'f [Violation],
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            agents: &'f [String],
        }
        json(&Wire {
            fault: self.code,
            message: &self.message,
            detail: Detail { violations: &self.violations, agents: &self.agents },
        })
    }
}
