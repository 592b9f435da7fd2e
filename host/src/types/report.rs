//! Methods of a report and its parts.

use super::{Disposition, Progress, Report, Violation, Wanted, document::Document};
use crate::json::{is_json, json};

impl Disposition {
    /// Returns whether reports with this disposition have an output.
    pub(crate) fn emits(self) -> bool {
        matches!(self, Disposition::Accepted | Disposition::Partial)
    }
}

impl Report {
    /// Parses a report that [`to_json`](Report::to_json) wrote.
    ///
    /// # Errors
    ///
    /// The text is not a valid report.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Returns how a report contradicts itself, if it does. Its type does not rule that out, and the report may come
    /// from any component. Callers that write one report per line depend on documents without line ends.
    pub(crate) fn contradiction(&self) -> Option<&'static str> {
        if self.output.is_some() != self.disposition.emits() {
            return Some("expected `output` exactly where `disposition` is accepted or partial");
        }
        if self.error.is_some() != (self.disposition == Disposition::Rejected) {
            return Some("expected `error` exactly where `disposition` is rejected");
        }
        if !(self.output.iter().all(Document::is_sound) && self.items.iter().all(|item| is_json(&item.value))) {
            return Some("expected each document as one line of JSON");
        }
        None
    }

    /// Returns whether the verdict is partial only because the output's syntax was repaired: no part of it is missing,
    /// and none is requested again.
    pub fn is_repaired(&self) -> bool {
        self.disposition == Disposition::Partial && self.wanted == Wanted::Nothing
    }

    /// Returns the violations of a rejected output. Empty for other outputs.
    pub fn violations(&self) -> &[Violation] {
        self.error.as_ref().map_or(&[], |error| &error.violations)
    }
}

impl Progress {
    /// Returns the progress as JSON text, with members in the order of the WIT record.
    pub fn to_json(&self) -> String {
        json(self)
    }
}
