//! What is asked of a report beside its members.

use crate::{
    json::{is_json, json},
    types::{Disposition, Progress, Report, Violation, Wanted},
};

impl Disposition {
    /// Whether a report with it has an output.
    pub(crate) fn emits(self) -> bool {
        matches!(self, Disposition::Accepted | Disposition::Partial)
    }
}

impl Report {
    /// Read what [`to_json`](Report::to_json) wrote.
    ///
    /// # Errors
    ///
    /// It is no report.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// What is wrong with a report that a component gave, where its type does not tell: a component need not be a good
    /// one, and who writes a report beside others counts on its lines.
    pub(crate) fn unsound(&self) -> Option<&'static str> {
        if self.output.is_some() != self.disposition.emits() {
            return Some("`output` is there where nothing is emitted, or not where something is");
        }
        if self.error.is_some() != (self.disposition == Disposition::Rejected) {
            return Some("`error` is there where nothing is rejected, or not where something is");
        }
        if !self.output.iter().chain(self.items.iter().map(|item| &item.value)).all(|text| is_json(text)) {
            return Some("a document in it is not JSON on one line");
        }
        None
    }

    /// Whether the verdict is partial only because the output's syntax was repaired: nothing of it is missing, and nothing
    /// is asked for again.
    pub fn is_repaired(&self) -> bool {
        self.disposition == Disposition::Partial && self.wanted == Wanted::Nothing
    }

    /// What is wrong with a rejected output; empty for others.
    pub fn violations(&self) -> &[Violation] {
        self.error.as_ref().map_or(&[], |error| &error.violations)
    }
}

impl Progress {
    /// What is known as JSON text, members in the order of the WIT record.
    pub fn to_json(&self) -> String {
        json(self)
    }
}
